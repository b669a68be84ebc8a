"""Makes the PTX of every program here, as four compilations have it.

    python3 make.py --nvrtc LIBNVRTC --include CUDA_INCLUDE --nvcc NVCC [NAME ...]

    ptx/NAME.o3.ptx     NVRTC, which optimises
    ptx/NAME.fast.ptx   NVRTC with --use_fast_math
    ptx/NAME.o0.ptx     nvcc, whose optimiser is switched off, with line numbers
    ptx/NAME.g.ptx      nvcc -G: unoptimised, for debuggers

    ptx/control.tables.ptx   nvcc, optimised, with jump tables for every switch

The committed files are of NVRTC 12.1 and nvcc 13. Names of directories are cut from .file lines,
and of the sections for debuggers, which a simulator skips, those of one program are kept.
"""

import argparse
import ctypes
import os
import re
import subprocess
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
KEEPS_SECTIONS = "scans"
HAS_TABLES = "control"


def by_nvrtc(library, include, source, options):
    nvrtc, program, size = ctypes.CDLL(library), ctypes.c_void_p(), ctypes.c_size_t()
    with open(source, "rb") as file:
        text = file.read()
    name = os.path.basename(source).encode()
    nvrtc.nvrtcCreateProgram(ctypes.byref(program), text, name, 0, None, None)
    options = ["-arch=sm_80", "-lineinfo", "-I" + include] + options
    array = (ctypes.c_char_p * len(options))(*[option.encode() for option in options])
    if nvrtc.nvrtcCompileProgram(program, len(options), array):
        nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
        log = ctypes.create_string_buffer(size.value)
        nvrtc.nvrtcGetProgramLog(program, log)
        raise SystemExit(log.value.decode())
    nvrtc.nvrtcGetPTXSize(program, ctypes.byref(size))
    ptx = ctypes.create_string_buffer(size.value)
    nvrtc.nvrtcGetPTX(program, ptx)
    return ptx.value.decode()


def by_nvcc(nvcc, source, options):
    with tempfile.TemporaryDirectory() as folder:
        target = os.path.join(folder, "out.ptx")
        command = [nvcc, "-arch=sm_80", "-ptx", "-o", target, os.path.basename(source)]
        subprocess.run(command + options, check=True, cwd=HERE)
        with open(target) as file:
            return file.read()


def cleaned(ptx, name):
    """Without the machine's folders, and without sections for debuggers."""
    ptx = re.sub(r'(\.file\s+\d+\s+")(?:[^"]*/)?([^"/]*)"(, \d+, \d+)?', r'\1\2"', ptx)
    if name != KEEPS_SECTIONS:
        ptx = re.sub(r"\n\s*\.section\s+\.debug_\w+\s*\{[^}]*\}", "", ptx)
    return ptx


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for option in ("--nvrtc", "--include", "--nvcc"):
        parser.add_argument(option, required=True)
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_args()
    sources = sorted(f[:-3] for f in os.listdir(HERE) if f.endswith(".cu"))
    os.makedirs(os.path.join(HERE, "ptx"), exist_ok=True)
    for name in arguments.names or sources:
        source = os.path.join(HERE, name + ".cu")
        nvrtc = lambda *options: by_nvrtc(arguments.nvrtc, arguments.include, source, list(options))
        nvcc = lambda *options: by_nvcc(arguments.nvcc, source, list(options))
        texts = {
            "o3": nvrtc(),
            "fast": nvrtc("--use_fast_math"),
            "o0": nvcc("-lineinfo", "-Xcicc", "-O0"),
            "g": nvcc("-G"),
        }
        if name == HAS_TABLES:
            texts["tables"] = nvcc("-lineinfo", "-Xcicc", "-jump-table-density=1")
        for variant, text in texts.items():
            with open(os.path.join(HERE, "ptx", f"{name}.{variant}.ptx"), "w") as file:
                file.write(cleaned(text, name))


if __name__ == "__main__":
    main()
