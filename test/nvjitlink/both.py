"""both.py LIBRARY LIBRARY PTX: loads two libraries into one process, each with its names visible to all that come later, and
prints the version of each, and what each says to calls that link PTX for sm_90, in turns."""
import ctypes
import sys


class Link:
    def __init__(self, library, ptx):
        self.library = library
        self.ptx = ptx
        self.handle = ctypes.c_void_p()

    def run(self):
        """Yields the result of each call."""
        options = (ctypes.c_char_p * 1)(b"-arch=sm_90")
        size = ctypes.c_size_t()
        yield self.library.nvJitLinkCreate(ctypes.byref(self.handle), 1, options)
        yield self.library.nvJitLinkAddData(self.handle, 2, self.ptx, ctypes.c_size_t(len(self.ptx)), b"ptx")
        yield self.library.nvJitLinkComplete(self.handle)
        yield self.library.nvJitLinkGetLinkedCubinSize(self.handle, ctypes.byref(size))
        cubin = ctypes.create_string_buffer(size.value)
        yield self.library.nvJitLinkGetLinkedCubin(self.handle, cubin)
        yield cubin.raw[:4]
        yield self.library.nvJitLinkDestroy(ctypes.byref(self.handle))


def main():
    with open(sys.argv[3], "rb") as file:
        ptx = file.read()
    libraries = [ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL) for path in sys.argv[1:3]]
    for library in libraries:
        major, minor = ctypes.c_uint(), ctypes.c_uint()
        library.nvJitLinkVersion(ctypes.byref(major), ctypes.byref(minor))
        print("version {}.{}".format(major.value, minor.value))
    links = [Link(library, ptx).run() for library in libraries if hasattr(library, "nvJitLinkCreate")]
    for results in zip(*links):
        print(*results)


if __name__ == "__main__":
    main()
