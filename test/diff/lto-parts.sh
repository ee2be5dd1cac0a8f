#!/bin/bash
# lto-parts.sh [SEED...]: LTO-IR compiled in 1, 2 and 8 parts, and some in 3, by the real library.
#
# A split link gives the same program for any number of parts, but for the functions and variables that
# partscmp.py finds a reason for, and the same bytes for any number of threads. What is not split has nvlink's
# kernels, with the registers, stack and shared memory of nvlink's own -lto link, of which TABLE=1 prints a table
# (nvlink's number, then ours); and where partscmp.py finds no difference, and all constants are different, nvlink's code. The programs are those of test/diff/parts, fixtures, some of cub, LARGE=1 more
# of cub and of thrust, and random ones: $COUNT from seed $SEED on, or the seeds that are given. KEEP=FOLDER keeps
# the files. Needs CUDA; without it this is skipped, loudly.
. "$(dirname "$0")/../prelude.sh"
need 1 nvcc nvlink ptxas python3
use_recorded_tools
keep_work
need_nvjitlink 1
cd "$work" || exit 1
sources=$ROOT/test/diff/parts
arch=90
common="-lto -L$toolkit/lib64 -lcudadevrt"

compile() { # compile SOURCE OBJECT OPTION...
    source=$1 object=$2
    shift 2
    [ -e "$object" ] || all_declared nvcc -w -dc -gencode arch=compute_$arch,code=lto_$arch "$@" "$source" -o "$object" 2> log || { echo "lto-parts: $source"; cat log; exit 1; }
}
# shellcheck disable=SC2086
minilink() { "$BUILD/minilink" -arch=sm_$arch $common --cuda-path="$toolkit" "$@"; }
metrics() { "$BUILD/minidump" --info --sections "$1" > "$1.txt"; }
# partscmp KIND ONE MANY [NAME...]: one process compares all, as Python takes longer to begin.
coproc python3 "$ROOT/test/diff/partscmp.py" --each "$work/compared"
partscmp() {
    local words status
    printf -v words '\t%s' "$PWD/$2" "$PWD/$3" "${@:4}"
    printf '%s%s\n' "$1" "$words" >&"${COPROC[1]}" && read -r status <&"${COPROC[0]}" && cat "$work/compared" && return "$status"
}

# The row of a program: how many kernels, how many functions and variables differ in two, three and eight parts, and why.
row() {
    printf '%-24s %3d kernels' "$1" "$2"
    for n in 2 3 8; do
        [ -e text.$n ] && printf '  %d parts: %s' $n \
            "$(sed 's/.*: //' text.$n | sort | uniq -c | awk '{printf "%s%d %s", (NR > 1 ? ", " : ""), $1, $2}')"
        [ -e text.$n ] && [ ! -s text.$n ] && printf 'the same'
    done
    echo
}

# program NAME OBJECT...: all checks of one program.
program() {
    name=$1
    shift
    mkdir -p "$name.d" && cd "$name.d" || exit 1
    rm -rf -- *
    # shellcheck disable=SC2086
    runs "$name: nvlink" nvlink -arch=sm_$arch $common -nvvmpath="$nvvm" "$@" -o theirs.cubin
    runs "$name: one part" minilink --assembler=ptxas --lto-jobs=1 --keep=keep.one "$@" -o 1.cubin
    [ "$similar" = equal ] && runs "$name: one part is nvlink's" cmp theirs.cubin 1.cubin
    runs "$name: one part, split" minilink --assembler=builtin -split-compile-extended=2 --lto-jobs=1 --keep=keep.1 "$@" -o split.1.cubin
    kernels=$(grep -cE '^(\.visible |\.weak )?\.entry' keep.1/lto.ptx)
    # Constants without a name that have the same contents are one to the parts.
    hosts=()
    for object in "$@"; do hosts+=(-o "$object"); done
    differing=$(grep '^\.global .* __unnamed_' keep.one/lto.ptx | sed 's/.*=//' | sort | uniq -d | sed 's/.*/constants/')
    for n in ${parts:-2 8}; do
        [ "$n" -le "$kernels" ] || [ "$n" = 2 ] || continue
        runs "$name: $n parts, split" minilink --assembler=builtin -split-compile-extended=2 --lto-jobs=$n --keep=keep.$n "$@" -o split.$n.cubin
        if [ "$n" = 2 ]; then
            runs "$name: 2 parts, one thread" minilink --assembler=builtin -split-compile-extended=2 --threads=1 --lto-jobs=2 "$@" -o single.cubin
            runs "$name: 2 parts, the same on one thread" cmp single.cubin split.2.cubin
        fi
        runs "$name: the program of $n parts" partscmp text keep.1/lto.ptx keep.$n/lto.ptx
        grep . "$work/log" > text.$n
        [ -s text.$n ] || runs "$name: the bytes of $n parts" cmp split.1.cubin split.$n.cubin
        runs "$name: $n parts by ptxas" minilink --assembler=ptxas --lto-jobs=$n --keep=keep.whole.$n "$@" -o $n.cubin
        # Not split, other kernels may have met in a part.
        whole=("keep.whole.$n"/lto-*.ptx)
        [ -e "${whole[0]}" ] || whole=(keep.one/lto.ptx)
        "$BUILD/tool_parts" "${hosts[@]}" keep.one/lto.ptx > one.ptx && "$BUILD/tool_parts" "${hosts[@]}" "${whole[@]}" > whole.ptx
        runs "$name: the program of $n parts, not split" partscmp text one.ptx whole.ptx
        differing="$differing $(sed 's/:.*//' "$work/log" | tr '\n' ' ')"
        metrics theirs.cubin && metrics $n.cubin
        # shellcheck disable=SC2086
        runs "$name: registers of $n parts" partscmp metrics theirs.cubin.txt $n.cubin.txt $differing
        cp "$work/log" metrics.$n
        # shellcheck disable=SC2086
        runs "$name: code of $n parts" partscmp code theirs.cubin $n.cubin $differing
        sed "s/^/$name: $n parts: /" "$work/log"
    done
    row "$name" "$kernels"
    [ -z "${TABLE:-}" ] || cat metrics.*
    cd "$work" || exit 1
}

similar=equal
for unit in state state2 tables tables2 texts texts2 templates templates2 versions groups launch meet; do
    compile "$sources/$unit.cu" $unit.o
done
for unit in state texts texts2 state2; do compile "$sources/$unit.cu" $unit.line.o -lineinfo; done
compile "$sources/one/unit.cu" one.o -DNAME=one -DHOST=host_one
compile "$sources/two/unit.cu" two.o -DNAME=two -DHOST=host_two
cat > algorithms.cu << 'END'
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>
void run(void *t, size_t &n, int *in, int *out, int k) { cub::DeviceReduce::Sum(t, n, in, out, k), cub::DeviceScan::ExclusiveSum(t, n, in, out, k); }
END
cat > sorts.cu << 'END'
#include <cub/cub.cuh>
void run2(void *t, size_t &n, int *in, int *out, int k) {
    cub::DeviceRadixSort::SortKeys(t, n, in, out, k), cub::DeviceHistogram::HistogramEven(t, n, in, out, 10, 0, 1, k);
    cub::DeviceSelect::Unique(t, n, in, out, out + 1, k);
}
END
cat > vectors.cu << 'END'
#include <thrust/device_vector.h>
#include <thrust/reduce.h>
#include <thrust/sort.h>
#include <thrust/transform.h>
void run3(thrust::device_vector<float> &v) { thrust::sort(v.begin(), v.end()), v[0] = thrust::reduce(v.begin(), v.end()), thrust::transform(v.begin(), v.end(), v.begin(), thrust::negate<float>()); }
END
if [ $# = 0 ]; then
    program state ../state.o ../state2.o
    program tables ../tables.o ../tables2.o
    program texts ../texts.o ../texts2.o
    program folders ../one.o ../two.o
    program templates ../templates.o ../templates2.o
    program versions ../versions.o
    program groups ../groups.o
    parts='2 3 8' program all ../state.o ../tables.o ../texts.o ../one.o ../templates.o ../versions.o ../groups.o ../two.o ../templates2.o ../texts2.o ../tables2.o ../state2.o
    program lines ../state.line.o ../texts.line.o ../texts2.line.o ../state2.line.o
    similar=no # as libcudadevrt's machine code is merged
    program launch ../launch.o
    similar=equal
    # Why an unsplit link makes one part: what differs from one compilation is the same in both parts.
    for n in 1 2; do
        runs "meet: $n parts" minilink -vv --assembler=ptxas --lto-jobs=$n --keep=meet.$n meet.o -o meet.$n.cubin
    done
    runs "meet: both parts have the same function" test "$(grep -c 'several versions' log)" = 0
    runs "meet: one compilation tests the arguments" test "$(grep -c 'setp.*6;' meet.1/lto.ptx)" = 1
    runs "meet: parts do not, so they are no default" test "$(grep -c 'setp.*6;' meet.2/lto.ptx)" = 0
    program fixtures "$ROOT/fixtures/fatbin/a.lto.o" "$ROOT/fixtures/fatbin/b.lto.o"
    NVCC_PREPEND_FLAGS=-std=c++17 compile algorithms.cu algorithms.o
    program algorithms ../algorithms.o
    # Another NVVM, whose line information names inlined functions.
    arch=100
    for unit in state texts texts2 state2; do compile "$sources/$unit.cu" $unit.$arch.o -lineinfo; done
    program sm_100 ../state.100.o ../texts.100.o ../texts2.100.o ../state2.100.o
    arch=90
    if [ -n "${LARGE:-}" ]; then
        compile sorts.cu sorts.o
        compile vectors.cu vectors.o
        program large ../vectors.o ../algorithms.o ../sorts.o
    fi
fi

[ $# -gt 0 ] || set -- $(seq "${SEED:-1}" $((${SEED:-1} + ${COUNT:-2} - 1)))
for seed in "$@"; do
    for kind in any named; do
        mkdir -p "random.$seed.$kind"
        python3 "$ROOT/test/diff/random_cuda.py" "$seed" "random.$seed.$kind" $kind || exit 1
        objects=
        for unit in "random.$seed.$kind"/u?.cu; do
            compile "$unit" "${unit%.cu}.o"
            objects="$objects ../${unit%.cu}.o"
        done
        # shellcheck disable=SC2086
        program random-$seed-$kind $objects
    done
done
finish
