"""members.py: which code nvlink takes for which target.

members.py BIN ISA [--old=PTXAS] [--against=TABLE --every=N]: makes an empty kernel for every name that the ptxas in BIN
knows, as machine code and as PTX of version ISA, each in a fatbin of its own; and for sm_101 with the ptxas of CUDA 12.9.
Prints which of them nvlink links for every target: "sass sm_90a: 90 90a". Lines with "bare" are about cubins without a
fatbin. With --against, compares every Nth case with such a table instead, and prints how many there were, and differences.
"""
import argparse
import os
import re
import subprocess

PTX = ".version {}\n.target sm_{}\n.address_size 64\n.visible .entry k()\n{{\nret;\n}}\n"
OLD = ("101", "101a", "101f")
KINDS = (("sass", "-elf.fatbin"), ("bare", ".cubin"), ("ptx", "-ptx.fatbin"))


def run(*command):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return done.returncode == 0


def names_of(ptxas):
    text = subprocess.run((ptxas, "--help"), stdout=subprocess.PIPE, check=True).stdout.decode()
    names = set(re.findall("'sm_([0-9]+[af]?)'", text))
    return sorted(names, key=lambda name: (int(name.rstrip("af")), name))


class Tools:
    def __init__(self, folder, isa, old):
        self.nvlink, self.fatbinary, self.ptxas = (
            os.path.join(folder, name) for name in ("nvlink", "fatbinary", "ptxas"))
        self.targets = names_of(self.ptxas)
        self.codes = [(name, self.ptxas, isa) for name in self.targets] + [(name, old, "8.8") for name in OLD if old]

    def make(self, code, ptxas, isa):
        if os.path.exists(code + ".cubin"):
            return
        with open(code + ".ptx", "w") as file:
            file.write(PTX.format(isa, code))
        run(ptxas, "-c", "-arch=sm_" + code, code + ".ptx", "-o", code + ".cubin")
        for kind, suffix in (("elf", ".cubin"), ("ptx", ".ptx")):
            run(self.fatbinary, "--create=" + code + "-" + kind + ".fatbin", "-64", "--cmdline=--compile-only",
                "--image3=kind={},sm={},file={}".format(kind, code, code + suffix))

    def is_taken(self, target, code, suffix):
        if os.path.exists("out"):
            os.unlink("out")
        self.make(*code)
        if not run(self.nvlink, "-arch=sm_" + target, code[0] + suffix, "-o", "out"):
            return False
        with open("out", "rb") as file:
            return b".text.k\0" in file.read()


def print_table(tools):
    print("codes:", *(code[0] for code in tools.codes))
    for kind, suffix in KINDS:
        for target in tools.targets:
            taken = [code[0] for code in tools.codes if tools.is_taken(target, code, suffix)]
            print(kind, "sm_" + target + ":", *taken, flush=True)


def compare(tools, path, every):
    with open(path) as file:
        rows = dict((line.split(":")[0], line.split(":")[1].split()) for line in file)
    cases = [(kind, target, code) for kind in KINDS for target in tools.targets for code in tools.codes]
    cases = cases[::every]
    print(len(cases))
    for (kind, suffix), target, code in cases:
        is_taken = tools.is_taken(target, code, suffix)
        if is_taken != (code[0] in rows.get(kind + " sm_" + target, ())):
            print(kind, "for", code[0], "on", "sm_" + target, "is" if is_taken else "is not", "taken")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("isa")
    parser.add_argument("--old")
    parser.add_argument("--against")
    parser.add_argument("--every", type=int, default=1)
    given = parser.parse_args()
    tools = Tools(given.folder, given.isa, given.old)
    if given.against:
        compare(tools, given.against, given.every)
    else:
        print_table(tools)


main()
