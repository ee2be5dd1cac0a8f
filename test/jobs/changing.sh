#!/bin/bash
# changing.sh: a link whose inputs or tools change while it runs says so, with status 3 and the file's name, writes
# no output and keeps nothing, with a cache and without; whatever else is written to in a folder, every output is
# that of one version of the inputs.
#
# LINKS (300) is how many links run beside a writer, for each of two ways to write.
. "$(dirname "$0")/../prelude.sh"
# A page that is gone is minilink's own to tell of.
die_of_signals
export LC_ALL=C
links=${LINKS:-300}
[ -z "${SANITIZE:-}" ] || links=$((links / 3))
cd "$work" || exit 1
umask 022

# version N KERNEL: a PTX module of one kernel, of the same size for each digit N.
version() {
    printf '.version 8.0\n.target sm_90\n.address_size 64\n.visible .entry %s(.param .u64 p)\n{\n' "$2"
    printf '.reg .b32 %%r<2>;\n.reg .b64 %%rd<2>;\nld.param.u64 %%rd1, [p];\n'
    printf 'mov.u32 %%r1, %d;\nst.global.u32 [%%rd1], %%r1;\nret;\n}\n' "$1"
}

# ptxas, played by a script, which changes things when it is told to.
cat > ptxas-of-tests << 'END'
#!/bin/sh
[ "$1" = --version ] && { echo "release 1"; echo "build 2"; exit; }
while [ $# -gt 3 ]; do shift; done
[ -z "${CHANGE:-}" ] || sh -c "$CHANGE" || exit 1
exec minilink --assemble-chunk=relocatable --assembler=builtin -w -arch=sm_90 "$1" -o "$3"
END
chmod +x ptxas-of-tests

# What a folder has before a case: two inputs, a library, a thin archive, LTO-IR and tools.
make_pattern() {
    mkdir pattern && cd pattern || exit 1
    version 1 one > in.ptx
    version 1 two > two.ptx
    version 2 one > other.ptx
    minifat --arch=sm_90 in.ptx -o in.fatbin
    minifat --arch=sm_90 other.ptx -o other.fatbin
    cp "$ROOT/fixtures/fatbin/a.ptxonly.o" member.o
    cp "$ROOT/fixtures/fatbin/b.lto.o" other.o
    ar rc libplain.a member.o
    ar rcT thin.a member.o
    printf '\355\103\116\177 LTO-IR' > any.ltoir
    minifat --arch=sm_90 in.ptx --kind=nvvm any.ltoir -o lto.fatbin
    cp "$BUILD/fake-nvjitlink.so" "$BUILD/sample-plugin.so" .
    cp ../ptxas-of-tests ptxas
    { cat ptxas; echo '# another'; } > ptxas.other
    printf '#!/bin/sh\nexec "$@"\n' > wrapper
    chmod +x ptxas.other wrapper
    echo in.ptx > words
    echo in.ptx > inner
    echo @inner > words.inner
    mkfifo last
    mkdir -m 700 kept
    cd ..
}
make_pattern
# A copy was written to a moment ago, as what is made anew was.
prepare() { cp -R pattern "$1"; }

# gone_wrong WHAT FILE STATUS: whether the link has said that FILE has changed, and left nothing.
gone_wrong() {
    if [ "$3" != 3 ] || ! grep -qE "fatal   : (Input file|Tool) '$2' (changed while the link ran|became shorter)" said; then
        fail "$1: status $3" said
    elif [ -e out ] || [ -e list ] || [ -e dep ] || [ -e report.json ] || [ -e plan ] || ls ./*.?????? 2> /dev/null | grep -q 'out\.\|list\.'; then
        fail "$1: leaves something"
    elif [ -n "$(find kept -type f ! -name pruned)" ]; then
        fail "$1: keeps something"
    else
        pass
    fi
}

# Whoever writes to the pipe is done, unless the link has never opened it.
end_writer() { kill $! 2> /dev/null; wait; }

# meanwhile WHAT FILE CHANGE COMMAND...: the link has an operand more, a pipe, that it opens behind the others, and that
# says nothing before CHANGE is done.
meanwhile() {
    local what="$round: $1" file=$2 change=$3
    shift 3
    number=$((number + 1))
    cd "$(printf '%s-%02d' "$round" $number)" || exit 1
    { exec 3> last; eval "$change"; version 1 last >&3; exec 3>&-; } &
    minilink -arch=sm_90 -o out "$@" last > said 2>&1
    gone_wrong "$what" "$file" $?
    end_writer
    cd ..
}

# assembling WHAT FILE CHANGE COMMAND...: ptxas does it, when it runs.
assembling() {
    local what="$round: $1" file=$2 change=$3
    shift 3
    number=$((number + 1))
    cd "$(printf '%s-%02d' "$round" $number)" || exit 1
    CHANGE=$change minilink -arch=sm_90 -o out --assembler=ptxas --ptxas=./ptxas "$@" > said 2>&1
    gone_wrong "$what" "$file" $?
    cd ..
}

cases() {
    local cache=(--cache-dir=kept)
    number=0
    meanwhile "written in place" in.ptx 'dd if=other.ptx of=in.ptx conv=notrunc status=none' in.ptx
    meanwhile "written in place, with a cache" in.ptx 'dd if=other.ptx of=in.ptx conv=notrunc status=none' in.ptx "${cache[@]}"
    meanwhile "written in place, its time set back" in.ptx \
        'touch -r in.ptx time; dd if=other.ptx of=in.ptx conv=notrunc status=none; touch -r time in.ptx' in.ptx "${cache[@]}"
    meanwhile "written anew" in.ptx 'cat other.ptx > in.ptx' in.ptx "${cache[@]}"
    meanwhile "replaced" in.ptx 'mv other.ptx in.ptx' in.ptx "${cache[@]}"
    meanwhile "removed" in.ptx 'rm in.ptx' in.ptx
    meanwhile "longer" in.ptx 'echo >> in.ptx' in.ptx "${cache[@]}"
    meanwhile "shorter" in.ptx ': > in.ptx' in.ptx two.ptx "${cache[@]}"
    meanwhile "the first of two" in.ptx 'cp other.ptx in.ptx' in.ptx two.ptx "${cache[@]}"
    meanwhile "a fatbin" in.fatbin 'cp other.fatbin in.fatbin' in.fatbin "${cache[@]}"
    meanwhile "a member of a thin archive" member.o 'cp other.o member.o' thin.a "${cache[@]}"
    meanwhile "a thin archive" thin.a 'touch thin.a' thin.a "${cache[@]}"
    meanwhile "a link to text" in.ptx 'cp other.ptx in.ptx' -lto -emit-ptx in.ptx "${cache[@]}"
    meanwhile "a response file" words 'echo other.ptx > words' @words "${cache[@]}"
    meanwhile "a response file that another names" inner 'echo other.ptx > new; mv new inner' @words.inner "${cache[@]}"
    meanwhile "a file of options" words 'echo other.ptx > words' -optf=words
    meanwhile "lists" in.ptx 'cp other.ptx in.ptx' in.ptx -register-link-binaries=list --dependency-file=dep --report=report.json
    meanwhile "a plan" in.ptx 'cp other.ptx in.ptx' in.ptx --emit-plan=plan
    assembling "an input, while it is assembled" in.ptx 'cp other.ptx in.ptx' in.ptx
    assembling "an input, while one of two is assembled" in.ptx 'cp other.ptx in.ptx' in.ptx two.ptx --chunks=2 "${cache[@]}"
    assembling "a library of -l" ./libplain.a 'ar rc libplain.a other.o' other.o -L. -lplain "${cache[@]}"
    assembling "ptxas, replaced" ./ptxas 'mv ptxas.other ptxas' in.ptx "${cache[@]}"
    assembling "ptxas, replaced, without a cache" ./ptxas 'mv ptxas.other ptxas' in.ptx two.ptx --chunks=2
    assembling "ptxas, replaced and put back" ./ptxas 'cp -p ptxas copy; mv ptxas.other ptxas; mv copy ptxas' in.ptx "${cache[@]}"
    assembling "libnvJitLink" ./fake-nvjitlink.so 'cp sample-plugin.so new; mv new fake-nvjitlink.so' \
        lto.fatbin -lto --nvjitlink=./fake-nvjitlink.so "${cache[@]}"
    assembling "LTO-IR" lto.fatbin 'touch lto.fatbin' lto.fatbin -lto --nvjitlink=./fake-nvjitlink.so "${cache[@]}"
}

version 3 made > made.ptx
export FAKE_PTX=$work/made.ptx
# Files that were written to a moment ago are read; others are mapped.
for round in fresh old; do
    for i in $(seq -w 26); do prepare "$round-$i"; done
    [ $round = fresh ] || sleep 2.2
    cases
    holds "$round: there are as many cases as folders" [ $number = 26 ]
done

# What is left alone is linked, whatever is done beside it.
prepare alone
cd alone || exit 1
{ exec 3> last; cp other.ptx new; chmod 600 new; mv new two.ptx; version 1 last >&3; exec 3>&-; } &
minilink -arch=sm_90 -o out in.ptx last --cache-dir=kept > said 2>&1
holds "another file in the folder: status" [ $? = 0 ]
holds "another file in the folder: an output" [ -s out ]
holds "another file in the folder: is kept" [ "$(find kept -type f ! -name pruned | wc -l)" -ge 2 ]
end_writer
minilink -arch=sm_90 -o out @<(echo in.ptx) > said 2>&1
holds "words from a pipe: status" [ $? = 0 ]
cd ..

# A writer who pauses in the middle is waited for, if he has written a moment ago (a busy machine may not look so soon,
# and finds half a file); one who only keeps the file open is not.
prepare writer
cd writer || exit 1
version 2 one > whole.ptx
minilink -arch=sm_90 -o expected whole.ptx 2> said
{ head -c 100 whole.ptx; touch began; sleep 0.03; tail -c +101 whole.ptx; } > half.ptx &
while [ ! -e began ]; do :; done
minilink -arch=sm_90 -o out half.ptx > said 2>&1
status=$?
wait
if [ $status = 0 ]; then
    holds "a writer who pauses" cmp out expected
else
    holds "a writer who pauses: the error" grep -q 'half.ptx.*\(changed while the link ran\|does not end\)' said
    holds "a writer who pauses: no output" [ ! -e out ]
fi
exec 4>> whole.ptx
minilink -arch=sm_90 -o out whole.ptx > said 2>&1
holds "a writer who only keeps it open" cmp out expected
exec 4>&-
cd ..

# Links beside a writer.
for piece in 0 100; do
    mkdir -p "random/c" && chmod 700 random/c
    if (cd random && tool_changing "$links" $((piece + 1)) $piece > ../said 2>&1); then
        pass
        echo "links beside a writer, pieces of $piece: $(tail -n 1 said)"
    else
        fail "links beside a writer, pieces of $piece" said
    fi
    rm -rf random
done

finish
