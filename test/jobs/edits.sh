#!/bin/bash
# edits.sh: a module that is edited in eight ways, in random order, and linked with another after each edit: a link with a
# cache gives the bytes, messages and lists of one without, and so does the next one, which finds all in the cache.
#
# The module is PTX for the built-in assembler and for ptxas, LTO-IR for a library of the tests, and nvcc's LTO-IR for the
# toolkit's libnvJitLink; where that or ptxas is not there, these are skipped, loudly. COUNT (4) is how many modules of PTX for each
# assembler, and CUDA_COUNT (1) how many of CUDA; SEED (1) is the first's. KEEP=FOLDER keeps the files.
. "$(dirname "$0")/../prelude.sh"
export LC_ALL=C
count=${COUNT:-4} found_parts=0
keep_work
cd "$work" || exit 1

# A module is a list of items, "KIND NAME VALUE USE...": kernels, functions (visible or internal) and variables (global or
# const), and what of them a kernel or function uses. A function uses only those that were made before it.
one_of() { random $#; shift "$number"; chosen=$1; }
names_of() { # names_of KIND...: those of the items of these kinds
    local item kind name
    names=()
    for item in "${items[@]}"; do
        read -r kind name _ <<< "$item"
        [[ " $* " != *" $kind "* ]] || names+=("$name")
    done
}
new_item() { # new_item KIND: at the end
    local uses=() i
    made=$((made + 1))
    case $1 in kernel | visible | internal)
        names_of visible internal global const
        for i in 1 2; do [ ${#names[@]} = 0 ] || { one_of "${names[@]}" helper && uses+=("$chosen"); }; done
        ;;
    esac
    random 1000
    items+=("$1 $1_$made $((number + 2)) ${uses[*]}")
}
item_of() { # item_of KIND...: `at` is the place of a random item of these kinds
    local i kind _
    names_of "$@"
    one_of "${names[@]}"
    for i in "${!items[@]}"; do
        read -r kind name _ <<< "${items[i]}"
        [ "$name" != "$chosen" ] || at=$i
    done
}
move_last() { # to a random place
    local last=${items[-1]} place
    random ${#items[@]}
    place=$number
    items=("${items[@]:0:place}" "$last" "${items[@]:place:${#items[@]}-1-place}")
}
set_value() {
    local kind name old uses
    read -r kind name old uses <<< "${items[at]}"
    random 1000
    [ $((number + 2)) != "$old" ] || number=1000
    items[at]="$kind $name $((number + 2)) $uses"
}
edit() {
    local item kept
    case $1 in
    body) item_of kernel visible internal && set_value ;;
    initializer) item_of global const && set_value ;;
    add)
        one_of visible internal kernel && [ "$chosen" = kernel ] || new_item "$chosen"
        new_item kernel && move_last
        ;;
    remove)
        item_of kernel visible internal
        kept=()
        for item in "${items[@]:0:at}" "${items[@]:at+1}"; do
            item="$item "
            while [[ $item = *" $chosen "* ]]; do item=${item/ $chosen / }; done
            kept+=("$item")
        done
        items=("${kept[@]}")
        ;;
    rename)
        item_of kernel visible internal global const
        made=$((made + 1))
        for at in "${!items[@]}"; do
            item="${items[at]} "
            while [[ $item = *" $chosen "* ]]; do item=${item/ $chosen / renamed_$made }; done
            items[at]=$item
        done
        ;;
    reorder)
        item_of kernel visible internal global const
        items=("${items[@]:0:at}" "${items[@]:at+1}" "${items[at]}")
        move_last
        ;;
    option)
        one_of -maxrregcount=40 -maxrregcount=50 -lineinfo -g -Xptxas=-O1 -Xptxas=-v --threads=3 -v && options=("$chosen")
        # The chunks have logs from then on, which a cache without their options would not have.
        [[ " ${line[*]} " != *" --assembler=builtin "* ]] || options+=(-Xptxas=-v)
        ;;
    touch) touch -d "@$((1000000000 + made))" ./*.in ;;
    esac
}

kind_of() {
    local item kind name _
    for item in "${items[@]}" "visible helper"; do
        read -r kind name _ <<< "$item"
        [ "$name" != "$1" ] || echo "$kind"
    done
}
# The module in each language, with its own names.
write_ptx() {
    local item kind name value uses use n=0 head
    printf '.version 8.0\n.target sm_90\n.address_size 64\n.extern .func (.param .b32 r) helper(.param .b32 p);\n'
    for item in "${items[@]}"; do
        read -r kind name value uses <<< "$item"
        case $kind in
        visible) echo ".visible .func (.param .b32 r) $name(.param .b32 p);" ;;
        internal) echo ".func (.param .b32 r) $name(.param .b32 p);" ;;
        global) echo ".visible .global .align 4 .u32 $name = $value;" ;;
        const) echo ".const .align 4 .u32 $name = $value;" ;;
        esac
    done
    for item in "${items[@]}"; do
        read -r kind name value uses <<< "$item"
        case $kind in
        kernel) head=".visible .entry $name(.param .u64 p)" ;;
        visible) head=".visible .func (.param .b32 r) $name(.param .b32 p)" ;;
        internal) head=".func (.param .b32 r) $name(.param .b32 p)" ;;
        *) continue ;;
        esac
        printf '%s\n{\n.reg .b32 %%r<3>;\n.reg .b64 %%d<2>;\n' "$head"
        if [ "$kind" = kernel ]; then
            printf 'ld.param.u64 %%d1, [p];\nld.global.u32 %%r1, [%%d1];\n'
        else
            printf 'ld.param.b32 %%r1, [p];\n'
        fi
        printf 'mul.lo.s32 %%r1, %%r1, %d;\n' "$value"
        for use in $uses; do
            n=$((n + 1))
            case $(kind_of "$use") in
            global) printf 'ld.global.u32 %%r2, [%s];\n' "$use" ;;
            const) printf 'ld.const.u32 %%r2, [%s];\n' "$use" ;;
            *) printf '.param .b32 i%d;\n.param .b32 o%d;\nst.param.b32 [i%d], %%r1;\ncall (o%d), %s, (i%d);\nld.param.b32 %%r2, [o%d];\n' \
                $n $n $n $n "$use" $n $n ;;
            esac
            printf 'xor.b32 %%r1, %%r1, %%r2;\n'
        done
        if [ "$kind" = kernel ]; then printf 'st.global.u32 [%%d1], %%r1;\n'; else printf 'st.param.b32 [r], %%r1;\n'; fi
        printf 'ret;\n}\n'
    done
}
write_cuda() {
    local item kind name value uses use
    echo 'extern __device__ int helper(int);'
    for item in "${items[@]}"; do
        read -r kind name value uses <<< "$item"
        case $kind in
        visible) echo "__device__ __noinline__ int $name(int);" ;;
        internal) echo "static __device__ __noinline__ int $name(int);" ;;
        global) echo "__device__ int $name = $value;" ;;
        const) echo "static __constant__ int $name = $value;" ;;
        esac
    done
    for item in "${items[@]}"; do
        read -r kind name value uses <<< "$item"
        case $kind in
        kernel) echo "__global__ void $name(int *p) { int r = *p * $value;" ;;
        visible) echo "__device__ __noinline__ int $name(int p) { int r = p * $value;" ;;
        internal) echo "static __device__ __noinline__ int $name(int p) { int r = p * $value;" ;;
        *) continue ;;
        esac
        for use in $uses; do
            case $(kind_of "$use") in
            global | const) echo "r ^= $use;" ;;
            *) echo "r ^= $use(r);" ;;
            esac
        done
        if [ "$kind" = kernel ]; then echo '*p = r; }'; else echo 'return r; }'; fi
    done
}

# The edited module, edited.in, and another, whose helper() it uses.
write_module() {
    case $language in
    ptx) write_ptx > edited.in ;;
    ltoir)
        # What the library makes of it is in FAKE_PTX; the cache knows it by its bytes.
        write_ptx > made.ptx
        { printf '\355\103\116\177 LTO-IR' && cat made.ptx; } > any.ltoir
        minifat --arch=sm_90 made.ptx --kind=nvvm any.ltoir --format=fatbin -o edited.in
        ;;
    cuda)
        write_cuda > edited.cu
        nvcc -dc -gencode arch=compute_90,code=lto_90 edited.cu -o edited.in
        ;;
    esac
}

# missed RUN: how many chunks and parts its cache did not have.
missed() { awk '/^  (chunks|LTO parts) .* not found/ {sum += $(NF - 4)} END {print sum + 0}' "stats.$1"; }

# check_link WHAT: without a cache, with what it has, and with what it has then.
check_link() {
    local run cache kind
    for run in none first again; do
        cache=(--cache-dir=cache --cache-stats)
        [ $run != none ] || cache=(--split-policy=stable)
        rm -f out out.$run
        minilink "${line[@]}" "${options[@]}" "${cache[@]}" edited.in "${others[@]}" --register-link-binaries=list.$run -o out > stats.$run 2> said
        echo "status $?" >> said
        # ptxas -v tells how long it took.
        sed 's/Compile time = .*/Compile time/' said > said.$run
        [ ! -e out ] || mv out out.$run
        [ $run != none ] || continue
        for kind in out said list; do
            if [ -e $kind.none ] || [ -e $kind.$run ]; then
                cmp -s $kind.none $kind.$run || { fail "$1: $kind differs, $run: ${line[*]} ${options[*]}" said.$run; return; }
            fi
        done
    done
    holds "$1: links" [ -e out.none ]
    check "$1: the next link finds all" "$(missed again)" 0
    [ "${1##* }" != touch ] || check "$1: is found" "$(missed first)" 0
    found_parts=$((found_parts + $(awk '/^  (chunks|LTO parts) .* found/ {sum += $(NF - 6)} END {print sum + 0}' stats.first)))
}

# edits LANGUAGE SEED NAME OPTION...: a module's edits, each after the one before.
edits() {
    local ways=(body add remove rename reorder initializer option touch) way kind
    language=$1 seed=$(($2 * 7919)) made=0 items=() options=()
    line=("${@:4}")
    mkdir "$1-$2-$3" && cd "$1-$2-$3" || exit 1
    export FAKE_PTX=$PWD/made.ptx
    others=("$work/helper.in")
    [ "$language" != cuda ] || others=("$work/helper.cuda.in")
    for kind in global const visible internal visible kernel kernel kernel kernel; do new_item $kind; done
    write_module
    check_link "${PWD##*/}, at first"
    while [ ${#ways[@]} -gt 0 ]; do
        random ${#ways[@]}
        way=${ways[number]}
        ways=("${ways[@]:0:number}" "${ways[@]:number+1}")
        edit $way
        case $way in option | touch) ;; *) write_module ;; esac
        check_link "${PWD##*/}, $way"
    done
    cd "$work" || exit 1
}

# A chunk for each few functions; one; exact chunks; a link that is not the last.
split=(-split-compile-extended=2 --minimum-chunk=1)
of_seed() { # of_seed SEED: `line` for it
    local target=("sm_90" "sm_100" "sm_120")
    line=(-arch="${target[$1 % 3]}")
    case $(($1 % 4)) in
    0) line+=("${split[@]}" -r) ;;
    1) line+=("${split[@]}") ;;
    2) line+=("${split[@]}" -lto --split-mode=exact --lto-source=ptx) ;;
    esac
}
items=("visible helper 3")
write_ptx | grep -v extern > helper.in
printf '__device__ int helper(int p) { return p * 3; }\n' > helper.cu
assemblers=(builtin)
use_recorded_tools
if command -v ptxas > /dev/null; then assemblers+=(ptxas); else skip 1 "ptxas is not installed"; fi
first=${SEED:-1}
for ((number_of = first; number_of < first + count; number_of++)); do
    for assembler in "${assemblers[@]}"; do
        of_seed $number_of
        edits ptx $number_of $assembler "${line[@]}" --assembler=$assembler
    done
    edits ltoir $number_of parts -arch=sm_90 -lto --nvjitlink="$BUILD/fake-nvjitlink.so" --assembler=builtin --lto-jobs=2 "${split[@]}"
done
# The toolkit's libnvJitLink, in parts and in one; ptxas takes what nvlink would have it take.
lto=(-arch=sm_90 -lto --lto-source=ltoir)
if ! command -v nvcc > /dev/null; then
    skip 1 "nvcc is not installed"
elif ! { nvcc -dc -gencode arch=compute_90,code=lto_90 helper.cu -o helper.cuda.in && minilink -w "${lto[@]}" helper.cuda.in -o out; } 2> said; then
    skip 1 "there is no libnvJitLink"
else
    for ((number_of = first; number_of < first + ${CUDA_COUNT:-1}; number_of++)); do
        edits cuda $number_of parts "${lto[@]}" --assembler=builtin --lto-jobs=2 "${split[@]}"
        edits cuda $number_of whole "${lto[@]}" --assembler=ptxas
    done
fi
check "a cache has some of the parts of an edited module" $((found_parts > 0)) 1
finish
