#!/bin/bash
# run.sh [PROGRAM...]: on a GPU, minilink's cubins compute what nvlink's do.
#
# Each graded program (fixtures/link-series) is linked by nvlink, by minilink from the same cubins, and by
# minilink from PTX in one chunk and in four; every kernel is launched with fixed inputs, and what it leaves
# behind is compared (build/gpu_launch). Skipped, loudly, where there is no GPU or no CUDA.
. "$(dirname "$0")/../prelude.sh"
cd "$ROOT" || exit 1
programs=("$@")
[ $# = 0 ] && programs=(fixtures/link-series/*/)
arch=$("$BUILD/gpu_launch" --arch) || skip_all ${#programs[@]} "$arch"
need ${#programs[@]} ptxas nvlink

# prepare PROGRAM: its PTX for the device and ptxas's cubins in $folder; false where it cannot have them.
prepare() {
    local source name
    for source in "fixtures/link-series/$1"/*; do
        name=$(basename "${source%.*}")
        case $source in
        *.cu) sed "s/^\.target sm_90/.target $arch/" "fixtures/programs/$1/$name.ptx" > "$folder/$name.ptx" ;;
        *) sed "s/sm_90/$arch/" "$source" > "$folder/$name.ptx" ;;
        esac
        ptxas -c -m64 -arch="$arch" "$folder/$name.ptx" -o "$folder/$name.cubin" || return 1
    done
}

# same PROGRAM WAY COMMAND...: links with the command and launches.
same() {
    local what="$1, $2"
    shift 2
    if ! "$@" -o "$folder/ours.out" > "$folder/log" 2>&1; then
        failed=$((failed + 1)); echo "gpu: $what: the link fails"; sed 's/^/    /' "$folder/log"
        return
    fi
    timeout 300 "$BUILD/gpu_launch" "$folder/theirs.out" "$folder/ours.out" > "$folder/log" 2>&1
    status=$?
    if [ $status = 0 ]; then
        passed=$((passed + 1))
        echo "gpu: $what: $(tail -n 1 "$folder/log")"
    else
        failed=$((failed + 1)); echo "gpu: $what: differs (status $status)"; sed 's/^/    /' "$folder/log"
    fi
}

for program in "${programs[@]}"; do
    program=$(basename "$program") folder=$work/$(basename "$program")
    mkdir -p "$folder"
    if ! prepare "$program" > "$folder/log" 2>&1 ||
        ! nvlink -arch="$arch" "$folder"/*.cubin -o "$folder/theirs.out" > "$folder/log" 2>&1; then
        echo "gpu: $program: ptxas or nvlink refuses it for $arch: skipped"
        skipped=$((skipped + 1))
        continue
    fi
    link="$BUILD/minilink -w -disable-infos -arch=$arch --assembler=ptxas"
    # shellcheck disable=SC2086
    {
        same "$program" "from cubins" $link "$folder"/*.cubin
        same "$program" "from PTX" $link "$folder"/*.ptx
        same "$program" "from PTX, split" $link -split-compile-extended=2 --chunks=4 --minimum-chunk=1 "$folder"/*.ptx
    }
done
finish
