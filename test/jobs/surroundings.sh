#!/bin/bash
# surroundings.sh: no number of a descriptor, name of a temporary file or time reaches an output: every kind of link makes the
# same bytes with other descriptors open, in another folder, with another TMPDIR and a second later.
. "$(dirname "$0")/../prelude.sh"
cd "$work" || exit 1
mkdir -p elsewhere/tmp

# elsewhere COMMAND...: runs it with twenty more descriptors open, some of the lowest closed, and files in other places.
elsewhere() {
    (
        for fd in {10..30} 61 62 63 64; do eval "exec $fd< /dev/null"; done
        exec 0<&- 3< /dev/null 5< /dev/null 6< /dev/null
        TMPDIR=$PWD/elsewhere/tmp exec "$@"
    )
}

# same NAME WORD...: a link with these words makes the same output and messages here and elsewhere.
same() {
    local name=$1
    shift
    rm -f out.cubin first.cubin
    minilink -arch=sm_90 "$@" -o out.cubin > said 2>&1 || { fail "$name" said; return; }
    cp out.cubin first.cubin
    elsewhere minilink -arch=sm_90 "$@" -o out.cubin > again 2>&1 || { fail "$name, elsewhere" again; return; }
    if cmp -s first.cubin out.cubin && cmp -s said again; then pass; else fail "$name: other bytes or messages" again; fi
}

P=$ROOT/fixtures/programs
all() { # all ASSEMBLER WORD...
    local assembler=$1
    shift
    for words in "" -g -lineinfo -r "-r -g" "-lto --lto-source=ptx" "-lto -g --lto-source=ptx" -Xptxas=-g -preserve-relocs \
        "-split-compile-extended=3 --minimum-chunk=1" "-split-compile-extended=3 --minimum-chunk=1 -g" \
        "-g --cache-dir=cache.$assembler" "-g --cache-dir=cache.$assembler --threads=1"; do
        # shellcheck disable=SC2086
        same "$assembler $words" --assembler="$assembler" $words "$@" "$P"/08_calldeep/*.ptx
    done
    same "$assembler, one kernel, -g" --assembler="$assembler" -g "$@" "$work/one.ptx"
}
ptx_kernels one > one.ptx
all builtin
if command -v ptxas > /dev/null; then all ptxas; else skip 14 "ptxas is not there"; fi
finish
