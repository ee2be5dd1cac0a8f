#!/bin/bash
# report.sh: what is written about a link holds together, changes nothing of its output, and its page works in a browser,
# whatever names there are in it.
. "$(dirname "$0")/../prelude.sh"
export MINILINK_ASSEMBLER=builtin PYTHONDONTWRITEBYTECODE=1
cd "$work" || exit 1
F=$ROOT/fixtures

observing=(--report=r.html,r.json --time-trace=trace --time-trace-granularity=0 --map=map --stats -time times)

# Chunks on threads, calls through pointers, dead functions, options that differ, machine code beside PTX. A kernel and a
# member have names that would end the page's script, were they not escaped.
mkdir 'a<'
cp "$F/split/03_fwd_decl_func.ptx" 'a<script><img src=x onerror=harmed=1>.ptx'
cp "$F/split/03_fwd_decl_func.ptx" 'a</script><img src=x onerror=harmed=1>.ptx'
sed -i 's/\bk\([0-9]\)/other\1/g; s/\bf\b/g/g' 'a</script><img src=x onerror=harmed=1>.ptx'
cp "$F"/fatbin/[abc].lto.o "$F"/merge/20_dead-sm_90-?.o .
LC_ALL=C sed 's/_Z6kern_kPi/<\/script>xy/g' "$F/fatbin/k.sm90.cubin" > hostile.cubin
sed -i 's/\bk1\b/pointers/g' a*.ptx
inputs=('a<script><img src=x onerror=harmed=1>.ptx' 'a</script><img src=x onerror=harmed=1>.ptx' a.lto.o b.lto.o c.lto.o
    20_dead-sm_90-a.o 20_dead-sm_90-b.o hostile.cubin)
split() { "$BUILD/minilink" -arch=sm_90 -w --disable-infos -split-compile-extended=3 --minimum-chunk=1 "$@"; }
runs "such a program links" split "${inputs[@]}" -o plain.cubin
runs "and is told of" split "${inputs[@]}" -o seen.cubin "${observing[@]}"
runs "the output is the same when it is" cmp plain.cubin seen.cubin
runs "nothing but the files that were asked for is there" [ "$(ls | grep -vxE 'log|r\.html|r\.json|trace|map|times|plain\.cubin|seen\.cubin|a<|a<script>.*|.*\.o|hostile\.cubin')" = "" ]
runs "one script ends, and no name does it" [ "$(grep -o '</script>' r.html | wc -l)" = 2 ]
runs "no name is a tag" [ "$(grep -c '<img' r.html)" = 0 ]

# Under make's jobserver, without splitting, as a relocatable cubin, and where nothing is assembled.
printf 'all:\n\t+"$(MINILINK)" -arch=sm_90 -w --disable-infos --split-compile-extended=3 --minimum-chunk=1 a.lto.o b.lto.o c.lto.o -o jobs.cubin --time-trace=jobs.trace --report=jobs.json\n' > Makefile
runs "under a jobserver" make -s -j3 MINILINK="$BUILD/minilink"
runs "tokens are counted there" grep -q '"name":"tokens"' jobs.trace
one() { "$BUILD/minilink" -arch=sm_90 -w --disable-infos a.lto.o b.lto.o c.lto.o "$@"; }
runs "in one chunk" one -o one.cubin --report=one.json --time-trace=one.trace
runs "whose target is told" grep -q '"target": "sm_90"' <(sed -n '/"output": {/,/}/p' one.json)
runs "why it is one is told" grep -q '"single_chunk_reason": "[^"]' one.json
runs "and of several nothing" [ "$(grep -c single_chunk_reason r.json)" = 0 ]
runs "under -lto" one -lto -o lto.cubin --report=lto.json --time-trace=lto.trace
runs "relocatable" one -r -o r.cubin --report=relocatable.json --time-trace=relocatable.trace
runs "with --dry-run" one --dry-run --report=dry.json --time-trace=dry.trace
runs "with PTX as output" one -emit-ptx -o out.ptx --report=ptx.json --time-trace=ptx.trace
runs "on threads inside a chunk" one -Xptxas=-split-compile=3 -o inner.cubin --report=inner.json --time-trace=inner.trace --time-trace-granularity=0

# Machine code of all kinds, for targets with Mercury too; the output's name stands in it under -g.
mkdir many
merged=0
for first in "$F"/merge/*-a.o; do
    base=${first%-a.o} name=$(basename "${first%-a.o}")
    arch=$(grep -oE 'sm_[0-9]+a?' <<< "$name") || arch=sm_90
    for mode in -w -r -g; do
        told=(--report="many/$name$mode.json" --map=many/map)
        if "$BUILD/minilink" -w --disable-infos -arch="$arch" "$base"-?.o $mode -o many/x > log 2>&1; then
            merged=$((merged + 1))
            mv many/x many/plain
            "$BUILD/minilink" -w --disable-infos -arch="$arch" "$base"-?.o $mode -o many/x "${told[@]}" > log 2>&1 && cmp many/x many/plain >> log 2>&1 ||
                { echo "failed: $name $mode"; cat log; touch many/failed; }
        fi
    done
done
runs "merges are the same when they are told of, $merged of them" [ ! -e many/failed -a $merged -gt 100 ]
calls() { tr -d ' \n' < "many/$1.json" | grep -o "\"$2\":\[[0-9,]*\]" | sort -u | tr '\n' ' '; }
runs "a kernel's call is told" [ "$(calls 07_call-sm_90-w calls)" = '"calls":[1] "calls":[] ' ]
runs "and what it may call by a pointer" [ "$(calls 10_fptr-sm_90-w may_call)" != "" ]
printf '.version 8.0\n.target sm_90\n.address_size 64\n.visible .func f() { ret; }\n.visible .entry k() { call f, (); ret; }\n.visible .entry m() { call f, (); call f, (); ret; }\n' > callers.ptx
runs "a function with two callers" "$BUILD/minilink" -arch=sm_90 callers.ptx -o many/x --report=many/callers.json
runs "each call is told once" [ "$(tr -d ' \n' < many/callers.json | grep -o '"calls":\[[0-9,]*\]' | paste -sd ' ')" = '"calls":[] "calls":[0] "calls":[0]' ]

# Chunks that other machines assemble.
runs "by a distributor" split "${inputs[@]}" --distributor="$BUILD/tool_distribute" -o far.cubin --report=far.json --time-trace=far.trace
runs "whose time is told" grep -q '"kind": "jobs"' far.json

# Chunks that a cache has.
mkdir kept && chmod 700 kept
runs "with a cache" split "${inputs[@]}" --cache-dir=kept -o first.cubin --report=first.json --time-trace=first.trace
runs "which has all the second time" split "${inputs[@]}" --cache-dir=kept -o second.cubin --report=second.json --time-trace=second.trace
runs "the first time chunks are missed" grep -q '"state": "miss"' first.json
runs "the second time they are found" [ "$(grep -c '"state": "hit"' second.json)" -gt 1 ]

if ! command -v python3 > /dev/null; then
    skip 2 "python3 is not there: what the files say, and the page"
else
    find_python
    runs "the data and the trace hold together" python3 "$ROOT/test/report.py" data r.json trace
    runs "those of merges too" python3 "$ROOT/test/report.py" all many/*.json
    runs "the page holds the data" python3 "$ROOT/test/report.py" same r.html r.json
    for name in far first second jobs one lto relocatable dry ptx inner; do
        runs "$name: they hold together" python3 "$ROOT/test/report.py" data $name.json $name.trace
    done
    if [ -n "${SANITIZE:-}" ]; then
        skip 1 "the page in a browser is looked at in the plain build"
    elif command -v chromium > /dev/null || command -v chromium-browser > /dev/null || command -v google-chrome > /dev/null; then
        TMPDIR=$work python3 "$ROOT/test/report.py" page r.html > page.log 2>&1
        [ $? = 0 ] || echo "failed: the browser's end" >> page.log
        passed=$((passed + $(grep -c '^passed: ' page.log))) failed=$((failed + $(grep -c '^failed: ' page.log)))
        grep -q '^failed: ' page.log && sed 's/^/    /' page.log
    else
        skip 1 "Chromium is not there: the page in a browser"
    fi
fi
finish
