#!/bin/bash
# numba-fastmath-lto: whether Numba's fastmath=True flushes denormals depends on an installed library.
#
# numba-cuda 0.30.4 gives libnvvm -ftz=1, -prec-div=0 and -prec-sqrt=0 for @cuda.jit(fastmath=True). If nvJitLink is
# installed, it makes LTO-IR by default (lto=None), which does not keep -ftz, and its linker is given none of them: a
# sum is FADD. Without nvJitLink, or with lto=False, it is FADD.FTZ. exp() loses .FTZ as well. Division and square root
# are the fast ones each time, so that the option looks as if it were in force.
# One would guess otherwise: one option has one meaning, and LTO joins functions without changing their arithmetic.
# What follows: the same program gives other numbers near zero on two machines, or after a package was installed, and
# comparing lto=True with lto=False compares two kinds of arithmetic. Give lto=False where denormals matter.
set -u
work=$(mktemp -d) && cd "$work" || exit 1
trap 'rm -rf "$work"' EXIT
changed=0
see() { echo "  $1: $3"; [ "$2" = "$3" ] || { echo "  CHANGED, it was: $2"; changed=1; }; }
# Compiles by Numba's own functions for sm_90, as its dispatcher does for the GPU that it finds.
cat > compile.py << 'END'
import math, site
site.addsitedir('site')
from numba import float32, types
from numba.cuda.compiler import compile_cuda, kernel_fixup


def add(p): p[0] = p[1] + p[2]
def exp(p): p[0] = math.exp(p[1])
def div(p): p[0] = p[1] / p[2]
def sqrt(p): p[0] = math.sqrt(p[1])


for function in (add, exp, div, sqrt):
    for fast in (False, True):
        for lto in (False, True):
            result = compile_cuda(function, types.void, (float32[::1],), fastmath=fast,
                                  nvvm_options={'fastmath': fast, 'opt': 3}, cc=(9, 0), lto=lto)
            library = result.library
            library._entry_name = result.fndesc.llvm_func_name
            kernel_fixup(library.get_function(library._entry_name), False)
            with open(f'{function.__name__}.{fast}.{lto}.cubin', 'wb') as file:
                file.write(bytes(library.get_cubin(cc=(9, 0)).code))
import inspect
from numba.cuda import decorators
print('lto = _have_nvjitlink()' in inspect.getsource(decorators.jit))
END
# code FUNCTION FASTMATH LTO: its arithmetic.
code() {
    reader/nvidia/cu13/bin/nvdisasm -c "$1.$2.$3.cubin" 2> reader.log |
        grep -oE '\b(F(FMA|MUL|ADD)(\.FTZ)?|CALL|MUFU\.[A-Z0-9]+)\b' | LC_ALL=C sort -u | xargs
}
python3 -m pip install -q --no-deps --target reader nvidia-cuda-nvdisasm==13.5.37 > pip.log 2>&1 ||
    { echo "SKIPPED: nvdisasm 13.5.37 cannot be fetched"; exit 2; }
python3 -m pip install -q --no-deps --target site numba-cuda==0.30.4 numba==0.62.1 llvmlite==0.45.1 numpy==2.3.5 \
    packaging==25.0 cuda-bindings==13.5.0 cuda-core==0.7.0 cuda-pathfinder==1.9.1 nvidia-cuda-nvrtc==13.5.37 \
    nvidia-nvjitlink==13.5.37 nvidia-nvvm==13.5.37 nvidia-cuda-runtime==13.5.37 > pip.log 2>&1 ||
    { echo "SKIPPED: numba-cuda 0.30.4 cannot be fetched for this Python"; exit 2; }
echo "expected: the same with and without LTO"
see "LTO by default where nvJitLink is" True "$(python3 compile.py 2> compile.log)"
see "fastmath, add" FADD.FTZ "$(code add True False)"
see "fastmath, add, LTO" FADD "$(code add True True)"
see "fastmath, exp" "FMUL.FTZ MUFU.EX2" "$(code exp True False)"
see "fastmath, exp, LTO" "FMUL MUFU.EX2" "$(code exp True True)"
for lto in False True; do
    see "fastmath, div, LTO $lto" "FMUL.FTZ MUFU.RCP" "$(code div True $lto)"
    see "fastmath, sqrt, LTO $lto" "MUFU.SQRT" "$(code sqrt True $lto)"
    see "no fastmath, add, LTO $lto" FADD "$(code add False $lto)"
done
exit $changed
