#!/bin/bash
# jitlink-error-is-success: libnvJitLink prints an error, keeps none in its error log, and returns success.
#
# One PTX text defines a function whose parameter is .f32, as GCC writes float; the other declares and calls it with
# .b32, as LLVM does. nvJitLinkComplete() of 13.0 and 13.5 returns NVJITLINK_SUCCESS and gives a cubin; the error log
# is empty; "error : Prototype doesn't match for 'f'" goes to standard error of the process. nvlink makes the same an
# error.
# One would guess otherwise: a library hands its errors to its caller, by a status and a log, and prints nothing; what
# it calls an error is no success.
# What follows: programs that check the status and the log, as they should, run a program that the linker found wrong.
set -u
work=$(mktemp -d) && cd "$work" || exit 1
trap 'rm -rf "$work"' EXIT
changed=0
see() { echo "  $1: $3"; [ "$2" = "$3" ] || { echo "  CHANGED, it was: $2"; changed=1; }; }
cat > link.py << 'END'
import ctypes
import sys

HEAD = b".version 7.8\n.target sm_75\n.address_size 64\n"
ONE = b"""
.visible .func (.param .f32 r) f(.param .f32 x)
{
.reg .f32 a;
ld.param.f32 a, [x];
st.param.f32 [r], a;
ret;
}
"""
OTHER = b"""
.extern .func (.param .b32 r) f(.param .b32 x);
.visible .entry k(.param .u64 p)
{
.reg .b64 d;
.reg .f32 a;
ld.param.u64 d, [p];
ld.f32 a, [d];
{ .param .b32 i; .param .b32 o; st.param.f32 [i], a; call (o), f, (i); ld.param.f32 a, [o]; }
st.f32 [d], a;
ret;
}
"""
library = ctypes.CDLL(sys.argv[1])
link, size = ctypes.c_void_p(), ctypes.c_size_t()
options = (ctypes.c_char_p * 1)(b"-arch=sm_90")
status = [library.nvJitLinkCreate(ctypes.byref(link), 1, options)]
for name, text in (b"one", HEAD + ONE), (b"other", HEAD + OTHER):
    status.append(library.nvJitLinkAddData(link, 2, text, ctypes.c_size_t(len(text)), name))
status.append(library.nvJitLinkComplete(link))
library.nvJitLinkGetErrorLogSize(link, ctypes.byref(size))
log = ctypes.create_string_buffer(size.value + 1)
library.nvJitLinkGetErrorLog(link, log)
library.nvJitLinkGetLinkedCubinSize(link, ctypes.byref(size))
print("statuses", *status, "log", repr(log.value.decode()), "cubin" if size.value > 0 else "no cubin")
END
echo "expected: a status that is not 0, and the error in the log"
for version in 13.0.88 13.5.37; do
    python3 -m pip install -q --no-deps --target "$version" "nvidia-nvjitlink==$version" > pip.log 2>&1 ||
        { echo "SKIPPED: nvidia-nvjitlink $version cannot be fetched"; exit 2; }
    said=$(python3 link.py "$(echo "$version"/nvidia/cu13/lib/libnvJitLink.so.13)" 2> printed)
    see "libnvJitLink $version returns" "statuses 0 0 0 0 log '' cubin" "$said"
    see "libnvJitLink $version prints" \
        "@E@error   : Prototype doesn't match for 'f' in 'other', first defined in 'one'" "$(cat printed)"
done
exit $changed
