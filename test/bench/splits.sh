#!/bin/bash
# splits.sh: whole links of PTX, which nvlink assembles on one processor, member by member, in chunks on two.
#
# Shapes: 1,000 kernels over 20 modules; one module of 294 kernels, 12.9 MB; two kernels that call 900 KB of
# functions, which copied into every chunk would cost many times that; and nvcc's objects with 128 kernels over 8
# modules, and with 1,000 over 20. A line for each round: wall and CPU time of
# nvlink and of minilink with ptxas on two threads, in turns. Where other programs run, wall time says little: half
# of the CPU ratio is what the wall ratio is on two idle processors.
#
#     test/bench/splits.sh [SHAPE...]     kernels module functions objects-128 objects-1000; BENCH_ROUNDS=N (3)
# shellcheck disable=SC2048,SC2086 # lists of options are words
set -u
cd "$(dirname "$0")/../.." || exit 1
BUILD=$(cd "${BUILD:-build}" && pwd) || exit 1
work=$BUILD/bench/splits
unset MAKEFLAGS MAKELEVEL MFLAGS MINILINK_ASSEMBLER MINILINK_CACHE_DIR
export LC_ALL=C
for tool in nvlink ptxas; do
    command -v $tool > /dev/null || { echo "splits: $tool is not there: skipped"; exit 0; }
done
for program in bench_generate bench_measure; do
    [ -x "$BUILD/$program" ] || { echo "splits: $program is not built (make bench)"; exit 1; }
done
root=$PWD
mkdir -p "$work" && cd "$work" || exit 1

compute() { awk "BEGIN { printf \"%.${2:-2}f\", $1 }"; }

# Kernels become functions that two kernels call.
make_functions() {
    awk '
        /^\.visible \.entry/ { name = $3; sub(/\(.*/, "", name); names[count++] = name; sub(/\.entry/, ".func") }
        { print }
        END {
            for (k = 0; k < 2; k++) {
                print ".visible .entry both" k "(.param .u64 p, .param .u64 q, .param .u32 r)\n{\n\t.reg .b64 %rd<3>;\n\t.reg .b32 %r<2>;"
                print "\tld.param.u64 %rd1, [p];\n\tld.param.u64 %rd2, [q];\n\tld.param.u32 %r1, [r];"
                for (i = k; i < count; i++) {
                    print "\t{\n\t.param .b64 param0;\n\tst.param.b64 [param0], %rd1;\n\t.param .b64 param1;\n\tst.param.b64 [param1], %rd2;"
                    print "\t.param .b32 param2;\n\tst.param.b32 [param2], %r1;\n\tcall.uni " names[i] ", (param0, param1, param2);\n\t}"
                }
                print "\tret;\n}"
            }
        }'
}

generate() {
    [ -e "$1/complete" ] && return 0
    local folder
    rm -rf "$1" && mkdir "$1" || exit 1
    case $1 in
    kernels) "$BUILD/bench_generate" "$1" 20 50 7000 ;;
    module) "$BUILD/bench_generate" "$1" 1 294 44000 ;;
    objects-*)
        command -v nvcc > /dev/null || return 1
        case $1 in *-128) folder=$(BUILD=$BUILD "$root/test/bench/make-objects" 128 8) ;; *) folder=$(BUILD=$BUILD "$root/test/bench/make-objects" 1000 20) ;; esac
        cp "$folder"/*.o "$1/" && touch "$1/complete"
        return
        ;;
    functions) "$BUILD/bench_generate" made 1 42 22000 && make_functions < made/000.ptx > "$1/000.ptx" ;;
    *) echo "splits: no shape '$1'" >&2; exit 1 ;;
    esac || exit 1
    for source in "$1"/*.ptx; do "$BUILD/minifat" "$source" -o "${source%.ptx}.fatbin" || exit 1; done
    touch "$1/complete"
}

# took COMMAND...: wall and CPU milliseconds, and peak MiB of the largest process.
took() {
    local wall own children peak
    read -r wall own children peak <<< "$("$BUILD/bench_measure" "$@")"
    echo "${wall:-0} $((${own:-0} + ${children:-0})) $((${peak:-0} / 1024))"
}

for shape in ${*:-kernels module functions objects-128 objects-1000}; do
    generate "$shape" || { echo "splits $shape: nvcc is not there: skipped"; continue; }
    inputs=$(find "$shape" -name '*.o' -o -name '*.fatbin' | sort -V)
    options="-w -disable-infos -arch=sm_90 --assembler=ptxas -split-compile-extended=2"
    echo "splits $shape:" \
        "$("$BUILD/minilink" $options --explain-split --dry-run $inputs | awk 'NR == 1 {what = $0} /copies of small/ {c = $(NF - 1)} END {print what ", with " c + 0 " bytes of copies"}')" \
        "($(nproc) CPUs, load $(cut -d' ' -f1 /proc/loadavg)):"
    for _ in $(seq "${BENCH_ROUNDS:-3}"); do
        read -r their_wall their_cpu their_peak <<< "$(took nvlink -arch=sm_90 $inputs -o theirs.cubin)"
        read -r wall cpu peak <<< "$(took "$BUILD/minilink" $options -j 2 $inputs -o ours.cubin)"
        printf '    nvlink %6.0f ms (CPU %6d, %4d MiB)  minilink %6.0f ms (CPU %6d, %4d MiB)  ratio %s, by half of the CPU %s\n' \
            "$their_wall" "$their_cpu" "$their_peak" "$wall" "$cpu" "$peak" "$(compute "$wall / $their_wall")" "$(compute "$cpu / $their_cpu / 2")"
    done
done
