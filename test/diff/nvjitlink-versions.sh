#!/bin/bash
# nvjitlink-versions.sh: names, accepted options, results of wrong calls and of whole links of NVIDIA's libnvJitLink, as they are recorded in
# test/nvjitlink, which ours is compared with (test/jobs/nvjitlink.sh). LIBRARIES: the libraries, of CUDA 12.0 to 13.5,
# separated by blanks; without it, those beside the programs in TOOLKITS. Otherwise it is skipped, loudly.
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
    runs "$version: the links" diff <(links_of "$version") got
done
finish
