#!/bin/bash
# outputs.sh: where outputs go: files are replaced whole, links are followed, and what is no regular file
# (descriptors, pipes, devices) is written where it is and never replaced. Text that cannot be written is
# an error.
#
# /dev/stdout is played by a link of the same kind: a linker that fails this test as root replaces it.
. "$(dirname "$0")/../prelude.sh"
cd "$work" || exit 1
F=$ROOT/fixtures/fatbin

# run COMMAND...: `status` is how it ends, and `messages` what it says.
run() { "$@" 2> messages; status=$?; }
# is STATUS PATTERN: the last command ended so and said so.
is() { [ "$status" = "$1" ] && grep -q "$2" messages; }
# made FILE: the last command succeeded without a word, and FILE has the whole output.
made() { [ "$status" = 0 ] && [ ! -s messages ] && cmp -s "$1" "$whole"; }
# to OUTPUT: each program writes $program's output there. Its standard output is the caller's.
to() {
    case $program in
    minilink) run minilink -w -arch=sm_90 "$F"/c.lto.o -o "$1" ;;
    minifat) run minifat --format=fatbin "$F"/a.ptx -o "$1" ;;
    emit-ptx) run minilink -w -arch=sm_90 -emit-ptx "$F"/c.lto.o -o "$1" ;;
    modules) run minilink -w -arch=sm_90 -register-link-binaries="$1" "$F"/b.sass.o -o /dev/null ;;
    esac
}

for program in minilink minifat emit-ptx modules; do
    rm -rf out
    mkdir out
    whole=$work/$program.whole
    to "$whole"
    holds "$program makes something" [ -s "$whole" ]

    # Links of /proc say a name that is not what they lead to.
    for way in "-" "/dev/fd/1" "/proc/self/fd/1" "/proc/thread-self/fd/1" "out/linked" "out/twice"; do
        ln -sfn /proc/self/fd/1 out/linked
        ln -sfn linked out/twice
        rm -f file
        to "$way" > file
        holds "$program -o $way > file" made file
        holds "$program -o $way leaves the link" [ -L out/linked -a -L out/twice ]
        { echo before; to "$way"; echo after; } > file
        { echo before; cat "$whole"; echo after; } > expected
        holds "$program -o $way in a group of commands" cmp -s file expected
        (to "$way"; exit "$status") | cat > file
        status=${PIPESTATUS[0]}
        holds "$program -o $way into a pipe" made file
        to "$way" > /dev/full
        holds "$program -o $way > /dev/full" is 3 "No space left"
        to "$way" >&-
        holds "$program -o $way without standard output" is 3 "Bad file descriptor\|No such file"
    done
    rm -f out/linked out/twice
    to /dev/fd/7 7> file
    holds "$program -o /dev/fd/7" made file
    holds "and no file has such a name" [ ! -e ./- ]

    mkfifo out/fifo
    timeout 60 cat out/fifo > file &
    to out/fifo
    wait $!
    holds "$program writes a pipe that has a name" made file
    holds "and the pipe stays" [ -p out/fifo ]
    ln -s fifo out/linked
    timeout 60 cat out/fifo > file &
    to out/linked
    wait $!
    holds "$program writes such a pipe through a link" made file
    rm out/fifo out/linked
    to /dev/null
    holds "$program writes /dev/null, which stays" [ "$status" = 0 -a -c /dev/null ]
    to /dev/full
    holds "$program says that /dev/full is full" is 3 "No space left"

    # As nvlink (measured), which opens the name: the link stays, and what it leads to is new.
    echo old > out/real
    ln out/real out/other
    ln -s real out/linked
    to out/linked
    holds "$program follows a link to a file" made out/real
    holds "which is replaced" [ -L out/linked -a "$(cat out/other)" = old ]
    ln -s new out/dangling
    to out/dangling
    holds "$program follows a link to a file that is not there" made out/new
    holds "and makes it" [ -L out/dangling -a ! -L out/new ]
    mkdir out/deep
    ln -s ../out/deep/new out/deeper
    to out/deeper
    holds "$program follows a link into a folder" made out/deep/new
    ln -s around out/round
    ln -s round out/around
    to out/round
    holds "$program refuses a link to itself" is 3 "Too many levels of symbolic links"
    ln -s . out/folder
    to out/folder
    holds "$program refuses a link to a folder" is 3 "Is a directory"
    to out/
    holds "$program refuses a folder" is 3 "Is a directory"
    to ""
    holds "$program refuses an empty name" [ "$status" -gt 1 ]

    long=$(printf '%0255d' 0)
    to "out/$long"
    holds "$program writes the longest name" made "out/$long"
    to "out/${long}0"
    holds "$program refuses a longer one" is 3 "File name too long"
    rm -f "out/$long"
    holds "$program leaves no temporary" [ "$(ls -A out | tr '\n' ' ')" = "around dangling deep deeper folder linked new other real round " ]
done

# --keep and -time go through links as well, and -time writes to descriptors.
rm -rf out
mkdir -p out/real
ln -s real out/linked
ln -s elsewhere out/real/chunk-0.ptx
run minilink -w -arch=sm_90 --keep=out/linked "$F"/c.lto.o -o /dev/null
holds "--keep goes through links" [ "$status" = 0 -a -s out/real/elsewhere -a -L out/real/chunk-0.ptx -a -s out/real/chunk-0.cubin ]
for way in - /dev/fd/1; do
    { echo before; minilink -w -arch=sm_90 -time="$way" "$F"/c.lto.o -o /dev/null 2> messages; echo "status $?"; } > file
    holds "-time=$way stands between what others print" \
        [ "$(sed -n '1p;$p' file | tr '\n' ' ')" = "before status 0 " -a "$(grep -c '^source file name' file)" = 1 ]
done
run minilink -w -arch=sm_90 -time=/dev/full "$F"/c.lto.o -o out/x
holds "-time=/dev/full" is 3 "No space left"
run minilink -w -arch=sm_90 -time=gone/times "$F"/c.lto.o -o out/y
holds "-time in a folder that is not there" is 3 "No such file"
holds "leaves no output" [ ! -e out/y ]
run minilink -w -arch=sm_90 -time=/dev/full --dry-run "$F"/c.lto.o -o out/y
holds "-time=/dev/full with --dry-run" is 3 "No space left"

# The link ends with an error, not by a signal, where nobody reads what it writes.
mkfifo unread
exec 7<> unread 8> unread 7<&-
for program in minilink emit-ptx modules; do
    to - >&8
    holds "$program writes into a pipe that nobody reads" is 3 "Broken pipe"
done
exec 8>&-

# A folder on a full disk is played by a file name that cannot be made.
mkdir -p out/full/chunk-0.ptx out/later/chunk-0.cubin
for folder in full later; do
    run minilink -w -arch=sm_90 --keep=out/$folder "$F"/c.lto.o -o out/y
    holds "--keep=$folder, where chunk-0 cannot be written" is 3 "Could not open output file 'out/$folder/chunk-0"
done
run minilink -w -arch=sm_90 --keep=gone/away "$F"/c.lto.o -o out/y
holds "--keep in a folder that is not there" is 3 "Could not make folder"
holds "none of them leaves an output" [ ! -e out/y ]

# Text.
full() {
    what=$1
    shift
    run "$@" > /dev/full
    holds "$what > /dev/full" is 3 "to the standard output: No space left"
    run "$@" >&-
    holds "$what without a standard output" is 3 "to the standard output: Bad file descriptor"
}
full "minilink --explain-split" minilink -w -arch=sm_90 --explain-split "$F"/c.lto.o -o out/y
minilink -w -arch=sm_90 -dump-callgraph "$F"/c.lto.o -o out/y 2> /dev/full
status=$?
holds "minilink -dump-callgraph 2> /dev/full: status $status" [ "$status" = 3 ]
holds "no output where text is lost" [ ! -e out/y ]
full "minilink --explain-split --dry-run" minilink -w -arch=sm_90 --dry-run --explain-split "$F"/c.lto.o
full "minilink --help" minilink --help
full "minilink --version" minilink --version
full "minilink -ghls" minilink -ghls=lcs-aug
full "minifat --help" minifat --help
full "minifat --version" minifat --version
full "minidump --help" minidump --help
full "minidump --version" minidump --version
full "minidump" minidump "$F"/c.lto.o
finish
