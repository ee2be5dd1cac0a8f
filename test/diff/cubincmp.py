#!/usr/bin/env python3
"""cubincmp.py MINE NVLINK: compares two linked cubins by what they mean.
cubincmp.py --each [--bytes] < LIST: compares many; each line has MINE, NVLINK and where the differences go, separated by
tabs. Prints the status of each, with --bytes also "same" where the whole files are, but for the linker's own record in
.note.nv.tkinfo, what lies elsewhere because of its length, and the null symbol, in which nvlink leaves values; else what
differs first.

Indices are replaced by names first, so that the order of sections, symbols and records does not
count, nor do string tables and file offsets. Notes are not compared: they name the tool.
Prints one line per difference; exit status 0: none, 1: some, 2: a file cannot be read.
"""
import struct
import sys
from collections import Counter

NOBITS = 8
NOTE = 7
INFO = 0x70000000
# With the Mercury twins of CUDA 13.4 and later.
CALLGRAPHS = (0x70000001, 0x7000008A)
PROTOTYPES = (0x70000002, 0x7000008B)
# Mercury's twins, from sm_100 on; their symbols are .symtab's, with twins as sections.
MERCURY_CODE = 0x70000016
MERCURY_RELA = 0x70000082
MERCURY_INFO = 0x70000083
MERCURY_SYMTAB = 0x70000085
RESOLVED_RELA = 0x70000003
MERCURY_RESOLVED_RELA = 0x70000088
RELOCATIONS = (4, 9, RESOLVED_RELA, MERCURY_RELA, MERCURY_RESOLVED_RELA)
# What has no bytes in the file: NOBITS, and the types of shared and global data in a relocatable cubin.
WITHOUT_BYTES = (NOBITS, 0x70000007, 0x7000000A, 0x70000015)
INFO_LINK = 0x40
DERIVED = {".shstrtab", ".strtab", ".symtab", ".symtab_shndx", ".nv.merc.symtab_shndx"}
# Records of .nv.info whose payload begins with symbols: how many of its words (None: all).
SYMBOL_WORDS = {0x0A: 1, 0x0F: None, 0x11: 1, 0x12: 1, 0x17: 1, 0x23: 1, 0x2F: 1, 0x45: 1}


def text(table, offset):
    return table[offset:table.index(b"\0", offset)].decode("latin1")


class Cubin:
    def __init__(self, path):
        with open(path, "rb") as file:
            self.data = file.read()
        head = struct.unpack_from("<16sHHIQQQIHHHHHH", self.data, 0)
        if head[0][:5] != b"\x7fELF\x02":
            raise ValueError("not a 64-bit ELF file")
        self.header = {"ident": head[0].hex(), "type": head[1], "machine": head[2],
                       "flags": hex(head[7] & 0xFFFFFF), "entry": head[4], "version": head[3]}
        # Where there are many sections their number stands in the null section.
        count = head[12] or struct.unpack_from("<Q", self.data, head[6] + 32)[0]
        self.read_sections(head[6], count, head[13])
        self.header["note"] = self.section_name(head[7] >> 24)
        self.read_symbols()
        self.segments = [struct.unpack_from("<IIQQQQQQ", self.data, head[5] + 56 * i)
                         for i in range(head[10])]

    def read_sections(self, offset, count, names):
        fields = ("name", "type", "flags", "addr", "offset", "size", "link", "info", "align",
                  "entsize")
        self.sections = [dict(zip(fields, struct.unpack_from("<IIQQQQIIQQ", self.data,
                                                             offset + 64 * i)))
                         for i in range(count)]
        for section in self.sections:
            end = section["offset"] + section["size"]
            section["data"] = b"" if section["type"] in (0,) + WITHOUT_BYTES else \
                self.data[section["offset"]:end]
        table = self.sections[names]["data"]
        seen = Counter()
        for section in self.sections:
            name = text(table, section["name"])
            seen[name] += 1
            section["name"] = name if seen[name] == 1 else "%s#%d" % (name, seen[name])
        self.named = {section["name"]: section for section in self.sections}

    def section_name(self, index):
        return self.sections[index]["name"] if index else "UNDEF"

    def symbol_section(self, table, symbol, index):
        """The section of a symbol of the table named so, whose st_shndx is given."""
        special = {0xFFF1: "ABS", 0xFFF2: "COMMON"}
        if index == 0xFFFF:
            index, = struct.unpack_from("<I", self.named[table + "_shndx"]["data"], 4 * symbol)
        elif index in special:
            return special[index]
        return self.section_name(index)

    def read_symbols(self):
        table = self.named[".symtab"]
        self.strings = self.sections[table["link"]]["data"]
        self.symbols = []
        for i in range(table["size"] // 24):
            name, info, other, section, value, size = struct.unpack_from("<IBBHQQ", table["data"],
                                                                         24 * i)
            self.symbols.append({"name": text(self.strings, name), "type": info & 15,
                                 "binding": info >> 4, "other": hex(other),
                                 "section": self.symbol_section(".symtab", i, section),
                                 "value": hex(value),
                                 "size": hex(size)})
        counts = Counter(s["name"] for s in self.symbols if s["type"] != 3)
        for symbol in self.symbols:
            if symbol["type"] == 3:
                symbol["label"] = "section " + symbol["section"]
            elif not symbol["name"]:
                symbol["label"] = "nameless type %d" % symbol["type"]
            elif counts[symbol["name"]] > 1:
                symbol["label"] = "%s in %s+%s" % (symbol["name"], symbol["section"],
                                                   symbol["value"])
            else:
                symbol["label"] = symbol["name"]

    def twin_symbols(self, section):
        records = struct.iter_unpack("<IBBHQQ", section["data"])
        for i, (name, info, other, index, value, size) in enumerate(records):
            yield "%s type %#x other %#x in %s, %#x, %d bytes" % (
                text(self.strings, name), info, other,
                self.symbol_section(section["name"], i, index), value, size)

    def twin_code(self, section):
        """The section of the target's code, and all bytes behind its number."""
        word, = struct.unpack_from("<I", section["data"])
        return [self.section_name(word), section["data"][4:].hex()]

    def label(self, index):
        return self.symbols[index]["label"]

    def records(self, data):
        at = 0
        while at + 4 <= len(data):
            form, attribute, value = struct.unpack_from("<BBH", data, at)
            at += 4
            if form != 4:
                yield "%#x = %#x, form %d" % (attribute, value, form)
                continue
            payload = data[at:at + value]
            at += value
            words = struct.unpack("<%dI" % (len(payload) // 4), payload[:len(payload) // 4 * 4])
            count = SYMBOL_WORDS.get(attribute, 0)
            count = len(words) if count is None else count
            yield "%#x = %s %s" % (attribute, [self.label(w) for w in words[:count]],
                                   payload[4 * count:].hex())

    def relocations(self, section):
        size = section["entsize"]
        for at in range(0, section["size"], size):
            offset, info = struct.unpack_from("<QQ", section["data"], at)
            addend = struct.unpack_from("<q", section["data"], at + 16)[0] if size == 24 else None
            yield "%#x type %#x %s %s" % (offset, info & 0xFFFFFFFF, self.label(info >> 32), addend)

    def calls(self, section):
        part = 0
        for a, b in struct.iter_unpack("<ii", section["data"]):
            if a == 0:
                part = b
                yield "part %d" % part
            else:
                named = self.label(b) if part in (-1, -4) else text(self.strings, b)
                yield "part %d: %s, %s" % (part, self.label(a), named)

    def contents(self, section):
        """The section's meaning as a list of lines, or its bytes."""
        if section["type"] == MERCURY_SYMTAB:
            return list(self.twin_symbols(section))
        if section["type"] == MERCURY_CODE:
            return self.twin_code(section)
        if section["type"] in (INFO, MERCURY_INFO):
            return list(self.records(section["data"]))
        if section["type"] in CALLGRAPHS:
            return list(self.calls(section))
        if section["type"] in PROTOTYPES:
            return ["%s: %s" % (self.label(a), text(self.strings, b))
                    for a, b in struct.iter_unpack("<II", section["data"])]
        if section["type"] in RELOCATIONS:
            return list(self.relocations(section))
        return section["data"]

    def info(self, section):
        if section["name"].startswith(".text."):
            return "%s, %#x" % (self.label(section["info"] & 0xFFFFFF), section["info"] >> 24)
        if section["type"] == MERCURY_CODE:
            return self.label(section["info"])
        if section["type"] in (2, MERCURY_SYMTAB):
            return None
        if section["type"] in RELOCATIONS or section["flags"] & INFO_LINK:
            return self.section_name(section["info"])
        return section["info"]

    def loads(self):
        """Segments: their kind, and how much memory stands behind the file part."""
        return [(kind, flags, memory - size) for kind, flags, _, _, _, size, memory, _ in
                self.segments]


def differ(what, mine, theirs, out):
    if mine != theirs:
        out.append("%s: %s | %s" % (what, mine, theirs))


def differ_lists(what, mine, theirs, out):
    if mine == theirs:
        return
    for line in (Counter(mine) - Counter(theirs)).elements():
        out.append("%s: only mine: %s" % (what, line))
    for line in (Counter(theirs) - Counter(mine)).elements():
        out.append("%s: only nvlink's: %s" % (what, line))


def compare_sections(mine, theirs, out):
    a, b = mine.named, theirs.named
    differ_lists("sections", list(a), list(b), out)
    for name in a.keys() & b.keys():
        if name in DERIVED or name == "":
            continue
        for field in ("type", "flags", "align", "entsize"):
            differ("%s %s" % (name, field), a[name][field], b[name][field], out)
        differ(name + " link", mine.section_name(a[name]["link"]),
               theirs.section_name(b[name]["link"]), out)
        differ(name + " info", mine.info(a[name]), theirs.info(b[name]), out)
        if a[name]["type"] == NOTE:
            continue
        x, y = mine.contents(a[name]), theirs.contents(b[name])
        if isinstance(x, list):
            differ_lists(name, x, y, out)
        elif x != y:
            out.append("%s: %d and %d bytes differ" % (name, len(x), len(y)))
        if a[name]["type"] in WITHOUT_BYTES:
            differ(name + " size", a[name]["size"], b[name]["size"], out)


def compare(mine, theirs):
    out = []
    differ("header", mine.header, theirs.header, out)
    differ("segments", mine.loads(), theirs.loads(), out)
    compare_sections(mine, theirs, out)
    # nvlink leaves sizes of losing copies' constants as the value of symbol 0, which names nothing.
    differ_lists("symbols", [str(sorted(s.items())) for s in mine.symbols[1:]],
                 [str(sorted(s.items())) for s in theirs.symbols[1:]], out)
    return out


def layout(cubin):
    """Bytes between parts of the file, beyond their alignment, and whether all between them is zero."""
    end, gaps, zero = 64, [], True
    shoff, phoff = (struct.unpack_from("<Q", cubin.data, at)[0] for at in (40, 32))
    for section in cubin.sections[1:]:
        if section["type"] in WITHOUT_BYTES:
            continue
        gaps.append(section["offset"] - -end // section["align"] * -section["align"])
        zero = zero and not any(cubin.data[end:section["offset"]])
        end = section["offset"] + section["size"]
    zero = zero and not any(cubin.data[end:shoff])
    rest = shoff + 64 * len(cubin.sections)
    return gaps, zero, shoff - -end // 8 * -8, phoff and phoff - rest, \
        len(cubin.data) - rest - 56 * len(cubin.segments)


def whole_section(cubin, section):
    """Its header and bytes, without its place and the linker's own record."""
    header = {key: section[key] for key in section if key not in ("offset", "data", "size")}
    data = section["data"]
    if section["name"] == ".note.nv.tkinfo":
        owner, size = struct.unpack_from("<II", data)
        data = data[12 + (owner + 3) // 4 * 4 + (size + 3) // 4 * 4:]
    elif section["name"] == ".symtab":
        data = data[24:]
    elif section["type"] in WITHOUT_BYTES:
        data = section["size"]
    return header, data


def first_other_byte(mine, theirs):
    """What of the whole files is not the same, or "same"."""
    for x, y in zip(mine.sections, theirs.sections):
        if whole_section(mine, x) != whole_section(theirs, y):
            return y["name"]
    if len(mine.sections) != len(theirs.sections) or mine.header != theirs.header:
        return "header"
    return "same" if layout(mine) == layout(theirs) else "layout"


def judge(compare, mine, theirs):
    """The status of one comparison, and its lines."""
    try:
        differences, *more = compare(mine, theirs)
    except (OSError, ValueError, LookupError, struct.error) as problem:
        return 2, ["cannot be compared: %s" % problem]
    return (1 if differences else 0), differences + more


def compare_files(mine, theirs):
    """For judge and main."""
    return [compare(Cubin(mine), Cubin(theirs))]


def main(compare):
    if sys.argv[1:2] != ["--each"]:
        status, lines = judge(compare, sys.argv[1], sys.argv[2])
        for line in lines:
            print(line)
        return status
    for line in sys.stdin:
        mine, theirs, log = line.rstrip("\n").split("\t")
        status, lines = judge(compare, mine, theirs)
        with open(log, "w", encoding="utf-8", errors="replace") as file:
            file.writelines(line + "\n" for line in lines)
        if sys.argv[2:] == ["--bytes"]:
            status = "%d %s" % (status, status < 2 and first_other_byte(Cubin(mine), Cubin(theirs)))
        print(status, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(compare_files))
