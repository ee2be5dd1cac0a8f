#!/usr/bin/env python3
"""numba.py LIBRARY OUT [OPTION]... -- TYPE:FILE...: the calls that numba's linker makes, by ctypes.

Asks the version, creates a link, adds the files' bytes under their names, completes, reads both logs
and what was linked, and destroys the link. An error is told with the error log, as numba does, and
ends with status 1. OUT gets the cubin, or the PTX under -ptx.
"""
import ctypes
import sys

TYPES = {"cubin": 1, "ptx": 2, "ltoir": 3, "fatbin": 4, "object": 5, "library": 6, "any": 10}


class LinkError(Exception):
    """A call has failed."""


class Link:
    """One handle of the library."""

    def __init__(self, library, options):
        self.library = library
        self.handle = ctypes.c_void_p()
        words = (ctypes.c_char_p * len(options))(*[word.encode() for word in options])
        self.check("nvJitLinkCreate", library.nvJitLinkCreate(ctypes.byref(self.handle), len(options), words))

    def check(self, what, result):
        if result != 0:
            log = self.text("ErrorLog") if self.handle else ""
            raise LinkError(f"{what}: {result}\n{log}")

    def size(self, what):
        size = ctypes.c_size_t()
        self.check(what, getattr(self.library, f"nvJitLinkGet{what}Size")(self.handle, ctypes.byref(size)))
        return size.value

    def take(self, what):
        buffer = ctypes.create_string_buffer(self.size(what) + 1)
        self.check(what, getattr(self.library, f"nvJitLinkGet{what}")(self.handle, buffer))
        return buffer.raw[:-1]

    def text(self, what):
        return self.take(what).rstrip(b"\0").decode()

    def add(self, kind, data, name):
        self.check("nvJitLinkAddData", self.library.nvJitLinkAddData(
            self.handle, TYPES[kind], data, ctypes.c_size_t(len(data)), name.encode()))

    def complete(self):
        self.check("nvJitLinkComplete", self.library.nvJitLinkComplete(self.handle))

    def destroy(self):
        if self.handle:
            self.library.nvJitLinkDestroy(ctypes.byref(self.handle))


def main():
    path, out, *words = sys.argv[1:]
    split = words.index("--")
    options, inputs = words[:split], words[split + 1:]
    library = ctypes.CDLL(path)
    major, minor = ctypes.c_uint(), ctypes.c_uint()
    library.nvJitLinkVersion(ctypes.byref(major), ctypes.byref(minor))
    print(f"version {major.value}.{minor.value}")
    link = Link.__new__(Link)
    try:
        link.__init__(library, options)
        for word in inputs:
            kind, name = word.split(":", 1)
            with open(name, "rb") as file:
                link.add(kind, file.read(), name)
        link.complete()
        print(f"errors: {link.text('ErrorLog')!r}")
        print(f"infos: {link.text('InfoLog')!r}")
        data = link.take("LinkedPtx" if "-ptx" in options else "LinkedCubin")
    except LinkError as error:
        print(error)
        return 1
    finally:
        link.destroy()
    with open(out, "wb") as file:
        file.write(data.rstrip(b"\0") if "-ptx" in options else data)
    return 0


if __name__ == "__main__":
    sys.exit(main())
