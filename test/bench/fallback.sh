#!/bin/bash
# fallback.sh: what a -lto link costs that is assembled in one piece by itself, beside one that is told to be (--threads=1): the
# processor time of all processes, in turns (interleaved), of which the ratio should be 1.10 at most. ROUNDS: how often (3).
#
# The reason is a program that cannot be split, or a ptxas of a toolkit that is not known, whose files have a byte more than can
# be understood: it is probed where there is a mebibyte of functions. "Other form": the same of a ptxas that says that
# its version is a known one; of a small program, the first chunk tells. Then what a probe takes.
#
#     test/bench/fallback.sh
. "$(dirname "$0")/prelude.sh"
each_toolkit "$@"
need ptxas
cd "$work" || exit 1
real=$(command -v ptxas)
cat > other << END
#!/bin/sh
case " \$* " in *" --version "*) exec $real --version ;; esac
for word; do [ "\$last" != -o ] || output=\$word; last=\$word; done
$real "\$@" && printf x >> "\$output"
END
sed "s/exec .* --version/echo 'Cuda compilation tools, release 99.9, V99.9.9'; exit/" other > unknown
chmod +x other unknown
own="$BUILD/minilink -w -disable-infos -lto --ignore-host-info --assembler=ptxas"
worst=0

# compare NAME COMMAND: the link as it is, and with --threads=1.
compare() {
    in_turn "${ROUNDS:-3}" "$1" "${2//@ /}" "on one thread" "${2//@/--threads=1}" > table || exit 1
    sed 's/^/fallback:/' table
    worst=$(awk -v worst="$worst" 'NR == 2 && $NF > worst {worst = $NF} END {print worst}' table)
}

# Enough for a probe, but no more; and in another module what has no exact split.
[ -e large/000.ptx ] || "$ROOT/test/bench/generate" large 8 13 10000 || exit 1
echo "fallback: $(($(cat large/*.ptx | wc -c) / 1024)) KiB of PTX, ${ROUNDS:-3} rounds in turn, $(machine):"
cat > address.ptx << 'END'
.version 8.0
.target sm_90
.address_size 64
.func (.param .b32 r) called(.param .b32 q)
{
.reg .b32 a;
ld.param.u32 a, [q];
st.param.b32 [r], a;
ret;
}
.global .u64 address = called;
.visible .entry calls(.param .u64 p)
{
.reg .b64 d, f;
ld.param.u64 d, [p];
ld.global.u64 f, [address];
st.global.u64 [d], f;
ret;
}
END
compare "cannot be split" "$own @ -arch=sm_90 large/*.ptx address.ptx -o out"
compare "unknown ptxas" "$own @ -arch=sm_90 --ptxas=./unknown large/*.ptx -o out"
compare "other form" "$own @ -arch=sm_90 --ptxas=./other large/*.ptx -o out"
whole=$(sed -n '2s/.*processor *\([0-9.]*\) ms.*/\1/p' table)

# What nvcc made: small programs, one after the other.
for kind in unknown other; do
    compare "$(echo "$ROOT"/fixtures/programs/*/ | wc -w) small ones, $kind" \
        "for p in $ROOT/fixtures/programs/*/; do
            $own @ -arch=sm_90 --ptxas=./$kind \$p/*.ptx -o out || :
        done 2> log"
done
if command -v nvcc > /dev/null && folder=$(cd "$ROOT" && test/bench/make-objects 128 8); then
    find_toolkit
    cat > pointer.cu << 'END'
__device__ __noinline__ float twice(float x) { return 2 * x; }
__device__ __noinline__ float half(float x) { return x / 2; }
__device__ float (*functions[2])(float) = {twice, half};
__global__ void pointer(float *a, int n) { a[0] = functions[n & 1](a[1]); }
END
    nvcc -dc -dlto -arch=sm_90 pointer.cu -o pointer.o || exit 1
    compare "-dlto, cannot be split" "$own @ -arch=sm_90 --cuda-path=$toolkit $folder/*.o pointer.o -o out"
    compare "-dlto, unknown" "$own @ -arch=sm_90 --cuda-path=$toolkit --ptxas=./unknown $folder/*.o -o out"
else
    echo "fallback: nvcc is not there: -dlto is skipped"
fi
echo "fallback: at worst $worst of the processor time on one thread"

# A probe alone: two chunks and the whole.
cat > one.ptx << 'END'
.version 8.0
.target sm_90
.address_size 64
.visible .entry a() { ret; }
.visible .entry b() { ret; }
END
probe="$own -arch=sm_90 --ptxas=./unknown --minimum-chunk=1 one.ptx -o out"
in_turn $((5 * ${ROUNDS:-3})) "probe and empty kernels" "$probe --chunks=2" "empty kernels" "$probe --chunks=1" | tee table | sed 's/^/fallback:/'
sed 's/.*processor *\([0-9.]*\) ms.*/\1/' table | paste -s | awk -v whole="$whole" \
    '{printf "fallback: a probe takes %.0f ms, %.1f %% of what the large program takes on one thread\n", $1 - $2, 100 * ($1 - $2) / whole}'
