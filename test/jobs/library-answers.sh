#!/bin/bash
# library-answers.sh: what the library answers, to right and to wrong calls, and with an assembler of the caller's.
. "$(dirname "$0")/../prelude.sh"
cd "$work" || exit 1
mkdir temporary && export TMPDIR=$work/temporary

for tool in answers assembler; do
    timeout 900 "$BUILD/tool_library_$tool" "$ROOT/fixtures" 3> report > printed 2>&1
    check "tool_library_$tool" "$?" 0
    grep ^failed report
    echo "$tool: $(tail -n 1 report)"
    check "nothing is printed by tool_library_$tool" "$(cat printed)" ""
done
finish
