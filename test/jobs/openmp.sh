#!/bin/bash
# openmp.sh: a program with OpenMP's target regions, in the host objects of clang, links with LLVM's device runtime: one
# kernel, with what it calls of another file, and nothing missing. Needs a clang, its runtime and its libLLVM; else SKIPPED.
. "$(dirname "$0")/../prelude.sh"
cd "$work" || exit 1
# shellcheck source=test/jobs/llvm
. "$ROOT/test/jobs/llvm"
cat > sum.c << 'END'
int helper(int);
int sum(const int *a, int n)
{
    int s = 0;
#pragma omp target teams distribute parallel for reduction(+ : s) map(to : a[0 : n])
    for (int i = 0; i < n; i++)
        s += helper(a[i]);
    return s;
}
END
# The runtime of LLVM 16 needs constants that clang defines itself, except with -nogpulib.
cat > helper.c << 'END'
#pragma omp begin declare target
int helper(int x) { return 3 * x + 1; }
const unsigned __omp_rtl_debug_kind = 0, __omp_rtl_assume_teams_oversubscription = 0, __omp_rtl_assume_threads_oversubscription = 0;
const unsigned __omp_rtl_assume_no_thread_state = 0, __omp_rtl_assume_no_nested_parallelism = 0;
#pragma omp end declare target
END

# The newest that has all.
clang='' runtime='' newest=''
for library in "${libraries[@]}"; do
    version=$(grep -oE '[0-9]+' <<< "$(basename "$library")" | head -n 1)
    found=$(find /usr/lib/llvm-"$version" -name 'libomptarget-nvptx-sm_75.bc' 2> /dev/null | head -n 1)
    if [ -n "$found" ] && command -v clang-"$version" > /dev/null; then clang=clang-$version runtime=$found newest=$library; fi
done
[ -n "$clang" ] || skip_all 6 "no clang with libLLVM and OpenMP's runtime for GPUs (Debian: clang-19, libomp-19-dev) is installed"
for file in sum helper; do
    "$clang" -O2 -fopenmp -fopenmp-targets=nvptx64-nvidia-cuda -Xopenmp-target=nvptx64-nvidia-cuda -march=sm_75 -foffload-lto \
        -nogpuinc -nogpulib -c $file.c -o $file.o > messages 2>&1 || skip_all 6 "$clang makes no code for GPUs"
done
link() { minilink -disable-infos -arch=sm_75 -lto --llvm="$newest" sum.o helper.o "$@" -o out.cubin > messages 2>&1; }
holds "a program links with the runtime" link "$runtime"
mv out.cubin wanted
minidump --symbols wanted > said
# LLVM 16's runtime calls the program's functions for a reduction by their addresses.
grep 'FUNC,' said | grep -v ' _omp_reduction_list_to_global_[a-z_]*: LOCAL' > functions
check "one kernel, and nothing else is left to call" "$(grep -c '' functions) $(grep -c '__omp_offloading_.*_sum' functions)" "1 1"
check "nothing is missing" "$(grep 'in UNDEF' said)" ""
link --lto-jobs=3 "$runtime"
holds "in parts it has the same bytes" cmp -s wanted out.cubin
rm -f out.cubin
link "${runtime%/*}/libomptarget.devicertl.a"
holds "with the archive that has the runtime for each GPU, too" cmp -s wanted out.cubin
if command -v ptxas > /dev/null; then
    holds "ptxas takes it" link --assembler=ptxas "$runtime"
else
    skip 1 "ptxas is not there"
fi
finish
