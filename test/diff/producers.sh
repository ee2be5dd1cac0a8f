#!/bin/bash
# producers.sh: the code of links of what today's producers of PTX make (fixtures/producers, minilink-producers(7)), with ptxas,
# beside that of libnvJitLink: each alone, and two producers in one link. TOOLKITS: folders of programs, as for members.sh;
# without it the machine's toolkit.
. "$(dirname "$0")/../prelude.sh"
COUNT=17
[ -n "${TOOLKITS:-}" ] || need $COUNT ptxas
need $COUNT python3
cd "$ROOT/fixtures/producers" || exit 1

# code WHAT MINE THEIRS: whether functions and what belongs to each of them are equal; where data stands is another question.
code() {
    cubincmp "$2" "$3" > "$work/differences"
    grep -E '^(\.text|\.rela\.text|\.nv\.(info|constant0|shared|local)\.|cannot)' "$work/differences" > "$work/of-code"
    check "$release: $1" "$(cat "$work/of-code")" ""
}

# nvjitlink OUT TARGET FILE...: what libnvJitLink links; false where it takes the input for wrong.
nvjitlink() {
    local out=$1 target=$2
    shift 2
    LD_LIBRARY_PATH=$library nvjitlink_client link "$work/$out" -arch="$target" -- "${@/#/2:}" > "$work/results" 2>&1
    grep -q '^complete SUCCESS' "$work/results" && [ ! -s "$work/$out.errors" ]
}
ours() { rm -f "$work/mine.cubin"; minilink --cuda-path="$toolkit" --assembler=ptxas "$@" > "$work/said" 2>&1; }

# together WHAT TARGET FILE...: in one link. Assembled at once, a kernel may keep other registers across a call into another
# text: the code is that of one text with both. Assembled alone (-r) it is that of libnvJitLink.
together() {
    local what=$1 target=$2 file cubins=()
    shift 2
    nvjitlink theirs "$target" "$@" || { skip 2 "$release: libnvJitLink does not take $what" && return; }
    ours -arch="$target" "$@" -emit-ptx -o "$work/one.ptx" && nvjitlink one "$target" "$work/one.ptx" &&
        ours -arch="$target" "$@" -o "$work/mine.cubin"
    code "$what, assembled at once" "$work/mine.cubin" "$work/one.cubin"
    for file; do
        cubins+=("$work/${file%.ptx}.cubin")
        ours -r -arch="$target" "$file" -o "$work/${file%.ptx}.cubin"
    done
    ours -arch="$target" "${cubins[@]}" -o "$work/mine.cubin"
    code "$what, assembled alone" "$work/mine.cubin" "$work/theirs.cubin"
}

for bin in ${TOOLKITS:-"$(dirname "$(readlink -f "$(command -v ptxas)")")"}; do
    toolkit=${bin%/bin}
    library=$(dirname "$(find "$toolkit"/lib* "$toolkit"/targets -name 'libnvJitLink.so.1[23]' 2> /dev/null | head -n 1)")
    release=$("$bin/ptxas" --version | sed -n 's/.*release \([^,]*\).*/\1/p')
    [ -e "$library/libnvJitLink.so.13" ] || { skip $COUNT "$release: no libnvJitLink.so.13 in $toolkit" && continue; }
    for file in numba warp tinygrad tilelang cutlass triton mojo gcc numba-function; do
        target=$(sed -n 's/^\.target \(sm_90a\?\).*/\1/p' $file.ptx)
        if nvjitlink theirs "${target:=sm_90}" $file.ptx; then
            ours -arch="$target" $file.ptx -o "$work/mine.cubin"
            code "$file" "$work/mine.cubin" "$work/theirs.cubin"
        else
            skip 1 "$release: libnvJitLink does not take $file"
        fi
    done
    together "CUDA C++ with Numba" sm_90 nvcc.ptx numba.ptx numba-function.ptx
    together "clang with GCC" sm_90 clang.ptx gcc.ptx
    together "Triton with Warp" sm_90a triton.ptx warp.ptx
    together "all" sm_90a nvcc.ptx clang.ptx gcc.ptx numba.ptx numba-function.ptx triton.ptx warp.ptx tinygrad.ptx tilelang.ptx cutlass.ptx mojo.ptx
done
finish
