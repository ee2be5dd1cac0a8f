"""compile.py SOURCE KIND ARCH OUT: compiles device code by NVRTC to a cubin, to PTX or to LTO-IR."""
import sys

from cuda.bindings import nvrtc


def main():
    source, kind, arch, out = sys.argv[1:]
    with open(source, "rb") as file:
        _, program = nvrtc.nvrtcCreateProgram(file.read(), source.encode(), 0, [], [])
    words = [b"-rdc=true", b"-arch=" + arch.encode()] + ([b"-dlto"] if kind == "LTOIR" else [])
    (error,) = nvrtc.nvrtcCompileProgram(program, len(words), words)
    _, size = getattr(nvrtc, "nvrtcGet{}Size".format(kind))(program)
    data = b" " * size
    getattr(nvrtc, "nvrtcGet" + kind)(program, data)
    with open(out, "wb") as file:
        file.write(data.rstrip(b"\0") if kind == "PTX" else data)
    return int(error)


if __name__ == "__main__":
    sys.exit(main())
