"""cupy_libraries.py: imports CuPy's modules of cuSPARSE, which needs libnvJitLink, and of cuFFT, and prints their versions and the
libnvJitLink that the process has then. CuPy itself calls no function of it. What these two link needs a GPU."""
from cupy.cuda import cufft
from cupy_backends.cuda.libs import cusparse


def main():
    print("cuSPARSE", cusparse.get_build_version(), "cuFFT", cufft.getVersion())
    with open("/proc/self/maps", encoding="ascii") as maps:
        print(*sorted({line.split()[-1] for line in maps if "libnvJitLink" in line}))


if __name__ == "__main__":
    main()
