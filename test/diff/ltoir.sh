#!/bin/bash
# ltoir.sh: LTO-IR as output, of CUDA 13.4 and later: our libnvJitLink has the results of the real one for each kind of target
# and input, and the LTO-IR of the library and of --emit-ltoir, linked again by minilink, nvlink and the real library, gives
# the code of a link of its inputs. TOOLKITS: folders of programs, as for members.sh; without it the machine's toolkit.
. "$(dirname "$0")/../prelude.sh"
need 1 nvcc nvlink
export PATH=$BUILD:$PATH
cd "$work" || exit 1
cat > a.cu << 'END'
__device__ int helper(int x);
__global__ void k(int *p) { *p = helper(*p); }
END
cat > b.cu << 'END'
__device__ __noinline__ int helper(int x) { return x * 3 + 1; }
__global__ void k2(int *p) { *p = helper(p[2]); }
END

# said LIBRARY-FOLDER ARGUMENT...: results of calls.
said() {
    local folder=$1
    shift
    LD_LIBRARY_PATH=$folder "$BUILD/nvjitlink_client" ltoir "${folder##*/}" "$@" 2> /dev/null
}
code() { "$bin/nvdisasm" -c "$1" | grep -v '^//'; }
alike() { [ -s "$1" ] && diff "$1" "$2"; }

compare_all() {
    local options inputs arch minilink=(minilink -w -disable-infos -lto --assembler=ptxas --ptxas="$bin/ptxas" --nvjitlink="$library/libnvJitLink.so.13")
    for file in a b; do
        "$bin/nvcc" -dlto -arch=sm_90 -ltoir -dc $file.cu -o $file.ltoir
        "$bin/nvcc" -dlto -arch=sm_90 -dc $file.cu -o $file.o
        "$bin/nvcc" -rdc=true -arch=sm_90 -ptx $file.cu -o $file.ptx
        "$bin/nvcc" -rdc=true -arch=sm_90 -cubin $file.cu -o $file.cubin
    done > log 2>&1
    for options in "-arch=sm_90 -lto" "-arch=sm_90 -lto -r" "-arch=compute_90 -lto -ptx" "-arch=lto_90 -lto" -arch=lto_90 \
        "-arch=lto_90 -lto -r" "-arch=sm_100 -lto -nvvm-version=nvvm-latest" "-arch=lto_100f -lto"; do
        for inputs in "3:a.ltoir 3:b.ltoir" 3:a.ltoir "3:a.ltoir 2:b.ptx" 2:b.ptx "3:a.ltoir 5:b.o" "5:a.o 5:b.o" "3:a.ltoir 1:b.cubin" ""; do
            # An error, after which the real one has a part of a cubin.
            case $options$inputs in *100*cubin*) continue ;; esac
            # shellcheck disable=SC2086
            said "$library" $options -- $inputs > theirs
            # shellcheck disable=SC2086
            CUDA_HOME=${bin%/*} said "$BUILD/nvjitlink" $options -- $inputs > ours
            runs "$version: $options -- $inputs" alike theirs ours
        done
    done
    for arch in 90 100; do
        "${minilink[@]}" -arch=sm_$arch a.ltoir b.ltoir -o direct.cubin
        code direct.cubin > direct
        minilink -w -arch=sm_$arch --emit-ltoir --nvjitlink="$library/libnvJitLink.so.13" a.ltoir b.o -o command.ltoir
        CUDA_HOME=${bin%/*} said "$BUILD/nvjitlink" -arch=sm_$arch -lto -- 3:a.ltoir 5:b.o > log
        mv nvjitlink.ltoir library.ltoir
        for file in command library; do
            rm -f ./*.cubin
            "${minilink[@]}" -arch=sm_$arch $file.ltoir -o minilink.cubin
            "$bin/nvlink" -lto -arch=sm_$arch -nvvmpath="$work/nvvm" $file.ltoir -o nvlink.cubin -L"$library" -lcudadevrt
            said "$library" -arch=sm_$arch -lto -- 3:$file.ltoir > log
            mv "${library##*/}.cubin" real.cubin
            for linker in minilink nvlink real; do
                code $linker.cubin > again
                runs "$version: sm_$arch, LTO-IR of the $file, linked by $linker" alike direct again
            done
        done
    done
}

for bin in ${TOOLKITS:-"$(dirname "$(readlink -f "$(command -v nvlink)")")"}; do
    version=$("$bin/ptxas" --version | sed -n 's/.*release \([0-9.]*\),.*/\1/p')
    library=$(dirname "$(find -L "${bin%/*}/lib64" "${bin%/*}/lib" -maxdepth 1 -name libnvJitLink.so.13 2> /dev/null | head -n 1)")
    if ! nm -D "$library/libnvJitLink.so.13" 2> /dev/null | grep -q 'nvJitLinkGetLinkedLTOIR_13_4'; then
        skip 1 "libnvJitLink $version makes no LTO-IR"
        continue
    fi
    mkdir -p nvvm/lib64
    ln -sf "$(find -L "${bin%/*}" -name 'libnvvm.so*' | head -n 1)" nvvm/lib64/libnvvm.so
    ln -sfn "${bin%/*}/nvvm/libdevice" nvvm/libdevice
    compare_all
done
finish
