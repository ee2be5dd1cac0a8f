#!/bin/bash
# python-shim.sh: minilink-shim --python puts our libnvJitLink in the place of a Python environment's and takes it out again;
# there it works with the libnvJitLink and the ptxas of the environment, before those of the machine.
. "$(dirname "$0")/../prelude.sh"
cd "$work" || exit 1
unset MINILINK_BEHAVE_LIKE # the version is that of the scripts below
packages=env/lib/python3.11/site-packages/nvidia
mkdir -p $packages/cu13/lib $packages/cu13/bin $packages/nvjitlink/lib $packages/cuda_nvcc/bin
cp "$BUILD/fake-nvjitlink.so" $packages/cu13/lib/libnvJitLink.so.13
cp "$BUILD/fake-nvjitlink.so" $packages/nvjitlink/lib/libnvJitLink.so.12
ln -s lib env/lib64
play_ptxas $packages/cu13/bin/ptxas << END
echo "cu13 ptxas" >> $work/runs
exit 1
END
play_ptxas $packages/cuda_nvcc/bin/ptxas << END
echo "cuda_nvcc ptxas" >> $work/runs
exit 1
END
printf '\355\103\116\177 LTO-IR' > any.ltoir
export FAKE_PTX=$ROOT/fixtures/examples/scaled.ptx
# A toolkit of the machine, which is not to be used.
mkdir -p machine/lib64 machine/bin
printf 'exit 9\n' | play_ptxas machine/bin/ptxas
export CUDA_HOME=$work/machine PATH=$work/machine/bin:$PATH

shim() { "$BUILD/minilink-shim" "$@" > said 2>&1; echo $?; }
check "an environment" "$(shim --python="$work/env")" 0
check "two libraries" "$(grep -c "is minilink's$" said)" 2
check "again" "$(shim --python="$work/env")" 0
for file in $packages/cu13/lib/libnvJitLink.so.13 $packages/nvjitlink/lib/libnvJitLink.so.12; do
    runs "$file: ours" cmp "$BUILD/nvjitlink/${file##*/}" $file
    runs "$file: the other one is kept" cmp "$BUILD/fake-nvjitlink.so" $file.nvidia
done

# load FOLDER CLIENT ARGUMENT...
load() { LD_LIBRARY_PATH=$work/$packages/$1 "$BUILD/$2" "${@:3}" 2>&1 | grep -E 'add|complete' | paste -sd ' '; }
good="add 1 SUCCESS complete SUCCESS"
check "13: LTO-IR goes to the one beside it" "$(MINILINK_ASSEMBLER=builtin load cu13/lib nvjitlink_client link out -arch=sm_90 -lto -- 3:any.ltoir)" "$good"
check "12: LTO-IR, too" "$(MINILINK_ASSEMBLER=builtin load nvjitlink/lib nvjitlink_client_12_9 link out -arch=sm_90 -lto -- 3:any.ltoir)" "$good"
unset MINILINK_ASSEMBLER
load cu13/lib nvjitlink_client link out -arch=sm_90 -- 2:"$FAKE_PTX" > log
check "13: the environment's ptxas is run" "$(sort -u runs)" "cu13 ptxas"
rm -f runs
load nvjitlink/lib nvjitlink_client_12_9 link out -arch=sm_90 -- 2:"$FAKE_PTX" > log
check "12: the environment's ptxas is run" "$(sort -u runs)" "cuda_nvcc ptxas"

# As after pip install --upgrade: a new file where the link was.
rm $packages/cu13/lib/libnvJitLink.so.13
echo new > $packages/cu13/lib/libnvJitLink.so.13
check "after an upgrade" "$(shim --python="$work/env")" 0
check "the new one is kept" "$(cat $packages/cu13/lib/libnvJitLink.so.13.nvidia)" new
runs "and ours is in its place" cmp "$BUILD/nvjitlink/libnvJitLink.so.13" $packages/cu13/lib/libnvJitLink.so.13
check "back, of the active environment" "$(VIRTUAL_ENV=$work/env shim --undo-python)" 0
check "the new one is back" "$(cat $packages/cu13/lib/libnvJitLink.so.13)" new
runs "and that of 12" cmp "$BUILD/fake-nvjitlink.so" $packages/nvjitlink/lib/libnvJitLink.so.12
check "nothing else is there" "$(find env -name '*.nvidia' -o -type l -name 'libnvJitLink*')" ""
check "back again" "$(shim --undo-python="$work/env")" 0
check "a folder of pip install --target" "$(shim --python="$work/${packages%/nvidia}")" 0
check "two libraries there" "$(grep -c "is minilink's$" said)" 2

# Conda's layout: the library has its version behind its name, and ptxas is in bin.
mkdir -p conda/lib conda/bin
cp "$BUILD/fake-nvjitlink.so" conda/lib/libnvJitLink.so.13.0.88
ln -s libnvJitLink.so.13.0.88 conda/lib/libnvJitLink.so.13
play_ptxas conda/bin/ptxas << END
echo "conda's ptxas" >> $work/runs
exit 1
END
check "conda's environment, which is active" "$(CONDA_PREFIX=$work/conda shim --python)" 0
runs "conda's: ours" cmp "$BUILD/nvjitlink/libnvJitLink.so.13" conda/lib/libnvJitLink.so.13
load_conda() { LD_LIBRARY_PATH=$work/conda/lib "$BUILD/nvjitlink_client" link out -arch=sm_90 "$@" 2>&1 | grep -E 'add|complete' | paste -sd ' '; }
check "conda's: LTO-IR goes to the one beside it" "$(MINILINK_ASSEMBLER=builtin load_conda -lto -- 3:any.ltoir)" "$good"
rm -f runs
load_conda -- 2:"$FAKE_PTX" > log
check "conda's: its ptxas is run" "$(sort -u runs)" "conda's ptxas"
check "conda's: back" "$(shim --undo-python="$work/conda")" 0
check "conda's: the link is as it was" "$(readlink conda/lib/libnvJitLink.so.13)" libnvJitLink.so.13.0.88

check "no environment" "$(VIRTUAL_ENV='' CONDA_PREFIX='' shim --python)" 1
runs "that is said" grep -q 'no active Python environment' said
mkdir empty
check "an environment without the package" "$(shim --python="$work/empty")" 1
runs "that is said, too" grep -q 'pip install nvidia-nvjitlink' said
check "no folder" "$(shim --python="$work/none")" 1
finish
