# recorded.sh: what was measured of NVIDIA's libraries 12.0 to 12.6, 12.8, 12.9 and 13.0 to 13.5 by the client of that version.
# shellcheck shell=bash

# names_of VERSION: the names that the library of that version exports, as nm prints them. `names` has each function, and
# the first version that has it. nvJitLinkVersion and __nvJitLinkAPI have no other name; plain names begin with 12.3.
names_of() {
    local major=${1%.*} minor
    awk -v version="$1" '{split($2, first, "."); split(version, now, ".")}
        first[1] < now[1] || (first[1] == now[1] && first[2] + 0 <= now[2] + 0) {print $1}' "$ROOT/test/nvjitlink/names" |
        while read -r name; do
            case $1 in 12.[0-2]) ;; *) echo "$name@libnvJitLink.so.$major" ;; esac
            case $name in nvJitLinkVersion | __*) continue ;; esac
            for minor in $(seq 0 "${1#*.}"); do echo "__${name}_${major}_$minor@libnvJitLink.so.$major"; done
        done | LC_ALL=C sort
}

# recorded_of TABLE VERSION: the lines of a table, each with its result in that version. A line has what was tried, the first
# version with its result, and each later one whose result was another.
recorded_of() {
    awk -v version="$2" '
        function number(text, parts) { split(text, parts, "."); return parts[1] * 100 + parts[2] }
        {
            at = match($0, /: 12\.0 /)
            count = split(substr($0, at + 2), changes, ", ")
            for (i = 1; i <= count; i++) {
                split(changes[i], change, " ")
                if (number(change[1]) <= number(version)) result = change[2]
            }
            print substr($0, 1, at - 1) ": " result
        }' <(grep -v '^#' "$ROOT/test/nvjitlink/$1")
}

# options_of VERSION: what nvJitLinkCreate() says to each line of options.
options_of() { recorded_of options "$1"; }
option_words() { sed 's/: 12\.0 .*//' "$ROOT/test/nvjitlink/options"; }

# wrong_calls_of VERSION: what `nulls` says. CUDA 12's libraries have fewer results and no LTO-IR as output, 13.0 and
# 13.1 only the latter. Those before 12.3 crash where NULL is given for options, and 12.0 where a complete link gets an input.
wrong_calls_of() {
    case $1 in
    12.[0-2]) wrong_calls_of 12.3 | sed -E '/^create with NULL|^version/d; /^create without/s/: .*/: MISSING_ARCH/
        /^add (no bytes|NULL)/s/: .*/: INTERNAL/; /^add behind/s/: .*/: PTX_COMPILE/' |
        if [ "$1" = 12.0 ]; then sed '/^add behind/,$d'; else cat; fi ;;
    12.*) sed -E '/^LTO-IR/d; s/NULL_INPUT|INCORRECT_INPUT_TYPE/INVALID_INPUT/g' "$ROOT/test/nvjitlink/wrong-calls" ;;
    13.[01]) sed '/^LTO-IR/d' "$ROOT/test/nvjitlink/wrong-calls" ;;
    *) cat "$ROOT/test/nvjitlink/wrong-calls" ;;
    esac
}

# exported FILE: the names that a library exports.
exported() { nm -D --with-symbol-versions --defined-only "$1" | awk '$2 == "T" {print $3}' | sed 's/@@/@/' | LC_ALL=C sort; }

# options_of_ours VERSION: what ours says in that version's place: the same, but for the lines of `differences`, which give
# our result as CUDA 12's and as CUDA 13's.
options_of_ours() {
    options_of "$1" | awk -v major="${1%.*}" -F ': ' '
        NR == FNR {if ($0 !~ /^#/) {split($2, results, ", "); ours[$1] = results[major - 11]}; next}
        {print $1 ": " ($1 in ours && ours[$1] != "the same" ? ours[$1] : $2)}' "$ROOT/test/nvjitlink/differences" -
}

# refused_in VERSION: the lines of `refused` for that version. refused_of VERSION FILE: what that version takes, and FILE, which
# has what ours says to each line of options, does not.
refused_in() { sed -n "/^#/!s/: .*\b${1/./\\.}\b.*//p" "$ROOT/test/nvjitlink/refused" | LC_ALL=C sort; }
refused_of() { LC_ALL=C comm -23 <(options_of "$1" | grep ': SUCCESS$' | LC_ALL=C sort) <(LC_ALL=C sort "$2") | sed 's/: SUCCESS$//'; }
