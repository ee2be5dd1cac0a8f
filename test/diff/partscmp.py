#!/usr/bin/env python3
"""partscmp.py text ONE.ptx MANY.ptx      compares the program of one compilation with that of several parts
partscmp.py metrics ONE MANY [NAME...]  compares registers, stack and shared memory of kernels
partscmp.py code ONE MANY [NAME...]     compares the machine code of kernels in two cubins
partscmp.py --each OUTPUT               each line of standard input has such words, separated by tabs; what is printed
                                        is in OUTPUT, and the exit status is a line of standard output

text: both are as minilink writes them (--keep: lto.ptx of a split link), with the same names and order.
Prints a line for each function and variable that differs, with the reason:

  unfolded   it names a variable that no host code names and one compilation took for constant or
             dropped, as it saw that no kernel writes it or none reads it; parts leave it alone
  dropped    it writes a .shared variable that no kernel of its part reads, or reads one that none writes
  version    the library made of a function, or of one that it calls, one for the calls of its part alone
  calls      it has the same text, and calls a function that differs
  order      it has the same instructions, in another order or with their operands in another

Exit status 1 when something differs for no such reason, or kernels or what host code sees do.

metrics: both are what `minidump --info --sections` prints; a table, and exit status 1 when a kernel that is
not among the NAMEs differs.

code: a line that says how many kernels have the same bytes, and whether the files do. Exit status 1 when some
have not and there are no NAMEs: else what differs may move variables, and so all code that names some.
"""
import contextlib
import re
import struct
import sys
import traceback
from collections import Counter

NAME = re.compile(r"[\w$.]*[\w$]")


def read(path):
    """Variables and functions by name; a function's text is without its name's version."""
    with open(path, encoding="latin-1") as file:
        text = file.read()
    variables, functions = {}, {}
    text = text.split("\n\t.file\t")[0]
    for block in re.split(r"\n(?=\n?(?:\.visible |\.weak |\.extern )?\.(?:func|entry|global|const|shared)\b)", text):
        block = block.strip()
        head = re.match(r"(?:\.visible |\.weak |\.extern )?\.(func|entry|global|const|shared)\b", block)
        if not head:
            continue
        if head.group(1) in ("func", "entry"):
            if "{" in block:
                name = re.search(r"([\w$]+)\s*(?:\(|\{)", re.sub(r"^[^\n]*?\.func\s*\([^)]*\)", "", block)
                                 if ".func" in head.group(0) else block[head.end():]).group(1)
                functions[name] = block
        else:
            declarator = block.split("=")[0].split(";")[0].strip()
            variables[re.search(r"([\w$]+)(?:\[[^\]]*\])*$", declarator).group(1)] = block
    return variables, functions


def words(text):
    return set(NAME.findall(text))


def opcodes(text):
    return Counter(m.split()[0] for m in re.findall(r"^\t(?:@!?%\w+ )?[a-z][^\n]*", text, re.M))


def compare_texts(one_path, many_path):
    one_variables, one = read(one_path)
    many_variables, many = read(many_path)
    bad, lines = [], []
    unfolded, dropped = set(), set()
    for name in sorted(set(one_variables) | set(many_variables)):
        first, second = one_variables.get(name), many_variables.get(name)
        if first == second:
            continue
        text = first or second
        if ".visible" in text or ".weak" in text:
            bad.append("%s: what host code sees differs" % name)
        elif ".shared" in text:
            dropped.add(name)
            lines.append("%s: dropped" % name)
        else:
            unfolded.add(name)
            lines.append("%s: unfolded" % name)
    kernels = [{n for n, t in f.items() if ".entry" in t.split("(")[0]} for f in (one, many)]
    if kernels[0] != kernels[1]:
        bad.append("kernels differ: %s" % " ".join(sorted(kernels[0] ^ kernels[1])))
    differing = {n for n in set(one) | set(many) if one.get(n) != many.get(n)}
    reasons = {}
    for name in differing:
        first, second = one.get(name, ""), many.get(name, "")
        used = words(first) | words(second)
        if used & unfolded:
            reasons[name] = "unfolded"
        elif "$mlp" in second + name:
            reasons[name] = "version"
        elif opcodes(first) == opcodes(second):
            reasons[name] = "order"
        elif opcodes(first.replace("global.nc.", "global.")) == opcodes(second.replace("global.nc.", "global.")):
            reasons[name] = "unfolded"
        elif used & dropped or "\t.shared" in first + second:
            reasons[name] = "dropped"
    # What calls such a function, or is one that only such functions call, differs with it.
    changed = True
    while changed:
        changed = False
        for name in differing - set(reasons):
            for other, reason in list(reasons.items()):
                if other in words(one.get(name, "") + many.get(name, "")) or \
                        name in words(one.get(other, "") + many.get(other, "")):
                    reasons[name] = reason
                    changed = True
                    break
    # What reads the same but calls another function under the same name.
    changed = bool(differing)
    while changed:
        callers = {n for n in set(one) & set(many) - set(reasons) if words(many[n]) & set(reasons) - {n}}
        reasons.update(dict.fromkeys(callers, "calls"))
        changed = bool(callers)
    for name in sorted(set(reasons) | differing):
        if name in reasons:
            lines.append("%s: %s" % (name, reasons[name]))
        else:
            bad.append("%s differs" % name)
    print("\n".join(lines + ["BAD " + b for b in bad]))
    return bool(bad)


def read_metrics(path):
    kernels = {}
    with open(path, encoding="latin-1") as file:
        for line in file:
            match = re.match(r"\s+(REGCOUNT|MIN_STACK_SIZE) <([^$<>][^<>]*)> (0x[0-9a-f]+)", line)
            if match:
                kernels.setdefault(match.group(2), {})[match.group(1)] = int(match.group(3), 16)
            match = re.match(r"\s+\.nv\.shared\.(\S+): NOBITS.* size (\d+)", line)
            if match and not match.group(1).startswith("reserved"):
                kernels.setdefault(match.group(1), {})["shared"] = int(match.group(2))
    return {k: (v.get("REGCOUNT", 0), v.get("MIN_STACK_SIZE", 0), v.get("shared", 0)) for k, v in kernels.items()}


def compare_metrics(one_path, many_path, names):
    one, many = read_metrics(one_path), read_metrics(many_path)
    # Not what an assembler or the runtime brings.
    one, many = ({k: v for k, v in m.items() if not k.startswith(("__cuda", "__nv_static_", "_Z24cnprt"))} for m in (one, many))
    bad = set(one) != set(many) or not one
    for name in sorted(set(one) | set(many)):
        first, second = one.get(name, (0, 0, 0)), many.get(name, (0, 0, 0))
        differs = first != second
        bad |= differs and name not in names
        print("  %-44s registers %3d %3d  stack %5d %5d  shared %5d %5d%s" % (
            name[:44], first[0], second[0], first[1], second[1], first[2], second[2],
            "" if not differs else "  its code differs" if name in names else "  BAD"))
    return bad


def read_code(path):
    with open(path, "rb") as file:
        data = file.read()
    start, = struct.unpack_from("<Q", data, 0x28)
    count, names = struct.unpack_from("<HH", data, 0x3c)
    headers = [struct.unpack_from("<IIQQQQ", data, start + 64 * i) for i in range(count)]
    code = {}
    for name, _, _, _, offset, size in headers:
        at = headers[names][4] + name
        name = data[at:data.index(b"\0", at)].decode("latin-1")
        if name.startswith(".text."):
            code[name] = data[offset:offset + size]
    return code, data


def compare_code(one_path, many_path, names):
    (one, one_file), (many, many_file) = read_code(one_path), read_code(many_path)
    same = sum(code == many.get(name) for name, code in one.items())
    print("%d of %d kernels have the same bytes, the files %s" %
          (same, len(one), "are the same" if one_file == many_file else "differ"))
    return not one or set(one) != set(many) or (same < len(one) and not names)


def compare(kind, one_path, many_path, *names):
    if kind == "text":
        return compare_texts(one_path, many_path)
    return {"code": compare_code, "metrics": compare_metrics}[kind](one_path, many_path, names)


def main():
    if sys.argv[1] != "--each":
        sys.exit(compare(*sys.argv[1:]))
    for line in sys.stdin:
        with open(sys.argv[2], "w") as output, contextlib.redirect_stdout(output):
            try:
                status = int(compare(*line.rstrip("\n").split("\t")))
            except Exception:
                traceback.print_exc(file=output)
                status = 2
        print(status, flush=True)


if __name__ == "__main__":
    main()
