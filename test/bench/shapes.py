"""shapes.py: programs of one shape and any size n, to see how links grow: many of one thing, or all of one kind with
all of another. Each gives the files (name -> PTX) and the options of a link."""

HEAD = ".version 8.4\n.target sm_90\n.address_size 64\n"
SPLIT = ["-split-compile-extended=2", "--minimum-chunk=1"]


def each(n, text, first=0):
    """The text n times, with 0, 1, 2 ... for @."""
    return "".join(text.replace("@", str(i)) for i in range(first, first + n))


def kernel(name, body="", declarations=""):
    return f".visible .entry {name}()\n{{\n{declarations}{body}\tret;\n}}\n"


def function(name, body=""):
    return f".visible .func {name}()\n{{\n{body}\tret;\n}}\n"


def call(name):
    return f"\tcall {name}, ();\n"


def store(place="0", space="global"):
    return f"\tst.{space}.u32 [{place}], 1;\n"


def one(text, *options):
    return {"a.ptx": HEAD + text}, list(options)


def modules_of(n, text, last=""):
    """n files; the last one has more."""
    files = {f"m{i}.ptx": HEAD + text.replace("@", str(i)) for i in range(n)}
    files["z.ptx"] = HEAD + last + kernel("k")
    return files, []


def chain_of(n, step):
    """n functions, of which each calls those behind it that `step` names."""
    declared = each(n + 2, ".visible .func f@();\n")
    bodies = "".join(function(f"f{i}", "".join(call(f"f{i + k}") for k in step)) for i in range(n))
    return declared + bodies + function(f"f{n}") + function(f"f{n + 1}")


def targets(n):
    return "ts: .branchtargets " + each(n - 1, "l@, ") + f"l{n - 1};\n"


REGISTERS = "\t.reg .b32 %r<4>;\n\t.reg .b64 %rd<4>;\n\t.reg .f32 %f<5>;\n\t.reg .pred %p;\n"
TEXTURE = "\ttex.1d.v4.f32.f32 {%f1,%f2,%f3,%f4}, [t@, {%f1}];\n"

def parts(text):
    """16 parts of one compilation, with the part's number for #, joined by the tool for that."""
    return {f"{i}.ptx": HEAD + text.replace("#", str(i)) for i in range(16)}, ["tool_parts"]


shapes = {
    # Functions and who calls them.
    "kernels": lambda n: one(each(n, kernel("k@"))),
    "functions": lambda n: one(each(n, function("f@")) + kernel("k", each(n, call("f@")))),
    "calls": lambda n: one(function("f") + kernel("k", call("f") * n)),
    "chain": lambda n: one(chain_of(n, [1]) + each(n, kernel("k@", call("f@")))),
    "ladder": lambda n: one(chain_of(n, [1, 2]) + each(n, kernel("k@", call("f0")))),
    "cycle": lambda n: one(chain_of(n, [1]).replace(function(f"f{n}"), function(f"f{n}", call("f0")))
                           + each(n, kernel("k@", call("f@")))),
    "callgraph": lambda n: one(chain_of(n, [1]) + each(n, kernel("k@", call("f@"))), "-dump-callgraph-no-demangle"),
    "relocatable": lambda n: one(chain_of(n, [1]) + each(n, kernel("k@", call("f@"))), "-r"),
    "indirect": lambda n: one(
        each(n, function("f@")) + f".visible .global .u64 t[{n}] = {{" + each(n - 1, "f@, ") + f"f{n - 1}}};\n"
        + each(n, kernel("k@", "\tld.global.u64 %rd1, [t];\np: .callprototype _ ();\n\tcall %rd1, (), p;\n",
                         REGISTERS))),
    "prototypes": lambda n: one(function("f") + kernel(
        "k", "\tmov.u64 %rd1, f;\n" + each(n, "p@: .callprototype _ ();\n\tcall %rd1, (), p@;\n"), REGISTERS)),
    "aliases": lambda n: one(".visible .func f();\n" + each(n, ".visible .func a@();\n") + function("f")
                             + each(n, ".alias a@, f;\n") + kernel("k", each(n, call("a@")))),
    "declarations": lambda n: one(".visible .func f();\n" * n + function("f") + kernel("k", call("f"))),
    # Chunks.
    "split_chain": lambda n: one(chain_of(n, [1]) + each(n, kernel("k@", call("f@"))), *SPLIT),
    "split_kernels": lambda n: one(chain_of(n, [1]) + each(n, kernel("k@", call("f@"))),
                                   *SPLIT, "--split-policy=kernel"),
    "split_explained": lambda n: one(chain_of(n, [1]) + each(n, kernel("k@", call("f@"))), *SPLIT, "--explain-split"),
    "split_globals": lambda n: one(each(n, ".visible .global .u32 g@;\n")
                                   + function("f", each(n, store("g@"))) + each(n, kernel("k@", call("f"))), *SPLIT),
    # Variables.
    "globals": lambda n: one(each(n, ".visible .global .u32 g@;\n") + kernel("k", each(n, store("g@")))),
    "initialised": lambda n: one(f".visible .global .u32 t[{n}] = {{" + each(n - 1, "@, ") + "1};\n"
                                 + kernel("k", store("t"))),
    "shared_each": lambda n: one(each(n, kernel("k@", store("s@", "shared"), "\t.shared .u32 s@;\n"))),
    "shared_dynamic": lambda n: one(".extern .shared .align 16 .b8 d[];\n"
                                    + each(n, kernel("k@", store("d", "shared")))),
    "shared_square": lambda n: one(each(n, ".shared .u8 s@;\n")
                                   + function("f", each(n, "\tst.shared.u8 [s@], 1;\n"))
                                   + each(n, kernel("k@", call("f")))),
    "textures": lambda n: one(each(n, ".global .texref t@;\n") + each(n, kernel("k@", TEXTURE, REGISTERS))),
    # Modules.
    "modules": lambda n: modules_of(n, kernel("k@")),
    "modules_same": lambda n: modules_of(n, ".global .u32 g;\n.func f()\n{\n" + store("g") + "\tret;\n}\n"
                                         + ".weak .func w()\n{\n" + call("f") + "\tret;\n}\n"),
    "modules_static": lambda n: modules_of(n, ".global .u32 g@;\n.func f()\n{\n" + store("g@") + "\tret;\n}\n"
                                           + kernel("k@", call("f"))),
    "modules_weak": lambda n: modules_of(n, ".weak .func f()\n{\n\tret;\n}\n" + kernel("k@", call("f"))),
    "modules_common": lambda n: modules_of(n, ".common .global .u32 g;\n" + kernel("k@", store("g"))),
    "modules_extern": lambda n: modules_of(n, ".extern .func f();\n" + kernel("k@", call("f")), function("f")),
    "modules_files": lambda n: modules_of(n, '.file 1 "b@.cu"\n.file 2 "c.h"\n'
                                          + kernel("k@", "\t.loc 1 1 1\n" + store() + "\t.loc 2 1 1\n" + store())),
    # Bodies.
    "branches": lambda n: one(kernel("k", "".join(f"l{i}:\n\t@%p bra l{i * 7 % n};\n" for i in range(n)), REGISTERS)),
    "branch_table": lambda n: one(kernel("k", targets(n) + "\tbrx.idx %r1, ts;\n" + each(n, "l@:\n" + store()),
                                         REGISTERS)),
    "branch_tables": lambda n: one(kernel("k", targets(n) + each(n, "\tbrx.idx %r1, ts;\nl@:\n" + store()),
                                          REGISTERS)),
    "blocks": lambda n: one(kernel("k", "{\n\t.reg .b32 t;\n\tmov.u32 t, 1;\n}\n" * n)),
    "registers_short": lambda n: one(kernel("k", each(n, "\tmov.u32 %x@, @;\n\tst.global.u32 [0], %x@;\n"),
                                            f"\t.reg .b32 %x<{n}>;\n")),
    "registers_long": lambda n: one(kernel("k", each(n, "\tmov.u32 %x@, @;\n")
                                           + each(n, "\tst.global.u32 [0], %x@;\n"), f"\t.reg .b32 %x<{n}>;\n")),
    "registers_loops": lambda n: one(kernel(
        "k", each(n, "l@:\n") + "".join(f"\tadd.u32 %x{i}, %x{i}, 1;\n\t@%p bra l{n - 1 - i};\n" for i in range(n)),
        REGISTERS + f"\t.reg .b32 %x<{n}>;\n")),
    "locals": lambda n: one(kernel("k", each(n, store("v@", "local")), each(n, "\t.local .u32 v@;\n"))),
    "lines": lambda n: one('.file 1 "b.cu"\n' + kernel("k", each(n, "\t.loc 1 @ 1\n" + store(), 1)), "-lineinfo"),
    "files": lambda n: one(each(n, '.file @ "b@.cu"\n', 1) + kernel("k", each(n, "\t.loc @ 1 1\n" + store(), 1)),
                           "-lineinfo"),
    # Text.
    "long_line": lambda n: one(kernel("k", " add.u32 %r1, %r2, 1;" * n + "\n", REGISTERS)),
    "long_name": lambda n: one(kernel("k" + "x" * n)),
    "comments": lambda n: one(kernel("k", "//\n/**/" * n)),
    "pragmas": lambda n: one('.pragma "nounroll";\n' * n + kernel("k")),
    "errors": lambda n: one(kernel("k", "\tnonsense;" * n)),
    "undefined": lambda n: modules_of(n, ".extern .func u@();\n" + kernel("k@", call("u@"))),
    # Parts that are joined: what is in all of them, what differs in all, and what differs because of that.
    "parts_variables": lambda n: parts(each(n, ".visible .global .align 4 .b8 v@[8] = {1, 2, @};\n") + kernel("k#")),
    "parts_functions": lambda n: parts(each(n, ".func f@()\n{\n\tbra $L__BB@_1;\n$L__BB@_1:\n\tret;\n}\n")
                                       + kernel("k#")),
    "parts_kernels": lambda n: parts(each(n, kernel("k#_@"))),
    "parts_versions": lambda n: parts(each(n, ".func f@()\n{\n\tadd.u32 %r1, %r2, #;\n}\n")
                                      + kernel("k#", each(n, call("f@")))),
    "parts_chain": lambda n: parts(".func f0()\n{\n\tadd.u32 %r1, %r2, #;\n}\n" + "".join(
        f".func f{i + 1}()\n{{\n{call(f'f{i}')}}}\n" for i in range(n)) + kernel("k#", call(f"f{n}"))),
    "parts_strings": lambda n: parts(
        each(n, ".global .b8 $str$@[2] = {#, 2};\n.global .b8 __unnamed_@[2] = {#, @};\n")
        + kernel("k#", each(n, "\tmov.u64 %rd1, $str$@;\n\tmov.u64 %rd1, __unnamed_@;\n"))),
    "parts_shared": lambda n: parts(kernel("k#", each(n, "\t// demoted variable\n\t.shared .b8 s@[4];\n"))),
    "parts_lines": lambda n: parts(kernel("k#", each(n, "\t.loc @ 3 4, function_name $L__info_string@, inlined_at @ 3 4\n"))
                                   + each(n, '.file @ "f@.cu"\n') + ".section .debug_str\n{\n"
                                   + each(n, "$L__info_string@:\n.b8 @\n") + "}\n"),
    # Options.
    "options": lambda n: one(kernel("k"), *(["-Xptxas=-O3"] * n)),
    "option_list": lambda n: one(kernel("k"), "-Xptxas=" + ",".join(["-O3"] * n)),
    "kernels_named": lambda n: one(each(n, kernel("k@")), "-lto", "-kernels-used=" + each(n, "k@,")),
}
