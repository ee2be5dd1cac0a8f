#!/usr/bin/env python3
"""random_cuda.py SEED FOLDER [named]: writes a random CUDA program of 1 to 4 units, FOLDER/u0.cu and so on.

The units share variables, functions, templates, classes and a header, FOLDER/shared.cuh; kernels write and read variables of
their own and of other units, by name, by pointer and through functions. Host code launches most kernels and
names some variables; with `named` it names all variables that kernels can write.
"""
import os
import random
import sys


class Program:
    def __init__(self, seed, all_named):
        self.rng = random.Random(seed)
        self.all_named = all_named
        self.units = [Unit(self, i) for i in range(self.rng.randint(1, 4))]
        for unit in self.units:
            unit.declare()
        for unit in self.units:
            unit.define()

    def header(self):
        shared = ["#pragma once", "#include <cassert>", "#include <cstdio>",
                  "struct base { int n; __device__ virtual int f(int x) { return x + n; } };",
                  "struct derived : base { __device__ int f(int x) override { return x * 3 - n; } };",
                  "template <class T> __device__ T common_state;",
                  "template <class T, int N> __device__ __noinline__ T turned(T x) "
                  "{ for (int i = 0; i < N; i++) x = x * x + i; return x; }",
                  "template <class T> __device__ __noinline__ void said(T x) "
                  "{ printf(\"%s %d\\n\", __PRETTY_FUNCTION__, (int)x); }",
                  "inline __device__ int &counted() { %s }" % (
                      "return common_state<int>;" if self.all_named
                      else "static __device__ int count = 3; return count;"),
                  "typedef int (*function)(int, int);"]
        for unit in self.units:
            shared += unit.exports
        return "\n".join(shared) + "\n"


class Unit:
    def __init__(self, program, number):
        self.program, self.rng, self.number = program, program.rng, number
        self.exports = []  # declarations for all units
        self.lines = []
        self.scalars, self.arrays, self.pointers, self.functions = [], [], [], []
        self.public_scalars, self.public_arrays, self.public_functions = [], [], []
        self.kernels, self.named = [], []

    def declare(self):
        """Variables and functions by name, so that other units can use them."""
        rng, i = self.rng, self.number
        for j in range(rng.randint(1, 5)):
            self.scalar("v%d_%d" % (i, j))
        for j in range(rng.randint(1, 3)):
            self.array("a%d_%d" % (i, j))
        for j in range(rng.randint(0, 2)):
            name = "p%d_%d" % (i, j)
            self.lines.append("static __device__ int *%s = %s;" % (name, rng.choice(self.arrays)))
            self.pointers.append(name)
            self.name(name)
        for j in range(rng.randint(1, 4)):
            name = "f%d_%d" % (i, j)
            is_public = rng.random() < 0.4
            if is_public:
                self.exports.append("__device__ int %s(int, int);" % name)
                self.public_functions.append(name)
            else:
                self.functions.append(name)
        self.constants = []
        if rng.random() < 0.6:
            name = "c%d" % i
            self.lines.append("%s__constant__ int %s[4] = {1, 2, 3, %d};" % (rng.choice(["", "static "]), name, i))
            self.constants.append(name)
            if rng.random() < 0.5:
                self.named.append(name)

    def name(self, name, is_sure=False):
        if is_sure or self.program.all_named or self.rng.random() < 0.25:
            self.named.append(name)

    def scalar(self, name):
        rng = self.rng
        value = rng.choice(["", " = %d" % rng.randint(0, 9)])
        # Units that have the same static names.
        if rng.random() < 0.3:
            name = "state%d" % rng.randrange(2)
            if name in self.scalars:
                return
        elif rng.random() < 0.4:
            self.exports.append("extern __device__ int %s;" % name)
            self.public_scalars.append(name)
            self.lines.append("__device__ int %s%s;" % (name, value))
            self.name(name)
            return
        self.lines.append("static %s int %s%s;" % (rng.choice(["__device__"] * 4 + ["__managed__"]), name, value))
        self.scalars.append(name)
        self.name(name)

    def array(self, name):
        rng = self.rng
        kind = rng.choice(["static __device__", "__device__", "static __shared__"])
        size = 16
        value = " = {%s}" % ", ".join(str(rng.randint(0, 99)) for _ in range(3))
        if "shared" in kind:
            self.lines.append("%s int s_%s[%d];" % (kind, name, size))
            self.shared = getattr(self, "shared", []) + ["s_" + name]
            name += "_g"
            kind = "static __device__"
        self.lines.append("%s int %s[%d]%s;" % (kind, name, size, rng.choice(["", value])))
        self.arrays.append(name)
        if not kind.startswith("static"):
            self.exports.append("extern __device__ int %s[16];" % name)
            self.public_arrays.append(name)
        self.name(name)

    def choose(self, kind):
        """A name of this unit, or one that another one exports."""
        own = getattr(self, kind, [])
        others = [n for u in self.program.units for n in getattr(u, "public_" + kind, [])]
        return self.rng.choice(own + others or [None])

    def value(self, depth=0):
        rng = self.rng
        pick = rng.randrange(12 if depth < 3 else 4)
        if pick == 0:
            return str(rng.randint(0, 20))
        if pick == 1:
            return "p[%d]" % rng.randint(0, 9)
        if pick == 2:
            return self.choose("scalars") or "n"
        if pick == 3:
            return "n"
        if pick == 4 and self.choose("arrays"):
            return "%s[(%s) & 15]" % (self.choose("arrays"), self.value(depth + 1))
        if pick == 5 and self.choose("functions"):
            return "%s(%s, %s)" % (self.choose("functions"), self.value(depth + 1),
                                   rng.choice(["3", self.value(depth + 1)]))
        if pick == 6 and self.pointers:
            return "%s[%d]" % (rng.choice(self.pointers), rng.randrange(4))
        if pick == 7 and self.constants:
            return "%s[(%s) & 3]" % (self.constants[0], self.value(depth + 1))
        if pick == 8:
            return "turned<int, %d>(%s)" % (rng.randint(1, 3), self.value(depth + 1))
        if pick == 9:
            return "counted()"
        if pick == 10:
            return "common_state<%s>" % rng.choice(["int", "short"])
        return "(%s %s %s)" % (self.value(depth + 1), rng.choice("+-*^&"), self.value(depth + 1))

    def statement(self):
        rng = self.rng
        pick = rng.randrange(15)
        if pick <= 2:
            return "p[%d] = %s;" % (rng.randint(0, 9), self.value())
        if pick <= 4 and self.choose("scalars"):
            return "%s = %s;" % (self.choose("scalars"), rng.choice([self.value(), "7"]))
        if pick == 5 and self.choose("arrays"):
            return "%s[(%s) & 15] += %s;" % (self.choose("arrays"), self.value(), self.value())
        if pick == 6 and self.pointers:
            return "%s = %s + (n & 3);" % (rng.choice(self.pointers), rng.choice(self.arrays))
        if pick == 7:
            return "assert((%s != %d));" % (self.value(), rng.randint(0, 5))
        if pick == 8:
            return "printf(\"%s %%d\\n\", %s);" % (rng.choice(["one", "two", "three"]), self.value())
        if pick == 9:
            return "said(%s);" % rng.choice(["n", "1.5f * n", "2.5 * n"])
        if pick == 10:
            return "{ base b; derived d; b.n = d.n = n; p[0] = (p[1] ? &b : (base *)&d)->f(%s); }" % self.value()
        if pick == 11:
            return ("{ int l[12]; for (int i = 0; i < 12; i++) l[i] = p[i] ^ n; p[2] = l[(%s) %% 12 & 7]; }"
                    % self.value())
        if pick == 12 and getattr(self, "shared", []):
            return "%s[(%s) & 15] = n; __syncthreads(); p[3] = %s[threadIdx.x & 15];" % (
                self.rng.choice(self.shared), self.value(), self.rng.choice(self.shared))
        if pick == 13:
            return "switch (n & 7) { case 0: %s case 1: p[1]++; break; case 5: return%s; default: p[2] = 3; }" % (
                "p[4] = %s;" % self.value(), self.result)
        if pick == 14 and self.choose("functions"):
            return "{ function f = n & 1 ? %s : %s; p[5] = f(n, p[6]) + (f == %s); }" % (
                self.choose("functions"), self.choose("functions"), self.choose("functions"))
        return "common_state<%s> += n; counted()++;" % rng.choice(["int", "short"])

    def define(self):
        rng, i = self.rng, self.number
        # Functions call those in front of them, or any that are exported.
        todo, self.functions = self.functions, []
        for name in todo + self.public_functions:
            is_static = name in todo
            self.result = " 1"
            body = " ".join(self.statement() for _ in range(rng.randint(0, 3)))
            self.lines.append("%s__device__ %sint %s(int n, int m) { int p[10] = {m, n}; %s return %s + p[m & 7]; }" % (
                "static " if is_static else "", rng.choice(["__noinline__ ", "__noinline__ ", ""]), name, body,
                self.value()))
            if is_static:
                self.functions.append(name)
        if self.choose("functions"):
            kind = rng.choice(["", "static ", "static const "])
            self.lines.append("%s__device__ function t%d[2] = {%s, %s};" % (
                kind, i, self.choose("functions"), self.choose("functions")))
            if "const" not in kind:
                self.name("t%d" % i)
        self.result = ""
        for j in range(rng.randint(1, 6)):
            name = "k%d_%d" % (i, j)
            body = " ".join(self.statement() for _ in range(rng.randint(1, 6)))
            if self.choose("functions") and rng.random() < 0.3:
                body += " p[7] = t%d[n & 1](n, p[8]);" % i
            if rng.random() < 0.2:
                body += " __shared__ int own[32]; own[threadIdx.x] = n; __syncthreads(); p[9] = own[n & 31];"
            self.lines.append("__global__ void %s(int *p, int n) { %s }" % (name, body))
            self.kernels.append(name)
        launches = ["%s<<<1, 1>>>(0, 0);" % k for k in self.kernels if rng.random() < 0.9]
        copies = ["cudaMemcpyFromSymbol(p, %s, 4);" % n for n in self.named]
        self.lines.append("void host%d() { int *p = 0; %s }" % (i, " ".join(launches + copies)))
        if self.program.all_named:
            self.lines.append("void named%d() { int *p = 0; cudaMemcpyFromSymbol(p, common_state<int>, 4); "
                              "cudaMemcpyFromSymbol(p, common_state<short>, 2); }" % i)

    def text(self):
        return "#include \"shared.cuh\"\n" + "\n".join(self.lines) + "\n"


def main():
    program = Program(int(sys.argv[1]), len(sys.argv) > 3 and sys.argv[3] == "named")
    folder = sys.argv[2]
    with open(os.path.join(folder, "shared.cuh"), "w", encoding="ascii") as file:
        file.write(program.header())
    for unit in program.units:
        with open(os.path.join(folder, "u%d.cu" % unit.number), "w", encoding="ascii") as file:
            file.write(unit.text())


main()
