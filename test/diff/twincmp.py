#!/usr/bin/env python3
"""twincmp.py SPLIT WHOLE: Mercury's twins of a split link, against those of nvlink's link of the unsplit program.

Chunks may have other code than the whole program, and stand in another order: what is compared is the twins of
functions whose code and relocations came out equal, by name, and that the twins of all else say what the
plain sections say. Prints one line per difference, then how many functions were compared, and how many have other code.
Exit status 0: no difference, 1: some, 2: a file cannot be read.
"""
import struct
import sys

from cubincmp import INFO, MERCURY_INFO, MERCURY_RELA, Cubin, main

MERCURY = 0x10000000
CODE = ".nv.capmerc.text."
FUNCTION_ADDRESS = (0x2, 0x1003d)


class Twins(Cubin):
    def __init__(self, path):
        super().__init__(path)
        self.named = {s["name"]: s for s in self.sections}
        self.rows = {}
        table = self.named.get(".nv.merc.symtab")
        for i, row in enumerate(struct.iter_unpack("<IBBHQQ", table["data"] if table else b"")):
            self.rows[i] = row

    def meaning(self, name):
        section = self.named.get(name)
        if not section:
            return None
        contents = self.contents(section)
        return sorted(contents) if section["type"] in (INFO, MERCURY_INFO, MERCURY_RELA) else contents

    def code(self, function):
        """What tells whether a function is the same in two files."""
        relocations = self.named.get(".rela.text." + function)
        return (self.named[".text." + function]["data"],
                sorted(self.relocations(relocations)) if relocations else [], self.meaning(".nv.info." + function))

    def functions(self):
        return {s["name"][6:] for s in self.sections if s["name"].startswith(".text.")}

    def twins(self):
        return {s["name"] for s in self.sections if s["flags"] & MERCURY and not s["name"].endswith("symtab_shndx")}

    def twin_size(self, function):
        return [row[5] for i, row in self.rows.items() if self.symbols[i]["label"] == function]

    def frames(self, name):
        """By function: its CIE and FDE, with the fields that name places cleared; and where the FDE sees its CIE."""
        if name not in self.named:
            return {}
        data = self.named[name]["data"]
        relocations = self.named.get((".nv.merc.rela" if name.startswith(".nv.merc") else ".rela") + name.removeprefix(".nv.merc"))
        owner = {}
        for offset, info, _ in struct.iter_unpack("<QQq", relocations["data"] if relocations else b""):
            if info & 0xffffffff in FUNCTION_ADDRESS:
                owner[offset] = self.label(info >> 32)
        found, at, cie = {}, 0, None
        while at < len(data):
            size = struct.unpack_from("<Q", data, at + 4)[0] + 12
            entry = bytearray(data[at:at + size])
            reference = struct.unpack_from("<Q", data, at + 12)[0]
            if reference == 0xffffffffffffffff:
                cie = (at, bytes(entry))
            else:
                entry[12:28] = bytes(16)
                found[owner.get(at + 20, "a dropped function at %d" % at)] = (cie[1], bytes(entry), reference == cie[0])
            at += size
        return found


def check_rows(mine, out):
    """Mercury's symbols are the plain ones, and stand in the twins of their sections."""
    for i, row in mine.rows.items():
        symbol = mine.symbols[i]
        section = mine.symbol_section(".nv.merc.symtab", i, row[3])
        plain = symbol["section"]
        twins = {".nv.capmerc" + plain, ".nv.merc" + plain, plain,
                 ".nv.merc.nv.constant.user" if plain == ".nv.constant3" else plain,
                 plain.replace(".nv.constant2.", ".nv.merc.nv.constant.optimizer."),
                 plain.replace(".nv.constant0.", ".nv.merc.nv.constant.entry_image_header_indices.")}
        if section not in twins or (section == plain and (twins - {plain}) & mine.twins()):
            out.append("symbol %s stands in %s, its twin in %s" % (symbol["label"], plain, section))
        if symbol["type"] != 3 and mine.strings[row[0]:].split(b"\0")[0].decode("latin1") != symbol["name"]:
            out.append("symbol %d has another name in the twin" % i)


def check_data(mine, out):
    """Variables are the same twice, with the same relocations."""
    for plain, twin in ((".nv.global.init", ".nv.merc.nv.global.init"), (".nv.constant3", ".nv.merc.nv.constant.user")):
        if plain not in mine.named:
            continue
        if twin not in mine.named or mine.named[plain]["data"] != mine.named[twin]["data"]:
            out.append("%s is not %s" % (twin, plain))
        places = []
        for name in (".rela" + plain, ".nv.merc.rela" + twin.removeprefix(".nv.merc")):
            lines = mine.relocations(mine.named[name]) if name in mine.named else []
            places.append(sorted((line.split()[0], line.split()[3:]) for line in lines))
        if places[0] != places[1]:
            out.append("relocations of %s are not those of %s: %s" % (twin, plain, places))


def compare(mine, theirs):
    out, same, other = [], 0, 0
    for name in sorted(mine.twins() ^ theirs.twins()):
        out.append("%s: only %s" % (name, "split" if name in mine.twins() else "whole"))
    frames, their_frames = mine.frames(".nv.merc.debug_frame"), theirs.frames(".nv.merc.debug_frame")
    for function in sorted(mine.functions() & theirs.functions()):
        if mine.code(function) != theirs.code(function):
            other += 1
            continue
        same += 1
        for name in (CODE + function, ".nv.merc.nv.info." + function, ".nv.merc.rela.text." + function,
                     ".nv.merc.nv.constant.optimizer." + function):
            if mine.meaning(name) != theirs.meaning(name):
                out.append("%s differs" % name)
        if mine.twin_size(function) != theirs.twin_size(function):
            out.append("%s has another size in the twin" % function)
        if function in their_frames and frames.get(function, (0, 0))[:2] != their_frames[function][:2]:
            out.append("frame of %s differs" % function)
    for function in mine.functions():
        word, = struct.unpack_from("<I", mine.named[CODE + function]["data"]) if CODE + function in mine.named else (0,)
        if mine.section_name(word) != ".text." + function:
            out.append("the twin of %s names %s" % (function, mine.section_name(word)))
    out += ["the frame of %s sees another CIE" % f for f, frame in frames.items() if not frame[2]]
    check_rows(mine, out)
    check_data(mine, out)
    return out, same, other


def compare_files(mine, theirs):
    differences, same, other = compare(Twins(mine), Twins(theirs))
    return differences, "%d functions compared, %d with other code" % (same, other)


if __name__ == "__main__":
    sys.exit(main(compare_files))
