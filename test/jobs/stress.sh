#!/bin/bash
# stress.sh: hundreds of links in one process, under a jobserver, with random threads and random faults
# of memory, threads, disk and assembler, interrupted by signals: the same bytes or a clean error each
# time, and nothing left over. LINKS (600) is how many.
. "$(dirname "$0")/../prelude.sh"
cd "$work" || exit 1
links=${LINKS:-600}
F=$ROOT/fixtures/fatbin

# stress WHAT SEED COMMAND...: COMMAND runs the links under it.
stress() {
    what=$1 seed=$2
    shift 2
    if "$@" "$BUILD/tool_stress" "$links" "$seed" "$BUILD/sample-plugin.so" \
        "$F"/a.lto.o "$F"/b.lto.o "$F"/c.lto.o > messages 2>&1 && grep -q ', 0 failures$' messages; then
        pass
        echo "$what: $(tail -n 1 messages)"
    else
        fail "$what"
        tail -n 20 messages | sed 's/^/    /'
    fi
    [ -z "$(ls -A | grep -v messages)" ] || { fail "$what leaves $(ls -A)"; rm -f ./*; }
}
# A sanitizer must come first, and looks at memory itself.
faults=()
if [ -n "${SANITIZE:-}" ]; then
    links=$((links / 3))
else
    # LD_PRELOAD takes no path with a space.
    preload=$(mktemp -d) || exit 1
    trap 'rm -rf "$work" "$preload"' EXIT
    cp "$BUILD/fault.so" "$preload"
    faults=(env LD_PRELOAD="$preload/fault.so")
fi
stress "no jobserver" 1 "${faults[@]}"
stress "a pipe" 2 "$BUILD/tool_jobserver" pipe 7 "${faults[@]}"
stress "a fifo" 3 "$BUILD/tool_jobserver" fifo 1 "${faults[@]}"
finish
