#!/usr/bin/env python3
"""damaged.py FIRST COUNT WORK: links COUNT damaged programs, those of the seeds from FIRST on, by nvlink and minilink.

A seed chooses one of the programs in fixtures, one of its files and one change: a byte, a word, a
field of a section header, a word of a symbol or a record, zeros, or the end cut off. Prints a line for
each program about which the linkers do not agree, and fails (exit status 1) for those that
are not among what minilink(1), DIFFERENCES FROM NVLINK, says of damaged files:

    crash       minilink ended by a signal, or with another status than 0 or 1
    accepted    nvlink refuses it
    other       both accept it, and the code, data or records differ
"""
import collections
import os
import random
import re
import resource
import struct
import subprocess
import sys

import cubincmp

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("BUILD", ROOT + "/build")
VALUES = [0, 1, 2, 3, 7, 0xFF, 0xFFFF, 0x10000, 0x7FFFFFFF, 0xFFFFFFFF]
TABLES = {"symbol": (2,), "record": (4, 9, 0x70000000, 0x70000001)}
NAMES = ["04_const", "07_call", "09_recursion", "10_fptr", "12_common", "20_dead", "31_sharedmix",
         "32_weakdiff", "37_localdup", "44_lostconst", "45_replaced", "49_weakkernel"]
# What stays different, and why: see minilink(1).
KNOWN_ACCEPTED = re.compile("Could not find fatbin in|"
                            "not declared __global__ in all source files")
KNOWN_OTHER = re.compile(r"^symbols: only (mine|nvlink's): |^sections: only nvlink's: (#|\.note)|"
                         r"^\.rela\.\S+: only (mine|nvlink's): ")


def programs(work):
    merge, fatbin = ROOT + "/fixtures/merge/", ROOT + "/fixtures/fatbin/"
    files = sorted(os.listdir(merge))
    found = [[merge + f for f in files if f.startswith(name + "-sm_90-")] for name in NAMES]
    archive = work + "/lib.a"
    subprocess.run(["ar", "rc", archive, fatbin + "b.sass.o"], check=True)
    return found + [[fatbin + "a.sass.o", fatbin + "b.sass.o"], [fatbin + "a.sass.o", archive],
                    [fatbin + "k.sm90.cubin"], [fatbin + "c.linked.cubin"]]


def cubins_in(data):
    """Where they begin: ELF files for EM_CUDA."""
    return [m.start() for m in re.finditer(b"\x7fELF", data) if data[m.start() + 18:m.start() + 20] == b"\xbe\0"]


def place_in_cubin(data, kind, rng):
    """A field of a section header, or a word of a table, of one of the cubins; None where there is none."""
    begin = rng.choice(cubins_in(data) or [None])
    if begin is None:
        return None
    headers, = struct.unpack_from("<Q", data, begin + 40)
    count, = struct.unpack_from("<H", data, begin + 60)
    if kind == "section":
        return begin + headers + 64 * rng.randrange(count) + rng.choice([0, 4, 8, 16, 24, 32, 40, 44, 48, 56])
    tables = []
    for i in range(count):
        _, type_, _, _, offset, size = struct.unpack_from("<IIQQQQ", data, begin + headers + 64 * i)
        if type_ in TABLES[kind] and size >= 4:
            tables.append((offset, size))
    if not tables:
        return None
    offset, size = rng.choice(tables)
    return begin + offset + rng.randrange(size // 4) * 4


def damage(original, rng):
    """What was done, and the new contents."""
    kind = rng.choice(["byte", "bit", "word", "word", "section", "section", "symbol", "record", "zeros", "end"])
    data = bytearray(original)
    if kind == "end":
        return kind, bytes(data[:rng.randrange(len(data))])
    place = place_in_cubin(original, kind, rng) if kind in ("section", "symbol", "record") else None
    if place is None:
        place = rng.randrange(len(data))
    value = rng.choice(VALUES + [rng.randrange(64), rng.randrange(1 << 32)])
    put = {"byte": bytes([rng.randrange(256)]), "bit": bytes([data[place] ^ 1 << rng.randrange(8)]),
           "zeros": bytes(rng.choice([1, 4, 8, 64]))}.get(kind, struct.pack("<I", value))
    put = put[:len(data) - place]
    data[place:place + len(put)] = put
    return "%s at %#x: %s" % (kind, place, put.hex()), bytes(data)


def run(command, seconds, memory):
    """The exit status and what was said; a link that takes so many seconds of a processor counts as a crash."""
    def limit():
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        if not os.environ.get("SANITIZE"):
            resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300,
                              preexec_fn=limit, errors="replace")
        return done.returncode, done.stdout
    except subprocess.TimeoutExpired:
        return -9, "it does not end"


def compare(line, work):
    """The verdict, and a line that explains it."""
    theirs, ours = work + "/theirs.cubin", work + "/ours.cubin"
    for path in (theirs, ours):
        if os.path.exists(path):
            os.unlink(path)
    # Where nvlink fills all memory before it crashes, it does so sooner.
    nvlink, said = run(["nvlink", "-arch=sm_90"] + line + ["-o", theirs], 2, 2 << 30)
    status, mine = run([BUILD + "/minilink", "--assembler=ptxas", "-arch=sm_90"] + line + ["-o", ours], 300, 8 << 30)
    if status not in (0, 1):
        return "crash", "status %d: %s" % (status, mine)
    if nvlink < 0:
        return "nvlink crashes", ""
    if nvlink and status:
        return "both refuse", ""
    if nvlink:
        return "known" if KNOWN_ACCEPTED.search(said) else "accepted", said
    if status:
        return "minilink refuses", ""
    differences = cubincmp.judge(cubincmp.compare_files, ours, theirs)[1]
    if not differences:
        return "same", ""
    is_known = all(KNOWN_OTHER.search(line) for line in differences)
    return "known" if is_known else "other", "\n".join(differences)


def main():
    first, count, work = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    all_programs = programs(work)
    tally = collections.Counter()
    for seed in range(first, first + count):
        rng = random.Random(seed)
        program = rng.choice(all_programs)
        which = rng.randrange(len(program))
        with open(program[which], "rb") as file:
            original = file.read()
        what, data = damage(original, rng)
        path = "%s/damaged%s" % (work, os.path.splitext(program[which])[1])
        with open(path, "wb") as file:
            file.write(data)
        verdict, why = compare(program[:which] + [path] + program[which + 1:], work)
        tally[verdict] += 1
        if verdict in ("crash", "accepted", "other"):
            print("failed seed %d: %s: %s, %s: %s" % (seed, verdict, os.path.basename(program[which]), what,
                                                     why.strip().replace("\n", " / ")[:300]), flush=True)
    failures = tally["crash"] + tally["accepted"] + tally["other"]
    print(", ".join("%d %s" % (n, verdict) for verdict, n in sorted(tally.items())))
    sys.exit(failures > 0)


if __name__ == "__main__":
    main()
