#!/bin/bash
# compare.sh FOLDER: on a GPU, runs what programs.sh built: each FOLDER/NAME.<way> ends as FOLDER/NAME.theirs does and
# prints the same. FOLDER/NAME.arguments, if there, has the arguments; FOLDER/NAME.data has files for the folder where it
# runs; and FOLDER/NAME.filter is a command that leaves out of the text what differs from run to run.
# LLVM 19's OpenMP runtime does not take the cubins of CUDA 13: where it refuses NAME.theirs for that, the first way that
# succeeds stands for it. JOBS: how many run at a time (2).
. "$(dirname "$0")/../prelude.sh"
cd "$1" || exit 1
shopt -s extglob
folder=$PWD
export OMP_TARGET_OFFLOAD=mandatory
ls ./*.theirs > /dev/null 2>&1 || skip_all 1 "no programs were built"
arch=$(gpu_launch --arch) || skip_all 1 "$arch"

# run FILE: prints what it does.
run() {
    local name=${1%.*} directory=$work/run.$1 status
    mkdir -p "$directory" && cd "$directory" || exit 1
    [ ! -e "$folder/$name.data" ] || cp -r "$folder/$name.data/." .
    # shellcheck disable=SC2046
    timeout "${SECONDS_EACH:-120}" "$folder/$1" $(cat "$folder/$name.arguments" 2> /dev/null) > "$work/$1.raw" 2>&1 < /dev/null
    status=$?
    {
        sed "s|$folder/||g; s|$1|$name|g" "$work/$1.raw" | if [ -e "$folder/$name.filter" ]; then bash "$folder/$name.filter"; else cat; fi
        echo "status $status"
    } > "$work/$1.said"
}
export -f run
export folder work
for file in ./*.theirs; do
    name=$(basename "$file" .theirs)
    for way in "$name".*; do
        [[ $way == *.@(data|arguments|filter) ]] || echo "$way"
    done
done | xargs -P "${JOBS:-2}" -I{} bash -c 'run {}'
for file in ./*.theirs; do
    name=$(basename "$file" .theirs) theirs=theirs
    if grep -q 'No images found compatible' "$work/$name.theirs.said"; then
        for way in "$name".!(data|arguments|filter); do
            if [ $theirs = theirs ] && grep -qx 'status 0' "$work/$way.said"; then theirs=${way##*.}; fi
        done
        echo "$name.theirs: the OpenMP runtime does not know CUDA's cubins; $theirs stands for it"
    fi
    if ! grep -qx 'status 0' "$work/$name.$theirs.said"; then
        fail "$name.$theirs: $(tail -n 1 "$work/$name.$theirs.said")" "$work/$name.$theirs.said"
        continue
    fi
    for way in "$name".!(theirs|data|arguments|filter); do
        if diff "$work/$name.$theirs.said" "$work/$way.said" > "$work/differences"; then
            pass
            echo "passed $way: $(wc -l < "$work/$way.said") lines, $(tail -n 1 "$work/$way.said")"
        else
            fail "$way differs from $theirs" "$work/differences"
        fi
    done
done
finish
