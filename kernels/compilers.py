# SPDX-License-Identifier: MIT
"""The compiler of cushim-embed, clang with the headers of cuda/; toolkit.py has a CUDA toolkit's.

Each gives PTX of a .cu file, for the oldest drivers and GPUs that it can; its warnings; and the
headers that it read. What a compiler refuses is a Refused with one line for each fault: file, line
and what is wrong.
"""

import ctypes
import os
import pathlib
import re
import subprocess
import tempfile

HEADERS = pathlib.Path(__file__).resolve().parent / "cuda"

# PTX 3.2 is CUDA 5.5's and sm_20 the oldest target that LLVM writes, so that any driver with
# 64-bit PTX compiles the result for its own GPU. An empty --cuda-path keeps an installed toolkit
# from raising the version.
ISA, TARGET = "3.2", "sm_20"

# Instructions that the headers write and that are newer: the .version and the .target they need,
# and the functions that write them.
NEWER = [(re.compile(pattern), (isa, target), functions) for pattern, isa, target, functions in [
    (r"\batom(\.\w+)*\.(min|max|and|or|xor)\.[sub]64\b", 40, 32, r"atomic(Min|Max|And|Or|Xor)"),
    (r"\batom(\.\w+)*\.add\.f64\b", 50, 60, r"atomicAdd"),
    (r"\b(shfl|vote)\.sync\b|\bbar\.warp\.sync\b", 60, 30,
     r"__(shfl(_\w+)?|any|all|ballot)_sync|__syncwarp"),
    (r"\bactivemask\.b32\b", 62, 30, r"__activemask"),
    (r"\bmatch\.any\.sync\b", 60, 70, r"__match_any_sync"),
    (r"\bdp[24]a\.", 50, 61, r"__dp(4a|2a_(lo|hi))"),
    (r"\bredux\.sync\b", 70, 80, r"__reduce_\w+_sync")]]

# .loc lines, by which the simulated driver names the line of the source.
LINES = ["-gline-tables-only", "-fdebug-compilation-dir=."]

# What CUDA has and this does not, as far as a name shows it.
CUDA_NAMES = re.compile(r"""__\w+$|cuda[A-Z]\w*$|cu[A-Z]\w+$
    |tex(1D|2D|3D|Cubemap)\w*$|surf[123C]\w+$
    |(make_)?(half|nv_bfloat16)\w*$|h2?(exp|log|sin|cos|sqrt|rsqrt|rcp)\w*$
    |atomic[A-Z]\w*$|[jy][01n]f?$|cyl_bessel_\w+$|(erfc?|normcdf)inv\w*$|norm[f34]?\w*$|rnorm\w*$
    |erfc?x?$|[tl]gamma$|normcdf$|rhypot$|texture$|surface$|cooperative_groups$|nvcuda$|wmma$|cub$
    |thrust$""",
                        re.VERBOSE)
# Of these, what nvcc has in a kernel: no function of the runtime, and no name that may be a slip.
OF_NVCC = re.compile(r"""(tex|surf)([123]D|Cubemap)(Layered)?(Lod|Grad|fetch|gather|read|write)?
    |(__)?half2?|(__)?nv_bfloat162?|h2?(exp(2|10)?|log(2|10)?|sin|cos|r?sqrt|rcp)
    |atomic(Add|Sub|Exch|Min|Max|Inc|Dec|CAS|And|Or|Xor)_(block|system)
    |[jy][01n]f?|cyl_bessel_i[01]f?|(erfc?|normcdf)invf?|erfc?x?|[tl]gamma|normcdf|rhypot
    |r?norm([34]d)?f?|cooperative_groups|nvcuda|wmma|cub|thrust
    |__(nanosleep|fns|brkpt|prof_trigger|match_all_sync|u?r?hadd|funnelshift_[lr]c)
    |__(float|double|u?(int|short)|u?ll)2(half|bfloat16)(_r[nzud])?|__(half|bfloat16)2float
    |__h(add|sub|mul|fma)2?(_sat|_rn)?|__h(div|neg|abs|max|min|eq|ne|[lg][te])2?|__h2div
    |__(cluster_dims|block_size|maxnreg|nv_pure|managed)__""", re.VERBOSE)
# Of the library of C++: what one header declares, and what is constexpr from C++20 on.
ALGORITHM = re.compile(r"no member named '(?:min|max|minmax|clamp|swap)' in namespace 'std'")
OF_20 = re.compile(r"""swap|iter_swap|exchange|sort|copy|fill(_n)?|reverse|rotate|transform|for_each
    |find|count|(lower|upper)_bound|binary_search|accumulate|inner_product|partial_sum|iota""",
                   re.VERBOSE)
CUDA_HEADERS = re.compile(
    r"(cuda|curand|cublas|cufft|cusparse|cooperative_groups|mma|cub/|thrust/|nv/|nvtx|helper_|math_"
    r"|texture|surface|vector_|device_|sm_|crt/|driver_|builtin_types|host_(defines|config))")
# Those of a toolkit that clang reads here and that then lack what they are for.
HOLLOW = re.compile(r"^\s*#\s*include\s*[<\"]((?:cooperative_groups|cuda_(?:fp|bf)\d|mma\b|cub/|"
                    r"thrust/|curand|cuda/)[^>\"]*)", re.M)
LONG_DOUBLE = re.compile(r"(a?(sin|cos|tan)h?|(exp|log|pow|sqrt|cbrt|fmod|fabs|floor|ceil)\w*)l$")
# What clang calls where the source has no call: (the function, a word of the source, what it is).
HIDDEN = [(re.compile(r"__(mul|div)[sd]c3"), "complex", "arithmetic of complex numbers"),
          (re.compile(r"__u?(div|mod)ti3"), "__int128", "division of __int128")]
# What clang takes for something else, so that its words name another thing.
WORDS = re.compile(r"\b(__cluster_dims__|__block_size__|__maxnreg__|__nv_pure__|"
                   r"thread_local)\b")
# What CUDA 9 gave another name, with the lanes that take part.
BEFORE_SYNC = re.compile(r"__(shfl(_up|_down|_xor)?|any|all|ballot)")
# The functions that a driver itself has.
OF_THE_DRIVER = {"vprintf", "malloc", "free", "__assertfail"}


class Refused(Exception):
    """A compiler refused the source; the text is for the user."""


def run(command, **options):
    """A finished process, in a language that can be read."""
    return subprocess.run(command, check=False, text=True, errors="replace",
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          env={**os.environ, "LC_ALL": "C"}, **options)


def read_headers(source, rule):
    """The headers in a Make rule that a compiler wrote in the source's folder."""
    text = rule.read_text(encoding="utf-8", errors="surrogateescape").replace("\\\n", " ")
    words = re.findall(r"(?:\\[ #]|\S)+", text.partition(": ")[2])
    names = [re.sub(r"\\([ #])", r"\1", word).replace("$$", "$") for word in words]
    return [source.parent / name for name in names if name != source.name]


def find_headers(source, folders):
    """The headers that a source includes as written, in its folder and in others: more than a
    compiler reads where an #include has a condition."""
    found, left = {}, [source]
    while left:
        path = left.pop()
        text = path.read_text(encoding="utf-8", errors="replace")
        for name in re.findall(r"^\s*#\s*include\s*[<\"]([^>\"\n]+)", text, re.M):
            places = [folder / name for folder in (path.parent, *folders)]
            header = next((place for place in places if place.is_file()), None)
            if header and header not in found:
                found[header] = True
                left.append(header)
    return list(found)


def own_folders(extra):
    """Those of -I."""
    return [pathlib.Path(option[2:]) for option in extra if option.startswith("-I")]


def strip_comments(ptx):
    """Drop the compiler's banner and remarks, and the blank lines that they leave."""
    kept = []
    for line in ptx.splitlines():
        line = re.sub(r"//.*", "", line).rstrip()
        if line or (kept and kept[-1]):
            kept.append(line)
    return "\n".join(kept).rstrip("\n") + "\n"


def plain_lines(ptx):
    """The .loc lines that clang wrote, without its labels and its table; paths as they were given,
    and those of headers by their names, so that the PTX depends on no folder."""
    ptx = re.sub(r"^(L(tmp|func_begin|func_end)\d+:|\t\.section\t\.debug_loc\t.*)\n", "", ptx,
                 flags=re.M)
    return re.sub(r'^(\t\.file\t\d+ )"(\./|/.*/)?', r'\1"', ptx, flags=re.M)


def written(ptx):
    """The numbers of .version and .target: 32 and 20; None where there is none."""
    version = re.search(r"^\s*\.version\s+(\d+)\.(\d)", ptx, re.M)
    target = re.search(r"^\s*\.target\s+sm_(\d+)", ptx, re.M)
    return (int("".join(version.groups())) if version else None,
            int(target[1]) if target else None)


def with_version(ptx, isa):
    """The PTX with another .version, given as 32."""
    return re.sub(r"^(\s*\.version\s+)\d+\.\d+", rf"\g<1>{isa // 10}.{isa % 10}", ptx, count=1,
                  flags=re.M)


def raised(ptx, isa):
    """.version and .target at least as new as the instructions are, and as `isa` is."""
    version, target = written(ptx)
    version = max(version, int(isa.replace(".", "")))
    for pattern, needed, _ in NEWER:
        if pattern.search(ptx):
            version, target = max(version, needed[0]), max(target, needed[1])
    if target != written(ptx)[1]:
        ptx = re.sub(r"^(\s*\.target\s+)sm_\w+", rf"\g<1>sm_{target}", ptx, count=1, flags=re.M)
    return with_version(ptx, version)


def find_name(source, pattern):
    """(`kernel.cu:12`, the name) of the first line with one, or (the file, None)."""
    lines = source.read_text(encoding="utf-8", errors="replace").splitlines()
    for number, line in enumerate(lines, 1):
        found = re.search(rf"(?<!\w)(?:{pattern})(?!\w)", line)
        if found:
            return f"{source}:{number}", found[0]
    return str(source), None


def line_of(source, name):
    """`kernel.cu:12` for the first line with a name, or the file alone."""
    return find_name(source, re.escape(name))[0]


def needed_by(source, ptx, place, value):
    """(the line, the function) for which the PTX has this .version (place 0) or .target (1); the
    instruction where the source has no such function; (the file, None) where none needs it."""
    for pattern, needed, functions in NEWER:
        found = pattern.search(ptx)
        if found and needed[place] == value:
            where, name = find_name(source, functions)
            return where, name or found[0]
    return str(source), None


def unsupported(name, kind=""):
    """What is said of a name that a kernel cannot use here."""
    has = "; --with nvcc has it" if OF_NVCC.fullmatch(name) else ""
    return f"{name}{kind} is not supported by cushim-embed{has}"


def missing(source, function):
    """What is said of a function that a kernel ends in and nobody has."""
    for pattern, word, what in HIDDEN:
        if pattern.fullmatch(function):
            return f"{line_of(source, word)}: {what} is not supported by cushim-embed"
    return f"{line_of(source, function)}: {unsupported(function)}"


def of_the_host(source, own, text, notes):
    """(name, `kernel.cu:1`, the note) of the first thing that an error is about and the user's own
    files declare for the host alone; None if there is none."""
    named = re.search(r"(?:call to|function|variable) '([^']+)'", text)
    kind = re.compile("declared here|dynamic initialization" if "reference to __host__" in text
                      else "call to __(host|global)__ function")
    for path, line, column, _, note in notes:
        path = source.parent / path
        if path.resolve() in own and kind.search(note):
            rest = line_text(path, int(line)).encode()[int(column) - 1:].decode(errors="replace")
            name = named[1] if named else re.match(r"operator *(\(\)|[^\w\s(]*)|~?\w*", rest)[0]
            if name[:1] == "~" and rest[:1] != "~":
                name, note = name[1:], "(the implicit destructor)"
            return name, f"{path}:{line}", note
    return None


def explained_host(text, name, where, note):
    """What is said of what the user's own files declare for the host."""
    made = re.search(r"\((the implicit [\w ]+)\)", note)
    if "call to __global__" in note:
        return f"{name} is a kernel ({where}): it can be launched, not called"
    if made:
        return f"{made[1]} of {name} ({where}) calls a function that has no __device__"
    if "dynamic initialization" in note:
        return (f"the compiler does not know the value of {name} ({where}): a kernel can use "
                "constants, and variables with __device__ or __constant__")
    if "__host__ variable" in text:
        return (f"{name} has no __device__ or __constant__ ({where}): a kernel can use only "
                "variables with one of them, and constants")
    what = "the constructor of " if "candidate constructor" in note else ""
    return f"{what}{name} has no __device__ ({where}): a kernel can call only functions with it"


def misspelt(text):
    """(a name, what it is meant to be) where the two differ as slips do: not two names of CUDA."""
    names = re.search(r"'(\w+)'; did you mean '(?:::)?(\w+)'\?", text)
    bare = [re.sub(r"_|s$", "", name).lower() for name in names.groups()] if names else []
    return names.groups() if names and bare[0] == bare[1] else None


def explained(text, notes, own):
    """What is said of one error of clang that is not about the user's own functions, but in one of
    the user's own files."""
    name = re.search(r"(?:undeclared identifier|unknown type name|no type named|no template named|"
                     r"__host__ (?:function|variable)|no member named|function for call to) "
                     r"'?([\w:]+)'?", text)
    header = re.search(r"^'(.+)' file not found", text)
    deleted = re.match(r"call to deleted function '(\w+)'", text)
    if deleted:
        return unsupported(deleted[1], " of double")
    if "cudaConfigureCall" in text or text.startswith("reference to __global__ function"):
        return "<<<...>>> is not supported by cushim-embed"
    if header and CUDA_HEADERS.match(header[1]):
        return f"{header[1]} is not supported by cushim-embed; --with nvcc has it"
    kernel = re.match(r"call to global function '(\w+)' not configured", text)
    if kernel:
        return f"{kernel[1]} is a kernel: it can be launched, not called"
    lacks = ALGORITHM.match(text)
    if lacks and not any("<algorithm>" in path.read_text(encoding="utf-8", errors="replace")
                         for path in own):
        return f"{lacks[0]}; #include <algorithm>"
    if misspelt(text):
        wrong, right = misspelt(text)
        return f"there is no {wrong}; did you mean {right}?"
    if text.startswith("templates must have C++ linkage"):
        return 'a template cannot have extern "C"'
    library = re.search(r"__host__ (function|variable)", text + str(notes))
    of_class = re.search(r"(?:initialization of|for type|object of type|expression \(|"
                         r"(?:conversion|cast) from .* to) ?"
                         r"'(?:const )?(std::[^']+)'", text)
    if library and of_class:
        return f"{of_class[1]} is not supported by cushim-embed"
    if name and (library or (CUDA_NAMES.match(name[1]) and "call to" not in text)):
        newer = f"; {name[1]}_sync is" if BEFORE_SYNC.fullmatch(name[1]) else \
            "; --std c++20 has it" if library and OF_20.fullmatch(name[1]) else ""
        return unsupported(name[1]) + newer
    ambiguous = re.match(r"call to '(\w+)' is ambiguous", text)
    if ambiguous and CUDA_NAMES.match(ambiguous[1]):
        return f"{ambiguous[1]} of these types is not supported by cushim-embed"
    reasons = [note[4].partition("not viable: ")[2] for note in notes]
    reason = f": it {reasons[0]}" if len(reasons) == 1 and reasons[0][:8] == "requires" else ""
    return re.sub(r";? ?did you mean .*", "", text) + reason


def write_to_constant(path, line):
    """What is said of a store into constant memory."""
    where = f"{path}:{line}" if line else path
    return f"{where}: a kernel cannot write to a variable with __constant__"


def from_backend(source, messages):
    """The one line that LLVM wrote before it ended, with the function's place."""
    what = re.search(r"^(?:clang\S* )?(?:fatal )?error: (?:error in backend: )?(.*)", messages,
                     re.M)
    function = re.search(r"^In function: (?:_Z(\d+))?(\S+)", messages, re.M)
    if not what:
        return f"{source}: clang ended without PTX"
    if "GlobalTLSAddress" in what[1]:
        return missing(source, "thread_local")
    if re.search(r"Atomic.*addrspace[ (]4\)", what[1]):
        line = re.search(r":(\d+):\d+$", what[1])
        return write_to_constant(source, line and line[1])
    symbol = re.search(r'Undefined external symbol "(\w+)"', what[1])
    if symbol:
        return missing(source, symbol[1])
    name = function and function[2][:int(function[1] or len(function[2]))]
    where = line_of(source, name) if name else source
    return f"{where}: no PTX from clang: {re.sub(r' *0x[0-9a-f]+:?', '', what[1])}"


def of_a_toolkit(path):
    """Whether a header lies among a CUDA toolkit's."""
    return any((folder / "driver_types.h").exists() for folder in path.parents[:4])


def refused_headers(source, messages):
    """The user's #include lines for which a toolkit's header was read, in which clang has errors.
    """
    found = []
    for chain in re.findall(r"(?:^In file included from .+:\d+[:,]\n)+(?=.+:\d+:\d+: .*error: )",
                            messages, re.M):
        places = re.findall(r"^In file included from (.+):(\d+)[:,]$", chain, re.M)
        path, line = next(((source.parent / path, int(line)) for path, line in reversed(places)
                           if not of_a_toolkit(source.parent / path)), (source, 0))
        if not path.exists():  # "<built-in>", for our own header
            continue
        text = path.read_text(encoding="utf-8", errors="replace").splitlines()[line - 1]
        header = re.match(r"\s*#\s*include\s*[<\"]([^>\"]+)", text)
        if header and line and CUDA_HEADERS.match(header[1]):
            found.append((f"{path}:{line}", header[1]))
    text = source.read_text(encoding="utf-8", errors="replace")
    found = found or [(f"{source}:{text.count(chr(10), 0, match.start(1)) + 1}", match[1])
                      for match in HOLLOW.finditer(text)]
    lines = [f"{where}: {header} is not supported by cushim-embed; --with nvcc has it"
             for where, header in found]
    return "\n".join(dict.fromkeys(lines))


def line_text(path, line):
    """A line of a file; "" if it cannot be read."""
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").split("\n")
    except OSError:
        return ""
    return lines[line - 1] if 0 < line <= len(lines) else ""


def refusal(source, messages, folders):
    """One line for each error in clang's messages."""
    headers = refused_headers(source, messages)
    if headers:
        return headers
    own = {path.resolve() for path in (source, *find_headers(source, folders))}
    found = re.findall(r"^(.+?):(\d+):(\d+): (fatal error|error|note): (.*)", messages, re.M)
    lines = []
    for number, (path, line, _, kind, text) in enumerate(found):
        if kind == "note":
            continue
        notes = []
        for other in found[number + 1:]:
            if other[3] != "note":
                break
            notes.append(other)
        # Where a header of ours has the error, a note has the user's line.
        places = [(path, line), *(note[:2] for note in notes)]
        path, line = next((place for place in places
                           if HEADERS not in pathlib.Path(place[0]).parents), (source.name, 1))
        path = source.parent / path
        word = WORDS.search(re.sub(r"//.*|/\*.*?\*/", "", line_text(path, int(line))))
        host = of_the_host(source, own, text, notes)
        said = unsupported(word[1]) if word else \
            explained_host(text, *host) if host else explained(text, notes, own)
        lines.append(f"{path}:{line}: {said}")
    named = [line for line in lines if WORDS.search(line)]  # the others follow from these
    return "\n".join(dict.fromkeys(named or lines)) or from_backend(source, messages)


def unknown_functions(source, ptx):
    """Refuse a library's function that nobody has: the driver would, at run time. A warning for
    each of the others that the driver lacks."""
    wanted = set(re.findall(r"^\.extern \.func\s+(?:\(.*?\)\s*)?([\w$]+)", ptx, re.M | re.S))
    lacking = [name for name in sorted(wanted - OF_THE_DRIVER)
               if (CUDA_NAMES.match(name) or LONG_DOUBLE.match(name)) and name[:2] != "_Z"]
    # Of the library of C++; another function of C++ is one of a later link.
    lacking += [demangled(name) for name in sorted(wanted) if re.match(r"_ZN?K?S[tabsiod]", name)]
    if lacking:
        raise Refused("\n".join(missing(source, name) for name in lacking))
    others = [demangled(name) for name in sorted(wanted - OF_THE_DRIVER)]
    places = [line_of(source, re.sub(r"\(.*|<.*", "", name).split("::")[-1]) for name in others]
    return "".join(f"{place}: warning: {name} has no body with __device__: only another module, "
                   "linked with this one, can have it\n" for place, name in zip(places, others))


def written_constants(source, ptx):
    """Refuse a store into constant memory, which no assembler takes."""
    stores = [match.start() for match in re.finditer(r"\bst(?:\.volatile)?\.const\b", ptx)]
    files = dict(re.findall(r"^\t\.file\t(\d+) \"(.*)\"$", ptx, re.M))
    places = [re.findall(r"\.loc\t(\d+) (\d+) ", ptx[:at])[-1:] for at in stores]
    if places:
        raise Refused("\n".join(dict.fromkeys(
            write_to_constant(source.parent / files[place[0][0]], place[0][1]) if place else
            write_to_constant(source, None) for place in places)))


def clang_command(isa, target, extra=()):
    """clang's options, without the source."""
    return ["-x", "cuda", "--cuda-device-only", f"--cuda-gpu-arch={target}",
            "-Xclang", "-target-feature", "-Xclang", "+ptx" + isa.replace(".", ""),
            "--cuda-path=/var/empty", "-nocudainc", "-nocudalib",
            "-isystem", str(HEADERS), "-include", str(HEADERS / "subset.h"),
            # With it, what <cmath> calls ends in our functions; LLVM itself has none.
            "-fmath-errno",
            # a * b + c in one expression is rounded once; nothing else is fused, by ptxas neither.
            "-ffp-contract=on",
            "-Wno-unknown-cuda-version", "-Wno-invalid-command-line-argument",
            "-fno-crash-diagnostics", "-fno-color-diagnostics", "-fno-caret-diagnostics",
            "-std=c++17", "-O2", "-Wall", *extra, "-S", "-o", "-"]


def by_clang(source, isa=None, target=None, extra=(), program="clang"):
    """Run in the source's folder, so that the PTX depends on no path."""
    command = [program, *clang_command(isa or ISA, target or TARGET, extra), source.name]
    with tempfile.TemporaryDirectory() as folder:
        rule = pathlib.Path(folder, "a.d")
        try:
            done = run([*command, "-MD", "-MF", rule], cwd=source.parent)
        except FileNotFoundError as error:
            raise Refused(f"{program}: not found. cushim-embed needs clang to compile "
                          f"{source.name}: install it (Debian's package clang), or name one with "
                          "--clang, or take a toolkit's compiler with --with nvcc") from error
        headers = read_headers(source, rule) if done.returncode == 0 else []
    if re.search(r"error: unsupported CUDA gpu architecture", done.stderr):
        raise Refused(f"--target {target}: {program} does not know it. Leave it out, because PTX "
                      "for an older target runs on later GPUs, or name a newer clang with --clang, "
                      "or take a toolkit's compiler with --with nvcc")
    if done.returncode:
        raise Refused(refusal(source, done.stderr, own_folders(extra)))
    ptx = raised(plain_lines(strip_comments(done.stdout)), isa or ISA)
    written_constants(source, ptx)
    undefined = unknown_functions(source, ptx)
    warnings = re.findall(r"^(\S.*: warning: .*\n)", done.stderr, re.M)
    return ptx, "".join(str(source.parent / line) for line in warnings) + undefined, headers


def entries(ptx):
    """The names of the kernels."""
    return re.findall(r"^\s*(?:\.visible\s+|\.weak\s+)?\.entry\s+([\w$]+)", ptx, re.M)


def demangled(name):
    """apply<1>(float*) for _Z5applyILi1EEvPf, by the library of C++ that clang has; else the name.
    """
    try:
        demangle = ctypes.CDLL("libstdc++.so.6").__cxa_demangle
    except (OSError, AttributeError):
        return name
    demangle.restype = ctypes.c_void_p
    status = ctypes.c_int()
    plain = demangle(name.encode("ascii"), None, None, ctypes.byref(status))
    if not plain or not name.startswith("_Z"):
        return name
    return re.sub(r"^void ", "", ctypes.string_at(plain).decode("ascii", "replace"))


def plain_name(symbol):
    """a::k for _ZN1a1kEPi; with "<" where it is of a template."""
    name = demangled(symbol).replace("(anonymous namespace)::", "")
    short = re.match(r"_ZL?(\d+)(\w+)", name)
    if short:  # there is no library of C++
        return short[2][:int(short[1])] + "<" * (short[2][int(short[1]):][:1] == "I")
    return re.sub(r"\(.*", "", name)


def mangled(source, ptx):
    """A warning for each kernel whose name in the PTX is not the one of the source, and for each
    that has a parameter of reference type."""
    text = source.read_text(encoding="utf-8", errors="replace")
    bare = re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.S)
    lines, warnings, told = text.split("\n"), [], []
    for symbol in entries(ptx):
        name = plain_name(symbol)
        if "<" in name:  # of a template, which has no other name
            continue
        *outer, short = name.split("::")
        places = [f"{source}:{number}" for number, line in enumerate(lines, 1)
                  if re.search(rf"(?<!\w){re.escape(short)}\s*\(", line)] or [str(source)]
        place = places[min(told.count(short), len(places) - 1)]
        told.append(short)
        # Neither one of two kernels of a name can have it, nor a member of a class.
        alone = len(re.findall(rf"\.entry _ZL?{len(short)}{short}", ptx)) < 2 and not any(
            re.search(rf"\b(class|struct)\s+{part}\b", bare) for part in outer)
        if symbol != name:
            warnings.append(f"{place}: warning: in the PTX the kernel {name} is called {symbol}"
                            + ('; extern "C" keeps its name\n' if alone else "\n"))
        if re.search(rf"__global__[^;{{}}]*?\b{short}\s*\([^(){{}};=]*&[^(){{}};=]*\)", bare):
            warnings.append(f"{place}: warning: the kernel {name} has a parameter of reference "
                            "type: a launch must give it an address of the GPU's memory\n")
    return "".join(warnings)
