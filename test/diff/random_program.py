#!/usr/bin/env python3
"""random_program.py SEED TARGET FOLDER [LEVEL]: writes a random PTX program of 1 to 5 modules.

The modules are FOLDER/m0.ptx and so on. The first line of each is a comment with the options that ptxas
needs for it. LEVEL is -g or -lineinfo; without one, some modules have line information all the same.
What a seed gives depends on the target only where the target's PTX does. A few programs are wrong on
purpose: linkers must refuse them in the same words.
"""
import os
import random
import sys

INDENT = "    "
SIGNATURES = {
    # name: (types of the parameters, type of the result or None)
    "int": (["b32"], "b32"),
    "two": (["b32", "b64"], "b32"),
    "wide": (["b64"], "b64"),
    "none": ([], None),
    "sink": (["b32"], None),
}
REGISTER = {"b32": "%r1", "b64": "%d1"}
SYSCALLS = {
    "vprintf": ".extern .func (.param .b32 status) vprintf(.param .b64 format, .param .b64 list);",
    "malloc": ".extern .func (.param .b64 address) malloc(.param .b64 size);",
    "free": ".extern .func free(.param .b64 address);",
    "__assertfail": ".extern .func __assertfail(.param .b64 text, .param .b64 file, "
                    ".param .b32 line, .param .b64 function, .param .b64 size);",
}


class Variable:
    """A variable of the whole program: in which modules it is defined, and how."""

    def __init__(self, rng, number, modules):
        self.name = "v%d" % number
        self.space = rng.choice(["global", "global", "global", "const", "const"])
        self.linkage = rng.choice(["visible"] * 5 + ["weak", "common", "internal"])
        if self.linkage == "common":
            self.space = "global"
        if self.linkage == "internal":
            self.name = "local%d" % rng.randrange(2)
        self.alignment = rng.choice([1, 2, 4, 8, 16, 32])
        self.size = rng.choice([1, 3, 4, 8, 20, 64, 100])
        self.homes = pick_homes(rng, self.linkage, modules)
        self.kind = rng.choice(["zero", "zero", "bytes", "words", "addresses", "functions"])
        if self.linkage == "common":
            self.kind = "zero"
        if self.kind in ("words", "addresses", "functions"):
            self.size = rng.choice([8, 16, 32])
            self.alignment = max(self.alignment, 8)
        self.seed = rng.random()
        self.is_managed = False

    def declaration(self):
        if self.kind in ("words", "addresses", "functions"):
            return ".%s .align %d .u64 %s[%d]" % (self.space, self.alignment, self.name,
                                                  self.size // 8)
        return ".%s .align %d .b8 %s[%d]" % (self.space, self.alignment, self.name, self.size)


class Function:
    """A function of the whole program; kernels are functions, too."""

    def __init__(self, rng, number, modules, is_kernel=False):
        self.is_kernel = is_kernel
        self.name = "%s%d" % ("k" if is_kernel else "f", number)
        choices = ["visible"] * 8 + ["weak"] if is_kernel else \
            ["visible"] * 5 + ["weak", "weak", "internal", "internal"]
        self.linkage = rng.choice(choices)
        if self.linkage == "internal":
            self.name = "helper%d" % rng.randrange(2)
        self.signature = "kernel" if is_kernel else rng.choice(["int"] * 4 + list(SIGNATURES))
        if self.linkage == "internal":
            self.signature = "int"
        self.homes = pick_homes(rng, self.linkage, modules)
        self.has_equal_bodies = rng.random() < 0.6
        # One strong definition beside weak ones.
        self.strong = rng.choice(self.homes) if rng.random() < 0.2 else None
        self.aliases = []
        if not is_kernel and self.linkage == "visible" and rng.random() < 0.12:
            self.aliases = ["a%d" % number]
        self.number = number
        self.seed = rng.random()

    def head(self, name=None):
        name = name or self.name
        if self.is_kernel:
            return ".entry %s(.param .u64 p, .param .u32 q)" % name
        parameters, result = SIGNATURES[self.signature]
        listed = ", ".join(".param .%s p%d" % pair for pair in
                           zip(parameters, range(len(parameters))))
        return ".func %s %s(%s)" % ("(.param .%s r)" % result if result else "", name, listed)


def pick_homes(rng, linkage, modules):
    """The modules with a definition."""
    if linkage == "visible":
        return [rng.randrange(modules)]
    return sorted(rng.sample(range(modules), rng.randint(1, modules)))


class Program:
    def __init__(self, seed, target, level, has_needs):
        rng = random.Random(seed)
        self.rng = rng
        self.target = target
        self.level = level
        self.number = int("".join(c for c in target if c.isdigit()))
        self.modules = rng.randint(1, 5)
        functions = rng.choice([0, 2, 4, 8, 12])
        # A program is rich in some things and has nothing of others.
        self.richness = {name: rng.choice([0, 0, 1, 3]) for name in
                         ("shared", "dynamic", "syscall", "local", "barrier", "table", "divide",
                          "double", "pointer", "texture", "bindless", "kernel_address")}
        self.calls = rng.choice([1, 2, 4])
        self.recursion = rng.choice([0, 0, 0.02, 0.1])
        self.variables = [Variable(rng, i, self.modules) for i in range(rng.randint(0, 8))]
        self.functions = [Function(rng, i, self.modules) for i in range(functions)]
        self.kernels = [Function(rng, i, self.modules, True) for i in range(rng.randint(1, 5))]
        self.drop_equal_names()
        self.mischief = rng.choice(["undefined", "twice", "size", "space"]) \
            if rng.random() < 0.05 else None
        # From seed 1000 on there are things that kernels need because of functions, too; by a number of its own, so that
        # all else is as before.
        needs = random.Random("needs %s" % seed)
        self.needs = [name for name in ("constants", "reserved", "mbarrier", "sparse")
                      if has_needs and needs.random() < 0.4 and (name == "constants" or self.number >= 80)]
        self.line_modules = set()
        if level is None and rng.random() < 0.12:
            self.line_modules = {i for i in range(self.modules) if rng.random() < 0.6}
        if level is not None:
            self.line_modules = set(range(self.modules))

    def drop_equal_names(self):
        """Internal things may have one name only where no module would have two of them."""
        for things in (self.variables, self.functions):
            taken = set()
            for thing in things:
                thing.homes = [home for home in thing.homes if (thing.name, home) not in taken]
                taken |= {(thing.name, home) for home in thing.homes}
            things[:] = [thing for thing in things if thing.homes]


class Module:
    """Writes one module: the bodies first, then what they turn out to need."""

    def __init__(self, program, number):
        self.program = program
        self.number = number
        self.needs = set()
        self.syscalls = set()
        self.strings = []
        self.references = set()
        self.bodies = []
        self.labels = 0
        self.line = 0
        self.has_dynamic = False
        self.shared = []
        rng = random.Random("%s module %d" % (program.rng.random(), number))
        self.rng = rng
        if program.richness["shared"] and rng.random() < 0.6:
            self.shared = [("s%d" % i if rng.random() < 0.5 else "s%d_%d" % (i, number),
                            rng.choice([1, 4, 8, 16]), rng.choice([4, 5, 16, 33, 128]))
                           for i in range(rng.randint(1, 3))]
        self.dynamic_alignment = rng.choice([1, 4, 8, 16])

    def visible(self, things):
        """Those that this module may name."""
        return [thing for thing in things
                if thing.linkage != "internal" or self.number in thing.homes]

    def place(self):
        if self.number in self.program.line_modules:
            self.line += 1
            return "%s.loc 1 %d 0\n" % (INDENT, self.line)
        return ""


class Body:
    """Code of one function in one module."""

    def __init__(self, module, function):
        self.module = module
        self.function = function
        self.program = module.program
        key = (function.seed, "" if function.has_equal_bodies else module.number)
        self.rng = random.Random("%s %s" % key)
        self.needs_rng = random.Random("needs %s %s" % key)
        # What has equal bodies names only what all modules have.
        self.is_portable = function.has_equal_bodies and len(function.homes) > 1
        self.declarations = []
        self.lines = []

    def reachable(self, things):
        if self.is_portable:
            return [thing for thing in things if thing.linkage != "internal"]
        return self.module.visible(things)

    def emit(self, text):
        self.lines.append(text)

    def need(self, thing):
        self.module.needs.add(thing)
        return thing

    def call(self, name, signature, prototype=None):
        parameters, result = SIGNATURES[signature]
        code = ["{"]
        for i, kind in enumerate(parameters):
            code.append(".param .%s x%d; st.param.%s [x%d], %s;" % (kind, i, kind, i,
                                                                   REGISTER[kind]))
        arguments = ", ".join("x%d" % i for i in range(len(parameters)))
        if result:
            code.append(".param .%s y;" % result)
        shape = ["(y)"] if result else []
        shape += [name]
        if parameters or prototype:
            shape.append("(%s)" % arguments)
        if prototype:
            code.insert(1, "%s: .callprototype %s _ (%s);" % (
                prototype, "(.param .%s _)" % result if result else "",
                ", ".join(".param .%s _" % kind for kind in parameters)))
            shape.append(prototype)
        code.append("call%s %s;" % (".uni" if self.rng.random() < 0.8 or not prototype else "",
                                    ", ".join(shape)))
        if result:
            code.append("ld.param.%s %s, [y];" % (result, REGISTER[result]))
        self.emit(" ".join(code) + " }")

    def add_call(self):
        candidates = [f for f in self.reachable(self.program.functions)
                      if f.number > self.function.number or self.function.is_kernel or
                      self.rng.random() < self.program.recursion]
        if not candidates:
            return
        function = self.need(self.rng.choice(candidates))
        name = function.name
        if function.aliases and self.rng.random() < 0.6:
            name = function.aliases[0]
        self.call(name, function.signature)

    def add_load(self):
        candidates = self.reachable(self.program.variables)
        if not candidates:
            return
        variable = self.need(self.rng.choice(candidates))
        offset = self.rng.randrange(variable.size)
        way = self.rng.random()
        if way < 0.5:
            self.emit("ld.%s.u8 %%r2, [%s+%d]; add.s32 %%r1, %%r1, %%r2;" % (
                variable.space, variable.name, offset))
        elif way < 0.7 and variable.space == "global":
            self.emit("st.global.u8 [%s+%d], %%r1;" % (variable.name, offset))
        elif way < 0.85:
            self.emit("mov.u64 %%d2, %s; cvta.%s.u64 %%d2, %%d2; add.s64 %%d1, %%d1, %%d2;" % (
                variable.name, variable.space))
        else:
            self.emit("cvt.u64.u32 %%d2, %%r1; mov.u64 %%d3, %s; add.s64 %%d3, %%d3, %%d2; "
                      "ld.%s.u8 %%r2, [%%d3+%d]; xor.b32 %%r1, %%r1, %%r2;" % (
                          variable.name, variable.space, offset))

    def add_pointer(self):
        tables = [v for v in self.reachable(self.program.variables) if v.kind == "functions"]
        prototype = self.label()
        signature = "int"
        if tables and self.rng.random() < 0.7:
            table = self.need(self.rng.choice(tables))
            self.emit("ld.%s.u64 %%d2, [%s+%d];" % (table.space, table.name,
                                                   8 * self.rng.randrange(table.size // 8)))
        else:
            functions = [f for f in self.reachable(self.program.functions)]
            if not functions:
                return
            function = self.need(self.rng.choice(functions))
            signature = function.signature
            self.emit("mov.u64 %%d2, %s;" % (function.aliases or [function.name])[0])
            if self.rng.random() < 0.3:
                self.emit("st.global.u64 [%d4], %d2;")
                return
            self.emit("setp.eq.u32 %p1, %r1, 7; @%p1 ld.global.u64 %d2, [%d4];")
        self.call("%d2", signature, prototype)

    def label(self):
        self.module.labels += 1
        return "L%d" % self.module.labels

    def add_shared(self):
        if self.module.shared and not self.is_portable and self.rng.random() < 0.5:
            name, _, size = self.rng.choice(self.module.shared)
        else:
            size = self.rng.choice([4, 5, 16, 33, 64])
            name = "own%d" % len(self.declarations)
            if self.rng.random() < 0.5:
                name += "_" + self.function.name
            self.declarations.append(".shared .align %d .b8 %s[%d];" % (
                self.rng.choice([1, 4, 8, 16]), name, size))
        self.emit("st.shared.u8 [%s+%d], %%r1; bar.warp.sync -1; ld.shared.u8 %%r2, [%s+%d]; "
                  "add.s32 %%r1, %%r1, %%r2;" % (name, self.rng.randrange(size), name,
                                                 self.rng.randrange(size)))

    def add_dynamic(self):
        self.module.has_dynamic = True
        self.emit("st.shared.u8 [dynamic+%d], %%r1; mov.u32 %%r2, dynamic; add.s32 %%r1, %%r1, "
                  "%%r2;" % self.rng.randrange(64))

    def add_syscall(self):
        name = self.rng.choice(["vprintf"] * 4 + ["malloc", "free", "__assertfail"])
        self.module.syscalls.add(name)
        if name == "malloc":
            self.emit("{ .param .b64 x; .param .b64 y; st.param.b64 [x], %d1; "
                      "call.uni (y), malloc, (x); ld.param.b64 %d1, [y]; }")
        elif name == "free":
            self.emit("{ .param .b64 x; st.param.b64 [x], %d1; call.uni free, (x); }")
        elif name == "vprintf":
            self.emit("mov.u64 %%d2, %s; cvta.global.u64 %%d2, %%d2; { .param .b64 x; "
                      ".param .b64 z; .param .b32 y; st.param.b64 [x], %%d2; "
                      "st.param.b64 [z], %%d1; call.uni (y), vprintf, (x, z); "
                      "ld.param.b32 %%r1, [y]; }" % self.string())
        else:
            self.emit("{ .param .b64 t; .param .b64 f; .param .b32 l; .param .b64 n; "
                      ".param .b64 s; st.param.b64 [t], %d1; st.param.b64 [f], %d1; "
                      "st.param.b32 [l], %r1; st.param.b64 [n], %d1; st.param.b64 [s], %d1; "
                      "call.uni __assertfail, (t, f, l, n, s); }")

    def string(self):
        strings = self.module.strings
        if not strings or self.rng.random() < 0.5:
            text = "n%d %%d\n" % len(strings)
            strings.append(list(text.encode()) + [0])
        index = self.rng.randrange(len(strings))
        return "$str%s" % ("$%d" % index if index else "")

    def add_local(self):
        name = "frame%d" % len(self.declarations)
        self.declarations.append(".local .align %d .b8 %s[%d];" % (
            self.rng.choice([4, 8, 16]), name, self.rng.choice([16, 40, 100, 512])))
        self.emit("mov.u64 %%d2, %s; cvta.local.u64 %%d2, %%d2; cvt.u64.u32 %%d3, %%r1; "
                  "add.s64 %%d2, %%d2, %%d3; st.u8 [%%d2], %%r1; ld.u8 %%r2, [%%d2+3]; "
                  "add.s32 %%r1, %%r1, %%r2;" % name)

    def add_barrier(self):
        if self.rng.random() < 0.8:
            self.emit("bar.sync %d;" % self.rng.randrange(16))
        else:
            self.emit("and.b32 %r2, %r1, 3; bar.sync %r2;")

    def add_table(self):
        targets = [self.label() for _ in range(self.rng.randint(5, 9))]
        table, end = self.label(), self.label()
        self.emit("setp.gt.u32 %%p1, %%r1, %d; @%%p1 bra %s;" % (len(targets) - 1, end))
        self.emit("%s: .branchtargets %s;" % (table, ", ".join(targets)))
        self.emit("brx.idx %%r1, %s;" % table)
        for i, target in enumerate(targets):
            self.emit("%s: mad.lo.s32 %%r1, %%r1, %%r1, %d; xor.b32 %%r1, %%r1, %d; "
                      "st.global.u32 [%%d4+%d], %%r1; bra %s;" % (
                          target, self.rng.randrange(9999), self.rng.randrange(9999), 4 * i, end))
        self.emit("%s:" % end)

    def add_divide(self):
        self.emit(self.rng.choice([
            "div.u64 %d1, %d1, %d4;", "rem.s64 %d1, %d1, %d4;",
            "cvt.rn.f64.s64 %g1, %d1; sqrt.rn.f64 %g1, %g1; cvt.rzi.s64.f64 %d1, %g1;",
            "cvt.rn.f32.s32 %f1, %r1; div.rn.f32 %f1, %f1, %f2; cvt.rzi.s32.f32 %r1, %f1;",
            "cvt.rn.f64.s64 %g1, %d1; div.rn.f64 %g1, %g1, %g2; cvt.rzi.s64.f64 %d1, %g1;"]))

    def add_double(self):
        for _ in range(self.rng.randint(1, 4)):
            self.emit("cvt.rn.f64.s64 %%g1, %%d1; fma.rn.f64 %%g1, %%g1, 0d%016X, 0d%016X; "
                      "cvt.rzi.s64.f64 %%d1, %%g1;" % (
                          0x3FF0000000000000 + self.rng.getrandbits(50),
                          0x3FE0000000000000 + self.rng.getrandbits(50)))

    def add_texture(self):
        kind = self.rng.choice(["texref", "texref", "surfref"])
        name = "%s%d" % (kind, self.rng.randrange(3))
        self.module.references.add((kind, name))
        if kind == "texref":
            self.emit("cvt.rn.f32.s32 %%f1, %%r1; tex.2d.v4.f32.f32 {%%f3, %%f4, %%f5, %%f6}, "
                      "[%s, {%%f1, %%f1}]; cvt.rzi.s32.f32 %%r1, %%f3;" % name)
        else:
            self.emit("suld.b.2d.b32.trap %%r1, [%s, {%%r1, %%r1}];" % name)

    def add_bindless(self):
        self.emit(self.rng.choice([
            "cvt.rn.f32.s32 %f1, %r1; tex.2d.v4.f32.f32 {%f3, %f4, %f5, %f6}, [%d1, {%f1, %f1}]; "
            "cvt.rzi.s32.f32 %r1, %f3;",
            "sust.b.1d.b32.clamp [%d1, {%r1}], %r1;"]))

    def add_kernel_address(self):
        kernels = self.reachable(self.program.kernels)
        kernel = self.need(self.rng.choice(kernels))
        self.emit("mov.u64 %%d2, %s; st.global.u64 [%%d4], %%d2;" % kernel.name)

    def fill(self):
        ways = [self.add_load] * 2 + [self.add_call] * self.program.calls
        for name, weight in self.program.richness.items():
            if name == "texture" and (self.program.number >= 100 or weight < 3):
                continue
            ways += [getattr(self, "add_" + name)] * weight
        for _ in range(self.rng.choice([0, 1, 2, 4, 6])):
            start = len(self.lines)
            self.rng.choice(ways)()
            if len(self.lines) > start:
                self.lines[start] = self.module.place() + INDENT + self.lines[start]

    def add_needs(self):
        for name in self.program.needs:
            if self.needs_rng.random() >= 0.3:
                continue
            if name == "constants":
                self.emit("isspacep.const %p1, %d1; selp.u32 %r2, 1, 0, %p1; add.s32 %r1, %r1, %r2;")
            elif name == "reserved":
                self.emit("mov.u32 %r2, %reserved_smem_offset_begin; add.s32 %r1, %r1, %r2;")
            elif name == "mbarrier":
                slot = "mbarrier%d" % len(self.declarations)
                self.declarations.append(".shared .align 8 .b64 %s;" % slot)
                self.emit("mov.u32 %%r2, %s; mbarrier.init.shared.b64 [%%r2], 4; mbarrier.arrive.shared.b64 %%d2, [%%r2]; "
                          "add.s64 %%d1, %%d1, %%d2;" % slot)
            else:
                self.emit("mov.f32 %f1, 0f3F800000; mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
                          "{%f2, %f3, %f4, %f5}, {%r1, %r1}, {%r1, %r1}, {%f1, %f1, %f1, %f1}, %r1, 0x0; "
                          "cvt.rzi.s32.f32 %r1, %f2;")

    def begin(self):
        """Loads the parameters: %r1 and %d1 are what code works on, %d4 is some address."""
        if self.function.is_kernel:
            return "ld.param.u64 %d4, [p]; ld.param.u32 %r1, [q]; mov.u64 %d1, %d4;"
        code = ["mov.u32 %r1, 5; mov.u64 %d1, 5; mov.u64 %d4, 4096;"]
        for i, kind in enumerate(SIGNATURES[self.function.signature][0]):
            code.append("ld.param.%s %s, [p%d];" % (kind, REGISTER[kind], i))
        return " ".join(code)

    def end(self):
        if self.function.is_kernel:
            return "st.global.u32 [%d4], %r1; st.global.u64 [%d4+8], %d1; ret;"
        result = SIGNATURES[self.function.signature][1]
        return ("st.param.%s [r], %s; " % (result, REGISTER[result]) if result else "") + "ret;"

    def text(self):
        self.fill()
        self.add_needs()
        limits = self.rng.choice(["", "", ".maxntid 128", ".reqntid 32, 2, 1",
                                  ".maxntid 64 .minnctapersm 2", ".maxnreg 128"]) \
            if self.function.is_kernel else ""
        linkage = self.function.linkage
        if linkage == "weak" and self.function.strong == self.module.number:
            linkage = "visible"
        prefix = "" if linkage == "internal" else ".%s " % linkage
        registers = ".reg .b32 %r<8>; .reg .b64 %d<8>; .reg .f32 %f<8>; .reg .f64 %g<8>; " \
                    ".reg .pred %p<4>;"
        lines = [prefix + self.function.head() + " " + limits, "{", INDENT + registers]
        lines += [INDENT + line for line in self.declarations]
        lines += [self.module.place() + INDENT + self.begin()]
        lines += [line if line.startswith((" ", "L")) else INDENT + line for line in self.lines]
        lines += [self.module.place() + INDENT + self.end(), "}"]
        return "\n".join(lines)


def initialiser(module, variable):
    """What stands behind the = of a definition, and "" for a zeroed variable."""
    rng = random.Random(variable.seed)
    program = module.program
    count = variable.size // 8
    if variable.kind == "bytes":
        values = [rng.randrange(256) for _ in range(rng.randint(1, variable.size))]
    elif variable.kind == "words":
        values = [rng.getrandbits(40) for _ in range(count)]
    elif variable.kind == "addresses":
        others = [v for v in module.visible(program.variables)
                  if v is not variable and v.space == "global" and v.kind != "addresses"]
        values = [address(rng, module, others) for _ in range(count)]
    elif variable.kind == "functions":
        functions = [f for f in module.visible(program.functions) if f.signature == "int"]
        if not functions:
            return ""
        values = [rng.choice(functions) for _ in range(count)]
        module.needs.update(values)
        values = [(f.aliases or [f.name])[0] for f in values]
    else:
        return ""
    return " = {%s}" % ", ".join(str(value) for value in values)


def address(rng, module, others):
    if not others:
        return 0
    other = rng.choice(others)
    module.needs.add(other)
    name = rng.choice(["generic(%s)", "%s"]) % other.name
    return name + rng.choice(["", "", "+%d" % rng.randrange(1, 9)])


def variable_lines(module):
    """Declarations of all variables that the module needs or defines."""
    own = [v for v in module.program.variables if module.number in v.homes]
    values = {v: initialiser(module, v) for v in own}
    foreign = [v for v in module.program.variables if v in module.needs and v not in own]
    lines = [".extern " + v.declaration() + ";" for v in foreign]
    # Addresses come behind what they name.
    for variable in sorted(own, key=lambda v: v.kind == "addresses"):
        linkage = variable.linkage
        prefix = "" if linkage == "internal" else "." + linkage + " "
        lines.append(prefix + variable.declaration() + values[variable] + ";")
    return lines


def function_lines(module):
    """Declarations of all functions that the module needs or defines, in front of their bodies."""
    lines = []
    for function in module.program.functions + module.program.kernels:
        is_own = module.number in function.homes
        if not is_own and function not in module.needs:
            continue
        linkage = function.linkage
        if not is_own:
            prefix = ".extern "
        elif linkage == "weak" and function.strong == module.number:
            prefix = ".visible "
        else:
            prefix = "" if linkage == "internal" else ".%s " % linkage
        lines.append(prefix + function.head() + ";")
        for alias in function.aliases:
            lines.append(prefix + function.head(alias) + ";")
    return lines


def alias_lines(module):
    return [".alias %s, %s;" % (alias, function.name) for function in module.program.functions
            if module.number in function.homes for alias in function.aliases]


def other_lines(module):
    lines = [SYSCALLS[name] for name in sorted(module.syscalls)]
    for index, characters in enumerate(module.strings):
        lines.append(".global .align 1 .b8 $str%s[%d] = {%s};" % (
            "$%d" % index if index else "", len(characters), ", ".join(map(str, characters))))
    lines += [".shared .align %d .b8 %s[%d];" % (alignment, name, size)
              for name, alignment, size in module.shared]
    if module.has_dynamic:
        lines.append(".extern .shared .align %d .b8 dynamic[];" % module.dynamic_alignment)
    lines += [".%sglobal .%s %s;" % ("" if module.number == 0 else "extern .", kind, name)
              for kind, name in sorted(module.references)]
    return lines


def mischief_lines(program, number):
    """What makes the program a wrong one; the last module, so that the first one is right."""
    if number != program.modules - 1 or not program.mischief:
        return []
    function = ".visible .func bad(.param .b64 p0) { .reg .b64 %%d<2>; .reg .b32 %%r<2>; " \
               "ld.%s.u32 %%r1, [%s]; ld.param.u64 %%d1, [p0]; st.u32 [%%d1], %%r1; ret; }"
    others = [v for v in program.variables if number not in v.homes and v.linkage == "visible"
              and v.kind in ("zero", "bytes")]
    if program.mischief == "undefined" or not others:
        return [".extern .global .align 4 .b8 nowhere[8];", function % ("global", "nowhere")]
    other = others[0]
    if program.mischief == "twice":
        return [".visible " + other.declaration() + ";"]
    if program.mischief == "space":
        space = "const" if other.space == "global" else "global"
        return [".visible .%s .align 4 .b8 %s[%d];" % (space, other.name, other.size)]
    return [".visible .%s .align 4 .b8 %s[%d];" % (other.space, other.name, other.size + 4)]


def debug_lines(module):
    """The smallest debugging information: a unit with nothing in it."""
    if module.number not in module.program.line_modules:
        return []
    lines = ['.file 1 "module%d.cu"' % module.number]
    if module.program.level != "-g":
        return lines
    abbreviations = [1, 17, 0, 3, 8, 0, 0, 0]
    name = list(b"module%d.cu" % module.number) + [0]
    unit = [2, 0]
    return lines + [
        ".section .debug_abbrev {", ".b8 " + ", ".join(map(str, abbreviations)), "}",
        ".section .debug_info {", ".b32 %d" % (8 + len(name)), ".b8 " + ", ".join(map(str, unit)),
        ".b32 .debug_abbrev", ".b8 8", ".b8 " + ", ".join(map(str, [1] + name)), "}"]


def write_module(program, number):
    module = Module(program, number)
    for function in program.functions + program.kernels:
        if number in function.homes:
            module.bodies.append(Body(module, function).text())
    variables = variable_lines(module)
    bad = mischief_lines(program, number)
    option = program.level or ("-lineinfo" if number in program.line_modules else "")
    version = "9.4" if program.target.startswith("sm_107") else "9.0"
    lines = ["// " + option, ".version " + version,
             ".target %s%s" % (program.target, ", debug" if option == "-g" else ""),
             ".address_size 64"]
    # A function named by an initialiser must be known before.
    lines += function_lines(module) + other_lines(module) + variables + bad
    lines += module.bodies + alias_lines(module) + debug_lines(module)
    return "\n".join(lines) + "\n"


def main():
    seed, target, folder = sys.argv[1:4]
    level = sys.argv[4] if len(sys.argv) > 4 else None
    program = Program("program %s" % seed, target, level, int(seed) >= 1000)
    for number in range(program.modules):
        with open(os.path.join(folder, "m%d.ptx" % number), "w", encoding="utf-8") as file:
            file.write(write_module(program, number))


if __name__ == "__main__":
    main()
