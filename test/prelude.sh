# prelude.sh: what every test script begins with; each sources it.
#
# ROOT is the source tree, BUILD the folder with the programs, which are first on PATH; work is a folder of the script's
# own, which goes with it. Nothing of the caller's make or of minilink's environment is seen.
set -u
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
BUILD=$(cd "${BUILD:-$ROOT/build}" && pwd) || exit 1
PATH=$BUILD:$PATH
unset MAKEFLAGS MAKELEVEL MFLAGS MINILINK_ASSEMBLER MINILINK_CACHE_DIR MINILINK_NVJITLINK LIBRARY_PATH
passed=0 failed=0 skipped=0
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

# check WHAT GOT WANTED: counts whether they are equal, and says what differs.
check() {
    if [ "$2" = "$3" ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        printf 'failed: %s: %s, not %s\n' "$1" "${2:0:2000}" "${3:0:2000}"
    fi
}

# runs WHAT COMMAND...: counts whether the command succeeds, and shows what it said, and fails, when it does not.
runs() {
    local what=$1
    shift
    if "$@" > "$work/log" 2>&1; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "failed: $what: $*"
        head -n 20 "$work/log" | sed 's/^/    /'
        return 1
    fi
}

# holds WHAT COMMAND...: counts whether a condition holds; when it does not, shows `messages`, the last command's.
holds() {
    local what=$1
    shift
    if "$@"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "failed: $what"
        cat messages 2> /dev/null
    fi
}

# skip_all COUNT WHY: ends the script, whose COUNT checks cannot be made here.
skip_all() {
    echo "$(basename "$0" .sh): $2: SKIPPED"
    echo "0 passed, 0 failed, $1 skipped"
    exit 0
}

# need COUNT TOOL...: the same where one of the tools is not there.
need() {
    local count=$1 tool
    shift
    for tool; do
        command -v "$tool" > /dev/null || skip_all "$count" "$tool is not there"
    done
}

# keep_work: with KEEP=FOLDER, work is that folder, which stays.
keep_work() {
    [ -n "${KEEP:-}" ] || return 0
    rm -rf "$work"
    trap - EXIT
    mkdir -p "$KEEP" && work=$(cd "$KEEP" && pwd) || exit 1
}

# finish: says what was counted, and ends the script.
finish() {
    echo "$passed passed, $failed failed, $skipped skipped"
    [ "$failed" -eq 0 ]
    exit
}
