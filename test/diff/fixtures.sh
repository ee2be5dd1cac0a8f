#!/bin/bash
# fixtures.sh: what nvcc makes today of fixtures/src has the structure of the checked-in fixtures: entries,
# kinds, architectures, flags, option strings, roles. Sizes and module ids vary and are not compared.
. "$(dirname "$0")/../prelude.sh"
need 1 nvcc fatbinary
[ -z "${SANITIZE:-}" ] || skip_all 1 "remade in the plain build only"
mkdir "$work/new" "$work/old"
if ! NVCC_PREPEND_FLAGS=$more_declared "$ROOT/fixtures/remake" "$work/new" > "$work/log" 2>&1; then
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
    # What a toolkit from 13.4 on makes, or nvFatbin, is no part of what the machine's remakes.
    case $name in *.md | bad.* | concat* | relocatable_ptx.*) continue ;; esac
    if diff <(structure "$work/old" "$name") <(structure "$work/new" "$name") > "$work/diff"; then
        pass
    else
        fail "$name" "$work/diff"
    fi
done
finish
