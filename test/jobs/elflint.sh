#!/bin/bash
# elflint.sh: what elfutils' eu-elflint and binutils' readelf say of the built-in assembler's cubins is what they
# say of ptxas's (13.0, measured on the same programs for sm_75 and sm_90): they do not know the machine, its notes
# and symbol types, and in what nvlink links (13.0) no sections at segments' places. Anything else that they complain
# of is a fault of ours. From elfutils 0.196 on it also complains of the order of segments, which is nvlink's and ptxas's, and
# takes the first type of minilink's note for the one that NT_VERSION is among notes without an owner.
. "$(dirname "$0")/../prelude.sh"
export LC_ALL=C
need 1 eu-elflint readelf

cat > "$work/known" << 'END_OF_LIST'
LOAD segments not sorted by vaddr
SECTION contains unknown flag(s) HEX
SECTION has unsupported type N
SECTION: RELOCATION: invalid type
SECTION: SYMBOL does not fit completely in referenced SECTION
SECTION: SYMBOL: local COMMON symbols are nonsense
SECTION: SYMBOL: non-local symbol outside range described in sh_info
SECTION: SYMBOL: unknown bit set in st_other
SECTION: SYMBOL: unknown type
SECTION: invalid destination section type
SECTION: malformed object file note type N with owner name 'minilink' at OFFSET
SECTION: unknown object file note type N with owner name 'NVIDIA Corp' at OFFSET
SECTION: unknown object file note type N with owner name 'minilink' at OFFSET
invalid machine flags: HEX
loadable segment [N] is executable but contains no executable sections
loadable segment [N] is writable but contains no writable sections
readelf: Warning: [N]: Unexpected value (N) in info field.
unknown machine type N
unsupported ABI version e_ident[N] == N
unsupported OS ABI e_ident[N] == '<unknown>: N'
END_OF_LIST

# Complaints of both, without the numbers and names in them.
complaints() {
    { eu-elflint "$1"; readelf -aW "$1" 2>&1 > "$work/readelf"; } 2>&1 | grep -v '^No errors$' |
        sed -E "s/section \[ *[0-9]+\] '[^']*'/SECTION/g; s/symbol [0-9]+( \([^)]*\))?/SYMBOL/g; s/offset [0-9]+/OFFSET/g
            s/relocation [0-9]+/RELOCATION/g; s/0x[0-9a-f]+/HEX/g; s/[0-9]+/N/g" | sort -u
}

# check NAME OPTION...: links, and compares what is complained of with the list.
check() {
    local name=$1 new
    shift
    if ! "$BUILD/minilink" -w -disable-infos "$@" -o "$work/out.cubin" 2> "$work/messages"; then
        fail "$name is not linked: $(head -n 1 "$work/messages")"
        return
    fi
    complaints "$work/out.cubin" > "$work/complaints"
    new=$(grep -vxFf "$work/known" "$work/complaints")
    if [ -n "$new" ] || [ ! -s "$work/complaints" ]; then
        fail "$name: ${new:-nothing is complained of, not even the machine}"
    else
        pass
    fi
}

for program in "$ROOT"/fixtures/programs/*/ "$ROOT"/fixtures/link-series/*/; do
    inputs=("$program"*.ptx)
    [ -e "${inputs[0]}" ] || continue
    # Tensor memory is for none of the targets here.
    ! grep -q tcgen05 "${inputs[@]}" || continue
    for arch in sm_75 sm_90; do
        target=$(grep -hoE '^\.target +sm_[0-9]+' "${inputs[@]}" | grep -oE '[0-9]+$' | sort -n | tail -n 1)
        [ "$target" -le "${arch#sm_}" ] || continue
        check "$(basename "$program") for $arch" -arch=$arch "${inputs[@]}"
        check "$(basename "$program") for $arch, relocatable" -arch=$arch -r "${inputs[@]}"
    done
done
finish
