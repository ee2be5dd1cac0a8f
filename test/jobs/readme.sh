#!/bin/bash
# readme.sh: README's examples run as they stand, and print the lines that are shown under them.
#
# An example is an indented line that begins with `$ ` (a backslash continues it); what is shown stands
# under it, where `...` leaves lines out. Files go to build/, for which another folder stands in here.
. "$(dirname "$0")/../prelude.sh"
mkdir "$work/build" && ln -s "$ROOT/fixtures" "$work/fixtures" && cd "$work" || exit 1
for program in minilink minidump minifat libminilink.so.0; do ln -s "$BUILD/$program" build/; done
has_clang=$(command -v clang > /dev/null && clang -print-targets 2> /dev/null | grep nvptx64)

# run COMMAND: its output goes to the file output.
run() {
    case $1 in
    clang\ *)
        if [ -z "$has_clang" ]; then
            skip 1 "clang with an NVPTX back end is not installed: $1"
            cp fixtures/examples/*.ptx build/
            : > output
            return
        fi
        ;;
    *\ python3\ *)
        # Python has no sanitizer, which must come first.
        if [ -n "${SANITIZE:-}" ] || ! command -v python3 > /dev/null; then
            skip 1 "python3 is not installed, or a sanitizer is in the library: $1"
            shown=''
            return
        fi
        ;;
    esac
    if bash -c "$1" > output 2>&1; then pass; else fail "$1" output; fi
}
shows() {
    [ "$1" != ... ] || return
    if grep -qxF -- "$1" output; then pass; else fail "no line '$1'"; fi
}

partial='' shown=''
: > output
while IFS= read -r line; do
    case $line in
    '    '*) line=${line#    } ;;
    *) shown='' && continue ;;
    esac
    if [ -n "$partial" ]; then
        partial="$partial $line"
    else
        case $line in
        '$ '*) partial=${line#\$ } ;;
        *)
            [ -z "$shown" ] || shows "$line"
            continue
            ;;
        esac
    fi
    case $partial in
    *\\)
        partial=${partial%\\}
        continue
        ;;
    esac
    shown=yes
    run "$partial" < /dev/null
    partial=''
done < "$ROOT/README.md"
[ $((passed + failed)) -ge 6 ] || { echo "failed: README has fewer examples than expected" && failed=1; }
finish
