#!/bin/bash
# odd-path.sh: the tests run in a checkout whose path has quotes, spaces and what else a shell reads: test/run finds what
# passes and what fails, and golden cases, the demo and preloaded libraries work.
. "$(dirname "$0")/../prelude.sh"
odd="$work/it's a \"path\" \$x; \`y\` \\z *"
mkdir "$odd"
cd "$odd" || exit 1

# expect WHAT STATUS PATTERN COMMAND...
expect() {
    local what=$1 status=$2 pattern=$3 got
    shift 3
    "$@" > "$work/log" 2>&1
    got=$?
    if [ $got = "$status" ] && grep -qE -- "$pattern" "$work/log"; then
        pass
    else
        fail "$what: status $got" "$work/log"
    fi
}

# A tree with a unit test and two scripts, of which one looks at what it is handed.
mkdir -p tree/build tree/test/jobs tree/test/diff tree/test/gpu tree/test/golden/one
cp "$ROOT/test/run" "$ROOT/test/run-golden" tree/test
printf '#!/bin/sh\necho "100%%: Checks: 3, Failures: 0, Errors: 0"\n' > tree/build/check_one
printf '#!/bin/sh\necho "$(pwd) $BUILD"\ncase "$(pwd)$BUILD" in *[!A-Za-z0-9/._-]*) echo "0 passed, 1 failed"; exit 1 ;; esac\ntest -x $BUILD/check_one && echo "2 passed, 0 failed"\n' > tree/test/jobs/one.sh
printf '#!/bin/sh\necho "skipped in ${TMPDIR:-no folder}"\necho "4 passed, 0 failed, 5 skipped"\n' > tree/test/diff/two.sh
printf '#!/bin/sh\necho "0 passed, 0 failed, 1 skipped"\n' > tree/test/gpu/run.sh
printf 'test -x $BUILD/check_one && cat $ROOT/test/golden/one/in\n' > tree/test/golden/one/cmd
echo text > tree/test/golden/one/in
echo text > tree/test/golden/one/stdout
chmod +x tree/build/check_one tree/test/*/*.sh
alone() { env -u BUILD -u SANITIZE "$@"; }
expect "all that passes" 0 '^10 passed, 0 failed$' alone tree/test/run
expect "what is skipped" 0 '^6 skipped$' alone tree/test/run
mkdir bin && printf '#!/bin/sh\nexit 1\n' > bin/df && chmod +x bin/df
expect "memory of unknown size" 0 'skipped in no folder$' alone env -u TMPDIR PATH="$PWD/bin:$PATH" tree/test/run
echo 'exit 1' >> tree/build/check_one
expect "what fails" 1 '^10 passed, 1 failed$' alone tree/test/run
echo other > tree/test/golden/one/stdout
expect "a golden that fails" 1 '^9 passed, 2 failed$' alone tree/test/run
expect "goldens are rewritten" 0 . alone tree/test/run-golden --update
expect "and pass then" 0 '^1 passed, 0 failed$' alone tree/test/run-golden one

# The checkout itself under another name.
ln -s "$ROOT" checkout
ln -s "$BUILD" "build 'of' it"
export BUILD="$odd/build 'of' it"
expect "golden cases" 0 '^4 passed, 0 failed$' checkout/test/run-golden assembler-plugin lto shim link-two-objects
expect "the demo" 0 'out8.cubin' checkout/test/demo
[ -n "${SANITIZE:-}" ] || expect "a job with a preloaded library" 0 '^10 passed, 0 failed, 0 skipped$' env PROCESSES=10 checkout/test/jobs/random.sh
finish
