#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Turn a kernel into a C header that holds its PTX as a NUL-terminated string, or into PTX.

vecadd.ptx becomes `static const char vecadd_ptx[]`. Written as character codes, because C
compilers limit the length of a string literal. A .cu file is compiled first: by clang, which needs
no CUDA toolkit, or by nvcc or NVRTC. Installed as cushim-embed; standard library only.
"""

import argparse
import json
import math
import pathlib
import re
import sys

import compilers
import toolkit

PER_LINE = 20
HERE = pathlib.Path(__file__).resolve().parent
TABLE = "drivers.jsonl"  # which release reads which PTX: installed beside this file
TABLES = [HERE / TABLE, HERE.parent / "gen" / "registry" / TABLE]


def kernels(data):
    """A comment with the names of the kernels, the mangled ones with what they are in C++."""
    names = compilers.entries(data.decode("ascii"))
    plain = [re.sub(r"/(?=\*)|\*(?=/)", r"\g<0> ", compilers.demangled(name)) for name in names]
    lines = [name if name == other else f"{name} is {other}" for name, other in zip(names, plain)]
    return [" * ".join(["/* Kernels:\n", *(f"    {line}\n" for line in lines)]) + " */"] \
        if names else []


def embed(source, data, name):
    """Text of the header that holds `data` as a string of that name."""
    licence = re.search(rb"SPDX-License-Identifier: ([\w.+() -]*\w)", source.read_bytes())
    codes = [str(byte) for byte in data] + ["0"]
    rows = [", ".join(codes[i:i + PER_LINE]) for i in range(0, len(codes), PER_LINE)]
    mark = "SPDX-" "License-Identifier"
    return "\n".join([
        *([f"/* {mark}: {licence[1].decode('ascii')} */"] if licence else []),
        f"/* Generated from {source.name} by {pathlib.Path(sys.argv[0]).name}; do not edit. */",
        *kernels(data),
        "",
        f"static const char {name}[] = {{",
        *(f"    {row}," for row in rows),
        "};",
        "",
    ])


def check(path, data):
    """Refuse what is no PTX text, with file and line."""
    if b".version" not in data:
        if path.suffix != ".ptx":
            sys.exit(f"{path}: no PTX, it has no .version line; a file of CUDA source must be "
                     "called .cu")
        sys.exit(f"{path}: no PTX, it has no .version line")
    for number, line in enumerate(data.split(b"\n"), 1):
        if not line.isascii() or b"\0" in line:
            sys.exit(f"{path}:{number}: a byte that is not ASCII text")


def bytes_of(ptx, space):
    """How many bytes the variables of a space have, declared there."""
    found = re.findall(rf"^\s*(?:\.(?:visible|weak)\s+)?\.{space}\s+(?:\.align\s+\d+\s+)?"
                       r"\.[busf](\d+)\s+[\w$]+((?:\[\d+\])*)\s*[;=]", ptx, re.M)
    return sum(math.prod(map(int, [bits, *re.findall(r"\d+", sizes)])) // 8
               for bits, sizes in found)


def check_sizes(path, data):
    """Refuse more constant memory than there is; warn of shared memory that few devices have."""
    ptx = data.decode("ascii")
    if bytes_of(ptx, "const") > 65536:
        sys.exit(f"{path}: {bytes_of(ptx, 'const')} bytes of constant memory; a module can have "
                 "65536")
    for kernel in re.split(r"\.entry\s+", ptx)[1:]:
        size, name = bytes_of(kernel, "shared"), re.match(r"[\w$]*", kernel)[0]
        if size > 49152:
            where = compilers.line_of(path, compilers.plain_name(name).split("::")[-1])
            print(f"{where}: warning: the kernel {compilers.plain_name(name)} has {size} bytes of "
                  "static shared memory: ptxas refuses more than 49152, and a driver more than "
                  "its device has; extern __shared__ and launch.shared are for more",
                  file=sys.stderr)


def forgotten_calls(path):
    """A warning for each barrier without parentheses, which does nothing."""
    text = re.sub(r"//[^\n]*", "", path.read_text(encoding="utf-8", errors="replace"))
    return "".join(f"{path}:{text.count(chr(10), 0, found.start()) + 1}: warning: {found[1]} is "
                   "not called: () is missing\n" for found in re.finditer(
                       r"(?<!\w)(__sync(?:threads|warp)|__threadfence(?:_\w+)?)\s*;", text))


def directive(path, data, name, pattern):
    """(line, number) of .version or .target: 6.0 -> 60, sm_90a -> 90."""
    for number, line in enumerate(data.decode("ascii").splitlines(), 1):
        match = re.match(rf"\s*\.{name}\s+{pattern}", line)
        if match:
            return number, int("".join(match.groups()))
    sys.exit(f"{path}: it has no .{name} line")


def releases():
    """The table's rows, oldest release first."""
    table = next((path for path in TABLES if path.exists()), None)
    if not table:
        sys.exit(f"{TABLES[0]}: not found, so --oldest cannot be checked")
    rows = map(json.loads, table.read_text(encoding="utf-8").splitlines())
    return [row for row in rows if "ptx" in row and "release" in row]


def number(release):
    """12040 -> 12.4"""
    return f"{release // 1000}.{release % 1000 // 10}"


def check_release(oldest):
    """The number of a release that there is: 12.4 -> 12040; the table may lack the newest minor."""
    major, minor = map(int, oldest.split("."))
    wanted, known = major * 1000 + minor * 10, [row["release"] for row in releases()]
    if wanted in known or wanted < known[0] or (major == known[-1] // 1000 and wanted > known[-1]):
        return wanted
    near = [number(release) for release in known if release // 1000 == major]
    raise ValueError(f"--oldest {oldest}: there is no such release; CUDA {major} has "
                     f"{', '.join(near)}" if near else
                     f"--oldest {oldest}: the newest release that cushim-embed knows is CUDA "
                     f"{number(known[-1])}")


def reason(path, data, line, place, value):
    """Where a .version (place 0) or a .target (1) is, or the function of a .cu file that needs it.
    """
    if path.suffix != ".cu":
        return f"{path}:{line}: "
    where, function = compilers.needed_by(path, data.decode("ascii"), place, value)
    return f"{where}: {function} needs a newer driver: " if function else f"{where}: "


def check_oldest(path, data, oldest):
    """Refuse what a driver of that release does not read."""
    wanted, rows = check_release(oldest), releases()
    newest = rows[-1]["release"]
    line, version = directive(path, data, "version", r"(\d+)\.(\d)")
    since = next((row["release"] for row in rows if row["ptx"] >= version), None)
    if since is None or since > max(wanted, rows[0]["release"]):
        first = f"from CUDA {number(since)} on" if since else f"newer than CUDA {number(newest)}"
        sys.exit(f"{reason(path, data, line, 0, version)}drivers {first} read .version "
                 f"{version // 10}.{version % 10}, and --oldest is {oldest}")
    line, target = directive(path, data, "target", r"sm_(\d+)")
    since = next((row["release"] for row in rows if target in row.get("targets", [])), None)
    if since and since > max(wanted, rows[0]["release"]):
        sys.exit(f"{reason(path, data, line, 1, target)}drivers from CUDA {number(since)} on know "
                 f"the target sm_{target}, and --oldest is {oldest}")


def first_isa(target):
    """The .version that a target came with, as 63; None where no release names it."""
    return next((row["ptx"] for row in releases() if target in row.get("targets", [])), None)


def compile_kernel(options):
    """(PTX, headers) of a .cu file; what the compiler warns of is shown."""
    path, isa, target, extra = options.input, options.isa, options.target, options.extra
    if options.compiler == "clang":
        ptx, shown, headers = compilers.by_clang(path, isa, target, compilers.LINES + extra,
                                                 options.clang)
        shown += forgotten_calls(path)
    else:
        compiler = {"nvcc": toolkit.by_nvcc, "nvrtc": toolkit.by_nvrtc}[options.compiler]
        ptx, shown, headers = compiler(path, isa, target, extra, first_isa)
    lack = "there is no kernel in it"
    if not re.search(r"^\s*\.(visible|entry)\b", ptx, re.M):
        sys.exit(f"{path}: {lack}: no __global__ function, or only a template that is not "
                 "instantiated")
    if not compilers.entries(ptx):
        shown += f"{path}: warning: {lack}, only what another module can link\n"
    sys.stderr.write(shown + compilers.mangled(path, ptx))
    return ptx.encode("utf-8"), headers


def make_rule(output, inputs):
    """What a build system reads to know when to make the output again."""
    names = [re.sub(r"[ #]", r"\\\g<0>", str(path)).replace("$", "$$")
             for path in (output, *dict.fromkeys(inputs))]
    return (f"{names[0]}: " + " \\\n  ".join(names[1:]) + "\n").encode(errors="surrogateescape")


def check_outputs(options, inputs):
    """Refuse to write over what is read, and a file of a kind that is not made."""
    known = (".ptx", ".h", ".hh", ".hpp", ".hxx", ".inc", ".inl", "")
    if options.output.suffix.lower() not in known:
        sys.exit(f"{options.output}: not written, because an output is a header of C (.h) or PTX "
                 "(.ptx); cushim-embed takes one kernel's file and one output, in this order")
    read = {path.resolve() for path in inputs}
    for path in filter(None, (options.output, options.depfile)):
        if path.resolve() in read:
            sys.exit(f"{path}: not written, because it is also an input or the output")
        read.add(path.resolve())


def write(path, data):
    """A whole file, or standard output for -."""
    to_stdout = str(path) == "-"
    try:
        with open(1 if to_stdout else path, "wb", closefd=not to_stdout) as file:
            file.write(data)
    except OSError as error:
        sys.exit(f"{'standard output' if to_stdout else path}: {error.strerror}")


def unknown_options(words, compiler):
    """What is said of them: those of nvcc have another name here, or no use."""
    for word in words:
        if re.match(r"--?(arch|gencode|gpu-(architecture|code)|generate-code)\b", word):
            return f"{word}: --target names the oldest GPU, as in --target sm_70"
        if compiler == "clang" and re.match(r"-O|--?(lineinfo|generate-line-info|ptx)$", word):
            return f"{word}: not needed, the PTX is optimised and has the source's lines"
    return f"unrecognized arguments: {' '.join(words)}"


def main():
    parser = argparse.ArgumentParser(prog="cushim-embed",
                                     description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("input", type=pathlib.Path, help="a .ptx file, or a .cu file to compile")
    parser.add_argument("output", type=pathlib.Path,
                        help="the header to write, with the string k_ptx of k.cu; if it ends in "
                             ".ptx, the PTX alone; - writes the PTX to standard output")
    parser.add_argument("--name", help="name of the string in the header (default: k_ptx of k.cu)")
    parser.add_argument("--oldest", metavar="RELEASE",
                        help="refuse PTX that drivers of this CUDA release (10.2) do not read")
    parser.add_argument("--with", dest="compiler", default="clang",
                        choices=["clang", "nvcc", "nvrtc"],
                        help="compiler for .cu (default: clang); the others are a CUDA toolkit's")
    parser.add_argument("--clang", default="clang", help="clang's name (default: clang)")
    parser.add_argument("--isa", metavar="X.Y",
                        help="lowest .version of the PTX (default: the lowest that suffices)")
    parser.add_argument("--target", metavar="sm_NN",
                        help="lowest .target of the PTX (default: the lowest that suffices)")
    parser.add_argument("-I", dest="extra", action="append", default=[], metavar="FOLDER",
                        type=lambda folder: f"-I{pathlib.Path(folder).resolve()}",
                        help="folder of headers, for the compiler")
    parser.add_argument("-D", dest="extra", action="append", metavar="NAME[=VALUE]",
                        type=lambda macro: f"-D{macro}", help="macro, for the compiler")
    parser.add_argument("--std", dest="extra", action="append", metavar="c++NN",
                        type=lambda standard: f"-std={standard}",
                        help="standard of C++ (clang: c++17 by default; nvcc and nvrtc: their own "
                             "default)")
    parser.add_argument("--depfile", type=pathlib.Path, metavar="FILE",
                        help="write a Make rule there: the headers of which the output is made")
    options, unknown = parser.parse_known_args()
    if unknown:
        parser.error(unknown_options(unknown, options.compiler))
    path, output = options.input, options.output
    bare = str(output) == "-" or output.suffix.lower() == ".ptx"
    name = options.name or re.sub(r"[-. ]", "_", path.stem) + "_ptx"
    if options.name and bare:
        parser.error("--name: PTX alone has no string with a name")
    if options.depfile and str(output) == "-":
        parser.error("--depfile: standard output is not made again")
    if not bare and not re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII):
        sys.exit(f"--name {name}: no C identifier" if options.name else
                 f"{path}: the file's name does not make a C identifier; --name names the string")
    if options.isa and not re.fullmatch(r"\d+\.\d", options.isa):
        parser.error(f"--isa {options.isa}: a version is written as 6.3")
    if options.target and not re.fullmatch(r"sm_\d+[af]?", options.target):
        parser.error(f"--target {options.target}: a target is written as sm_75")
    if options.oldest and not re.fullmatch(r"\d+\.\d", options.oldest):
        parser.error(f"--oldest {options.oldest}: a release is written as 10.2")
    try:
        if options.oldest:
            check_release(options.oldest)
    except ValueError as error:
        parser.error(str(error))
    check_outputs(options, [path])
    try:
        data, headers = path.read_bytes(), []
        if path.suffix == ".cu":
            data, headers = compile_kernel(options)
    except (OSError, compilers.Refused) as error:
        sys.exit(f"{error.filename or path}: {error.strerror}" if isinstance(error, OSError)
                 else str(error))
    check(path, data)
    check_sizes(path, data)
    if options.oldest:
        check_oldest(path, data, options.oldest)
    check_outputs(options, [path, *headers])
    write(output, data if bare else embed(path, data, name).encode("utf-8"))
    if options.depfile:
        write(options.depfile, make_rule(output, [path, *headers, compilers.__file__]))


if __name__ == "__main__":
    main()
