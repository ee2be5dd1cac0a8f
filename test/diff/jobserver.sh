#!/bin/bash
# jobserver.sh: the real ptxas and libnvvm, told to use six threads, under make -j1, -j2 and -j3: they are clients of the
# link's tokens, take no more processor time than as many threads as make has jobs can, and make what they make without
# make. On a busy machine processor time is no proof; it never fails a link that is right.
. "$(dirname "$0")/../prelude.sh"
cd "$work" || exit 1
# shellcheck source=test/jobs/watching
. "$ROOT/test/jobs/watching"
need 48 ptxas
real=$(command -v ptxas)

# Twelve kernels that take ptxas a tenth of a second each.
awk 'BEGIN {
    print ".version 8.0\n.target sm_90\n.address_size 64"
    for (k = 0; k < 12; k++) {
        printf ".visible .entry k%02d(.param .u64 p)\n{\n.reg .f32 %%f<400>;\n.reg .b64 %%rd<4>;\n", k
        print "ld.param.u64 %rd1, [p];\ncvta.to.global.u64 %rd2, %rd1;"
        for (i = 0; i < 60; i++) printf "ld.global.f32 %%f%d, [%%rd2+%d];\n", i, 4 * i
        for (i = 60; i < 399; i++) printf "fma.rn.f32 %%f%d, %%f%d, %%f%d, %%f%d;\n", i, i - 60, i - 31, i - 7
        for (i = 340; i < 399; i++) printf "st.global.f32 [%%rd2+%d], %%f%d;\n", 4 * i, i
        print "ret;\n}"
    }
}' > heavy.ptx
# What ptxas is told.
cat > ptxas << END
#!/bin/sh
echo "\$* MAKEFLAGS=\${MAKEFLAGS:-}" >> "$work/words"
exec "$real" "\$@"
END
chmod +x ptxas
cat > Makefile << 'END'
all:
	+minilink -w -arch=sm_90 --assembler=ptxas $(HOW) -o out.cubin
END
# under_make JOBS CLIENTS WHAT WORD...
under_make() {
    local jobs=$1 clients=$2 what="make -j$1, $3"
    shift 3
    rm -f words out.cubin
    TIMEFORMAT='%R %U %S'
    { time make -j"$jobs" HOW="$*" > messages 2>&1; } 2> times
    cmp out.cubin expected.cubin >> messages 2>&1; verdict $? "$what: the cubin"
    ! grep -qiE "jobserver.*error|jobserver tokens|Ignoring" messages; verdict $? "$what: what is said"
    [ "$(grep -c -- ' --jobserver .*MAKEFLAGS=--jobserver-auth=' words)" = "$clients" ]
    verdict $? "$what: $clients runs of ptxas are clients"
    awk -v jobs="$jobs" '{exit !($2 + $3 <= jobs * $1 * 1.2 + 0.1)}' times
    verdict $? "$what: more work than jobs: $(cat times)"
}
compare() { # compare CLIENTS WHAT WORD...
    local clients=$1 what=$2 jobs
    shift 2
    minilink -w -arch=sm_90 --assembler=ptxas "$@" -o expected.cubin || exit 1
    for jobs in 1 2 3; do under_make $jobs "$clients" "$what" "$@"; done
}
compare 1 "a whole program" --ptxas=./ptxas -lto --chunks=1 -split-compile=6 heavy.ptx
compare 3 "a whole program in chunks" --ptxas=./ptxas -lto --chunks=3 -split-compile=6 heavy.ptx
compare 4 "chunks" --ptxas=./ptxas -split-compile-extended=4 --chunks=4 -Xptxas=--split-compile=4 heavy.ptx
if command -v nvcc > /dev/null && ls "$(dirname "$real")"/../lib64/libnvJitLink.so* > messages 2>&1; then
    use_recorded
    for k in $(seq 8); do
        echo "extern \"C\" __global__ void k$k(float *p, int i) { float s = p[i];"
        for i in $(seq 40); do echo "s = s * $i.5f + __sinf(s * $k.25f) / (p[i * $i] + 1.0f); if (s > $i.0f) p[i + $i] = s;"; done
        echo "p[i] = s; }"
    done > lto.cu
    nvcc -arch=sm_90 -dc -dlto lto.cu -o lto.o || exit 1
    compare 1 "LTO-IR" --ptxas=./ptxas -lto --chunks=1 -split-compile=6 lto.o
else
    skip 12 "the toolkit has no nvcc or libnvJitLink"
fi
finish
