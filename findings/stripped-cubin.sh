#!/bin/bash
# stripped-cubin: eu-strip -g succeeds on a cubin, whose kernel has 0 registers for cuobjdump then, or is not there.
#
# Removing debug sections renumbers sections and symbols. A cubin has such numbers where no ELF tool looks: e_flags
# holds that of .note.nv.cuinfo, and .nv.info names functions by their symbols' (a kernel's registers, stack,
# parameters). eu-strip 0.188 leaves both as they are, without a word. cuobjdump 13.5 -res-usage then reports 0
# registers instead of 8, with status 0, or finds no device code in a finished cubin of ptxas 13.5. nvdisasm stops.
# nvlink 13.0 and 13.5 say of an object that it "must be recompiled with toolkit >= Cuda 12.0", which is what made it.
# One would guess otherwise: cubins are ELF files, and strip -g keeps every program working.
# What follows: keep strip away from cubins that a package installs as files (packagers' scripts strip each ELF file
# that they find). One made without -g and -lineinfo has next to nothing to strip.
set -u
work=$(mktemp -d) && cd "$work" || exit 1
trap 'rm -rf "$work"' EXIT
changed=0
see() { echo "  $1: $3"; [ "$2" = "$3" ] || { echo "  CHANGED, it was: $2"; changed=1; }; }
version=0.188-2.1
{ apt-get download {elfutils,libelf1,libdw1}=$version && for file in *.deb; do dpkg -x "$file" elfutils; done; } \
    > apt.log 2>&1 || { echo "SKIPPED: elfutils $version cannot be fetched"; exit 2; }
strip() { LD_LIBRARY_PATH=elfutils/usr/lib/x86_64-linux-gnu elfutils/usr/bin/eu-strip -g "$1" -o "$2" 2>&1; }
for package in nvidia-cuda-{nvcc,cuobjdump,nvdisasm}==13.5.37 nvidia-cuda-nvcc==13.0.88; do
    python3 -m pip install -q --no-deps --target "tools/$package" $package > pip.log 2>&1 ||
        { echo "SKIPPED: $package cannot be fetched"; exit 2; }
done
for tool in cuobjdump nvdisasm; do ln -s tools/nvidia-cuda-$tool==13.5.37/nvidia/cu13/bin/$tool . || exit 1; done
printf '.version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .b64 p)\n{\n' > k.ptx
printf '.reg .b64 d;\nld.param.b64 d, [p];\nst.global.b32 [d], 1;\nret;\n}\n' >> k.ptx
cat > read.py << 'END'
import struct
import sys

d = open(sys.argv[1], 'rb').read()
at, flags = struct.unpack_from('<QI', d, 40)
names = struct.unpack_from('<Q', d, at + 64 * struct.unpack_from('<H', d, 62)[0] + 24)[0]
name = struct.unpack_from('<I', d, at + 64 * (flags >> 24))[0]
print(d[names + name:].split(b'\0')[0].decode())
END
# run COMMAND...: its exit status, and the last line that it prints.
run() { "$@" > said 2>&1; echo "status $?, '$(tail -n 1 said | sed "s/ '.*'//; s/^ *//; s/ SHARED.*//")'"; }
echo "expected: the stripped file as the whole one"
for version in 13.0.88 13.5.37; do
    bin=tools/nvidia-cuda-nvcc==$version/nvidia/cu13/bin
    for mode in "" -c; do
        $bin/ptxas -arch=sm_90 $mode k.ptx -o whole.cubin || exit 1
        see "eu-strip, a cubin of ptxas $version $mode" "status 0, ''" "$(run strip whole.cubin stripped.cubin)"
        for file in whole stripped; do
            section=.note.nv.cuinfo usage="status 0, 'REG:8 STACK:0'" shown=0 link="status 0, ''"
            if [ $file = stripped ]; then
                section=.nv.compat usage="status 0, 'REG:0 STACK:0'" shown=1
                link="status 1, 'nvlink fatal   : Input file must be recompiled with toolkit >= Cuda 12.0'"
                [ "$version$mode" != 13.5.37 ] ||
                    usage="status 255, 'cuobjdump info    : File does not contain device code'"
            fi
            see "$file, section of e_flags" "$section" "$(python3 read.py $file.cubin)"
            see "$file, cuobjdump -res-usage" "$usage" "$(run ./cuobjdump -res-usage $file.cubin)"
            ./nvdisasm $file.cubin > said 2>&1
            see "$file, nvdisasm" "status $shown" "status $?"
            [ -z "$mode" ] || see "$file, nvlink $version" "$link" "$(run $bin/nvlink -arch=sm_90 $file.cubin -o out)"
        done
    done
done
exit $changed
