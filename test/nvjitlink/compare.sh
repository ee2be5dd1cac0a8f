# compare.sh: the second half of test/jobs/nvjitlink.sh, which reads it: one program with NVIDIA's library and with ours.
# shellcheck shell=bash disable=SC2154 # its names are there

# What is recorded of its version.
exported "$theirs/libnvJitLink.so.13" > names
version=13.$(sed -n 's/^__nvJitLinkCreate_13_\([0-9]*\)@.*/\1/p' names | sort -n | tail -n 1)
runs "the names that NVIDIA's has" diff <(names_of "$version") names
runs "a program for NVIDIA's header compiles" ${CC:-cc} -std=gnu11 -DTOOLKIT_HEADER -I"$toolkit/include" -o program \
    "$ROOT/test/nvjitlink/client.c" -L"$theirs" -lnvJitLink -pthread
both() { # both ARGUMENT...: what the program says to `theirs` and `ours`
    LD_LIBRARY_PATH=$theirs ./program "$@" > theirs.said 2> /dev/null
    LD_LIBRARY_PATH=$ours ./program "$@" > ours.said 2>&1
}
both options "${words[@]}"
runs "NVIDIA's takes what is written down" diff <(options_of "$version") theirs.said
both nulls
runs "NVIDIA's has the results that are written down" diff <(wrong_calls_of "$version") theirs.said

# Whole links, one in three, each time another, as three or six lines at a time have the same options: those of ours with a
# stand-in for LTO-IR are all of them.
some() { awk '(NR + int((NR - 1) / 3)) % 3 == 1'; }
while IFS= read -r line; do echo "$line: $(LD_LIBRARY_PATH=$theirs statuses "$line" "$work/program")"; done < <(link_lines | some) > got
runs "NVIDIA's links as is written down" diff <(links_of "$version" | some) got
while IFS= read -r line; do echo "$line: $(LD_LIBRARY_PATH=$ours statuses "$line" "$work/program")"; done < <(link_lines | some) > got
# By an older library there is no LTO-IR as output, and none of 13.5 is read.
older() { if [ "$version" = 13.5 ]; then cat; else sed -E '/\.135\.|=lto_/d; / -lto/s/.[^/]*$//'; fi; }
runs "ours links as is written down" diff <(links_of_ours 13.5 | some | older) <(older < got)

# Two modules, in all forms.
cat > a.cu << 'END'
extern __device__ float helper(float, int);
__device__ int counter;
__constant__ float table[4] = {1, 2, 3, 4};
__global__ void k1(float *p, int n) { p[0] = helper(p[1], n) + counter + table[n & 3]; }
__global__ void k3(float *p, int n) { p[0] = helper(p[1], n + 2); }
END
cat > b.cu << 'END'
__device__ __noinline__ float helper(float x, int n) { for (int i = 0; i < n; i++) x = x * 0.5f + x; return x; }
__global__ void k2(float *p, int n) { __shared__ float s[64]; s[n] = p[2]; __syncthreads(); p[0] = helper(s[n / 2], n + 1); }
END
for file in a b; do
    # shellcheck disable=SC2015
    nvcc -rdc=true -arch=sm_90 -cubin $file.cu -o $file.cubin &&
        nvcc -rdc=true -arch=sm_90 -ptx $file.cu -o $file.ptx &&
        nvcc -rdc=true -arch=sm_90 -fatbin $file.cu -o $file.fatbin &&
        nvcc -rdc=true -gencode arch=compute_80,code=compute_80 -fatbin $file.cu -o $file.ptx.fatbin &&
        nvcc -rdc=true -arch=lto_90 -fatbin $file.cu -o $file.lto.fatbin &&
        nvcc -dlto -arch=sm_90 -ltoir -dc $file.cu -o $file.ltoir &&
        nvcc -dc -arch=sm_90 $file.cu -o $file.o &&
        nvcc -dc -gencode arch=compute_80,code=compute_80 $file.cu -o $file.ptx.o &&
        nvcc -dc -gencode arch=compute_80,code=compute_80 -gencode arch=compute_90,code=compute_90 $file.cu -o $file.two.o &&
        nvcc -dlto -arch=sm_100 -ltoir -dc $file.cu -o $file.100.ltoir &&
        nvcc -dc -dlto -arch=sm_90 $file.cu -o $file.lto.o || fail "nvcc $file.cu"
    sed 's/^\.target sm_90/.target sm_75/' $file.ptx > $file.75.ptx
done > log 2>&1
nvcc -c -gencode arch=compute_80,code=compute_80 b.cu -o b.whole.o
ar rcs lib.a a.o b.o
ar rcs libptx.a a.ptx.o b.ptx.o
printf '.version 8.0\n.target sm_75\n.address_size 64\n\nwhat is this\n' > wrong.ptx
fatbinary --create=wrong.fatbin --image3=kind=ptx,sm=75,file=wrong.ptx -64
sed 's/^\.target sm_90/.target sm_100/' a.ptx > newer.ptx
head -c 500 a.ptx > cut.ptx

# Said and made alike.
same() { # same WHAT ARGUMENT...
    local what=$1
    shift
    rm -f {theirs,ours}.{cubin,ptx,infos,errors}
    LD_LIBRARY_PATH=$theirs ./program link theirs "$@" > theirs.said 2> /dev/null
    LD_LIBRARY_PATH=$ours ./program link ours "$@" > ours.said 2>&1
    cp ours.said log
    cat ours.errors >> log 2> /dev/null
    if diff theirs.said ours.said > differences; then pass; else cat differences >> log; fail "$what: results"; fi
}
made() { # made WHAT ARGUMENT...: results and cubins
    same "$@"
    cmp -s ours.cubin theirs.cubin && : > differences ||
        cubincmp ours.cubin theirs.cubin > differences
    if [ -s differences ] || [ ! -s ours.cubin ]; then cat differences >> log; fail "$1: cubins"; else pass; fi
}
ptx() { # ptx WHAT ARGUMENT...: results and PTX
    same "$@"
    if cmp ours.ptx theirs.ptx > differences 2>&1; then pass; else cat differences >> log; fail "$1: PTX"; fi
}
made cubins -arch=sm_90 -- 1:a.cubin 1:b.cubin
made "cubins, verbose" -arch=sm_90 -verbose -- 1:a.cubin 1:b.cubin
runs "both say the same of them" cmp ours.infos theirs.infos
made "PTX" -arch=sm_90 -- 2:a.ptx 2:b.ptx
made "PTX by its file" -arch=sm_90 -- 2@a.ptx 10@b.ptx
made "PTX for sm_100" -arch=sm_100 -- 2:a.75.ptx 2:b.75.ptx
made "PTX for sm_75" -arch=sm_75 -- 2:a.75.ptx 2:b.75.ptx
made "PTX, options" -arch=sm_90 -lineinfo -O0 -maxrregcount=40 -- 2:a.ptx 2:b.ptx
made "PTX, -g" -arch=sm_90 -g -- 2:a.ptx 2:b.ptx
made fatbins -arch=sm_90 -- 4:a.fatbin 4:b.fatbin
made "fatbins with PTX" -arch=sm_90 -- 4:a.ptx.fatbin 4:b.ptx.fatbin
made "host objects" -arch=sm_90 -- 5:a.o 5@b.o
made "host objects with PTX" -arch=sm_90 -- 5:a.ptx.o 5@b.ptx.o
made "one with PTX, and one with PTX for two targets" -arch=sm_90 -- 5:a.ptx.o 5:b.two.o
made "a fatbin with PTX beside what is linked already" -arch=sm_90 -- 5:b.whole.o 4:a.ptx.fatbin 2:b.ptx
made "a library with PTX" -arch=sm_90 -- 6@libptx.a
for options in "-fast-compile" "-arch=sm_80" "-arch=sm_90a -arch=sm_90 -fast-compile"; do
    # shellcheck disable=SC2086
    made "PTX $options" $options -arch=sm_90 -- 2:a.ptx 4:b.ptx.fatbin
    runs "$options: both warn as often" test "$(grep -c warning ours.infos)" = "$(grep -c warning theirs.infos)"
done
made "a library" -arch=sm_90 -- 6@lib.a
made "one of each" -arch=sm_90 -- 2:a.ptx 4:b.fatbin
made "kernels that are used" -arch=sm_90 -kernels-used=k1 -- 1:a.cubin 1:b.cubin
made "variables that are used" -arch=sm_90 -variables-used=counter -- 1:a.cubin 1:b.cubin
# minilink-cubin(5) says what is different in the cubin.
same "-r" -arch=sm_90 -r -- 1:a.cubin 1:b.cubin
for options in "" -ftz=1 "-prec-div=0 -prec-sqrt=0 -fma=0" -O0 -g -lineinfo -maxrregcount=32 -split-compile=2 -kernels-used=k1 \
    "-kernels-used=k1 -kernels-used=k2" -variables-used=counter -optimize-unused-variables \
    "-kernels-used=k1 -optimize-unused-variables" -jump-table-density=50 -Ofc=max -fast-compile -Xptxas=-O1 -no-cache; do
    # shellcheck disable=SC2086
    made "LTO-IR $options" -arch=sm_90 -lto $options -- 3:a.ltoir 3:b.ltoir
    # shellcheck disable=SC2086
    ptx "PTX of LTO-IR $options" -arch=sm_90 -lto -ptx $options -- 3:a.ltoir 3:b.ltoir
done
made "fatbins with LTO-IR" -arch=sm_90 -lto -- 4:a.lto.fatbin 4:b.lto.fatbin
made "host objects with LTO-IR" -arch=sm_90 -lto -- 5:a.lto.o 5:b.lto.o
# Kernels enough for several chunks: the same bytes, but for the note that names the tool.
cat > many.cuh << 'END'
template <int N> __global__ void many(double *p, int n) {
    __shared__ double s[64];
    for (int i = 0; i < n; i++) {
        s[i & 63] = sin(p[i] * N) + exp(p[i + N]) / p[i + 1];
        __syncthreads();
        p[i] = s[(i + N) & 63] * pow(p[i + 2], N);
    }
}
END
processors=$(nproc)
mkdir counting
printf '#!/bin/sh\necho >> %q\nexec %q "$@"\n' "$work/runs" "$(command -v ptxas)" > counting/ptxas
chmod +x counting/ptxas
for options in "" -lineinfo; do
    for file in c d; do
        echo '#include "many.cuh"' > $file.cu
        seq -f "template __global__ void many<1%g$(printf %d "'$file")>(double *, int);" 10 >> $file.cu
        # shellcheck disable=SC2086
        all_declared nvcc -dlto $options -arch=sm_90 -ltoir -dc $file.cu -o $file.ltoir
    done > log 2>&1
    rm -f runs
    # shellcheck disable=SC2086
    PATH=$work/counting:$PATH CUDA_HOME='' CUDA_PATH='' same "chunks $options" -arch=sm_90 -lto $options -- 3:c.ltoir 3:d.ltoir
    runs "chunks $options: more than one, where there are processors" test "$(wc -l < runs)" -ge $((processors > 1 ? 2 : 1))
    cmp -l theirs.cubin ours.cubin > differences 2>&1
    runs "chunks $options: one note" awk '
        {first = NR == 1 ? $1 : first; others += $1 + 0 == 0 || $1 - first >= 164} END {exit others || !NR}' differences
done
made "LTO-IR and a cubin" -arch=sm_90 -lto -- 3:a.ltoir 1:b.cubin
made "PTX and LTO-IR" -arch=sm_90 -lto -- 2:b.ptx 3:a.ltoir
ptx "PTX of LTO-IR that is not whole" -arch=sm_90 -lto -ptx -- 3:a.ltoir
ptx "PTX of a virtual architecture" -arch=compute_90 -lto -ptx -- 3:a.ltoir 3:b.ltoir

# Programs of several modules.
for folder in "$ROOT"/fixtures/programs/*/; do
    inputs=()
    for file in "$folder"*.ptx; do
        [ ! -e "$file" ] || inputs+=("2:$file")
    done
    [ ${#inputs[@]} = 0 ] || made "$(basename "$folder")" -arch=sm_90 -- "${inputs[@]}"
done

# What is wrong. NVIDIA's has a part of a cubin when functions are missing; ours has none.
wrong() {
    same "$@"
}
wrong "LTO-IR without -lto" -arch=sm_90 -- 3:a.ltoir 4:a.lto.fatbin 10:a.ltoir
wrong "-lto without LTO-IR" -arch=sm_90 -lto -- 1:a.cubin 1:b.cubin
wrong "-ptx with a cubin" -arch=sm_90 -lto -ptx -- 3:a.ltoir 1:b.cubin
wrong "LTO-IR that is not whole" -arch=sm_90 -lto -- 3:a.ltoir
wrong "LTO-IR twice" -arch=sm_90 -lto -- 3:b.ltoir 3:b.ltoir
wrong "LTO-IR for a newer target" -arch=sm_90 -lto -- 3:a.100.ltoir 10:b.100.ltoir
wrong "the same beside some that is none" -arch=sm_90 -lto -- 3:a.100.ltoir 3:b.ltoir
wrong "the same, PTX" -arch=sm_90 -lto -ptx -- 3:a.100.ltoir 3:b.ltoir
wrong "wrong PTX in a fatbin" -arch=sm_90 -- 4:wrong.fatbin 2:b.ptx
wrong "newer PTX" -arch=sm_90 -- 2:newer.ptx
wrong "PTX that is cut off" -arch=sm_90 -- 2:cut.ptx
wrong "an option that ptxas does not know" -arch=sm_90 -Xptxas=--none -- 2:b.ptx
wrong "an option that libnvvm does not know" -arch=sm_90 -lto -Xnvvm=-none -- 3:b.ltoir
wrong "a value that libnvvm does not know" -arch=sm_90 -lto -ftz=yes -- 3:b.ltoir
wrong "registers that are none" -arch=sm_90 -maxrregcount=foo -- 2:b.ptx
wrong "code for another target" -arch=sm_80 -- 1:a.cubin 4:a.fatbin 5:a.o
for type in 0 1 2 3 4 5 6 7 8 10; do
    wrong "inputs as type $type" -arch=sm_90 -- $type:b.ptx $type:b.fatbin $type:b.o $type:lib.a $type:b.ltoir $type:a.cu $type@none
done
numba() { python3 "$ROOT/test/nvjitlink/numba.py" "$@" | sed 's/^version 13\.[0-9]*/version/'; }
for words in "-arch=sm_90 -- ptx:a.ptx cubin:b.cubin" "-arch=sm_90 -- fatbin:a.fatbin ptx:b.ptx" \
    "-arch=sm_90 -lto -- ltoir:a.ltoir ltoir:b.ltoir" "-arch=sm_90 -lto -ptx -- ltoir:a.ltoir ltoir:b.ltoir"; do
    # shellcheck disable=SC2086
    numba "$theirs/libnvJitLink.so.13" theirs.out $words > theirs.said 2>&1
    # shellcheck disable=SC2086
    numba "$ours/libnvJitLink.so.13" ours.out $words > ours.said 2>&1
    runs "numba, $words: results" diff theirs.said ours.said
    case $words in
    *-ptx*) runs "numba, $words: PTX" cmp theirs.out ours.out ;;
    *) runs "numba, $words: cubins" cubincmp ours.out theirs.out ;;
    esac
done
for order in "$ours/libnvJitLink.so.13 $theirs/libnvJitLink.so.13" "$theirs/libnvJitLink.so.13 $ours/libnvJitLink.so.13"; do
    # shellcheck disable=SC2086
    python3 "$ROOT/test/nvjitlink/both.py" $order b.ptx > log 2>&1
    runs "in one process: $order" test "$(sed -n '3,$p' log | paste -sd ' ')" = "0 0 0 0 0 0 0 0 0 0 b'\x7fELF' b'\x7fELF' 0 0"
done
runs "four threads" env LD_LIBRARY_PATH="$ours" ./program threads 4 -arch=sm_90 -- 2:a.ptx 1:b.cubin
runs "four threads with LTO-IR" env LD_LIBRARY_PATH="$ours" ./program threads 4 -arch=sm_90 -lto -- 3:a.ltoir 3:b.ltoir
# One of the toolkit's own libraries that links at run time.
if [ -e "$theirs/libcusparse.so.12" ]; then
    runs "libcusparse finds its names in ours" env LD_BIND_NOW=1 LD_LIBRARY_PATH="$ours" python3 -c \
        "import ctypes; ctypes.CDLL('$theirs/libcusparse.so.12'); assert '$ours/' in open('/proc/self/maps').read()"
else
    skip 1 "libcusparse is not installed"
fi
