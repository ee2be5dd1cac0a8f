#!/bin/bash
# nvjitlink-versions.sh: names, accepted options, results of wrong calls and of whole links of NVIDIA's libnvJitLink, as they
# are recorded in test/nvjitlink, which ours is compared with (test/jobs/nvjitlink.sh). Where pip has put ptxas beside the
# library, ours and minilink -lto, with both, make of LTO-IR the cubins of that library, for CUDA 12 to the byte. LIBRARIES:
# the libraries, of CUDA 12.0 to 13.5, separated by blanks; without it, those beside the programs in TOOLKITS. Otherwise it
# is skipped, loudly.
. "$(dirname "$0")/../prelude.sh"
source "$ROOT/test/nvjitlink/recorded.sh"
source "$ROOT/test/nvjitlink/links.sh"
for bin in ${TOOLKITS:-}; do
    library=$(echo "$bin"/../lib*/libnvJitLink.so.1[23])
    [ ! -e "$library" ] || LIBRARIES="${LIBRARIES:-} $library"
done
[ -n "${LIBRARIES:-}" ] || skip_all 1 "LIBRARIES names no libnvJitLink"
cd "$work" || exit 1
mapfile -t words < <(option_words)
link_inputs || fail "what is linked"

# 12.0 to 12.2 read past the end of what is no object; whether they crash then is chance.
certain() { case $version in 12.[0-2]) grep -vE -- '-- 5:(text|scaled\.fatbin):' ;; *) cat ;; esac; }

# like_theirs CUBIN OPTIONS: whether it is theirs.cubin; or, where the library writes the variables of these inputs in an
# order that changes from run to run, whether it has the same symbols.
like_theirs() {
    case $version$2 in
    13.* | *-g | *-O0 | *-Ofc=max) diff <(names_in "$1") <(names_in theirs.cubin) ;;
    *) cmp "$1" theirs.cubin ;;
    esac
}
names_in() { minidump --symbols "$1" | sed -E '1,/^symbols/d; s/, value [^,]*//' | LC_ALL=C sort; }

# link_alike OPTIONS INPUT...: by the library, ours and minilink, if the library does it at all: some options are new.
link_alike() {
    local words inputs=("${@:2}")
    read -ra words <<< "-arch=sm_90 -lto $1"
    rm -f ./*.cubin
    "$client" link theirs "${words[@]}" -- "${inputs[@]}" > log 2>&1
    [ -s theirs.cubin ] || return
    made=$((made + 1))
    LD_LIBRARY_PATH=$BUILD/nvjitlink CUDA_HOME=$home "$client" link ours "${words[@]}" -- "${inputs[@]}" > log 2>&1
    cat ours.errors >> log
    runs "$version: LTO-IR $1, by ours" like_theirs ours.cubin "$1"
    [ -z "$1" ] || return
    "$BUILD/minilink" -arch=sm_90 -lto --assembler=ptxas --cuda-path="$home" "${inputs[@]#3:}" -o minilink.cubin \
        > log 2>&1
    runs "$version: LTO-IR, by minilink" like_theirs minilink.cubin ""
}

for library in $LIBRARIES; do
    exported "$library" > names
    version=$(sed -n 's/^__nvJitLinkCreate_\([0-9]*\)_\([0-9]*\)@.*/\1.\2/p' names | sort -V | tail -n 1)
    client=$BUILD/nvjitlink_client
    [ "${version%.*}" = 13 ] || client=${client}_${version/./_}
    runs "$version: the names" diff <(names_of "$version") names
    export LD_LIBRARY_PATH=${library%/*}
    # One run for each where the library may crash.
    if [ "${version%.*}" = 13 ]; then
        "$client" options "${words[@]}" > got 2> /dev/null
    else
        for word in "${words[@]}"; do
            said=$("$client" options "$word" 2> /dev/null) || said="$word: crash"
            echo "$said"
        done > got 2> /dev/null
    fi
    runs "$version: the options" diff <(options_of "$version") got
    "$client" nulls > got 2> /dev/null
    runs "$version: wrong calls" diff <(wrong_calls_of "$version") got
    while IFS= read -r line; do echo "$line: $(statuses "$line" "$client")"; done < <(link_lines) > got
    runs "$version: the links" diff <(links_of "$version" | certain) <(certain < got)
    home=${library%/*/*}
    [ -x "$home/bin/ptxas" ] || home=${home%/*}
    if [ ! -x "$home/bin/ptxas" ] && [ ! -x "$home/cuda_nvcc/bin/ptxas" ]; then
        skip 1 "$version: LTO-IR: no ptxas beside $library"
        continue
    fi
    made=0
    for options in "" -g -lineinfo -maxrregcount=16 -O0 -Xptxas=-O1 -Ofc=max "-ftz=1 -prec-div=0 -prec-sqrt=0 -fma=0" \
        -kernels-used=one -variables-used=open "-kernels-used=one -variables-used=open" -optimize-unused-variables; do
        link_alike "$options" 3:links/scale.ltoir 3:links/scaled.ltoir
        link_alike "$options" 3:links/names.ltoir
    done
    runs "$version: LTO-IR is linked" test $made -gt 6
done
finish
