#!/usr/bin/env python3
"""random_inputs.py SEED TARGET FOLDER: makes a random program of 2 to 4 modules, and puts its cubins into random inputs.

Its variables have one name but other sizes, alignments, values and kinds of definition in each module, as linkers meet them
where a header changed between two compilations. Each module becomes a cubin, a fatbin, a host object with or without code
for other targets, one of several in an object that ld -r made, or a member of an archive, thin or not.
Writes into FOLDER, beside the inputs: mine.line, the linker's arguments, one a line, and mine.first, those of a link with -r
before it, which makes the whole.cubin that the line then has, or nothing. theirs.line and theirs.first are the same, but with
the parts of objects that ld -r joined, of which nvlink 13.5 passes over some.
Needs ptxas, fatbinary and binutils. The status is 1, and FOLDER/log says why, where ptxas refuses the program.
"""
import os
import random
import subprocess
import sys

OTHER_TARGET = {"sm_80": "sm_86"}


def run(*command):
    with open("log", "w", encoding="utf-8") as log:
        if subprocess.call(command, stdout=log, stderr=log):
            sys.exit(1)


class Variable:
    """What all modules agree on: a name, a space, and how often definitions differ."""

    def __init__(self, rng, number):
        self.kind = rng.choice(["global"] * 4 + ["const", "const", "managed", "texref", "surfref", "shared"])
        self.name = "%s%d" % (self.kind[0], number)
        # What nvlink does not end in order is left out.
        self.linkages = rng.choice([["weak"], ["weak"], ["weak", "visible"], ["common"], ["common", "visible"], ["internal"],
                                    ["internal", "visible"], ["visible"]])
        self.differs = rng.choice([0, 0, 0.3, 0.8])
        self.presence = rng.choice([0.4, 0.7, 1])
        self.size = rng.choice([1, 4, 8, 12, 40])
        self.alignment = rng.choice([1, 4, 8, 64])
        self.values = [rng.randrange(256) for _ in range(self.size)] if rng.random() < 0.5 else []
        self.is_settled = False

    def definition(self, rng):
        """Text, or None, of a module's definition: one module has it where one alone may."""
        linkage = rng.choice(self.linkages)
        if linkage == "visible":
            if self.is_settled:
                linkage = "extern" if self.linkages == ["visible"] else self.linkages[0]
            self.is_settled = True
        if linkage == "common" and self.kind not in ("global", "managed"):
            linkage = "weak"
        prefix = "" if linkage == "internal" else ".%s " % linkage
        if self.kind in ("texref", "surfref"):
            return "%s.global .%s %s;" % ("" if prefix in (".weak ", ".common ") else prefix, self.kind, self.name)
        if self.kind == "shared":
            return "%s.shared .align %d .b8 %s[%d];" % (prefix if linkage == "weak" else "", self.alignment, self.name, self.size)
        size, alignment, values = self.size, self.alignment, self.values
        if rng.random() < self.differs:
            size = rng.choice([size, size + 4, 2 * size])
            alignment = rng.choice([alignment, 2, 16])
            values = rng.choice([values, [], [7]])
        is_bare = linkage in ("common", "extern") or not values
        return "%s.%s %s.align %d .b8 %s[%d]%s;" % (
            prefix, "const" if self.kind == "const" else "global", ".attribute(.managed) " if self.kind == "managed" else "",
            alignment, self.name, size, "" if is_bare else " = {%s}" % ", ".join(map(str, values[:size])))

    def use(self, rng):
        if self.kind in ("texref", "surfref"):
            return {"texref": "mov.b32 %%f5, 0; tex.2d.v4.f32.f32 {%%f1, %%f2, %%f3, %%f4}, [%s, {%%f5, %%f5}]; st.global.f32 [%%d1], %%f1;",
                    "surfref": "mov.b32 %%r2, 4; suld.b.2d.b32.trap %%r1, [%s, {%%r2, %%r2}];"}[self.kind] % self.name
        space = {"const": "const", "shared": "shared"}.get(self.kind, "global")
        return rng.choice(["ld.%s.u8 %%r1, [%s]; st.global.u32 [%%d1], %%r1;" % (space, self.name),
                           "mov.u64 %%d2, %s; st.global.u64 [%%d1], %%d2;" % self.name])


class Program:
    def __init__(self, rng, target):
        self.rng = rng
        self.target = target
        self.count = rng.randint(2, 4)
        self.variables = [Variable(rng, i) for i in range(rng.randint(1, 6))]
        # Functions that modules call of each other, and copies that all have: one body, other bodies, internal ones.
        self.shared_functions = rng.sample(["weak_same", "weak_other", "_ZN12_GLOBAL__N_14helpEv"], rng.randint(0, 3))
        self.calls = [rng.sample(range(self.count), rng.randint(0, min(2, self.count - 1))) for _ in range(self.count)]
        self.defines = [[v.definition(rng) if rng.random() < v.presence else None for v in self.variables]
                        for _ in range(self.count)]

    def module(self, number, target):
        rng = random.Random("%d %d" % (self.rng.seed_number, number))
        out = [".version 9.0", ".target " + target, ".address_size 64"]
        own = [v for v, text in zip(self.variables, self.defines[number]) if text]
        out += [text for text in self.defines[number] if text]
        registers = ".reg .b32 %r<8>; .reg .b64 %d<8>; .reg .f32 %f<8>;"
        callees = ["f%d" % i for i in self.calls[number] if i != number]
        out += [".extern .func %s();" % name for name in callees]
        for name in self.shared_functions:
            # Copies that differ have 1 to 3 instructions, and one more register each.
            count = 1 if name == "weak_same" else 1 + number % 3
            body = " ".join("ld.volatile.global.u32 %%r%d, [%%d1+%d];" % (i, 4 * i) for i in range(1, count + 1))
            constant = " div.rn.f64 %g1, %g1, 0d4008A3D70A3D70A4; st.global.f64 [%d1], %g1;" if rng.random() < 0.4 else ""
            out.append("%s.func %s() { %s .reg .f64 %%g<4>; mov.u64 %%d1, 4096; ld.global.f64 %%g1, [%%d1]; %s%s ret; }" % (
                "" if "GLOBAL" in name else ".weak ", name, registers, body, constant))
        uses = [v.use(rng) for v in own if rng.random() < 0.8]
        calls = ["call.uni %s;" % name for name in callees + [f for f in self.shared_functions if rng.random() < 0.7]]
        out.append(".visible .func f%d() { %s mov.u64 %%d1, 4096; %s ret; }" % (
            number, registers, " ".join(u for u in uses if rng.random() < 0.3)))
        for kernel in range(rng.randint(1, 2)):
            out.append(".visible .entry k%d_%d(.param .u64 p) { %s ld.param.u64 %%d1, [p]; %s ret; }" % (
                number, kernel, registers, " ".join(rng.sample(uses + calls, rng.randint(0, len(uses + calls))))))
        return "\n".join(out) + "\n"


class Inputs:
    """The program's modules as files, and the linker's line that names them."""

    def __init__(self, rng, program):
        self.rng = rng
        self.program = program
        self.count = 0
        self.joined = {}

    def cubin(self, number, target):
        name = "m%d_%s" % (number, target)
        with open(name + ".ptx", "w", encoding="utf-8") as file:
            file.write(self.program.module(number, target))
        run("ptxas", "-c", "-arch=" + target, name + ".ptx", "-o", name + ".cubin")
        return name

    def fatbin(self, number, has_others):
        name, others = self.cubin(number, self.program.target), []
        images = ["--image3=kind=elf,sm=%s,file=%s.cubin" % (self.program.target[3:], name)]
        if has_others:
            other = OTHER_TARGET.get(self.program.target, "sm_80")
            others = ["--image3=kind=elf,sm=%s,file=%s.cubin" % (other[3:], self.cubin(number, other)),
                      "--image3=kind=ptx,sm=%s,file=%s.ptx" % (self.program.target[3:], name)]
            images = self.rng.choice([others + images, images + others, others[:1] + images, images + others[1:]])
        run("fatbinary", "-64", "-link", "--create", name + ".fatbin", *images)
        return name

    def host_object(self, number):
        name = self.fatbin(number, self.rng.random() < 0.4)
        with open(name + ".s", "w", encoding="utf-8") as file:
            # What nvcc's stubs have; the name in the second section is unique in a program.
            file.write('.section __nv_relfatbin, "a"\n.align 8\nfatbinData:\n.incbin "%s.fatbin"\n'
                       '.section .nvFatBinSegment, "aw"\n.align 8\n.globl __fatbinwrap_%s\n__fatbinwrap_%s:\n'
                       '.long 0x466243b1, 2\n.quad fatbinData, 0\n'
                       '.section __nv_module_id, "a"\n.asciz "__NV_MODULE_ID%s"\n' % (name, name, name, name))
        run("as", name + ".s", "-o", name + ".o")
        return name + ".o"

    def file(self, number):
        kind = self.rng.choice(["cubin", "fatbin", "object", "object"])
        if kind == "cubin":
            return self.cubin(number, self.program.target) + ".cubin"
        if kind == "fatbin":
            return self.fatbin(number, self.rng.random() < 0.4) + ".fatbin"
        return self.host_object(number)

    def made(self, extension):
        self.count += 1
        return "made%d%s" % (self.count, extension)

    def all(self):
        """Files or archives with all modules, in some order."""
        numbers = list(range(self.program.count))
        self.rng.shuffle(numbers)
        inputs = []
        while numbers:
            group = numbers[:self.rng.choice([1, 1, 2, 3])]
            numbers = numbers[len(group):]
            way = self.rng.choice(["plain"] * 3 + ["joined", "archive", "thin"])
            if way == "plain":
                inputs += [self.file(number) for number in group]
                continue
            objects = [self.host_object(number) for number in group]
            if way == "joined":
                inputs.append(self.made(".o"))
                self.joined[inputs[-1]] = objects
                run("ld", "-r", *objects, "-o", inputs[-1])
                continue
            name = self.made(".a")
            run("ar", "rcTs" if way == "thin" else "rcs", "lib" + name, *objects)
            inputs += self.rng.choice([["lib" + name], ["-L.", "-l" + name[:-2]], ["lib" + name, "lib" + name]])
        # nvlink wants a file that is not -l's.
        return inputs if any(not name.startswith("-") for name in inputs) else ["lib%s.a" % name[2:] for name in inputs[1::2]]

    def options(self):
        rng, options = self.rng, []
        if rng.random() < 0.2:
            names = ["k%d" % rng.randrange(self.program.count), "k0_0", "nothing"]
            options.append("--kernels-used=" + ",".join(rng.sample(names, rng.randint(1, 2))))
        if rng.random() < 0.2:
            names = [v.name for v in self.program.variables] + ["nothing"]
            options.append("--variables-used=" + ",".join(rng.sample(names, rng.randint(1, 2))))
        return options + (["-g"] if rng.random() < 0.05 else []) + (["--preserve-relocs"] if rng.random() < 0.05 else [])


def main():
    seed, target, folder = sys.argv[1:]
    os.chdir(folder)
    rng = random.Random("inputs %s" % seed)
    rng.seed_number = int(seed)
    writer = Inputs(rng, Program(rng, target))
    inputs = writer.all()
    options = writer.options()
    first = []
    # nvlink -r gives common variables their places, which may then not grow, and what it makes of code that reads textures
    # reads c[0x1c][0x0] when it is linked (13.0, 13.3 and 13.5): minilink -r does neither.
    is_apart = any("common" in v.linkages or v.kind in ("texref", "surfref") for v in writer.program.variables)
    if not is_apart and len(inputs) > 1 and not any(name.startswith("-") for name in inputs) and rng.random() < 0.3:
        first, inputs = inputs[:-1], inputs[-1:]
        inputs.insert(rng.randrange(2), "whole.cubin")
    for name, words in (("first", first), ("line", options + inputs)):
        for kind, replaced in (("mine", {}), ("theirs", writer.joined)):
            words = [word for one in words for word in replaced.get(one, [one])]
            with open("%s.%s" % (kind, name), "w", encoding="utf-8") as file:
                file.write("".join(word + "\n" for word in words))


if __name__ == "__main__":
    main()
