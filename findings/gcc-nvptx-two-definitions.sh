#!/bin/bash
# gcc-nvptx-two-definitions: GCC's linker for NVIDIA's GPUs takes two definitions of one function, and keeps both.
#
# nvptx-none-ld of Debian's nvptx-tools 0.20220610 gets two objects that define the same function, to return 1 and 2.
# It ends with status 0 and no message, and both are in its output; an undefined function it does refuse. The output is
# no PTX module, either: behind the text of each object is a zero byte, also where nothing is wrong. ptxas 13.5 takes
# each text by itself, and stops at the byte.
# One would guess otherwise: a linker that looks for undefined symbols knows the defined ones, GNU ld refuses the same
# program for the host, and a linked file of PTX is something that ptxas reads.
# What follows: two definitions, or a mistake in PTX, come to light in the driver, on a machine with a GPU, not in the
# build. To check a linked program with ptxas, cut it at its zero bytes.
set -u
work=$(mktemp -d) && cd "$work" || exit 1
trap 'rm -rf "$work"' EXIT
changed=0
see() { echo "  $1: $3"; [ "$2" = "$3" ] || { echo "  CHANGED, it was: $2"; changed=1; }; }
tools=0.20220610-1 version=13.5.37
{ apt-get download nvptx-tools=$tools && dpkg -x nvptx-tools_*.deb .; } > apt.log 2>&1 ||
    { echo "SKIPPED: nvptx-tools $tools cannot be fetched"; exit 2; }
python3 -m pip install -q --no-deps --target packages "nvidia-cuda-nvcc==$version" > pip.log 2>&1 ||
    { echo "SKIPPED: nvidia-cuda-nvcc $version cannot be fetched"; exit 2; }
# object NAME FUNCTION VALUE: as GCC writes the text, with comments for the linker.
object() {
    cat > "$1.s" << END
// BEGIN PREAMBLE
	.version	7.0
	.target	sm_80
	.address_size 64
// END PREAMBLE

// BEGIN GLOBAL FUNCTION DECL: $2
.visible .func (.param.u32 %value_out) $2;

// BEGIN GLOBAL FUNCTION DEF: $2
.visible .func (.param.u32 %value_out) $2
{
	.reg.u32 %value;
	mov.u32	%value, $3;
	st.param.u32	[%value_out], %value;
	ret;
}
END
    usr/bin/nvptx-none-as --no-verify "$1.s" -o "$1.o" || exit 1
}
# link OBJECT...: the linker's status, its message, and what it defines.
link() {
    rm -f linked
    usr/bin/nvptx-none-ld "$@" -o linked > said 2>&1
    echo "status $?, '$(cat said)'," \
        "$(grep -a '^// BEGIN GLOBAL FUNCTION DEF' linked | sed 's/.*: //' | paste -sd ' ')"
}
# assemble FILE: the status of ptxas, and its first message.
assemble() {
    packages/nvidia/cu13/bin/ptxas -arch=sm_80 -c "$1" -o out.cubin > said 2>&1
    echo "status $?, '$(head -n 1 said)'"
}
object one answer 1
object two answer 2
object other question 3
object lacking user 4
printf '// BEGIN GLOBAL FUNCTION DECL: absent\n.extern .func absent;\n' >> lacking.o
echo "nvptx-tools $tools; expected: an error for the second definition, and one text of PTX"
see "two definitions" "status 0, '', answer answer" "$(link one.o two.o)"
see "zero bytes in the output" "2" "$(tr -cd '\0' < linked | wc -c)"
see "an undefined function" "status 1, 'unresolved symbol absent', " "$(link lacking.o 2> /dev/null)"
see "two functions" "status 0, '', answer question" "$(link one.o other.o)"
see "ptxas $version, of that output" "status 255, 'ptxas fatal   : Unexpected EOF encountered on line 16'" \
    "$(assemble linked)"
for text in one other; do see "ptxas $version, of $text.o" "status 0, ''" "$(assemble $text.o)"; done
exit $changed
