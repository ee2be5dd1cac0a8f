#!/usr/bin/env python3
"""random_whole.py SEED TARGET FOLDER: writes a random PTX program of 1 to 4 modules that is linked to a whole program.

The modules are FOLDER/m0.ptx and so on. They look like what compilers leave of C++: kernels and functions of
templates are weak and stand in several modules; there are static functions, tables of constants, strings, shared memory
of all kinds, the assembler's own functions (division, square roots), calls of the driver's functions, textures, jump
tables, recursion, and what a program of the target may use besides. A program is rich in some things and has nothing of
others. Every third one is one module with line numbers, as of -lineinfo. What a seed gives depends on the target only
where the target's PTX does.
"""
import os
import random
import re
import sys

DRIVER = {
    "vprintf": ".extern .func (.param .b32 status) vprintf(.param .b64 format, .param .b64 list);",
    "malloc": ".extern .func (.param .b64 address) malloc(.param .b64 size);",
    "free": ".extern .func free(.param .b64 address);",
    "__assertfail": ".extern .func __assertfail(.param .b64 text, .param .b64 file, .param .b32 line, "
                    ".param .b64 function, .param .b64 size);",
}
CALLS = {
    "vprintf": "{ .param .b64 a; .param .b64 b; .param .b32 c; st.param.b64 [a], %d1; st.param.b64 [b], %d2; "
               "call.uni (c), vprintf, (a, b); ld.param.b32 %r2, [c]; }",
    "malloc": "{ .param .b64 a; .param .b64 b; st.param.b64 [a], %d2; call.uni (b), malloc, (a); "
              "ld.param.b64 %d3, [b]; st.u32 [%d3], %r1; }",
    "free": "{ .param .b64 a; st.param.b64 [a], %d1; call.uni free, (a); }",
    "__assertfail": "{ .param .b64 a; .param .b64 b; .param .b32 c; .param .b64 d; .param .b64 e; st.param.b64 [a], %d1; "
                    "st.param.b64 [b], %d1; st.param.b32 [c], 7; st.param.b64 [d], %d1; st.param.b64 [e], 1; "
                    "call.uni __assertfail, (a, b, c, d, e); }",
}
MATH = [
    "div.rn.f64 %x1, %x1, %x2;", "sqrt.rn.f64 %x2, %x1;", "rcp.rn.f64 %x3, %x1;", "div.rn.f32 %f1, %f2, %f3;",
    "sqrt.rn.f32 %f2, %f1;", "rcp.rn.f32 %f3, %f1;", "div.u64 %d1, %d2, %d3;", "rem.s64 %d2, %d1, %d3;",
    "div.u32 %r1, %r2, %r3;", "sin.approx.f32 %f1, %f1;", "fma.rn.f64 %x1, %x2, 0d3FE62E42FEFA39EF, 0d4024000000000123;",
    "fma.rn.f64 %x3, %x1, 0d3FB1D5E8E27F1A3B, 0dBFE0A5D1C4B7E961;", "cvt.rn.f32.f64 %f1, %x1;",
    "mad.lo.s32 %r1, %r1, 1103515245, %r2;", "popc.b32 %r2, %r1;", "mul.wide.u32 %d1, %r1, %r2;",
]
SIMPLE = [
    "bar.sync 0;", "atom.global.add.u32 %r1, [%d1], %r2;", "red.global.add.f64 [%d1], %x1;",
    "shfl.sync.bfly.b32 %r1, %r2, 1, 31, -1;", "vote.sync.ballot.b32 %r1, %p1, -1;", "membar.gl;",
    "ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%d1];", "st.global.v2.b64 [%d1], {%d2, %d3};", "@%p1 trap;", "@%p1 exit;",
    "tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%d1, {%f5, %f6}];", "suld.b.1d.b32.trap %r1, [%d1, {%r2}];",
    "nanosleep.u32 100;", "mov.u32 %r1, %clock;", "mov.u32 %r2, %smid;", "barrier.sync %r1, 64;",
    "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%x1, %x2}, {%x3}, {%x3}, {%x1, %x2};@80",
    "cp.async.ca.shared.global [%r1], [%d1], 4;@80", "redux.sync.add.s32 %r1, %r2, -1;@80",
    "barrier.cluster.arrive;@90", "mov.u32 %r1, %cluster_ctarank;@90", "griddepcontrol.wait;@90",
    "bar.warp.sync -1;", "prefetch.global.L2 [%d1];", "mov.u64 %d1, %globaltimer;", "activemask.b32 %r1;",
]
BOUNDS = [".maxntid 256, 1, 1", ".reqntid 64, 2, 1", ".minnctapersm 3", ".maxnreg 40",
          ".explicitcluster@90", ".reqnctapercluster 2, 1, 1@90", ".maxclusterrank 8@90"]


def version(target):
    """The PTX version: the oldest that has the target."""
    newer = {"sm_103": "8.8", "sm_121": "8.8", "sm_110": "9.0", "sm_107": "9.4"}
    number = int("".join(c for c in target if c.isdigit()))
    if number < 100:
        return "8.0"
    return newer.get("sm_%d" % number, "8.8" if target.endswith("f") else "8.7")


class Program:
    def __init__(self, seed, target):
        self.rng = rng = random.Random(seed)
        self.number = int("".join(c for c in target if c.isdigit()))
        self.target = target
        self.modules = rng.choice([1, 1, 2, 3, 4])
        self.lines = random.Random(seed).choice([0.1, 0.4, 0.9]) if seed % 3 == 0 else 0
        if self.lines:
            self.modules = 1
        self.inlines = random.Random(seed).random() < 0.7
        self.kernels = rng.choice([2, 3, 5, 8, 16, 30])
        self.rich = {name: rng.choice([0, 0, 1, 3]) for name in
                     ("call", "driver", "variable", "math", "simple", "shared", "dynamic", "local", "table", "loop",
                      "bounds", "string", "parameter", "recursion", "noreturn")}
        self.rich["reference"] = rng.random() < 0.03
        self.weak = rng.choice([0, 0.3, 0.7, 1])
        self.aligned = random.Random("alignments of %d" % seed).random() < 0.5
        self.variables = []
        for i in range(rng.choice([0, 2, 6, 20])):
            self.variables.append(self.variable(i))
        self.functions = [self.function(i) for i in range(rng.choice([0, 2, 5, 12]))]
        self.driver = rng.sample(sorted(DRIVER), rng.randint(1, 4))
        self.references = [".global .%s ref%d;" % (rng.choice(["texref", "surfref"]), i) for i in range(2)] \
            if self.number < 100 else []

    def limited(self, lines):
        """Those that the target has."""
        pairs = [line.split("@") if "@" in line and not line.startswith("@") else [line, "0"] for line in lines]
        return [text for text, least in pairs if int(least) <= self.number]

    def variable(self, i):
        """Its name, space, linkage, definition and home, the module that has it."""
        rng, name, home = self.rng, "v%d" % i, self.rng.randrange(self.modules)
        space = rng.choice(["global", "global", "const"])
        linkage = rng.choice(["visible", "visible", "weak", "", ""])
        size = rng.choice([1, 3, 4, 8, 40])
        value = rng.choice(["", " = {%s}" % ", ".join(str(rng.randint(0, 255)) for _ in range(min(size, 3)))])
        text = ".%s .align %d .b8 %s[%d]%s;" % (space, rng.choice([1, 4, 8, 16]), name, size, value)
        near = [row[0] for row in self.variables if row[1] == "global" and row[2] != "weak" and row[4] == home]
        if near and linkage == "" and rng.random() < 0.4:
            text = ".%s .align 8 .u64 %s[2] = {generic(%s), 5};" % (space, name, rng.choice(near))
        return (name, space, linkage, text, home)

    def alignment(self, name, usual):
        """Of shared memory: 1 to 1024 in some kernels of some programs."""
        rng = random.Random("%s %s" % (name, self.rich))
        return 1 << rng.randrange(11) if self.aligned and rng.random() < 0.5 else usual

    def function(self, i):
        rng = self.rng
        return ("f%d" % i, rng.choice(["visible", "weak", "weak", "", ""]), rng.randrange(self.modules), rng.random(),
                rng.random() < 0.1)


class Module:
    def __init__(self, program, number):
        self.program, self.rng, self.number = program, random.Random(program.rng.random()), number
        self.used = set()
        self.shared = 0

    def has_variable(self, row):
        return row[4] == self.number or row[2] == "weak"

    def has_function(self, row):
        return row[2] == self.number or row[1] == "weak"

    def statement(self, rng, caller):
        p = self.program
        kinds = [name for name, count in p.rich.items() for _ in range(count)] or ["simple"]
        kind = rng.choice(kinds)
        return getattr(self, "make_" + kind, self.make_simple)(rng, caller)

    def make_simple(self, rng, caller):
        return rng.choice(self.program.limited(SIMPLE))

    def make_math(self, rng, caller):
        return rng.choice(MATH)

    def make_call(self, rng, caller):
        choice = [row for row in self.program.functions if (self.has_function(row) or row[1]) and row[0] < caller]
        if not choice:
            return "add.s32 %r1, %r1, %r2;"
        row = rng.choice(choice)
        self.used.add(row[0])
        if row[4]:
            return "@%%p2 bra $N%d; { .param .b32 a; .param .b32 b; st.param.b32 [a], %%r1; " \
                   "call.uni (b), %s, (a); }\n$N%d:" % (self.label(), row[0], self.labels)
        return "{ .param .b32 a; .param .b32 b; st.param.b32 [a], %%r1; call.uni (b), %s, (a); ld.param.b32 %%r1, [b]; }" \
            % row[0]

    labels = 0

    def label(self):
        self.labels += 1
        return self.labels

    def make_driver(self, rng, caller):
        name = rng.choice(self.program.driver)
        if rng.random() < 0.1:  # a call that is dropped
            return "setp.ne.u32 %%p3, 1, 1;\n@!%%p3 bra $N%d;\n%s\n$N%d:" % (self.label(), CALLS[name], self.labels)
        if name == "__assertfail":
            return "@%%p1 bra $N%d;\n%s\n$N%d:" % (self.label(), CALLS[name], self.labels)
        return CALLS[name]

    def make_noreturn(self, rng, caller):
        return "@%%p1 bra $N%d;\ntrap;\n$N%d:" % (self.label(), self.labels)

    def make_variable(self, rng, caller):
        choice = [row for row in self.program.variables if self.has_variable(row) or row[2]]
        if not choice:
            return "xor.b32 %r2, %r2, %r1;"
        row = rng.choice(choice)
        self.used.add(row[0])
        name, space = row[0], row[1]
        return rng.choice([
            "ld.%s.u8 %%r2, [%s];" % (space, name),
            "mov.u64 %%d2, %s; cvta.%s.u64 %%d3, %%d2; ld.u8 %%r1, [%%d3];" % (name, space),
            "cvt.u64.u32 %%d2, %%r1; mov.u64 %%d1, %s; add.s64 %%d1, %%d1, %%d2; ld.%s.u8 %%r2, [%%d1];" % (name, space),
        ])

    def make_string(self, rng, caller):
        name = "$str$%d" % rng.randrange(4)
        self.used.add(name)
        return "mov.u64 %%d2, %s; cvta.global.u64 %%d1, %%d2;" % name

    def make_shared(self, rng, caller):
        self.shared += 1
        name = "s%d_%d" % (self.number, self.shared)
        size = rng.choice([4, 20, 256, 4096])
        where = "" if rng.random() < 0.6 else "@"
        text = ".shared .align %d .b8 %s[%d];" % (self.program.alignment(name, rng.choice([4, 16])), name, size)
        if where:
            self.globals.append(text)
            text = ""
        return "%s st.shared.u32 [%s], %%r1; bar.sync 0; ld.shared.u32 %%r2, [%s];" % (text, name, name)

    def make_dynamic(self, rng, caller):
        name = "dyn%d" % rng.randrange(2)
        self.used.add(name)
        return "st.shared.u32 [%s+8], %%r1; ld.shared.u32 %%r3, [%s+4];" % (name, name)

    def make_local(self, rng, caller):
        self.shared += 1
        name = "l%d_%d" % (self.number, self.shared)
        return ".local .align 8 .b8 %s[%d]; cvt.u64.u32 %%d1, %%r1; mov.u64 %%d2, %s; add.s64 %%d2, %%d2, %%d1; " \
               "st.local.u32 [%%d2], %%r2; ld.local.u32 %%r1, [%s+4];" % (name, rng.choice([16, 64, 200]), name, name)

    def make_table(self, rng, caller):
        n = self.label()
        count = rng.choice([5, 9])
        cases = "".join("$C%d_%d: mul.lo.s32 %%r1, %%r1, %d; xor.b32 %%r2, %%r1, %d; st.global.u32 [%%d4+%d], %%r2; bra $E%d;\n"
                        % (n, i, 7 * i + 3, i * i, 4 * i, n) for i in range(count))
        return "setp.gt.u32 %%p3, %%r1, %d;\n@%%p3 bra $E%d;\n$T%d: .branchtargets %s;\nbrx.idx %%r1, $T%d;\n%s$E%d:" % (
            count - 1, n, n, ", ".join("$C%d_%d" % (n, i) for i in range(count)), n, cases, n)

    def make_loop(self, rng, caller):
        n = self.label()
        return "$L%d: add.u32 %%r3, %%r3, 1; ld.global.u32 %%r2, [%%d4]; setp.lt.u32 %%p3, %%r3, %%r2; @%%p3 bra $L%d;" % (n, n)

    def make_parameter(self, rng, caller):
        return "ld.global.u32 %r3, [%d4+16]; st.global.u32 [%d4], %r3;"

    def make_recursion(self, rng, caller):
        if not caller.startswith("f"):
            return "sub.s32 %r1, %r1, %r3;"
        return "{ .param .b32 a; .param .b32 b; @%%p1 bra $N%d; st.param.b32 [a], %%r1; call.uni (b), %s, (a); " \
               "ld.param.b32 %%r1, [b]; }\n$N%d:" % (self.label(), caller, self.labels) \
            if rng.random() < 0.1 else "sub.s32 %r1, %r1, 9;"

    def make_reference(self, rng, caller):
        if not self.program.references or self.number:
            return "not.b32 %r1, %r1;"
        choice = rng.choice(self.program.references).split()
        name = choice[2].rstrip(";")
        self.used.add(name)
        return "tex.1d.v4.f32.s32 {%%f1, %%f2, %%f3, %%f4}, [%s, {%%r1}];" % name if choice[1] == ".texref" else \
            "suld.b.1d.b32.trap %%r1, [%s, {%%r2}];" % name

    REGISTERS = ".reg .b32 %r<9>; .reg .b64 %d<9>; .reg .f32 %f<9>; .reg .f64 %x<9>; .reg .pred %p<5>;\n"
    SETUP = "mov.u32 %r2, %tid.x; mov.u32 %r3, %ctaid.x; setp.eq.u32 %p1, %r2, 3; setp.eq.u32 %p2, %r3, 5; " \
            "cvt.u64.u32 %d2, %r2; mov.f64 %x1, 0d3FF8000000000000; cvt.rn.f64.u32 %x2, %r2; mov.f64 %x3, %x2; " \
            "cvt.rn.f32.u32 %f1, %r2; mov.f32 %f2, %f1; mov.f32 %f3, %f1; mov.f32 %f4, %f1; mov.f32 %f5, %f1; " \
            "mov.f32 %f6, %f1; add.s64 %d3, %d2, 9;\n"
    FINISH = "cvt.f64.f32 %x4, %f1; st.global.f64 [%d4+64], %x4; st.global.f64 [%d4+72], %x1; " \
             "st.global.f64 [%d4+80], %x2; st.global.u32 [%d4+88], %r1; st.global.u32 [%d4+92], %r2; " \
             "st.global.u64 [%d4+96], %d1; st.global.f64 [%d4+104], %x3;\n"

    def location(self, rng):
        """Where the next statement comes from: nothing, a line, or a line of a function that was inlined."""
        if rng.random() >= self.program.lines:
            return ""
        place = "%d %d %d" % (rng.randint(1, 3), rng.randint(1, 300), rng.randint(1, 80))
        inlined = "\n.loc 2 %d 7, function_name $L__info_string%d, inlined_at %s\n" % (
            rng.randint(1, 99), rng.randrange(3), place) if self.program.inlines and rng.random() < 0.3 else ""
        return ".loc %s\n%s" % (place, inlined)

    def body(self, seed, caller, count):
        rng, lines = random.Random(seed), random.Random("%s of lines" % seed)
        if lines.random() < 0.2:
            return "\n".join(self.statement(rng, caller) for _ in range(count)) + "\n"
        return self.location(lines) + "\n".join(
            self.location(lines) + self.statement(rng, caller) for _ in range(count)) + "\n"

    def end(self):
        """The file table and the inlined functions' names, of a program with lines."""
        if not self.program.lines:
            return ""
        files = "".join('.file %d "/a/folder%d/file%d.cu"\n' % (i, i % 2, i) for i in (1, 2, 3, 4))
        names = "".join("$L__info_string%d:\n.b8 %d,%d,0\n" % (i, 97 + i, 98) for i in range(3))
        return "%s.section .debug_str\n{\n%s}\n" % (files, names) if self.program.inlines else files

    @staticmethod
    def drop_unused(heads, bodies):
        """Takes out the functions that nobody calls: the program is then linked as it stands."""
        def is_used(head):
            name = re.search(r"(\w+)\(\.param \.b\d+ \w+(, [^)]*)?\);", head).group(1)
            return any(" %s, (" % name in text or "uni %s, (" % name in text
                       for text in bodies if head[:-2] + "\n" not in text)
        unused = [head for head in heads if not is_used(head)]
        heads[:] = [head for head in heads if head not in unused]
        bodies[:] = [text for text in bodies if not any(text.startswith(head[:-2] + "\n") for head in unused)]
        return bool(unused)

    def kernel(self, i, seed, linkage):
        rng = random.Random(seed)
        bounds = [rng.choice(self.program.limited(BOUNDS)) for _ in range(rng.randint(0, 2))] \
            if self.program.rich["bounds"] else []
        if ".explicitcluster" in bounds or any("cluster" in b for b in bounds):
            bounds = [b for b in bounds if "cluster" not in b] + [".reqnctapercluster 2, 1, 1"]
        if any("reqntid" in b for b in bounds):
            bounds = [b for b in bounds if "ntid" not in b] + [".reqntid 64, 2, 1"]
        bounds = list(dict.fromkeys(bounds))
        wide = rng.choice(["", "", ", .param .align 8 .b8 w[400]"]) if self.program.rich["parameter"] else ""
        name = "kernel_%s%d" % ("t" * rng.randrange(3), i)
        return "%s .entry %s(.param .u64 p, .param .u32 q%s) %s\n{\n%sld.param.u64 %%d1, [p]; ld.param.u32 %%r1, [q]; " \
               "cvta.to.global.u64 %%d4, %%d1;\n%s%s%sret;\n}\n" % (
                   linkage, name, wide, " ".join(bounds), self.REGISTERS, self.SETUP,
                   self.body(seed, name, rng.randint(0, 9)), self.FINISH)

    def text(self):
        p, rng = self.program, self.rng
        self.globals = []
        functions, kernels, heads = [], [], []
        for row in p.functions:
            if not self.has_function(row):
                continue
            name, linkage, _, seed, is_final = row
            head = "%s .func (.param .b32 r) %s(.param .b32 q)" % ("." + linkage if linkage else "", name)
            heads.append(head + ";\n")
            end = "trap; exit;" if is_final else ""
            functions.append("%s\n{\n%sld.param.u32 %%r1, [q]; mov.u64 %%d1, 4096; mov.u64 %%d4, 8192;\n%s%s%s"
                             "add.s32 %%r1, %%r1, %%r2; st.param.b32 [r], %%r1;\n%s ret;\n}\n" % (
                                 head, self.REGISTERS, self.SETUP,
                                 self.body(seed, name, 1 + int(seed * 9)), self.FINISH, end))
        for i in range(p.kernels):
            chooser = random.Random("%s %d" % (p.rich, i))
            weak, home, seed = chooser.random() < p.weak, chooser.randrange(p.modules), chooser.random()
            if home == self.number or (weak and chooser.random() < 0.5 and not self.number):
                kernels.append(self.kernel(i, seed, ".weak" if weak else ".visible"))
        parts = [".version %s\n.target %s\n.address_size 64\n" % (version(p.target), p.target)]
        driver = list(DRIVER.values()) if p.rich["driver"] else []
        rng.shuffle(driver)
        others = [".extern .func (.param .b32 r) %s(.param .b32 q);\n" % row[0] for row in p.functions
                  if not self.has_function(row) and row[1] and row[0] in self.used]
        data = []
        for row in p.variables:
            if self.has_variable(row):
                data.append((".%s " % row[2] if row[2] else "") + row[3])
            elif row[2] and row[0] in self.used:
                data.append(".extern " + row[3].split("=")[0].rstrip(" ;") + ";")
        data += [".global .align 1 .b8 $str$%d[6] = {%d, 110, 101, 10};" % (i, 97 + self.number + i) for i in range(4)
                 if "$str$%d" % i in self.used]
        data += [".extern .shared .align %d .b8 dyn%d[];" % (p.alignment("dyn%d" % i, 4 + 12 * i), i) for i in range(2)
                 if "dyn%d" % i in self.used]
        data += self.globals + ([r for r in p.references] if self.number == 0 and p.rich["reference"] else [])
        bodies = functions + kernels
        driver = [line + "\n" for line in driver]
        while p.lines and (self.drop_unused(heads, bodies) or self.drop_unused(driver, bodies)):
            pass
        if p.lines:
            texts = "".join(bodies + [line.partition("=")[2] for line in data])
            data = [line for line in data if re.search(r" (\S+?)(\[\d*\])*[ ;]*(=|$)", line).group(1) in texts]
        parts += driver + others + heads + [line + "\n" for line in data]
        if rng.random() < 0.5:
            rng.shuffle(bodies)
        return "".join(parts + bodies) + self.end()


def main():
    seed, target, folder = int(sys.argv[1]), sys.argv[2], sys.argv[3]
    program = Program(seed, target)
    for i in range(program.modules):
        text = Module(program, i).text()
        with open(os.path.join(folder, "m%d.ptx" % i), "w", encoding="ascii") as file:
            file.write(text)


main()
