#!/bin/bash
# bitcode.sh: beside clang's own way, its nvlink wrapper with full link-time optimisation: the same kernels, the same
# variables that the host may set, and kernels that take no more registers in all. Without its tools SKIPPED.
. "$(dirname "$0")/../prelude.sh"
cd "$work" || exit 1
need 8 nvlink ptxas
cp "$ROOT"/fixtures/examples/bitcode/*.bc "$ROOT/fixtures/bitcode/parts.bc" . || exit 1
find_llvm 19 clang-nvlink-wrapper clang || skip_all 8 "clang, clang-nvlink-wrapper and libLLVM of one version are not there"
# LLVM 22's wrapper loses the kernels of bitcode in which they are not marked as 22 itself does it.
for module in *.bc; do
    clang-$llvm -x ir --target=nvptx64-nvidia-cuda -emit-llvm -Xclang -disable-llvm-passes -c "$module" -o new && mv new "$module"
done

# kernels CUBIN, variables CUBIN: names; registers CUBIN: of all kernels together.
kernels() { minidump --symbols "$1" | sed -n 's/^ *\([a-z]*\): GLOBAL FUNC,.*/\1/p' | sort | tr '\n' ' '; }
variables() { minidump --symbols "$1" | sed -n 's/^ *\([a-z]*\): GLOBAL OBJECT,.*/\1/p' | sort | tr '\n' ' '; }
registers() {
    local sum=0 count
    for count in $(minidump --info "$1" | sed -n 's/^ *REGCOUNT <[a-z]*> //p'); do sum=$((sum + count)); done
    echo $sum
}

for program in "scale.bc helper.bc" parts.bc; do
    # shellcheck disable=SC2086 # several files
    {
        runs "$program: clang's" clang-nvlink-wrapper-$llvm -arch sm_75 --plugin-opt=O3 -o theirs.cubin $program
        minilink -disable-infos -arch=sm_75 -lto --llvm="$library" --assembler=ptxas $program -o ours.cubin
    }
    check "$program: kernels" "$(kernels ours.cubin)" "$(kernels theirs.cubin | grep . || echo some)"
    check "$program: variables" "$(variables ours.cubin)" "$(variables theirs.cubin)"
    ours=$(registers ours.cubin) theirs=$(registers theirs.cubin)
    check "$program: $ours registers, not more than $theirs" "$((ours > 0 && ours <= theirs))" 1
done
finish
