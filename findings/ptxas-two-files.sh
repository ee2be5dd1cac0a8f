#!/bin/bash
# ptxas-two-files: of two PTX files that ptxas joins, static variables of one name become one, with the last's value.
#
# ptxas takes several files and writes one cubin. Where each has a variable `text` that is not visible to the other,
# with a value of its own, ptxas 11.8 to 13.5 keeps the bytes of the last file alone, with status 0 and no word. With
# -c both kernels refer to these. Without it, 12.9 to 13.5 let one kernel load the variable's address from
# c[0x4][0x8], where constant bank 4 has 8 bytes: it gets what stands behind the bank.
# One would guess otherwise: names that are not visible belong to their files, as they do for nvlink, and what a tool
# cannot join it refuses, as ptxas does two definitions of one visible name.
# What follows: nvcc names the first string that each file prints $str, so that two of its files are enough. Give ptxas
# one file at a time, with -c, and let a linker join them.
set -u
work=$(mktemp -d) && cd "$work" || exit 1
trap 'rm -rf "$work"' EXIT
changed=0
see() { echo "  $1: $3"; [ "$2" = "$3" ] || { echo "  CHANGED, it was: $2"; changed=1; }; }
# module NAME: a kernel of that name, which stores the address of its module's variable.
module() {
    printf '.version 7.8\n.target sm_80\n.address_size 64\n.global .align 4 .b8 text[4] = {0, 0x%s, 0, 0};\n' $1$1
    printf '.visible .entry %s(.param .b64 p)\n{\n.reg .b64 d, t;\nld.param.b64 d, [p];\n' $1
    printf 'mov.b64 t, text;\ncvta.global.u64 t, t;\nst.global.b64 [d], t;\nret;\n}\n'
}
module a > a.ptx
module b > b.ptx
cat > read.py << 'END'
import re
import struct
import subprocess
import sys

d = open(sys.argv[1], 'rb').read()
at, = struct.unpack_from('<Q', d, 40)
h = [struct.unpack_from('<IIQQQQIIQQ', d, at + 64 * i) for i in range(struct.unpack_from('<H', d, 60)[0])]
names = h[struct.unpack_from('<H', d, 62)[0]][4]
has = {d[names + x[0]:].split(b'\0')[0].decode(): d[x[4]:x[4] + x[5]] for x in h}
code = subprocess.run(['nvdisasm/nvidia/cu13/bin/nvdisasm', '-c', sys.argv[1]], capture_output=True, text=True).stdout
print('values', re.findall('00(aa|bb)0000', has['.nv.global.init'].hex()), end=', ')
loads = {int(x.replace('RZ', '0'), 0) for x in re.findall(r'c\[0x4\]\[(\w+)\]', code)}
print(f"bank 4 of {len(has.get('.nv.constant4', b''))} bytes,", 'loads from', sorted(loads))
END
python3 -m pip install -q --no-deps --target nvdisasm nvidia-cuda-nvdisasm==13.5.37 > pip.log 2>&1 ||
    { echo "SKIPPED: nvdisasm 13.5.37 cannot be fetched"; exit 2; }
# both OPTION...: the status and words of ptxas for the two files, and what is in its cubin.
both() {
    "$ptxas" -arch=sm_80 "$@" -o out.cubin > said 2>&1
    echo "status $? '$(cat said)' $(python3 read.py out.cubin)"
}
echo "expected: values of both, and loads from inside the bank; or an error"
for package in -cu11==11.8.89 -cu12==12.9.86 ==13.0.88 ==13.5.37; do
    python3 -m pip install -q --no-deps --target "cuda$package" "nvidia-cuda-nvcc$package" > pip.log 2>&1 ||
        { echo "SKIPPED: nvidia-cuda-nvcc$package cannot be fetched"; exit 2; }
    ptxas=$(find "cuda$package" -path '*/bin/ptxas')
    whole="bank 4 of 8 bytes, loads from [0, 4, 8, 12]" none="bank 4 of 0 bytes, loads from []"
    [ $package != -cu11==11.8.89 ] || whole=$none
    see "ptxas ${package#*==} a.ptx b.ptx" "status 0 '' values ['bb'], $whole" "$(both a.ptx b.ptx)"
    see "ptxas ${package#*==} b.ptx a.ptx" "status 0 '' values ['aa'], $whole" "$(both b.ptx a.ptx)"
    see "ptxas ${package#*==} -c a.ptx b.ptx" "status 0 '' values ['bb'], $none" "$(both -c a.ptx b.ptx)"
done
exit $changed
