#!/bin/bash
# stable.sh: what an edit changes in the chunks of --split-policy=stable, and what such chunks cost.
#
# Programs: 1,000 kernels that `generate` writes, whose PTX is edited; and, where nvcc is, sources that
# are edited and compiled again: 128 kernels over 8 modules as PTX, and as LTO-IR that libnvJitLink makes one PTX of.
# A line for each edit: texts of chunks that were not there before it, with code and
# without. Then whole links of the 1,000 kernels under both policies in turns.
#
#     test/bench/stable.sh     ROUNDS=N: rounds of the links (3)
# shellcheck disable=SC2046,SC2086 # lists of files and options are words
. "$(dirname "$0")/prelude.sh"
each_toolkit "$@"
rm -rf "$work" && mkdir -p "$work" || exit 1
minilink="$BUILD/minilink -w -disable-infos -arch=sm_90 -split-compile-extended=2"
cd "$work" || exit 1

# chunks NAME INPUT...: writes a line for each chunk's text, "code HASH" or "data HASH".
chunks() {
    local name=$1 chunk
    shift
    rm -rf kept
    $minilink $lto --split-policy=stable --keep=kept "$@" --dry-run > messages 2>&1 || { cat messages; return 1; }
    for chunk in kept/chunk-*.ptx; do
        if grep -qE '^(\.[a-z]+ )?\.(entry|func).*[({]$' "$chunk" && grep -q '^{' "$chunk"; then echo "code $(md5sum < "$chunk")"; else echo "data $(md5sum < "$chunk")"; fi
    done | sort > "$name.chunks"
}

# edited WHAT INPUT...: what is new since `before`.
edited() {
    local what=$1
    shift
    chunks after "$@" || return
    printf '    %-52s %3d with code, %d without\n' "$what" "$(comm -13 before.chunks after.chunks | grep -c code)" \
        "$(comm -13 before.chunks after.chunks | grep -c data)"
}

start() {
    local name=$1
    shift
    chunks before "$@" && echo "stable $name: $(grep -c code before.chunks) chunks with code, $(grep -c data before.chunks) without; an edit makes new:"
}

# patch MODULE AWK: an edited copy of the module in edit/, the others as they are; prints all names.
patch() {
    rm -rf edit && mkdir edit && cp ./*.ptx edit/ && awk "$2" "$1" > "edit/$1" && ls edit/*.ptx
}

lto=""
"$ROOT/test/bench/generate" "$work/generated" 20 50 7000 || exit 1
(
    cd generated || exit 1
    start "1,000 kernels in 20 modules of PTX" ./*.ptx
    edited "nothing, in another folder" $(patch 007.ptx '{print}')
    edited "a comment in front of each function" $(patch 007.ptx '/^\.visible|^\.func/ {print "// new"} {print}')
    edited "a kernel's body, one line more" $(patch 007.ptx '{print} /ret;/ && ++n == 20 {print "\tret;"}')
    edited "a kernel's body, twice as long" $(patch 007.ptx '/^\.visible \.entry/ {k++} {print} k == 20 && /add.f32/ {print}')
    edited "a kernel gone" $(patch 007.ptx '/^\.visible \.entry/ {k++} k == 20 && /^\.visible \.entry/, /^}/ {next} {print}')
    edited "a kernel more" $(patch 007.ptx '/^\.visible \.entry/ && ++k == 20 {print ".visible .entry new_kernel()\n{\n\tret;\n}"} {print}')
    edited "a variable more" $(patch 007.ptx '/^\.(visible|global|const|func)/ && !n++ {print ".visible .const .b32 new_constant = 5;"} {print}')
    edited "a function that a module's kernels call" $(patch 007.ptx '/^\.func/ {f = 1} {print} f && /^{/ {print "\t.reg .b32 %new;"; f = 0}')
)

# compile FOLDER OPTION...: all sources that have no output yet.
compile() {
    local folder=$1
    shift
    find "$folder" -name '*.cu' | sort | while read -r source; do
        [ -e "${source%.cu}.$suffix" ] || echo "$source"
    done | xargs -P "$(nproc)" -I{} sh -c 'source={}; exec nvcc -std=c++17 -arch=sm_90 '"$*"' "$source" -o "${source%.cu}.'"$suffix"'" > /dev/null 2>&1'
}

# source MODULE: 16 kernels as a programmer writes them.
write_source() {
    local k
    echo '#include <cstdio>
#include <cassert>'
    if [ "$1" = 0 ]; then echo '__device__ __noinline__ float shared_function(float x, int n) { for (int i = 0; i < n; i++) x = x * 0.5f + sinf(x); return x; }'
    else echo 'extern __device__ float shared_function(float x, int n);'; fi
    echo "static __constant__ float table[8] = {1, 2, $1};
static __device__ __noinline__ float own(float x) { return x * table[3] + cosf(x); }"
    for k in $(seq 0 15); do
        echo "__global__ void kernel_${1}_$k(float *a, const float *b, int n) {
    __shared__ float tile[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float s = 0, stack[8] = {};
    for (int j = 0; j < n; j++) {
        tile[threadIdx.x] = b[i + j * $((k + 3))];
        __syncthreads();
        for (int l = 0; l < $((k % 7 + 2)); l++) s += tile[(threadIdx.x + l) & 255] * a[j + l], stack[(j + l) & 7] += s;
    }
    if (s > 1000) printf(\"kernel $1 $k: %f\\n\", stack[n & 7]);
    assert(s != $k);
    a[i] = s > 0 ? shared_function(s, n) : own(sqrtf(-s) + $k.5f);
}"
    done
}

# change MODULE SED: the sources again, one of them edited and compiled; prints the outputs' names.
change() {
    rm -rf now && cp -r sources now && sed -i "$2" "now/$1.cu" && rm "now/$1.$suffix" && (cd now && compile . $how) && ls now/*."$suffix"
}

# Edits that move no line, as assert() has the numbers of lines in the code.
# compiled NAME SUFFIX LTO OPTION...: edits of the sources.
compiled() {
    local name=$1 m
    suffix=$2 lto=$3
    shift 3
    how="$*"
    rm -rf now sources && mkdir now
    for m in 0 1 2 3 4 5 6 7; do write_source $m > now/$m.cu; done
    (cd now && compile . $how)
    cp -r now sources
    start "$name" now/*."$suffix" || return
    edited "a comment" $(change 3 '3s|$| // new|')
    edited "a kernel's body" $(change 3 '/kernel_3_5(/,/^}/ s/float s = 0/float s = n/')
    edited "a kernel's body, with a string and a stack frame" $(change 3 '/kernel_3_5(/,/^}/ s/int i = /if (n == 7) printf("new %d %p\\n", n, a); int i = /')
    edited "a static function that 16 kernels call" $(change 3 's/cosf(x)/tanf(x)/')
    edited "a function that all kernels call" $(change 0 's/x \* 0.5f/x * 0.7f/')
    edited "a kernel more, behind the others" $(change 3 '$a __global__ void kernel_new(int *p, int n) { p[n] = 5; if (n) printf("new\\n"); }')
    edited "a kernel more, in front of the others" $(change 3 '3s/^/__global__ void a_kernel(int *p, int n) { p[n] = 5; if (n) printf("new\\n"); } /')
    edited "a constant more" $(change 3 '3s/^/__constant__ int a_constant[7] = {5}; /')
}

if command -v nvcc > /dev/null; then
    compiled "128 kernels in 8 modules of nvcc's PTX" ptx "" -rdc=true -ptx
    compiled "the same with -lineinfo, without lines that move" ptx "" -rdc=true -lineinfo -ptx
    compiled "the same as LTO-IR, by libnvJitLink" o "-lto" -dc -dlto
else
    echo "stable: nvcc is not there: compiled programs are skipped"
fi

for assembler in builtin ptxas; do
    command -v $assembler > /dev/null || [ $assembler = builtin ] || { echo "stable: ptxas is not there: skipped"; continue; }
    ways=()
    for policy in balanced stable; do ways+=("$policy" "$minilink --assembler=$assembler --split-policy=$policy generated/*.ptx -o out.cubin"); done
    echo "stable: 1,000 kernels with $assembler, in turns:"
    in_turn "${ROUNDS:-3}" "${ways[@]}"
done
