"""random_records.py BIN MINILINK SEED COUNT [--record]: random records of .nv.info and .nv.compat, merged and compared.

Each seed gives a program of up to three kernels and four functions for sm_90, each in a cubin of its own by the ptxas in
BIN, whose records are then replaced and others added, known and unknown ones. nvlink in BIN and minilink, which is to
behave like it, link them, every fifth program with -r. Prints what differs in their sections .nv.info* and .nv.compat,
with the seed, and how many programs were equal. Works in the current folder. With --record, instead prints lines for
fixtures/merge/needs/expected, and leaves the cubins here, for those programs that are linked without -r.
"""
import random
import re
import struct
import subprocess
import sys

NVAL, BVAL, HVAL, SVAL = 1, 2, 3, 4
# What kernels take over from functions, with its format, and what stays where it is.
PASSED = {0x04: NVAL, 0x1E: SVAL, 0x38: HVAL, 0x41: NVAL, 0x4A: BVAL, 0x4C: BVAL, 0x4F: SVAL, 0x50: HVAL, 0x51: NVAL,
          0x54: NVAL, 0x62: NVAL, 0x64: SVAL, 0x66: SVAL, 0x68: HVAL}
LISTS = (0x4F, 0x66)
KEPT = [0x05, 0x10, 0x21, 0x22, 0x24, 0x25, 0x27, 0x28, 0x2A, 0x2B, 0x30, 0x31, 0x32, 0x35, 0x36, 0x39, 0x3D, 0x3E,
        0x3F, 0x42, 0x44, 0x46, 0x4B, 0x4D, 0x4E, 0x53, *range(0x55, 0x62), 0x63, 0x65, 0x67, *range(0x69, 0x72), 0xF0]
OF_PROGRAM = (0x37, 0x4D, 0x53, 0x56, 0x5C, 0x5E, 0x5F, 0x60, 0x64, 0x66, 0x6B, 0x6E, 0xF0)
NAMELESS = (0x56, 0x60, 0x6E, 0xF0)
COMPAT = {0x02: (BVAL, (1, 2, 3, 4)), 0x03: (BVAL, (0, 1, 2, 3)), 0x05: (BVAL, range(9)), 0x06: (BVAL, (0, 1)),
          0x07: (HVAL, (0xFF, 0x100, 0x101)), 0x08: (HVAL, (0, 1, 0x101)), 0x0B: (SVAL, (0, 1, 9, 0x50)),
          0x0C: (BVAL, (0, 1, 2)), 0x0D: (HVAL, (0x100, 0x101, 0x103)), 0x0E: (HVAL, (0x400, 0x440)),
          0x0F: (HVAL, (0x400, 0x440)), 0x01: (BVAL, (1,)), 0x12: (HVAL, (7,))}
DRIVER = {"vprintf": ("(.param .b32 r) vprintf(.param .b64 a, .param .b64 b)", "(z), vprintf, (x, y)"),
          "malloc": ("(.param .b64 r) malloc(.param .b64 a)", "(w), malloc, (x)"),
          "free": ("free(.param .b64 a)", "free, (x)")}


def words(*numbers):
    return struct.pack("<%dI" % len(numbers), *numbers)


def decode(data):
    records = []
    while data:
        form, attribute, value = struct.unpack_from("<BBH", data)
        size = value if form == SVAL else 0
        records.append((form, attribute, data[4:4 + size] if form == SVAL else value))
        data = data[4 + size:]
    return records


def encode(records):
    out = b""
    for form, attribute, value in records:
        out += struct.pack("<BBH", form, attribute, len(value) if form == SVAL else value)
        out += value if form == SVAL else b""
    return out


def headers(data):
    """Offset of the header, name, offset and size of each section."""
    start, size, count, names = struct.unpack_from("<Q10xHHH", data, 40)
    fields = [struct.unpack_from("<IIQQQQ", data, start + size * i) for i in range(count)]
    for i, (name, _, _, _, offset, length) in enumerate(fields):
        at = fields[names][4] + name
        yield start + size * i, data[at:data.index(b"\0", at)].decode(), offset, length


def sections(data):
    return {name: data[offset:offset + length] for _, name, offset, length in headers(data)}


def replace(data, wanted, contents):
    """Puts the new contents behind everything."""
    data = bytearray(data)
    for header, name, _, _ in list(headers(bytes(data))):
        if name == wanted:
            data += b"\0" * (-len(data) % 8)
            struct.pack_into("<QQ", data, header + 24, len(data), len(contents))
            data += contents
    return bytes(data)


def source(name, calls, driver, taken, is_indirect):
    out = [".version 7.8", ".target sm_90", ".address_size 64"]
    out += [".extern .func {}(.param .u64 q);".format(other) for other in sorted({*calls, *taken})]
    out += [".extern .func {};".format(DRIVER[other][0]) for other in driver]
    out.append(".visible {} {}(.param .u64 q) {{".format(".entry" if name[0] == "k" else ".func", name))
    out.append(".reg .u64 %a<3>; ld.param.u64 %a1, [q]; st.global.u64 [%a1], %a1;")
    call = "{{ .param .b64 x; .param .b64 y; .param .b32 z; .param .b64 w; st.param.b64 [x], %a1; {}" \
           "call.uni {}; ld.param.b64 %a2, [w]; st.global.u64 [%a1+8], %a2; }}"
    plain = "{{ .param .b64 x; .param .b64 y; .param .b32 z; st.param.b64 [x], %a1; {}call.uni {}; }}"
    out += [plain.format("", other + ", (x)") for other in calls]
    out += [(call if other == "malloc" else plain).format("st.param.b64 [y], %a1; " if other == "vprintf" else "",
                                                         DRIVER[other][1]) for other in driver]
    out += ["mov.u64 %a2, {}; st.global.u64 [%a1+16], %a2;".format(other) for other in taken]
    if is_indirect:
        out.append("ld.global.u64 %a2, [%a1+24]; { .param .b64 x; st.param.b64 [x], %a1;"
                   " any: .callprototype _ (.param .b64 _); call %a2, (x), any; }")
    return "\n".join(out) + "\nret; }\n"


def random_value(rng, form):
    return {NVAL: 0, BVAL: rng.randrange(256), HVAL: rng.randrange(65536),
            SVAL: rng.randbytes(rng.choice((4, 5, 8, 12)))}[form]


def function_records(rng):
    records = []
    for attribute, form in PASSED.items():
        if rng.random() < (0.72 if attribute == 0x50 else 0.3):
            value = 0 if form == NVAL else rng.choice((0, 1, 2, 3, 4, 8)) if form != SVAL else \
                words(*rng.sample((1, 2, 3, 8, 9), rng.randint(1, 2))) if attribute in LISTS else words(8 * rng.randrange(4))
            records.append((form, attribute, value))
    for _ in range(rng.randrange(4)):
        form = rng.choice((NVAL, BVAL, HVAL, SVAL))
        records.append((form, rng.choice(KEPT), random_value(rng, form)))
    rng.shuffle(records)
    return records


def program_records(rng):
    records = []
    for _ in range(rng.randrange(3)):
        attribute = rng.choice(OF_PROGRAM)
        form = SVAL if attribute in (0x64, 0x66) else rng.choice((NVAL, BVAL, HVAL, SVAL))
        # minilink refuses records without a name whose words may be symbols.
        word = rng.choice((1, 8, 24)) << (20 if attribute in NAMELESS else 0)
        records.append((form, attribute, {NVAL: 0, BVAL: 3, HVAL: 77, SVAL: words(word)}[form]))
    return records


def compat_records(rng):
    records = [(form, attribute, struct.pack("<Q", value) if form == SVAL else value)
               for attribute, (form, values) in COMPAT.items() for value in [rng.choice(values)]
               if attribute == 0x02 or rng.random() < 0.6]
    rng.shuffle(records)
    return records


def insert(rng, data, name, added):
    """Puts the records among those that the section has, and leaves no others that kernels take over."""
    kept = [record for record in decode(sections(data)[name]) if record[1] not in PASSED]
    at = rng.randint(0, len(kept))
    return replace(data, name, encode(kept[:at] + added + kept[at:]))


def make_program(ptxas, version, seed):
    """The files of the program, in the order of the link."""
    rng = random.Random(seed)
    kernels, functions = rng.choice((1, 1, 2, 2, 3)), rng.randrange(5)
    names = ["k%d" % i for i in range(kernels)] + ["f%d" % i for i in range(functions)]
    kind, files = rng.random(), []
    for name in names:
        others = [other for other in names if other[0] == "f" and other != name]
        calls = [other for other in others if (name[0] == "k" or other > name) and rng.random() < 0.45]
        driver = [other for other in DRIVER if kind < 0.5 and rng.random() < 0.25]
        taken = [other for other in others if kind > 0.7 and rng.random() < 0.15]
        file = "%s-%d-%s.o" % (version, seed, name)
        with open("in.ptx", "w") as text:
            text.write(source(name, calls, driver, taken, kind > 0.7 and rng.random() < 0.25))
        subprocess.run((ptxas, "-c", "-arch=sm_90", "in.ptx", "-o", file), check=True)
        with open(file, "rb") as cubin:
            data = insert(rng, cubin.read(), ".nv.info." + name, function_records(rng))
        data = insert(rng, data, ".nv.info", program_records(rng))
        with open(file, "wb") as cubin:
            cubin.write(replace(data, ".nv.compat", encode(compat_records(rng))))
        files.append(file)
    rng.shuffle(files)
    return files


def link(files, *command):
    subprocess.run(("rm", "-f", "out"), check=True)
    done = subprocess.run((*command, "-arch=sm_90", *files, "-o", "out"), stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode:
        return {"": done.stdout.split(b":", 1)[-1].split(b"\n")[0]}
    with open("out", "rb") as cubin:
        return {name: data for name, data in sections(cubin.read()).items() if name.startswith((".nv.info", ".nv.compat"))}


def main():
    folder, minilink, first, count = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    release = subprocess.run((folder + "/ptxas", "--version"), stdout=subprocess.PIPE, check=True).stdout.decode()
    version = re.search(r"release ([0-9.]+),", release).group(1).replace(".", "")
    equal = 0
    for seed in range(first, first + count):
        files = make_program(folder + "/ptxas", version, seed)
        options = ["-r"] if seed % 5 == 4 else []
        theirs = link(files, folder + "/nvlink", *options)
        if "--record" in sys.argv:
            if not options and "" not in theirs:
                print("link", version, *("needs/" + file for file in files))
                print("\n".join(name + " " + data.hex() for name, data in theirs.items()))
            continue
        mine = link(files, minilink, "-w", "-disable-infos", "--behave-like={}.{}".format(version[:2], version[2]), *options)
        for name in sorted({*mine, *theirs}):
            if mine.get(name) != theirs.get(name):
                print(version, "seed", seed, *options, name, (theirs.get(name) or b"").hex(), "not", (mine.get(name) or b"").hex())
        equal += mine == theirs
    if "--record" not in sys.argv:
        print(equal)


if __name__ == "__main__":
    main()
