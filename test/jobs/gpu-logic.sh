#!/bin/bash
# gpu-logic.sh: the program that compares cubins on a GPU finds differences and says why it cannot run, and so do the scripts
# that run it and whole programs; the driver is a fake one, which computes something from a kernel's code
# (test/gpu/fake_cuda.c).
. "$(dirname "$0")/../prelude.sh"
launch=$BUILD/gpu_launch

# expect STATUS PATTERN COMMAND...: its exit status, and a line of what it prints.
expect() {
    status=$1 pattern=$2
    shift 2
    "$@" > "$work/log" 2>&1
    got=$?
    if [ $got = "$status" ] && grep -q "$pattern" "$work/log"; then
        pass
    else
        fail "$*: status $got, expected $status and '$pattern'" "$work/log"
    fi
}

cat > "$work/a.ptx" << 'END'
.version 8.0
.target sm_90
.address_size 64
.visible .global .u32 counter = 5;
.visible .entry first(.param .u64 p, .param .u32 n) { .reg .b64 %rd<3>; .reg .b32 %r<3>;
 ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [n]; add.u32 %r2, %r1, 1; st.global.u32 [%rd1], %r2; ret; }
.visible .entry second(.param .u32 a, .param .u32 b, .param .u64 p) .reqntid 64 { ret; }
END
sed 's/%r1, 1;/%r1, 2;/' "$work/a.ptx" > "$work/b.ptx"
grep -v second "$work/a.ptx" > "$work/c.ptx"
for unit in a b c; do
    "$BUILD/minilink" -arch=sm_90 "$work/$unit.ptx" -o "$work/$unit.cubin" || exit 1
done
# The fake driver frees nothing.
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0
export FAKE_CUDA=$BUILD/fake-cuda.so
# Launches are counted anew for each test.
export FAKE_CUDA_COUNT=$work/count
expect 0 '^sm_90$' "$launch" --arch
expect 0 '^2 kernels, 3 launches, 0 of them errors: the same$' "$launch" "$work/a.cubin" "$work/a.cubin"
expect 0 '^second, 64 threads, .*/a.cubin: same (ran)$' "$launch" "$work/a.cubin" "$work/a.cubin"
expect 1 '^first, 32 threads, .*/b.cubin: byte [0-9]* of memory differs: ' "$launch" "$work/a.cubin" "$work/b.cubin"
expect 1 '^second, 64 threads, .*: run: .*, but find: ' "$launch" "$work/a.cubin" "$work/c.cubin"
expect 1 '^first, 1 threads, .*/b.cubin: byte ' "$launch" "$work/a.cubin" "$work/a.cubin" "$work/b.cubin" "$work/a.cubin"
check "one cubin of three differs" "$(grep -c 'differs' "$work/log") $(grep -c 'same (ran)' "$work/log")" "2 7"
expect 2 'is not a cubin' "$launch" "$work/a.ptx" "$work/a.cubin"
expect 2 usage "$launch" one
export FAKE_CUDA_WAY
FAKE_CUDA_WAY=none expect 77 'no GPU: there is no device' "$launch" --arch
FAKE_CUDA_WAY=none expect 77 'no GPU: there is no device' "$launch" "$work/a.cubin" "$work/a.cubin"
FAKE_CUDA_WAY=init expect 77 'no GPU: CUDA_ERROR_OTHER' "$launch" --arch
FAKE_CUDA_WAY=fault expect 0 'same (CUDA_ERROR_ILLEGAL_ADDRESS)' "$launch" "$work/a.cubin" "$work/a.cubin"
FAKE_CUDA_WAY=fault expect 0 '^2 kernels, 3 launches, 3 of them errors: the same$' "$launch" "$work/a.cubin" "$work/a.cubin"
rm -f "$work/count"
FAKE_CUDA_WAY=second expect 1 'but run: CUDA_ERROR_ILLEGAL_ADDRESS' "$launch" "$work/a.cubin" "$work/a.cubin"
rm -f "$work/count"
# What is gone in new contexts was no difference.
FAKE_CUDA_WAY=once expect 0 'launches, 0 of them errors: the same$' "$launch" "$work/a.cubin" "$work/a.cubin"
rm -f "$work/count"
FAKE_CUDA_WAY=endless expect 0 '^first, 1 threads: does not end$' "$launch" "$work/a.cubin" "$work/a.cubin"
FAKE_CUDA_WAY=print expect 1 '^first, 1 threads, .*: byte [0-9]* of text differs: ' "$launch" "$work/a.cubin" "$work/b.cubin"
FAKE_CUDA_WAY=memory expect 0 'same (CUDA_ERROR_OUT_OF_MEMORY)' "$launch" "$work/a.cubin" "$work/a.cubin"

# launch.sh: the same bytes, other bytes that do the same, a difference, one that is not defined, and what is not launched.
cd "$work" || exit 1
printf '.visible .global .u32 another = 5;\n' | cat a.ptx - > d.ptx
sed 's/ first(/ k3(/' a.ptx > e.ptx
sed 's/ first(/ k3(/' b.ptx > f.ptx
for unit in d e f; do minilink -arch=sm_90 $unit.ptx -o $unit.cubin || exit 1; done
mkdir -p good/one good/08_calldeep good/10_fptr bad/two
cp a.cubin good/one/machine.theirs && cp a.cubin good/one/machine.equal && cp d.cubin good/one/machine.other
cp d.cubin good/one/machine.twin
cp d.cubin good/one/ltoir.theirs && cp a.cubin good/one/ltoir.less
cp e.cubin good/08_calldeep/machine.theirs && cp f.cubin good/08_calldeep/machine.way
cp a.cubin good/10_fptr/machine.theirs && cp b.cubin good/10_fptr/machine.way
cp a.cubin bad/two/machine.theirs && cp b.cubin bad/two/machine.way && cp d.cubin bad/two/machine.other
expect 0 '^4 passed, 0 failed, 1 skipped$' "$ROOT/test/gpu/launch.sh" good
holds "the same bytes" grep -qx 'passed one/machine: the same bytes: equal' log
holds "twins are launched once" grep -qx 'passed one/machine: 2 kernels, 3 launches, 0 of them errors: the same: other twin' log
holds "variables that both have" grep -q '^passed one/ltoir: .*: the same: less$' log
holds "what is not defined" grep -q '^passed 08_calldeep/machine: .* the same where that is defined: way$' log
expect 1 '^    first, 1 threads, ./two/machine.way: byte ' "$ROOT/test/gpu/launch.sh" bad
holds "it fails" grep -qx '0 passed, 1 failed, 0 skipped' log
FAKE_CUDA_WAY=none expect 0 '^0 passed, 0 failed, 1 skipped$' "$ROOT/test/gpu/launch.sh" bad

# compare.sh: programs that are scripts here.
program() { printf '#!/bin/sh\n%s\n' "$2" > "programs/$1" && chmod +x "programs/$1"; }
mkdir -p programs/b.data
echo input > programs/b.data/file
echo 'sed /seconds/d' > programs/b.filter
echo two words > programs/b.arguments
for way in theirs one; do program b.$way 'echo $0 $# $(cat file); echo $$ seconds'; done
program c.theirs 'echo No images found compatible; exit 3'
program c.one 'exit 4'
program c.three 'echo fine'
program c.two 'echo fine'
expect 1 '^failed: c.one differs from three' "$ROOT/test/gpu/compare.sh" programs
holds "arguments, data and filter" grep -qx 'passed b.one: 2 lines, status 0' log
holds "another way stands for theirs" grep -qx 'passed c.two: 2 lines, status 0' log
rm programs/c.*
expect 0 '^1 passed, 0 failed, 0 skipped$' "$ROOT/test/gpu/compare.sh" programs
program b.one 'echo another'
expect 1 '^failed: b.one differs from theirs' "$ROOT/test/gpu/compare.sh" programs
program b.theirs 'exit 1'
expect 1 '^failed: b.theirs: status 1' "$ROOT/test/gpu/compare.sh" programs
FAKE_CUDA=$work/none.so expect 77 'no GPU: there is no libcuda' "$launch" --arch
FAKE_CUDA=$BUILD/sample-plugin.so expect 77 'no GPU: the driver lacks functions' "$launch" --arch
finish
