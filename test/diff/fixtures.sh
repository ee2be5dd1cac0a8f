#!/bin/bash
# fixtures.sh: what nvcc makes today of fixtures/src has the structure of the checked-in fixtures: entries,
# kinds, architectures, flags, option strings, roles. Sizes and module ids vary and are not compared.
set -u
ROOT=$(cd "$(dirname "$0")/../.." && pwd)
BUILD=$(cd "${BUILD:-$ROOT/build}" && pwd) || exit 1
PATH="$BUILD:$PATH"
if ! command -v nvcc > /dev/null || ! command -v fatbinary > /dev/null; then
    echo "fixtures: nvcc or fatbinary is not on PATH: comparison SKIPPED"
    echo "0 passed, 0 failed, 1 skipped"
    exit 0
fi
if [ -n "${SANITIZE:-}" ]; then
    echo "fixtures: remade in the plain build only: SKIPPED"
    echo "0 passed, 0 failed, 1 skipped"
    exit 0
fi
passed=0 failed=0
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
mkdir "$work/new" "$work/old"
if ! "$ROOT/fixtures/remake" "$work/new" > "$work/log" 2>&1; then
    echo "failed: fixtures/remake"
    tail -n 20 "$work/log"
    echo "0 passed, 1 failed"
    exit 1
fi
cp "$ROOT"/fixtures/fatbin/* "$work/old"
structure() {
    (cd "$1" && minidump --fatbin --members --arch=sm_90 "$2" 2>&1) | sed -E 's/[0-9]+ (bytes|uncompressed)/N \1/g'
}
for file in "$work"/old/*; do
    name=$(basename "$file")
    case $name in *.md | bad.*) continue ;; esac
    if diff <(structure "$work/old" "$name") <(structure "$work/new" "$name") > "$work/diff"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "failed: $name"
        sed 's/^/    /' "$work/diff"
    fi
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
