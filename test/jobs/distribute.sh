#!/bin/bash
# distribute.sh: chunks that other machines assemble, played by tool_distribute, which takes the job file only when LLVM's
# distributors would: the same bytes and the same messages as in a link alone; whatever a distributor does wrong ends with a
# message that says so, without an output, and with nothing left behind. Plans, too.
. "$(dirname "$0")/../prelude.sh"
die_of_signals
export MINILINK_ASSEMBLER=builtin
cd "$work" || exit 1
F=$ROOT/fixtures/fatbin
mkdir out

# A kernel for each name, a function that they share, and something to warn of.
program() {
    printf '.version 7.0\n.target sm_70\n.address_size 64\n.visible .func (.reg .b32 r) shared(.reg .b32 x)\n{ add.s32 r, x, 1; ret; }\n'
    for name; do
        printf '.visible .entry %s(.param .u64 p)\n.minnctapersm 2\n{\n.reg .b32 a, b; .reg .b64 q;\nld.param.u64 q, [p];\n' "$name"
        printf 'mov.u32 a, %d;\ncall.uni (b), shared, (a);\nst.u32 [q], b;\nret;\n}\n' "${#name}"
    done
}
program one three fifteen twentyone > program.ptx
split=(minilink -arch=sm_90 -split-compile-extended=2 --chunks=4 --minimum-chunk=1 --split-policy=kernel -o out/x)
abc=("${split[@]}" "$F/a.lto.o" "$F/b.lto.o" "$F/c.lto.o")
by() { echo --distributor=tool_distribute; for word; do echo "--distributor-arg=$word"; done; }

# same WHAT COMMAND... -- OPTION...: with the options the command makes the same bytes, and says the same but for what it says
# of the assembler; the output without them is in the file alone.
same() {
    local what=$1 command=()
    shift
    while [ "$1" != -- ]; do command+=("$1"); shift; done
    shift
    rm -rf out/*
    "${command[@]}" > said.alone 2>&1 && mv out/x alone || { cat said.alone; return 1; }
    "${command[@]}" "$@" > said 2>&1
    holds "$what: status" [ $? = 0 ]
    holds "$what: bytes" cmp alone out/x
    holds "$what: messages" diff <(grep -v 'info    : assembler ' said.alone) <(grep -v 'info    : assembler ' said)
    holds "$what: leaves nothing" [ "$(ls -A out)" = x ]
}
mapfile -t well < <(by)
same "a link" "${abc[@]}" -- "${well[@]}"
same "a link under -v, with statistics and warnings" "${split[@]}" -v -Xptxas -v program.ptx -- "${well[@]}"
grep -q 'warning' said || fail "nothing was warned of" said
same "a link of one chunk" minilink -arch=sm_90 -v -Xptxas -v -o out/x program.ptx -- "${well[@]}"
same "a whole program" minilink -arch=sm_90 -lto --lto-source=ptx -disable-infos -o out/x program.ptx -- "${well[@]}"
same "a link by a plug-in" "${split[@]}" --assembler=plugin:"$BUILD/sample-plugin.so" program.ptx -- "${well[@]}"
for arch in sm_90a sm_100 sm_100f sm_120; do
    same "a link for $arch" "${split[@]}" -arch=$arch program.ptx -w -- "${well[@]}"
done
same "with debug information" "${split[@]}" -g -lineinfo -maxrregcount=64 -w program.ptx -- "${well[@]}"
mapfile -t killed < <(by --way=kill)
same "jobs that are killed and run again" "${split[@]}" -w program.ptx -- "${killed[@]}"
mapfile -t listed < <(by --log=list)
same "a list of jobs" "${split[@]}" -w program.ptx -- "${listed[@]}"
holds "the facts of each job list its kernels" [ "$(sort list | tr '\n' ' ')" = "0 1 1 1 1 " -o "$(sort list | tr '\n' ' ')" = "1 1 1 1 " ]
mapfile -t named < <(by "two words" "it's" '"quoted"')
same "odd words for the distributor" "${split[@]}" -w program.ptx -- "${named[@]}"

# Odd names: of the folder, and so of all job files.
for name in "two words" "it's" '"quoted"' 'back\slash' $'new\nline' '$HOME `ls`' -dash $'\xc3\xa4'; do
    mkdir -p -- "$name"
    "${split[@]}" -w program.ptx "${well[@]}" -o "$name/x" > said 2>&1
    holds "an output in folder '$name'" cmp alone "./$name/x"
    holds "an output in folder '$name' leaves nothing" [ "$(ls -A -- "$name")" = x ]
done
mkdir $'latin\xe4'
"${split[@]}" -w program.ptx "${well[@]}" -o $'latin\xe4/x' > said 2>&1
holds "a name that JSON cannot hold" [ $? != 0 ]
holds "a name that JSON cannot hold is said to be none" grep -q "fatal   : The name 'latin.*' cannot stand in a file of jobs: it is no UTF-8" -a said
holds "a name that JSON cannot hold leaves nothing" [ -z "$(ls -A $'latin\xe4')" ]
"${split[@]}" -w program.ptx "${well[@]}" -o - > piped 2> said
holds "an output that is a pipe" cmp alone piped

# bad STATUS MESSAGE OPTION...: fails so, with nothing left.
bad() {
    local status=$1 message=$2
    shift 2
    rm -rf out/*
    "$@" > said 2>&1
    holds "$message: status" [ $? = "$status" ]
    holds "$message" grep -q -- "$message" said
    holds "$message: leaves nothing" [ -z "$(ls -A out)" ]
}
ways() { mapfile -t way < <(by "--way=$1" --job=2); bad "$2" "$3" "${split[@]}" -w program.ptx "${way[@]}"; }
bad 3 "fatal   : Could not find the distributor 'not-there' on PATH" "${split[@]}" -w program.ptx --distributor=not-there
bad 1 "fatal   : The distributor './not-there' could not be run: No such file" "${split[@]}" -w program.ptx --distributor=./not-there
bad 1 "fatal   : The distributor './program.ptx' could not be run: Permission denied" "${split[@]}" -w program.ptx --distributor=./program.ptx
ways status 1 "fatal   : The distributor 'tool_distribute' ended with status 7"
ways signal 1 "fatal   : The distributor 'tool_distribute' was killed by signal 11"
ways none 3 "error   : There is no result of chunk 0, with "
ways skip 3 "error   : There is no result of chunk 2, with kernel '"
for way in garbage zero half tail flip swap; do
    ways $way 1 "error   : The result of chunk 2 cannot be used: it is not what its report says was written"
done
ways folder 1 "error   : The result of chunk 2 cannot be used: .* cannot be read: Is a directory"
ways fifo 1 "error   : The result of chunk 2 cannot be used: .* cannot be read: "
ways report 1 "error   : The result of chunk 2 cannot be used: its report is damaged"
mapfile -t hanging < <(by --way=hang)
bad 1 "fatal   : The distributor 'tool_distribute' was ended, as it took more than [0-9]* s (--timeout for each job)" "${split[@]}" -w program.ptx "${hanging[@]}" --timeout=1
bad 2 "Only one of --distributor, --emit-plan and --resume-plan" "${split[@]}" program.ptx "${well[@]}" --emit-plan=plan

# A chunk that cannot be assembled: the same messages, and who failed.
sed 's/mov.u32 a, 7;/mov.u32 a, c;/' program.ptx > wrong.ptx
"${split[@]}" wrong.ptx > said.alone 2>&1
for way in ok fail; do
    mapfile -t way < <(by --way=$way)
    "${split[@]}" wrong.ptx "${way[@]}" > said 2>&1
    holds "a chunk that cannot be assembled: status" [ $? = 1 ]
    holds "a chunk that cannot be assembled: messages" diff said.alone <(grep -v "The distributor '" said)
    holds "a chunk that cannot be assembled: the distributor's status" grep -q "fatal   : The distributor 'tool_distribute' ended with status 1" said
done

# ptxas, played by a script: nobody vouches for its cubins, and its messages come as the distributor hands them on.
cat > ptxas << 'END'
#!/bin/sh
[ "$1" = --version ] && { echo "release 1"; echo "build 2"; exit; }
for word; do case $word in -arch=*) arch=$word ;; esac; last=$word; done
while [ $# -gt 3 ]; do shift; done
grep -q 'mov.u32 a, c;' "$1" && { echo "ptxas $1, line 9; error   : Unknown symbol 'c'"; exit 255; }
echo "ptxas info    : something of $(basename "$1" | sed 's/[0-9a-f]*/N/')"
grep -q fifteen "$1" && echo "ptxas $1, line 4; warning : something about a line"
exec minilink --assemble-chunk=relocatable --assembler=builtin -w $arch "$1" -o "$3"
END
chmod +x ptxas
real=("${split[@]}" --assembler=ptxas --ptxas="$work/ptxas" -v)
ways() { mapfile -t way < <(by "--way=$1" --job=2); bad "$2" "$3" "${real[@]}" program.ptx "${way[@]}"; }
rm -rf out/*
"${real[@]}" program.ptx > said.alone 2>&1 && mv out/x alone
mapfile -t logging < <(by --way=log)
"${real[@]}" program.ptx "${logging[@]}" > said 2>&1
holds "ptxas, with logs: bytes" cmp alone out/x
normal() { grep -v 'info    : assembler ' "$1" | sed 's,something of .*,something,'; }
holds "ptxas, with logs: messages" diff <(normal said.alone) <(normal said)
"${real[@]}" program.ptx "${well[@]}" > said 2>&1
holds "ptxas, without logs: bytes" cmp alone out/x
holds "ptxas, without logs: a warning has its place" grep -q "warning : chunk 1(program.ptx):4: something about a line" said
"${real[@]}" program.ptx "${well[@]}" --distributor-tool="$BUILD/minilink" > said 2>&1
holds "ptxas, run by minilink: bytes" cmp alone out/x
holds "ptxas, run by minilink: messages" diff <(normal said.alone) <(normal said)
"${real[@]}" wrong.ptx "${well[@]}" > said 2>&1
holds "ptxas, without logs: a job that failed" grep -q "could not be assembled by 'ptxas'" said
holds "ptxas, without logs: what it said" grep -q "Unknown symbol 'c'" said
for way in garbage zero; do ways $way 1 "error   : The result of chunk 2 cannot be used: its [0-9]* bytes are no ELF file"; done
for way in half tail; do ways $way 1 "error   : The result of chunk 2 cannot be used: it is a damaged cubin"; done
ways swap 1 "error   : The result of chunk 2 cannot be used: it lacks kernel '"
ways skip 3 "error   : There is no result of chunk 2, with kernel '"
# Another machine's ptxas makes other code, which nobody vouches for: no link by itself finds it in the cache, nor
# one that goes on with a plan, nor one by another distributor.
sed 's/^exec/sed -i "s,mov.u32 a\\, 7;,mov.u32 a\\, 8;," "$1"; &/' ptxas > ptxas-there
chmod +x ptxas-there
"${real[@]}" program.ptx > said 2>&1 && mv out/x alone
doubted=("${real[@]}" program.ptx --cache-dir="$work/doubted")
"${doubted[@]}" "${logging[@]}" --distributor-tool="$work/ptxas-there" > said 2>&1
holds "ptxas there: other code" [ -s out/x -a "$(cmp alone out/x > same 2>&1; echo $?)" = 1 ]
"${doubted[@]}" > said 2>&1
holds "ptxas there: none of it here" cmp alone out/x
rm -rf doubted
"${doubted[@]}" "${logging[@]}" --distributor-tool="$work/ptxas-there" > said 2>&1
"${doubted[@]}" "${logging[@]}" > said 2>&1
holds "ptxas there: none of it by ptxas elsewhere" cmp alone out/x
rm -rf doubted
"${doubted[@]}" --emit-plan=plan.json --distributor-tool="$work/ptxas-there" > said 2>&1
tool_distribute plan.json > said 2>&1
"${doubted[@]}" --resume-plan=plan.json --distributor-tool="$work/ptxas-there" > said 2>&1
holds "ptxas there, a plan: other code" [ -s out/x -a "$(cmp alone out/x > same 2>&1; echo $?)" = 1 ]
"${doubted[@]}" > said 2>&1
holds "ptxas there, a plan: none of it here" cmp alone out/x
rm -rf doubted plan.json plan.json.d
# A cubin of another target, as a worker with another assembler would give.
sed -i 's/exec minilink/arch=-arch=sm_80; &/' ptxas
bad 1 "error   : The result of chunk . cannot be used: it is for sm_80, where code for sm_90 was asked for" "${real[@]}" program.ptx "${well[@]}"

# minilink as a tool.
"$BUILD/minilink" --assemble-chunk=relocatable -arch=sm_90 -w program.ptx -o out/x > said 2>&1
holds "one chunk by hand" [ -s out/x ]
bad 3 "and the link has 'encoding 0': both must be of one version" minilink --assemble-chunk=relocatable -arch=sm_90 --assembler-version="encoding 0" program.ptx -o out/x
bad 2 "fatal   : --assemble-chunk needs one input file, -o and -arch=sm_NN" minilink --assemble-chunk=whole program.ptx -o out/x
bad 3 "fatal   : Could not open input file 'gone.ptx'" minilink --assemble-chunk=whole -arch=sm_90 gone.ptx -o out/x
bad 1 "error   : elfLink JIT compile failed: 'wrong.ptx' could not be assembled by 'builtin'" minilink --assemble-chunk=whole -arch=sm_90 wrong.ptx -o out/x

# Parts of LTO-IR, by a library that stands in for NVIDIA's; then chunks of what they have made.
ptx_kernels kernel_{1..8} > made.ptx
make_ltoir made.ptx
export SAMPLE_LOG=$work/parts.log
lto=("${split[@]}" -disable-infos -lto --nvjitlink="$BUILD/fake-nvjitlink.so" --lto-jobs=3 -vv in.fatbin)
rm -rf out/* parts.log
"${lto[@]}" > said.alone 2>&1 && mv out/x alone
rm -f parts.log
"${lto[@]}" "${listed[@]}" > said 2>&1
holds "LTO parts: bytes" cmp alone out/x
holds "LTO parts: were run by the distributor" [ "$(grep -c ^start parts.log)" = 3 ]
ways() { mapfile -t way < <(by "--way=$1" --job="$2"); bad 1 "$3" "${lto[@]}" "${way[@]}"; }
for way in half tail; do
    ways $way 1 "error   : The result of LTO part 1 cannot be used: 'out/.*' does not begin as a result of its size"
done
for way in garbage zero flip; do
    ways $way 1 "error   : The result of LTO part 1 cannot be used: it is not what its report says was written"
done
ways skip 1 "error   : There is no result of LTO part 1"
ways status 0 "fatal   : The distributor 'tool_distribute' ended with status 7"
# A job whose answer cannot be read back says so, and reports nothing. The answer is the last but one of its words.
cat > nowhere << 'END'
#!/bin/bash
mapfile -t words < <(sed -n '/"jobs"/,$d; /"args"/,/]/s/^ *"\([^"]*\)",\{0,1\}$/\1/p' "$1"
    sed -n '1,/"jobs"/d; /"args"/,/]/s/^ *"\([^"]*\)",\{0,1\}$/\1/p' "$1")
"${words[@]:0:4}" /dev/null "${words[5]}" > said.job 2>&1
echo "$? $(ls "${words[5]}" 2> none)" >> said.job
exit 1
END
chmod +x nowhere
bad 1 "fatal   : The distributor './nowhere' ended with status 1" "${lto[@]}" --distributor=./nowhere
holds "an answer that cannot be read back" [ "$(cat said.job)" = "minilink fatal   : Could not read '/dev/null': Invalid argument
3 " ]
unset FAKE_PTX SAMPLE_LOG
# What the cache has is no job, and what jobs have made is kept.
cache=(--cache-dir="$work/cache")
rm -rf out/*
"${split[@]}" -w program.ptx -o alone
"${split[@]}" -Xptxas -v program.ptx > said.alone 2>&1
for round in "4 jobs" "0 jobs"; do
    : > list
    "${split[@]}" -Xptxas -v program.ptx "${cache[@]}" "${listed[@]}" > said 2>&1
    holds "a cache, $round: bytes" cmp alone out/x
    holds "a cache, $round: messages" diff said.alone said
    holds "a cache, $round" [ "$(wc -l < list)" = "${round% *}" ]
done
mkdir edited
sed 's/mov.u32 a, 7;/mov.u32 a, 8;/' program.ptx > edited/program.ptx
: > list
(cd edited && "${split[@]}" -Xptxas -v -o ../out/x program.ptx "${cache[@]}" --distributor=tool_distribute --distributor-arg=--log="$work/list") > said 2>&1
holds "a cache: an edit is one job" [ "$(wc -l < list)" = 1 ]

# A plan: its jobs are run by somebody else, the link is finished later.
rm -rf out/*
"${split[@]}" -w program.ptx && mv out/x alone
planned() { "${split[@]}" -w program.ptx "$@" > said 2>&1; }
planned --emit-plan=plan.json
holds "a plan is written" [ $? = 0 ]
holds "a plan is no link" [ -z "$(ls -A out)" ]
bad 3 "error   : There is no result of chunk 0, with " planned --resume-plan=plan.json
holds "the plan's jobs" tool_distribute plan.json
planned --resume-plan=plan.json
holds "a plan that is gone on with: bytes" cmp alone out/x
find plan.json plan.json.d -printf '%p %i %T@\n' | grep -v 'plan.json.d ' | sort > before
planned --emit-plan=plan.json
holds "a plan of the same again changes nothing" diff before <(find plan.json plan.json.d -printf '%p %i %T@\n' | grep -v 'plan.json.d ' | sort)
bad 1 "fatal   : Plan 'plan.json' is not that of this link: its jobs have another command" planned --resume-plan=plan.json -maxrregcount=32
mv program.ptx kept.ptx
cp edited/program.ptx program.ptx
bad 1 "fatal   : Plan 'plan.json' is not that of this link: the inputs have changed: chunk . is another" "${split[@]}" -w program.ptx --resume-plan=plan.json
bad 3 "fatal   : Could not read plan 'none.json': No such file" planned --resume-plan=none.json
mkfifo fifo.json
bad 3 "fatal   : Could not read plan 'fifo.json': It is not a regular file" planned --resume-plan=fifo.json
mkdir folder.json
bad 3 "folder.json" planned --emit-plan=folder.json
"${split[@]}" -w program.ptx --emit-plan=plan.json
holds "an edit of a kernel changes one chunk of the plan" [ "$(comm -13 <(cut -d' ' -f1 before | grep ptx$ | sort) <(ls -d plan.json.d/*.ptx | sort) | wc -l)" = 1 ]
mv kept.ptx program.ptx
holds "what the plan no longer has is gone" [ "$(ls plan.json.d/*.ptx | wc -l)" = "$(grep -c 'ptx$' <(cut -d' ' -f1 before))" ]
planned --emit-plan=plan.json
tool_distribute plan.json
# Results that are damaged, and a plan that is.
result=$(ls plan.json.d/*.cubin | head -n 1)
cp "$result" whole
: > "$result"
bad 1 "cannot be used: it is not what its report says" planned --resume-plan=plan.json
cp whole "$result"
size=$(stat -c %s plan.json)
cp plan.json whole.json
last=$(grep -o '[0-9a-f]*[.]cubin"' whole.json | tail -n 1)
last=$(grep -bo "$last" whole.json | head -n 1 | cut -d: -f1)
for ((cut = 0; cut < last; cut += size / 40)); do
    head -c $cut whole.json > plan.json
    bad 1 "fatal   : Plan 'plan.json' is not that of this link: it" planned --resume-plan=plan.json
done
for text in '{}' '[]' '{"common": {"args": []}, "jobs": []}' '{"common": 1, "jobs": 2}' '{"jobs": [{"outputs": [1]}], "common": {"args": [1]}}'; do
    echo "$text" > plan.json
    bad 1 "fatal   : Plan 'plan.json' is not that of this link: it" planned --resume-plan=plan.json
done
sed "s/$(grep -o '[0-9a-f]*[.]cubin"' whole.json | head -n 1)/0123456789abcdef0123456789abcdef.cubin\"/" whole.json > plan.json
bad 1 "fatal   : Plan 'plan.json' is not that of this link: the inputs have changed" planned --resume-plan=plan.json
cp whole.json plan.json
rm -rf out/*
planned --resume-plan=plan.json
holds "mended, it is gone on with" cmp alone out/x
# Nothing to assemble.
minilink -arch=sm_90 "$F/k.sm90.cubin" -o out/x --emit-plan=empty.json > said 2>&1
holds "a plan of a link without PTX" tool_distribute empty.json
rm -rf out/*
minilink -arch=sm_90 "$F/k.sm90.cubin" -o out/x --resume-plan=empty.json > said 2>&1
holds "a link without PTX is finished" [ -s out/x ]
finish
