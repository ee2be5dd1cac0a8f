#!/bin/bash
# ptx-data.sh: the variables of a PTX text stand where nvlink has them: in the order of ptxas, by alignment and size.
. "$(dirname "$0")/../prelude.sh"
need 2 nvlink ptxas
cd "$work" || exit 1
cat > data.ptx << 'END'
.version 7.0
.target sm_75
.address_size 64
.visible .global .align 1 .b8 bytes[3] = {1,2,3};
.global .align 4 .u32 word = 5;
.visible .global .align 2 .b16 half = 7;
.global .align 8 .b64 long = 9;
.global .align 1 .b8 name[5] = {65,66,67,68,0};
.visible .global .align 4 .u32 zero;
.visible .global .align 16 .b8 zeros[40];
.global .align 8 .b64 longs[3] = {1,2,3};
.const .align 1 .b8 small[3] = {1,2,3};
.visible .const .align 8 .b64 wide = 5;
.const .align 4 .b8 table[12] = {4,5,6};
.const .align 16 .b8 first[32];
.visible .entry k(.param .u64 p)
{
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [p];
    mov.u64 %rd2, bytes; st.global.u64 [%rd1], %rd2;
    mov.u64 %rd2, word; st.global.u64 [%rd1+8], %rd2;
    mov.u64 %rd2, half; st.global.u64 [%rd1+16], %rd2;
    mov.u64 %rd2, long; st.global.u64 [%rd1+24], %rd2;
    mov.u64 %rd2, name; st.global.u64 [%rd1+32], %rd2;
    mov.u64 %rd2, zero; st.global.u64 [%rd1+40], %rd2;
    mov.u64 %rd2, zeros; st.global.u64 [%rd1+48], %rd2;
    mov.u64 %rd2, longs; st.global.u64 [%rd1+56], %rd2;
    mov.u64 %rd2, small; st.global.u64 [%rd1+64], %rd2;
    mov.u64 %rd2, wide; st.global.u64 [%rd1+72], %rd2;
    mov.u64 %rd2, table; st.global.u64 [%rd1+80], %rd2;
    mov.u64 %rd2, first; st.global.u64 [%rd1+88], %rd2;
    ret;
}
END
# objects FILE: the variables, their places and sizes.
objects() { minidump --symbols "$1" | grep ' OBJECT,' | sort; }
minifat --arch=sm_75 data.ptx -o data.fatbin
nvlink -arch=sm_75 data.fatbin -o theirs.cubin > log 2>&1
runs "a link" minilink -w -arch=sm_75 --assembler=ptxas data.ptx -o ours.cubin
check "the variables' places" "$(objects ours.cubin)" "$(objects theirs.cubin)"
finish
