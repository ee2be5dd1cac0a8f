#!/bin/bash
# concat-old-linker: to nvlink 13.0 and 13.1, a fatbin made by fatbinary 13.5 with --concat has no machine code.
#
# nvcc and fatbinary 13.5 have --concat, which compresses the code of several targets together. From 13.2 on nvlink
# finds the code for sm_90 in such a file. 13.0 and 13.1 do not: with PTX beside it they compile that, without a word;
# with none they warn "SM Arch ('sm_90') not found" and write a cubin without any kernel. The status is 0 both times.
# What they say of code from a toolkit newer than themselves ("newer than toolkit"), they do not say of this file
# either, though ptxas 13.5 made the code; without --concat they do.
# One would guess otherwise: a file in a form that a tool does not know is an error, the more so where the tool checks
# whose code it is given.
# What follows: --concat is for whole builds by one toolkit. In a library for others it turns machine code that was
# tested into code compiled anew from PTX, or into nothing; ask such links for the kernels they should hold.
set -u
work=$(mktemp -d) && cd "$work" || exit 1
trap 'rm -rf "$work"' EXIT
changed=0
see() { echo "  $1: $3"; [ "$2" = "$3" ] || { echo "  CHANGED, it was: $2"; changed=1; }; }
for version in 13.0.88 13.1.115 13.2.78 13.5.37; do
    python3 -m pip install -q --no-deps --target $version "nvidia-cuda-nvcc==$version" > pip.log 2>&1 ||
        { echo "SKIPPED: nvidia-cuda-nvcc $version cannot be fetched"; exit 2; }
done
# module TARGET KERNEL
module() { printf '.version 8.0\n.target %s\n.address_size 64\n.visible .entry %s() { ret; }\n' "$1" "$2"; }
module sm_90 text > text.ptx
for target in 80 90; do
    module sm_$target machine > $target.ptx
    for made in 13.0.88 13.5.37; do
        $made/nvidia/cu13/bin/ptxas -arch=sm_$target -c $target.ptx -o $target-$made.cubin || exit 1
    done
done
# link VERSION FILE: the exit status, messages, and the kernels of nvlink's output.
link() {
    rm -f out.cubin
    $1/nvidia/cu13/bin/nvlink -arch=sm_90 "$2" -o out.cubin > said 2>&1
    echo "status $?, '$(cat said)' $(grep -aosE '\.text\.(machine|text)' out.cubin | sort -u | xargs)"
}
echo "expected: .text.machine, or an error"
for made in 13.0.88 13.5.37; do
    for option in compress-all concat; do
        images=("--image3=kind=elf,sm=80,file=80-$made.cubin" "--image3=kind=elf,sm=90,file=90-$made.cubin")
        13.5.37/nvidia/cu13/bin/fatbinary --$option --create=code.fatbin "${images[@]}" || exit 1
        images+=("--image3=kind=ptx,sm=90,file=text.ptx")
        13.5.37/nvidia/cu13/bin/fatbinary --$option --create=both.fatbin "${images[@]}" || exit 1
        for version in 13.0.88 13.1.115 13.2.78 13.5.37; do
            code="status 0, '' .text.machine" both="status 0, '' .text.machine"
            number=${version%.*}
            case $option-$made-$version in
            concat-*-13.[01].*)
                code="status 0, 'nvlink warning : SM Arch ('sm_90') not found in 'code.fatbin'' "
                both="status 0, '' .text.text"
                ;;
            *-13.5.37-13.[012].*)
                code="status 1, 'nvlink fatal   : Input file 'code.fatbin' newer than toolkit (135 vs ${number/./})' "
                both=${code/code/both}
                ;;
            esac
            see "--$option, code of $made, nvlink $version" "$code" "$(link $version code.fatbin)"
            see "--$option, code of $made and PTX, nvlink $version" "$both" "$(link $version both.fatbin)"
        done
    done
done
exit $changed
