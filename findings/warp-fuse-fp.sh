#!/bin/bash
# warp-fuse-fp: a kernel with tile_matmul makes Warp fuse multiplications and additions of all others of its module.
#
# With the option fuse_fp=False of its module, Warp 1.19.0 compiles a * b + c to FMUL and FADD, by NVRTC's --fmad=false.
# When a second kernel, which calls tile_matmul, is in the module, the first one has FFMA: the module then goes through
# LTO-IR and libnvJitLink, of which the former does not hold --fmad and the latter has to be told. tile_fft does the
# same. With enable_mathdx_gemm = False in the configuration, or with the kernels in modules of their own, the first
# kernel is as it was. No message says so; both modules were compiled ahead of time, for sm_90.
# One would guess otherwise: an option of a module holds for it whatever kernels it has, and one kernel is not compiled
# in another way because of what stands beside it.
# What follows: adding a kernel changes the results of others, and the option that is there for results that can be
# reproduced, or compared with the CPU's, is without effect. Keep kernels with tile_matmul in modules of their own.
set -u
work=$(mktemp -d) && cd "$work" || exit 1
trap 'rm -rf "$work"' EXIT
changed=0
see() { echo "  $1: $3"; [ "$2" = "$3" ] || { echo "  CHANGED, it was: $2"; changed=1; }; }
cat > compile.py << 'END'
import sys
sys.path.insert(0, 'site')
import warp as wp
wp.config.quiet = True
wp.config.kernel_cache_dir = 'cache'
wp.config.enable_mathdx_gemm = sys.argv[2] != 'no_mathdx'
wp.init()
wp.set_module_options({'fuse_fp': sys.argv[3] == 'fused', 'enable_backward': False,
                       'block_dim': 8 if sys.argv[2] == 'fft' else 256})


@wp.kernel
def fused(a: wp.array(dtype=float)):
    i = wp.tid()
    a[i] = a[i] * a[i + 1] + a[i + 2]


if sys.argv[2] != 'alone':
    if sys.argv[2] == 'fft':
        @wp.kernel
        def other(a: wp.array2d(dtype=wp.vec2f)):
            t = wp.tile_load(a, shape=(16, 16))
            wp.tile_fft(t)
            wp.tile_store(a, t)
    else:
        @wp.kernel
        def other(a: wp.array2d(dtype=wp.float16), c: wp.array2d(dtype=float)):
            x = wp.tile_load(a, shape=(16, 16))
            sum = wp.tile_zeros(shape=(16, 16), dtype=float)
            wp.tile_matmul(x, x, sum)
            wp.tile_store(c, sum)
wp.compile_aot_module(sys.modules['__main__'], arch=90, module_dir=sys.argv[1], use_ptx=False)
END
# code NAME WITH FUSED: the arithmetic of the first kernel.
code() {
    python3 compile.py "$@" > "$1.log" 2>&1 || { tail -n 1 "$1.log"; return; }
    reader/nvidia/cu13/bin/nvdisasm -c "$1"/*.cubin 2> reader.log |
        awk '/^\.text\./ { on = /text\.fused/ } on' | grep -oE '\bF(FMA|MUL|ADD)\b' | sort -u | xargs
}
python3 -m pip install -q --no-deps --target reader nvidia-cuda-nvdisasm==13.5.37 > pip.log 2>&1 ||
    { echo "SKIPPED: nvdisasm 13.5.37 cannot be fetched"; exit 2; }
python3 -m pip install -q --no-deps --target site warp-lang==1.19.0 numpy==2.3.5 > pip.log 2>&1 ||
    { echo "SKIPPED: warp-lang 1.19.0 cannot be fetched for this Python"; exit 2; }
echo "expected: FADD FMUL wherever fuse_fp is False"
see "fuse_fp=True, alone" FFMA "$(code a alone fused)"
see "fuse_fp=False, alone" "FADD FMUL" "$(code b alone apart)"
see "fuse_fp=False, beside tile_matmul" FFMA "$(code c matmul apart)"
see "fuse_fp=False, beside tile_fft" FFMA "$(code d fft apart)"
see "fuse_fp=False, beside tile_matmul without libmathdx" "FADD FMUL" "$(code e no_mathdx apart)"
exit $changed
