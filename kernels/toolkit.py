# SPDX-License-Identifier: MIT
"""The compilers of a CUDA toolkit for cushim-embed: nvcc and NVRTC, as compilers.py has clang."""

import ctypes
import os
import pathlib
import re
import shutil
import tempfile

import compilers


def toolkit_folders():
    """Where a CUDA toolkit may be."""
    named = [os.environ.get(name) for name in ("CUDA_HOME", "CUDA_PATH")]
    return [pathlib.Path(folder) for folder in [*named, "/usr/local/cuda"] if folder]


def find_program(name):
    """nvcc or ptxas, from PATH or a toolkit."""
    places = [os.environ.get("PATH", ""), *(str(folder / "bin") for folder in toolkit_folders())]
    return shutil.which(name, path=os.pathsep.join(places))


def lowered(source, ptx, isa, first_isa):
    """A toolkit writes its own .version; take the one that the target came with, if it suffices."""
    wanted = int(isa.replace(".", "")) if isa else first_isa(compilers.written(ptx)[1])
    older = compilers.with_version(ptx, wanted) if wanted else ptx
    assembler = find_program("ptxas")
    if older == ptx or not assembler:
        return older if isa else ptx
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "a.ptx")
        path.write_text(older, encoding="utf-8")
        done = compilers.run([assembler, f"-arch=sm_{compilers.written(ptx)[1]}", "-c", path,
                              "-o", os.devnull])
    if done.returncode and isa:
        error = re.search(r"line (\d+); error\s*: (.*)", done.stderr)
        raise compilers.Refused(f"{source}: the PTX needs more than --isa {isa}: "
                                f"{error[2] if error else done.stderr.strip().splitlines()[0]}")
    return ptx if done.returncode else older


def refused_by_toolkit(source, log):
    """One line for each error that nvcc or NVRTC wrote: kernel.cu(12): error: ..."""
    lines = [f"{source.parent / path}:{line}: {text}" for path, line, text in
             re.findall(r"^(.+?)\((\d+)\): (?:catastrophic )?error(?: #\S+)?: (.*)$", log, re.M)]
    first = log.strip().splitlines()
    return "\n".join(dict.fromkeys(lines)) or f"{source}: {first[0] if first else 'no PTX'}"


def by_nvcc(source, isa, target, extra, first_isa):
    """The lowest architecture that the toolkit has, or `target`."""
    program = find_program("nvcc")
    if not program:
        raise compilers.Refused("nvcc: not in PATH, CUDA_HOME or /usr/local/cuda")
    if target is None:
        known = re.findall(r"compute_(\d+)\b", compilers.run([program, "--list-gpu-arch"]).stdout)
        target = "sm_" + min(known or ["75"], key=int)
    with tempfile.TemporaryDirectory() as folder:
        made, rule = pathlib.Path(folder, "a.ptx"), pathlib.Path(folder, "a.d")
        done = compilers.run([program, "-ptx", "-arch=" + target.replace("sm_", "compute_"), *extra,
                    source.name, "-o", made, "-MD", "-MF", rule], cwd=source.parent)
        if done.returncode:
            raise compilers.Refused(refused_by_toolkit(source, done.stderr + done.stdout))
        ptx = compilers.strip_comments(made.read_text(encoding="utf-8"))
        headers = compilers.read_headers(source, rule)
    return lowered(source, ptx, isa, first_isa), done.stderr, headers


def find_nvrtc():
    """NVRTC's library, opened."""
    names = [f"libnvrtc.so.{version}" for version in ("13", "12", "11.2", "11.1", "11.0")]
    folders = [folder / part for folder in toolkit_folders() for part in ("lib64", "lib")]
    for name in [*names, *(str(folder / name) for folder in folders for name in names)]:
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    raise compilers.Refused("nvrtc: no libnvrtc.so in the loader's path, CUDA_HOME or "
                            "/usr/local/cuda")


def nvrtc_text(library, program, what):
    """A text that NVRTC holds: PTX or ProgramLog."""
    size = ctypes.c_size_t()
    getattr(library, f"nvrtcGet{what}Size")(program, ctypes.byref(size))
    text = ctypes.create_string_buffer(size.value or 1)
    getattr(library, f"nvrtcGet{what}")(program, text)
    return text.value.decode("utf-8", "replace")


def by_nvrtc(source, isa, target, extra, first_isa):
    """As nvcc, without a host compiler. NVRTC does not tell which headers it read."""
    library = find_nvrtc()
    if target is None:
        count = ctypes.c_int()
        library.nvrtcGetNumSupportedArchs(ctypes.byref(count))
        known = (ctypes.c_int * max(count.value, 1))(75)
        library.nvrtcGetSupportedArchs(known)
        target = f"sm_{min(known)}"
    folders = [source.parent, *(folder / "include" for folder in toolkit_folders())]
    options = ["--gpu-architecture=" + target.replace("sm_", "compute_"),
               *(f"--include-path={folder}" for folder in folders), *extra]
    program = ctypes.c_void_p()
    library.nvrtcCreateProgram(ctypes.byref(program), source.read_bytes(), source.name.encode(), 0,
                               None, None)
    try:
        code = library.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(
            *(option.encode() for option in options)))
        log = nvrtc_text(library, program, "ProgramLog")
        if code:
            raise compilers.Refused(refused_by_toolkit(source, log or f"NVRTC: error {code}"))
        ptx = nvrtc_text(library, program, "PTX")
    finally:
        library.nvrtcDestroyProgram(ctypes.byref(program))
    headers = compilers.find_headers(source, compilers.own_folders(extra))
    return lowered(source, compilers.strip_comments(ptx), isa, first_isa), log, headers
