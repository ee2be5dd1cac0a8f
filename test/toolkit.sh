# toolkit.sh: finding the CUDA toolkit whose nvcc is on PATH, which may be a script that runs the toolkit's.

# large_pages: for the memory of NVIDIA's tools. ptxas takes a seventh less processor time to begin.
large_pages() { export GLIBC_TUNABLES=glibc.malloc.hugetlb=1:glibc.malloc.top_pad=8388608; }

# release_of TOOL: its version, as 13.0.
release_of() { "$1" --version | sed -n 's/.*release \([0-9.]*\),.*/\1/p'; }

# raise TARGET PTX [NEWEST]: PTX of sm_90 for another target, and in a version that has the target and is not newer than NEWEST.
raise() {
    awk -v target="$1" -v newest="${3:-99}" '
        $1 == ".version" {
            oldest = target ~ /^sm_107/ ? 9.4 : target ~ /^sm_(1..|88)/ ? 9.0 : 0
            $0 = $1 " " sprintf("%.1f", $2 + 0 < oldest ? oldest : $2)
            if ($2 + 0 > newest + 0) $2 = newest
        }
        $1 == ".target" { sub(/sm_90/, target) }
        { print }' "$2"
}

# use_recorded: from here on nvcc is test/recorded/nvcc, which takes what nvcc makes of this script's sources from
# fixtures/recorded. RECORD=yes records that (fixtures/recorded/remake).
use_recorded() {
    recorded_archive=$ROOT/fixtures/recorded/$(basename "$0" .sh).tar.xz
    [ -z "${RECORDED:-}" ] && { [ -e "$recorded_archive" ] || [ -n "${RECORD:-}" ]; } || return 0
    NVCC=$(command -v nvcc) && NVCC_VERSION=$(nvcc --version | tail -n 1) && RECORDED=$(mktemp -d) || return 0
    export NVCC NVCC_VERSION RECORDED
    PATH=$ROOT/test/recorded:$PATH
    [ ! -e "$recorded_archive" ] || tar -xJf "$recorded_archive" -C "$RECORDED"
}

# use_recorded_tools: from here on ptxas and nvlink are tool_recorded, in the same way; find_toolkit finds a toolkit with them.
# Not for what depends on more than the words and files of a run: time, processors, other programs.
use_recorded_tools() {
    local tool
    command -v ptxas > /dev/null && command -v nvlink > /dev/null && use_recorded
    [ -n "${RECORDED:-}" ] || return 0
    mkdir "$RECORDED/bin" "$RECORDED/real" || exit 1
    RECORDED_TOOLS=
    for tool in ptxas nvlink; do
        ln -s "$(command -v $tool)" "$RECORDED/real/$tool" && ln -s "$BUILD/tool_recorded" "$RECORDED/bin/$tool" || exit 1
        RECORDED_TOOLS+=$($tool --version | tail -n 1)
    done
    export RECORDED_TOOLS
    PATH=$RECORDED/bin:$PATH
}

# finish_recorded: says what was not recorded, and fails where a tool no longer makes what was. Records what was used.
finish_recorded() {
    [ -n "${RECORDED:-}" ] || return 0
    if [ -s "$RECORDED/differs" ]; then fail "what the toolkit makes is not what is recorded in ${recorded_archive##*/}" "$RECORDED/differs"; fi
    if [ -n "${RECORD:-}" ]; then
        (cd "$RECORDED" && sort -u used | while read -r name; do printf '%s\n' "$name"*; done) |
            tar -C "$RECORDED" --owner=0 --group=0 --numeric-owner --mode=644 --mtime=@0 -cf - -T - | xz -9e > "$recorded_archive"
    elif [ -s "$RECORDED/made-now" ]; then
        echo "$(wc -l < "$RECORDED/made-now") runs of the toolkit's programs are not in fixtures/recorded, and taking them from there is SKIPPED"
    fi
}

# find_toolkit: `toolkit` is its folder, `libraries` that of libcudadevrt, and `nvvm` what its nvlink takes as -nvvmpath. nvlink
# looks for <nvvmpath>/lib64/libnvvm.so and nowhere else; some toolkits have it in lib64 instead, and those of pip in lib, with
# a version in its name. Uses the folder `work`.
find_toolkit() {
    local library
    toolkit=$(dirname "$(nvcc -dryrun -c -x cu /dev/null -o "$work/none.o" 2>&1 | sed -n 's/^#\$ _HERE_=//p')")
    if [ -n "${RECORDED_TOOLS:-}" ]; then
        mkdir -p "$RECORDED/toolkit" && ln -sfn "$toolkit"/* "$RECORDED/toolkit" && ln -sfn ../bin "$RECORDED/toolkit/bin" || exit 1
        toolkit=$RECORDED/toolkit
    fi
    nvvm=$toolkit/nvvm
    libraries=$toolkit/lib64
    [ -e "$libraries" ] || libraries=$toolkit/lib
    [ ! -e "$nvvm/lib64/libnvvm.so" ] || return 0
    for library in "$libraries"/libnvvm.so*; do
        [ -e "$library" ] || continue
        nvvm=$work/nvvm
        mkdir -p "$nvvm/lib64"
        ln -sf "$library" "$nvvm/lib64/libnvvm.so"
        ln -sfn "$toolkit/nvvm/libdevice" "$nvvm/libdevice"
    done
}

# find_llvm OLDEST TOOL...: `llvm` is the newest version of LLVM, OLDEST or newer, of which there are all the tools
# (TOOL-VERSION) and libLLVM, which is `library`. False, and both empty, where there is none.
find_llvm() {
    local oldest=$1 tool
    shift
    for llvm in $(seq 30 -1 "$oldest"); do
        library=$(find /usr/lib -maxdepth 2 \( -name "libLLVM.so.$llvm.*" -o -name "libLLVM-$llvm.so.1" \) 2> /dev/null | head -n 1)
        [ -n "$library" ] || continue
        for tool; do command -v "$tool-$llvm" > /dev/null || continue 2; done
        return
    done
    llvm='' library=''
    return 1
}
