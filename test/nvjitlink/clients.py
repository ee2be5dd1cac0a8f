"""clients.py: calls libnvJitLink by cuda-bindings, as Python packages do, with PTX and with LTO-IR of NVRTC, and prints what each
call says: what has the same results from two libraries prints the same."""
import os
import sys
import tempfile

from cuda.bindings import nvjitlink, nvrtc

# The oldest PTX ISA version of each target.
TARGETS = {"sm_75": "6.3", "sm_80": "7.0", "sm_90": "7.8", "sm_100": "8.6", "sm_120": "8.7"}
PTX = ".version {}\n.target {}\n.address_size 64\n.visible .entry kernel(.param .u64 p)\n{{\n\tret;\n}}\n"
SOURCE = b"__device__ int scale(int x); __global__ void kernel(int *p) { *p = scale(*p); }"
SCALE = b"__device__ int scale(int x) { return 3 * x; }"


def ltoir(source, target):
    _, program = nvrtc.nvrtcCreateProgram(source, b"", 0, [], [])
    nvrtc.nvrtcCompileProgram(program, 3, [b"-dlto", b"-rdc=true", b"-arch=" + target.encode()])
    _, size = nvrtc.nvrtcGetLTOIRSize(program)
    data = b" " * size
    nvrtc.nvrtcGetLTOIR(program, data)
    return data


def take(handle, what):
    data = bytearray(getattr(nvjitlink, "get_{}_size".format(what))(handle))
    getattr(nvjitlink, "get_" + what)(handle, data)
    return bytes(data)


def link(options, inputs, outputs):
    """Prints the first bytes of each output, or what has failed."""
    print(*options, [kind.name for kind, _ in inputs], end=": ")
    handle = None
    try:
        handle = nvjitlink.create(len(options), options)
        for kind, data in inputs:
            if isinstance(data, str):
                nvjitlink.add_file(handle, kind, data)
            else:
                nvjitlink.add_data(handle, kind, data, len(data), "input")
        nvjitlink.complete(handle)
        print(*[take(handle, what)[:4] for what in outputs], "errors", nvjitlink.get_error_log_size(handle))
    except nvjitlink.nvJitLinkError as error:
        print(error)
    if handle:
        nvjitlink.destroy(handle)


def main():
    kinds = nvjitlink.InputType
    has_ltoir = hasattr(nvjitlink, "get_linked_ltoir") and nvjitlink.version() >= (13, 4) and "--ltoir" in sys.argv
    for target, version in TARGETS.items():
        ptx = PTX.format(version, target).encode()
        arch = "-arch=" + target
        link([arch], [], ["linked_cubin"])
        link([arch], [(kinds.ANY, ptx)], ["linked_cubin"])
        with tempfile.NamedTemporaryFile(suffix=".ptx", delete=False) as file:
            file.write(ptx)
        link([arch], [(kinds.PTX, file.name)], ["linked_cubin"])
        os.unlink(file.name)
        both = [(kinds.LTOIR, ltoir(SOURCE, target)), (kinds.LTOIR, ltoir(SCALE, target))]
        link([arch, "-lto"], both, ["linked_cubin"] + (["linked_ltoir"] if has_ltoir else []))
        link([arch, "-lto", "-ptx"], both, ["linked_ptx"])
        link([arch, "-lto"], both[:1], ["linked_cubin"])
        link([arch], both, ["linked_cubin"])
        link([arch], [(kinds.CUBIN, ptx)], ["linked_cubin"])
        link([arch], [(kinds.ANY, b"nothing")], ["linked_cubin"])
    for option in ("-fictitious", "-arch=sm_XX"):
        link([option], [], [])


if __name__ == "__main__":
    main()
