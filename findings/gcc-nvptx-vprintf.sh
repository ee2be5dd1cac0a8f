#!/bin/bash
# gcc-nvptx-vprintf: the vprintf of GCC's C library for NVIDIA's GPUs cannot be linked.
#
# libc.a of Debian's gcc-12-offload-nvptx 12.2.0 has a vprintf, and printf calls it. What that vprintf needs in turn
# ends at _fputwc_r, which no library of the package defines (malloc and free are undefined too, but the driver has
# them).
# One would guess otherwise: a static library that defines a function also has what it needs, and a linker that finds an
# undefined vprintf and a member that defines it has to take that member.
# What follows: leave vprintf, malloc and free undefined, for the driver to define, whatever libc.a offers. A linker
# that follows the usual rule of archives fails at every program with printf.
set -u
work=$(mktemp -d) && cd "$work" || exit 1
trap 'rm -rf "$work"' EXIT
changed=0
see() { echo "  $1: $3"; [ "$2" = "$3" ] || { echo "  CHANGED, it was: $2"; changed=1; }; }
version=12.2.0-14+deb12u1
{ apt-get download "gcc-12-offload-nvptx=$version" && dpkg -x gcc-12-offload-nvptx_*.deb .; } > apt.log 2>&1 ||
    { echo "SKIPPED: gcc-12-offload-nvptx $version cannot be fetched"; exit 2; }
# The members are PTX, with comments for each name that they define or declare.
cat > needs.py <<'END'
import glob, re, sys
defined, needs, libraries = {}, {}, 0
for path in sorted(glob.glob('usr/lib/gcc/*/12/accel/nvptx-none/*.a')):
    data, at = open(path, 'rb').read(), 8
    libraries += 1
    while at + 60 <= len(data):
        size = int(data[at + 48:at + 58])
        text, member = data[at + 60:at + 60 + size].decode('latin1'), (path, at)
        at += 60 + size + size % 2
        names = re.findall(r'// BEGIN GLOBAL (?:FUNCTION|VAR) (DEF|DECL): (\S+)', text)
        own = {name for kind, name in names if kind == 'DEF'}
        needs[member] = {name for kind, name in names} - own
        for name in own: defined.setdefault(name, member)
todo, seen, missing = [sys.argv[1]], set(), set()
while todo:
    name = todo.pop()
    if name not in defined: missing.add(name)
    elif defined[name] not in seen:
        seen.add(defined[name])
        todo += needs[defined[name]]
print(f"{len(seen)} members of {libraries} libraries; undefined: {' '.join(sorted(missing))}")
END
echo "gcc-12-offload-nvptx $version; expected: nothing undefined but malloc and free"
see "needs of vprintf" "45 members of 9 libraries; undefined: _fputwc_r free malloc" "$(python3 needs.py vprintf)"
exit $changed
