#!/bin/bash
# local-after-global: nvlink writes symbol tables that break ELF's rule of local symbols first.
#
# ELF wants all LOCAL symbols before all others, and sh_info of .symtab to be the number of the first that is not LOCAL.
# nvlink 13.4 and 13.5 with -g make a shared variable that another object names LOCAL, behind GLOBAL symbols (sm_90);
# up to 13.3 WEAK functions stand among the LOCAL symbols, and sh_info counts them (13.4 puts this right).
# One would guess otherwise: cubins are ELF files, and every reader of ELF may rely on this rule.
# What follows: tools that take the rows below sh_info for the local ones (strip, objcopy, linkers, debuggers) take
# exported functions for local, or a local variable for global; read the binding of each row.
set -u
work=$(mktemp -d) && cd "$work" || exit 1
trap 'rm -rf "$work"' EXIT
changed=0
see() { echo "  $1: $3"; [ "$2" = "$3" ] || { echo "  CHANGED, it was: $2"; changed=1; }; }
head=$'.version 9.0\n.target sm_90\n.address_size 64\n'
echo "$head .visible .shared .align 4 .b8 tile[64]; .extern .func f; .weak .func w { ret; }
    .visible .entry k() { .reg .b32 %r<2>; mov.u32 %r1, tile; st.volatile.shared.u32 [%r1], %r1;
    call.uni f; call.uni w; ret; }" > k.ptx
echo "$head .extern .shared .align 4 .b8 tile[64]; .weak .func w { ret; } .visible .func f { .reg .b32 %r<2>;
    mov.u32 %r1, tile; st.volatile.shared.u32 [%r1+4], %r1; call.uni w; ret; }" > f.ptx
cat > read.py <<'END'
import struct
d = open('out.cubin', 'rb').read()
at, = struct.unpack_from('<Q', d, 40)
h = [struct.unpack_from('<IIQQQQIIQQ', d, at + 64 * i) for i in range(struct.unpack_from('<H', d, 60)[0])]
table = next(x for x in h if x[1] == 2)
rows = [struct.unpack_from('<IB', d, table[4] + i) for i in range(0, table[5], 24)]
name = lambda r: d[h[table[6]][4] + r[0]:].split(b'\0')[0].decode()
wrong = ['LOCAL %s behind sh_info' % name(r) for r in rows[table[7]:] if r[1] >> 4 == 0]
wrong += ['WEAK %s before sh_info' % name(r) for r in rows[:table[7]] if r[1] >> 4]
print(', '.join(wrong) or 'in order')
END
words() { tr + " " <<< "$1"; }
echo "expected: in order"
while read -r version plain debug; do
    python3 -m pip install -q --no-deps --target "$version" "nvidia-cuda-nvcc==$version" > pip.log 2>&1 ||
        { echo "SKIPPED: nvidia-cuda-nvcc $version cannot be fetched"; exit 2; }
    for name in k f; do "$version/nvidia/cu13/bin/ptxas" -arch=sm_90 -c $name.ptx -o $name.cubin || changed=1; done
    "$version/nvidia/cu13/bin/nvlink" -arch=sm_90 k.cubin f.cubin -o out.cubin || changed=1
    see "nvlink $version" "$(words "$plain")" "$(python3 read.py)"
    "$version/nvidia/cu13/bin/nvlink" -g -arch=sm_90 k.cubin f.cubin -o out.cubin || changed=1
    see "nvlink $version -g" "$(words "$debug")" "$(python3 read.py)"
done << 'END'
13.3.73 WEAK+w+before+sh_info WEAK+w+before+sh_info
13.4.92 in+order LOCAL+tile+behind+sh_info
13.5.37 in+order LOCAL+tile+behind+sh_info
END
exit $changed
