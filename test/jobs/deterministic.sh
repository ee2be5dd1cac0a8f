#!/bin/bash
# deterministic.sh: the output is the same bytes for 1, 2, 8 and 64 threads, for any number of chunks, and
# with and without splitting, over every program in fixtures/.
. "$(dirname "$0")/../prelude.sh"
cd "$work" || exit 1

linked=0 ways=("1 1" "2 2" "2 3" "8 2" "8 5" "8 16" "64 128")
# Two ways take a sanitizer to nearly all the code that the others do.
[ -z "${SANITIZE:-}" ] || ways=("2 3" "64 128")

# program NAME INPUT...: links it in many ways and compares the bytes with the plain link's.
program() {
    name=$1
    shift
    if ! minilink -w -arch=sm_90 "$@" -o plain.cubin 2> messages; then
        # What cannot be linked must fail the same way when it is split.
        minilink -w -arch=sm_90 -split-compile-extended=8 --minimum-chunk=1 "$@" -o none.cubin 2> again
        if [ $? = 0 ] || [ -e none.cubin ]; then fail "$name: only the split link succeeds"; else pass; fi
        return
    fi
    linked=$((linked + 1))
    for way in "${ways[@]}"; do
        threads=${way% *} chunks=${way#* }
        if minilink -w -disable-infos -arch=sm_90 -split-compile-extended="$threads" --chunks="$chunks" --minimum-chunk=1 \
            "$@" -o out.cubin 2> messages && cmp -s plain.cubin out.cubin; then
            pass
        else
            fail "$name: $threads threads, $chunks chunks" messages
        fi
        rm -f out.cubin
    done
    # Threads inside the assembler of one chunk.
    if minilink -w -disable-infos -arch=sm_90 -Xptxas=--split-compile=8,--threads-min-section-size=0 "$@" -o out.cubin 2> messages &&
        cmp -s plain.cubin out.cubin; then
        pass
    else
        fail "$name: threads for functions"
    fi
    rm -f out.cubin
}

F=$ROOT/fixtures/fatbin
program abc "$F"/a.lto.o "$F"/b.lto.o "$F"/c.lto.o
program relocated "$F"/abc.reloc.o
program archive "$F"/a.ptxonly.o "$F"/lib.a -lto --lto-source=ptx
for ptx in "$ROOT"/fixtures/split/*.ptx "$ROOT"/fixtures/examples/*.ptx; do
    [ -e "$ptx" ] && program "$(basename "$ptx")" "$ptx"
done
for folder in "$ROOT"/fixtures/programs/*/; do
    [ -d "$folder" ] && program "$(basename "$folder")" "$folder"*.ptx
done
check "most programs are linked" "$((linked > 60))" 1
# Many cubins are read, relocated and encoded at the same time; also what is said of wrong ones comes in order.
many() { # many WHAT STATUS INPUT...
    what=$1 status=$2
    shift 2
    minilink -j1 -arch=sm_90 -o plain.cubin "$@" > plain.messages 2>&1
    [ $? = "$status" ] || fail "$what: one thread"
    for threads in 2 3 8; do
        rm -f out.cubin
        minilink -j$threads -arch=sm_90 -o out.cubin "$@" > messages 2>&1
        if [ $? = "$status" ] && cmp plain.messages messages && { [ "$status" != 0 ] || cmp plain.cubin out.cubin; }; then
            pass
        else
            fail "$what: $threads threads"
        fi
    done
}
mkdir cubins
for i in $(seq 1000 1160); do
    LC_ALL=C sed "s/AAAA/$i/g" "$ROOT/fixtures/merge/bench.o" > "cubins/$i.o"
done
many "many cubins" 0 cubins/*.o
many "many cubins -r" 0 -r cubins/*.o
many "many cubins -preserve-relocs" 0 -preserve-relocs cubins/*.o
mkdir wrong
for i in $(seq 1000 1160); do # the address of shared memory in kernels, every fifth file's as if it were a constant
    case $i in *[05]) type=42 ;; *) type=37 ;; esac
    LC_ALL=C sed "s/\xa0\x00\{7\}\x37\x00/\xa0\x00\x00\x00\x00\x00\x00\x00\x$type\x00/" "cubins/$i.o" > "wrong/$i.o"
done
many "wrong relocations" 1 wrong/*.o
for i in 1005 1080 1150; do # shorter than their section headers say
    head -c 20000 cubins/$i.o > damaged
    mv damaged cubins/$i.o
done
many "damaged cubins" 1 cubins/*.o
finish
