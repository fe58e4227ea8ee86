# SPDX-License-Identifier: MIT
"""gen/registry/sentences.jsonl, and the page which is made of it, have every sentence that the
library, owners of C++, the simulated driver, the commands that run and examine programs,
cushim-embed and the plugin of pytest can print, and no other. A string in the sources counts if it
has two words, and is no part listed below; one of a command or of a Python file if it goes to
standard error, or to a table of `cushim matrix` or `cushim scan`. So are the words of these tables,
and of the checks."""

import ast
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
with tempfile.TemporaryDirectory() as room:
    MADE = Path(room) / "sentences.md"
    subprocess.run([sys.executable, ROOT / "gen/emit.py", MADE.name, MADE], check=True)
    PAGE = MADE.read_text(encoding="utf-8")
LITERAL = r'"(?:[^"\\\n]|\\.)*"'
CONVERSION = re.compile(r"%(?:%|[-+ #0]*(?:\*|\d+)?(?:\.(?:\*|\d+)?)?"
                        r"(?:hh|h|ll|l|z|j|t)?[diouxXcsp])")
RUN = re.compile(rf"{LITERAL}(?:\s*(?:{LITERAL}|\b[A-Z][A-Z0-9_a-z]*\b(?=\s*\"|\s*[,)])))*")
# Assembler, JSON, generated graphs: nobody reads them as a sentence.
OTHER_FILES = ("loader/stubs.c", "dropin/load.c", "ptx/read/form.c",
               "graph/graph.c", "sim/core/profile.c", "thin/stub.S",
               "nvml/nvml_clock.c", "nvml/nvml_event.c")
OWNERS = ROOT / "include/cushim/cushim.hpp"
ROOMS = ("loader", "nvml", "dropin", "helpers", "sim")
PYTHON = ("kernels/embed.py", "kernels/compilers.py", "kernels/toolkit.py",
          "python/cushim/plugin.py")
# Words that are put into a sentence of the page, and names of kinds of objects.
PARTS = """
, by a rule
, in a callback
: destroy each
; did you mean
kind of object
entry of the driver
CUDA driver
NVIDIA's library for management
the driver's NVML
the CUDA driver
the driver
the driver, of CUDA ….…,
options: cig_type
options: sm_count
the compute capability
an entry of it
application ptx input
the function
cooperative, params
the linked cubin
in use
linker state
mipmapped array
texture reference
surface reference
texture object
surface object
memory pool
physical memory
of physical memory
graph node
executable graph
user object
green context
linked image
non-negative integer
in range [0..3]
local memory
shared data
parameter space
Entry function '
global constant data
register count
variable count
linker input '…'
what cushim_load returned
cushim sim: check:
the address of a variable
its name
the image
a file's name
what to call
an event
a graph: cuStreamEndCapture gives none if it fails
: if there is nothing to do, skip the launch
a context
stream memory
captured work
an array
what was loaded
a kernel's name
a kernel
…:… (PTX line …)
PTX line
looks up
exit code
and … more
… failed…, then
the check found:
fatbin and no cubin
or later
""".strip().splitlines()
JSON = re.compile(r'[{,]? *"\w+":|^\[\{"')


def plain(text):
    """A format as the page writes it: what varies is "…", and left out at the end."""
    text = text.replace('\\"', '"').replace("\\n", " ").replace("\\\\", "\\")
    text = text.replace("%\" PRIu64 \"", "…")
    text = CONVERSION.sub(lambda found: "%" if found[0] == "%%" else "…", text)
    return re.sub("( …)+$", "", re.sub("…+", "…", text).strip())


def literals(text):
    """Each run of string literals, joined; a macro between two of them varies."""
    piece = re.compile(LITERAL)
    for run in RUN.findall(text):
        joined, end = "", 0
        for found in piece.finditer(run):
            between = run[end:found.start()].strip()
            joined += ("…" if between and "PRI" not in between else
                       "d" if between else "") + found[0][1:-1]
            end = found.end()
        yield joined + ("…" if run[end:].strip() else "")


def counts(sentence):
    """Whether it is one: two words at least."""
    return len(re.findall(r"[A-Za-z]{2,}", sentence)) > 1 and " " in sentence and \
        not JSON.search(sentence)


def code_of(file):
    """A file of C without comments and includes."""
    text = re.sub(r"/\*.*?\*/", "", file.read_text(encoding="utf-8"), flags=re.S)
    text = re.sub(r"^\s*#\s*(include|error|pragma).*$", "", text, flags=re.M)
    return re.sub(r"\\\n", "\n", text)


def sentences_of(file):
    """Those of a file of the library."""
    text = re.sub(r"_?[Ss]tatic_assert\(.*?\);", "", code_of(file), flags=re.S)
    return list(filter(counts, map(plain, literals(text))))


def words_of(node):
    """The text of an expression of Python, with "…" for what varies; None if it is no text."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(part.value if isinstance(part, ast.Constant) else "…"
                       for part in node.values)
    return None


def printed_by_python(file):
    """What a file of Python raises, ends with, or writes to standard error."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    told = [node for node in ast.walk(tree)
            if isinstance(node, ast.Raise) or (isinstance(node, ast.Call) and re.fullmatch(
                r"sys\.(exit|stderr\.write)|pytest\.fail|warnings\.append",
                ast.unparse(node.func))) or
            (isinstance(node, ast.Return) and
             re.search("cushim-embed|__(device|constant)__|is a kernel|there is no|cannot have|"
                       "#include", ast.unparse(node)))]
    for node in told:
        inner = [part for part in ast.walk(node) if isinstance(part, ast.JoinedStr)]
        within = {id(child) for part in inner for child in ast.walk(part) if child is not part}
        for part in ast.walk(node):
            text = words_of(part)
            if text and id(part) not in within:
                yield re.sub("( …)+$", "", re.sub("…+", "…", text.strip()))


def printed_in_tables():
    """{sentence or word: where} of what `cushim matrix` reports, and of the kinds of checks."""
    sentences = {"tools/matrix_report.c": r"\(text, MATRIX_\w+_SIZE.*?;|return \".*?;",
                 "tools/matrix_fold.c": r"snprintf\(text, .*?;",
                 "tools/matrix_order.c": r"snprintf\(text.*?;|put_before\(one, \".*?;",
                 "tools/matrix_missing.c": r"\(text(?: \+ length|, sizeof text,).*?;",
                 "tools/matrix_run.c": r"#define NOT_STARTED [^\n]*|\", there %s.*?;",
                 "tools/matrix_use.c": r"snprintf\(text.*?;",
                 "tools/matrix.c": r"lacks_faults\(list\) \?.*?;",
                 "tools/matrix_rows.c": r"\"same as %s\"",
                 "tools/verdict.c": r"\banswer\(\s*verdict, .*?;\n|return \"its .*?;\n|"
                                    r"snprintf\(text, VERDICT_TEXT_SIZE,\s*\"it is .*?;\n",
                 "tools/scan_table.c": r"some_files\(part, .*?;\n|"
                                        r"snprintf\(cell\[i\]\.reason.*?;\n",
                 "tools/scan_sources.c": r"words_of_\w+\[\] = \{.*?\};|"
                                         r"asprintf\(\s*&(?:why|text),\s.*?;\n",
                 "tools/matrix.h": r"#define MATRIX_(?:GOES_ON|WITHOUT|FREED|INSIDE) [^\n]*"}
    words = {"tools/matrix_report.c": r"matrix_end_name\(enum.*?\};",
             "tools/sim_check.c": r"judge_count\(problems.*?;",
             "src/sim/core/config.c": r"sim_config_checks\(.*?\};",
             "tools/verdict.c": r"VERDICT_[A-Z]+, \w+, \"[a-z-]+\"",
             "tools/scan_table.c": r"rule = \"[a-z-]+\"",
             "tools/scan_sources.c": r"\*rule_of\(.*?\n\}|: \"no guard\""}
    found = {}
    for name, pattern in sentences.items():
        own = {plain(text) for part in re.findall(pattern, code_of(ROOT / name), re.S)
               for text in literals(part)}
        found.update({text: name for text in own if counts(text)})
    for name, pattern in words.items():
        own = {text[1:-1] for part in re.findall(pattern, code_of(ROOT / name), re.S)
               for text in re.findall(LITERAL, part)}
        found.update({text: name for text in own if re.fullmatch("[a-z -]+", text)})
    assert set(found.values()) == {*sentences, *words}
    return found


def printed_by_tools():
    """{sentence: where} of the commands and of Python."""
    found = {}
    for file in sorted(file for name in ("sim", "matrix", "scan")
                       for file in (ROOT / "tools").glob(f"{name}*.c")):
        calls = re.findall(r"(?:\bfprintf\(\s*stderr|\bfound\(|\*problem =|\bfputs\().*?;\n",
                           code_of(file), re.S)
        for sentence in (plain(text) for call in calls for text in literals(call)
                         if not call.startswith("fputs") or "stderr" in call):
            if counts(sentence):
                found[sentence] = f"tools/{file.name}"
    found.update(printed_in_tables())
    for name in PYTHON:
        for sentence in printed_by_python(ROOT / name):
            if counts(sentence) and len(sentence.split()) > 2:
                found[sentence] = name
    return found


def printed():
    """{sentence: where} of the sources."""
    found = printed_by_tools()
    for room in ROOMS:
        for file in sorted((ROOT / "src" / room).rglob("*.c")):
            name = str(file.relative_to(ROOT / "src"))
            if name.endswith(OTHER_FILES):
                continue
            found.update(dict.fromkeys(sentences_of(file), name))
    found.update(dict.fromkeys(sentences_of(OWNERS), OWNERS.name))
    return {sentence: name for sentence, name in found.items() if sentence not in PARTS}


def listed():
    """The sentences of the page: first columns of its tables, and its lists."""
    rows = re.findall(r"^\| (`+) ?(.+?) ?\1 \| (.+) \|$", PAGE[PAGE.index("## The load"):], re.M)
    assert all(cure.strip() for _, _, cure in rows)
    lists = re.findall(r"^```text\n(.*?)^```", PAGE, re.M | re.S)
    found = [row[1] for row in rows] + \
        [line.strip() for text in lists for line in text.splitlines()]
    return [re.sub("( …)+$", "", sentence) for sentence in found]


def test_no_sentence_is_missing():
    page = set(listed())
    missing = [f"{name}: {sentence}" for sentence, name in printed().items()
               if sentence not in page]
    assert len(printed()) > 300
    assert not missing, "gen/registry/sentences.jsonl lacks:\n" + "\n".join(missing)


def test_no_sentence_is_too_many():
    there = set(printed())
    assert not [sentence for sentence in listed() if sentence not in there]


def test_no_sentence_is_there_twice():
    page = listed()
    assert len(page) == len(set(page)), {line for line in page if page.count(line) > 1}


def test_parts_are_parts():
    """What the list above has is in the sources."""
    sources = {sentence for folder in (*(ROOT / "src" / room for room in ROOMS), ROOT / "tools")
               for file in (*folder.rglob("*.c"), *folder.rglob("*.def"), OWNERS)
               for sentence in map(plain, literals(file.read_text(encoding="utf-8")))}
    assert not [part for part in PARTS if part not in sources]


def test_arguments_are_refused_in_sentences():
    """With a verb, and with what to pass: no "bytes: 0"."""
    refusals = [(file.name, " ".join(literals(call)))
                for room in ("loader", "helpers") for file in (ROOT / "src" / room).glob("*.c")
                for call in re.findall(r"(?:error_refuse|last_error_set)\(.*?;\n",
                                       file.read_text(encoding="utf-8"), re.S)]
    assert len(refusals) > 80
    assert not [(name, text) for name, text in refusals
                if re.search(r": (NULL|an empty string|0.*|%(d|u|zu)( \w+)?)$", text)]


def test_every_status_has_its_cure():
    """By name in the table of finding-the-driver.md, to which the page leads."""
    finding = (ROOT / "docs" / "finding-the-driver.md").read_text(encoding="utf-8")
    names = re.findall(r'X\(\w+, "([a-z-]+)"', (ROOT / "src/loader/status.c").read_text("utf-8"))
    assert len(names) > 25
    for name in names:
        assert re.search(rf"^\| `{name}` \|", finding, re.M)
        assert f"`{name}`" in PAGE or name in ("ok", "invalid-argument", "out-of-memory",
                                               "header-mismatch")
