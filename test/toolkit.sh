# toolkit.sh: finding the CUDA toolkit whose nvcc is on PATH, which may be a script that runs the toolkit's.

# find_toolkit: `toolkit` is its folder, and `nvvm` what its nvlink takes as -nvvmpath. nvlink looks for
# <nvvmpath>/lib64/libnvvm.so and nowhere else; some toolkits have it in lib64 instead. Uses the folder `work`.
find_toolkit() {
    toolkit=$(dirname "$(nvcc -dryrun -c -x cu /dev/null -o "$work/none.o" 2>&1 | sed -n 's/^#\$ _HERE_=//p')")
    nvvm=$toolkit/nvvm
    if [ ! -e "$nvvm/lib64/libnvvm.so" ] && [ -e "$toolkit/lib64/libnvvm.so" ]; then
        nvvm=$work/nvvm
        mkdir -p "$nvvm/lib64"
        ln -sf "$toolkit/lib64/libnvvm.so" "$nvvm/lib64/"
        ln -sfn "$toolkit/nvvm/libdevice" "$nvvm/libdevice"
    fi
}
