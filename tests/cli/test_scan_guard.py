# SPDX-License-Identifier: MIT
"""`cushim scan` of sources: which question guards which call. guards.txt has sources as strangers
write them; behind each line with calls of newer entries stands what is known of each: guarded,
unknown or fails."""

import json
import os
import re
import sys
from xml.etree import ElementTree

import pytest
from command import FAILED, OK, ROOT, run, run_on_terminal

sys.path.insert(0, str(ROOT / "tests"))

import parts  # noqa: E402

FILES = [parts.read(ROOT / f"tests/cli/{name}.txt")
         for name in ("guards", "guard_shapes", "guard_values", "guard_filled", "guard_fresh",
                      "guard_around")]
SOURCES = {name: text for file in FILES for name, text in file.items()}


def judged(path, text):
    """The line and the letters of each line with calls of newer entries."""
    path.write_bytes(text)
    found = {}
    for source in run("scan", "--json", "--drivers", "9.0", path).json()["sources"]:
        for call in source["calls"]:
            letter = "g" if call["guarded"] else "u" if call["asked"] else "f"
            if call["newer"]:
                found[call["line"]] = found.get(call["line"], "") + letter
    return found


def marks(text, lines_before=0):
    """What the source itself says of them."""
    return {number + lines_before: mark[1]
            for number, line in enumerate(text.decode().splitlines(), 1)
            if (mark := re.search(r"/[/*]= (\w+)", line))}


@pytest.mark.parametrize("name", SOURCES)
def test_guards(tmp_path, name):
    """With both ends of lines; a slow build has one."""
    assert marks(SOURCES[name])
    ends = (b"\n", b"\r\n") if os.environ["CUSHIM_SANITIZER"] == "none" else (b"\r\n",)
    for end in ends:
        assert judged(tmp_path / name, SOURCES[name].replace(b"\n", end)) == marks(SOURCES[name])


@pytest.mark.parametrize("name", FILES[0] | FILES[1])
@pytest.mark.parametrize("before", ["{ if (a) { if (b) {", "{ } } }", "{ f(((( ;",
                                    "{\n#if A\n}\n#else"])
def test_odd_brackets_before(tmp_path, name, before):
    """A '}' in column 0 ends a function, whatever is open."""
    odd = f"void odd(void)\n{before}\n}}\n".encode()
    assert judged(tmp_path / name, odd + SOURCES[name]) == marks(SOURCES[name], odd.count(b"\n"))


def test_unknown_is_yellow(tmp_path):
    """It changes the exit code with --strict alone, and is named in each form of output."""
    path = tmp_path / "a.c"
    path.write_bytes(SOURCES["plain-C.cpp"])
    files = [word for name in ("junit", "markdown", "sarif")
             for word in (f"--{name}", tmp_path / name)]
    words = ("unknown: cuMemAllocAsync came with CUDA 11.2; another function asks for it (line 3): "
             "ask here, too, or begin a comment before the call with CUSHIM_HAS(...)")
    for strict, code, level, result, kind in (
            ([], OK, "warning", "skipped", "message"),
            (["--strict"], FAILED, "error", "failure", "type")):
        got = run("scan", "--drivers", "9.0", "--github", *strict, *files, path)
        assert (got.code, got.err) == (code, "")
        assert got.out.splitlines() == [
            f"{path}:8: {words}",
            f"{path}: calls through cushim's table: 2; newer than CUDA 9.0: 2, 1 of them "
            "guarded, 1 unknown; plain names are those of CUDA 12.0",
            f"::{level} file={path},line=8,title=asked-elsewhere::{words}"]
        suite = ElementTree.parse(tmp_path / "junit").getroot()
        assert [suite.get(name) for name in ("tests", "failures", "skipped")] == [
            "1", str(int(bool(strict))), str(int(not strict))]
        assert suite[0][0].tag == result and suite[0][0].get("message") == words
        assert suite[0][0].get(kind) in (words, "asked-elsewhere")
        assert (suite[0].get("file"), suite[0].get("line")) == (str(path), "8")
        assert suite[0][0].text == (f"{path}:8: {words}" if strict else None)
        assert f"| 8 | {words} |" in (tmp_path / "markdown").read_text()
        sarif = json.loads((tmp_path / "sarif").read_text())["runs"][0]
        assert [(one["ruleId"], one["level"]) for one in sarif["results"]] == [
            ("asked-elsewhere", level)]
        assert [rule["id"] for rule in sarif["tool"]["driver"]["rules"]] == ["asked-elsewhere"]
    calls = run("scan", "--json", "--drivers", "9.0", path).json()["sources"][0]["calls"]
    assert [(call["guarded"], call["asked"]) for call in calls] == [(True, None), (False, 3)]
    colours = run_on_terminal("scan", "--drivers", "9.0", path).out
    assert f":8: \033[33m{words}\033[0m" in colours


HAS = "CUSHIM_HAS(cu, cuMemAllocAsync)"
CALL = "cu->cuMemAllocAsync(&p, 1, s);"
TELLS = "asks for it: ask here, too, or begin a comment before the call with CUSHIM_HAS(...)"


@pytest.mark.parametrize("body, words", [
    (f"if (!{HAS}) {CALL}", 
     "no guard: the guard of line 1 is inverted: it leads here without the entry"),
    (f"if ({HAS}) return;\n{CALL}",
     "no guard: the guard of line 1 is inverted: it leads here without the entry"),
    (f"if ({HAS} && x) return;\n{CALL}",
     "the guard of line 1 is inverted: it leads here without the entry"),
    (f"if ({HAS}) x();\nelse {CALL}", 
     "no guard: the call is in the else of line 1, which has no such entry"),
    (f"if (CUSHIM_HAS(cu, cuGraphCreate))\n{CALL}",
     "no guard: the guard of line 1 is of CUDA 10.0: put the call into if (CUSHIM_HAS(..., "
     "cuMemAllocAsync))"),
    (f"if (cushim_driver_version(cu) < 11010) return;\n{CALL}",
     "no guard: the guard of line 1 is of CUDA 11.1: put the call into if (CUSHIM_HAS(..., "
     "cuMemAllocAsync))"),
    (f"bool has = {HAS}, old = CUSHIM_HAS(cu, cuGraphCreate);\nif (has) x();\nif (old) {CALL}",
     "the guard of line 3 is of CUDA 10.0: put the call into if (CUSHIM_HAS(..., "
     "cuMemAllocAsync))"),
    (f"if (cushim_driver_version(cu) <= 11020)\n{CALL}",
     "no guard: the guard of line 1 is inverted: it leads here without the entry"),
    (f"if ({HAS} || x)\n{CALL}",
     "the guard of line 1 is joined by ||: the call is reached without it"),
    (f"if (!{HAS} && x) return;\n{CALL}",
     "the guard of line 1 is inverted and joined by &&: the call is reached without it"),
    (f"if ({HAS}) {{\nx();\n }}\n{CALL}",
     "the branch of line 1 ends in line 3 without leaving: return there, or put the call into the "
     "branch"),
    (f"if ({HAS});\n{CALL}",
     "the branch of line 1 ends in line 1 without leaving: return there, or put the call into the "
     "branch"),
    (f"if (x) goto out;\nif (!{HAS}) return;\nout: {CALL}",
     "goto, case or #if leads past the guard of line 2: ask behind it"),
    (f"if (cushim_driver_version(cu) >= LEAST)\n{CALL}",
     "line 1 compares the driver's version with no number that is known: write one, as 12000"),
    (f"if (cushim_driver_version(cu) >= 11 * release)\n{CALL}",
     "line 1 compares the driver's version with no number that is known: write one, as 12000"),
    (f"int v = cushim_driver_version(cu), major = v / 1000;\n"
     f"if (major > 11 || (major == 11 && odd(v))) {CALL}",
     "the guard of line 2 is in no form that is understood: put the call into its if"),
    (f"int m = {HAS} ? 3 : 4;\nif (m == 3) {CALL}",
     "the guard of line 1 is in no form that is understood: put the call into its if"),
    (f"switch ({HAS}) {{ case 0: {CALL} }}",
     "this part of the `switch` of line 1 is not understood as a guard: use an if"),
    (f"auto g = [&] {{ {CALL} }};\nif ({HAS}) each(g);",
     "the call is in a lambda, and the guard of line 2 comes after it: ask in the lambda"),
    (f"if (caps->pools)\n{CALL}",
     f"this file does not show whether the condition of line 1 {TELLS}"),
    (f"if (version_ < 11020)\nreturn;\n{CALL}",
     f"this file does not show whether the condition of line 1 {TELLS}"),
    (f"int v = driver_version(t);\nif (v >= 11020)\n{CALL}",
     f"this file does not show whether the condition of line 2 {TELLS}"),
    (f"CUdeviceptr q = 0; cu->cuMemAlloc(&q, 1);\nif (q) {CALL}",
     "no guard: put the call into if (CUSHIM_HAS(..., cuMemAllocAsync))"),
    (f"if (cu->cuMemAllocAsync) {CALL}",
     "no guard: line 1 asks whether its slot is NULL, which no slot is: put the call into if "
     "(CUSHIM_HAS(..., cuMemAllocAsync))"),
    (f"if (!table.api->cuMemAllocAsync || cu->cuMemAllocAsync == nullptr)\nreturn;\n{CALL}",
     "no guard: line 1 asks whether its slot is NULL, which no slot is: put the call into if "
     "(CUSHIM_HAS(..., cuMemAllocAsync))"),
    (f"int v; cu->cuDeviceGetAttribute(&v, MEMORY_POOLS_SUPPORTED, d);\nif (v) {CALL}",
     "line 2 asks for an attribute of the device, which does not tell the driver's release: ask "
     "for the entry, too"),
    (f"struct gpu *a, *b; if (CUSHIM_HAS(a->cu, cuMemAllocAsync))\nb->{CALL}",
     "the guard of line 1 asks another table: ask the one that is called"),
    (f"int r = {CALL}\nif (q == CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER) x();",
     "line 2 names the error of a missing entry, and not for the result of this call: put the call "
     "into an if"),
    (f"if (cu->cuMemAllocAsync)\nr = {CALL}\nif (q == CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER) x();",
     "line 1 asks whether its slot is NULL, which no slot is: put the call into if "
     "(CUSHIM_HAS(..., cuMemAllocAsync))"),
    (f"int v = cushim_driver_version(cu);\nif (v >= 1120)\n{CALL}",
     "no guard: line 2 compares the driver's version with no number that is known: write one, as "
     "12000"),
    (f"CHECK({HAS});\n{CALL}",
     "the guard of line 1 is an argument of what may go on without it: put the call into an if"),
    (f"{HAS};\n{CALL}",
     "the guard of line 1 is in no form that is understood: put the call into its if"),
    (f"if (!{HAS}) return;\nif ({HAS}) x();\nelse y();\nz({HAS}, {CALL[:-1]});", None)])
def test_why_it_does_not_count(tmp_path, body, words):
    """The last guard before the call, and in plain words what is wrong with it: `no guard` if it is
    certain."""
    certain = bool(words) and words.startswith("no guard: ")
    path = tmp_path / "a.c"
    path.write_text(f"void f(void) {{ {body} }}\n")
    got = run("scan", "--drivers", "9.0", "--github", path)
    found = ["".join(one) for one in
             re.findall("::.*title=(.*::)(?:unknown: .*?; |(no guard: ).*?; )(.*)", got.out)]
    rule = "unguarded-call::" if certain else "guard-unproved::"
    assert (got.code, found) == (FAILED if certain else OK, [rule + words] if words else [])
    assert run("scan", "--drivers", "9.0", "--strict", path).code == (FAILED if words else OK)


def test_github_names_files_without_dot(tmp_path, monkeypatch):
    """`cushim scan .`: "./a.c" is no name of a file in an annotation."""
    (tmp_path / "a.c").write_text(f"void f(void) {{ {CALL} }}\n")
    monkeypatch.chdir(tmp_path)
    assert "\n::error file=a.c,line=1," in run("scan", "--drivers", "9.0", "--github", ".").out


def test_sample(tmp_path):
    """A file with one of each; docs/scan.md shows its output, in lines of its own."""
    command = "cushim scan --drivers 9.0 pool.c"
    page = (ROOT / "docs/scan.md").read_text(encoding="utf-8")
    shown = re.search(rf"^\$ {re.escape(command)}\n(.*?)^```", page, re.M | re.S)[1]
    (tmp_path / "pool.c").write_bytes((ROOT / "tests/cli/scan_sample.c").read_bytes())
    got = run(*command.split()[1:-1], tmp_path / "pool.c")
    assert (got.code, got.err) == (FAILED, "")
    assert got.out.replace(f"{tmp_path}/", "").split() == shown.split()


def test_macro_that_goes_on(tmp_path):
    """It asks for the entry that it is given, and does not leave."""
    path = tmp_path / "a.c"
    path.write_text("#define ASK(name) log_it(CUSHIM_HAS(cu, name))\n"
                    f"void f(void) {{ ASK(cuMemAllocAsync); {CALL} }}\n")
    assert "; the macro of line 2 asks, and does not leave: put the call into an if" in run(
        "scan", "--drivers", "9.0", path).out


def test_counts_of_all(tmp_path):
    """The last line of several sources counts both kinds."""
    for name in ("plain-C.cpp", "asked-behind-the-call.cpp"):
        (tmp_path / name).write_bytes(SOURCES[name])
    result = run("scan", "--drivers", "9.0", tmp_path)
    assert result.code == FAILED and result.out.splitlines()[-1] == (
        "all 2 sources: calls through cushim's table: 3; newer than CUDA 9.0: 3, 1 of them "
        "guarded, 1 without guard, 1 unknown")
    assert "cuMemAllocAsync came with CUDA 11.2; CUSHIM_HAS(..., cuMemAllocAsync) comes after it " \
        "(line 4)" in result.out


def test_green_has_counts(tmp_path):
    """What was read is told of sources without a finding, too."""
    (tmp_path / "src").mkdir()
    (tmp_path / "src/a.cpp").write_text("#include <cushim/cushim.hpp>\ncushim::device gpu(0);\n")
    (tmp_path / "src/b&.c").write_text("int f(void) { return cu->cuInit(0); }\n"
                                      f"void g(void) {{ if ({HAS}) {CALL} }}\n")
    (tmp_path / "src/c.c").write_text("int c;\n")
    files = [word for name in ("junit", "markdown") for word in (f"--{name}", tmp_path / name)]
    counts = ("calls through cushim's table: 2; newer than CUDA 9.0: 1, 1 of them "
              "guarded")
    got = run("scan", "--strict", "--drivers", "9.0", *files, tmp_path / "src")
    assert got.code == OK and got.out.splitlines()[-1] == f"all 3 sources: {counts}"
    assert (tmp_path / "markdown").read_text() == f"all 3 sources: {counts}\n"
    suite = ElementTree.parse(tmp_path / "junit").getroot()
    assert [suite.get(name) for name in ("tests", "failures", "skipped")] == ["2", "0", "0"]
    assert [case.get("name") for case in suite] == [
        f"{tmp_path}/src/a.cpp", f"{tmp_path}/src/b&.c"]
    assert suite[1][0].text == counts
    (tmp_path / "src/b&.c").unlink()
    for count in (2, 1):
        assert run("scan", "--strict", "--drivers", "9.0", tmp_path / "src").out == (
            f"all {count} source{'s'[:count - 1]}: calls through cushim's table: 0; newer than "
            "CUDA 9.0: 0, 0 of them guarded\n")
        (tmp_path / "src/c.c").unlink(missing_ok=True)


def test_summary(tmp_path):
    """What is red, and one line for all; no line for a file without a finding."""
    (tmp_path / "a.c").write_text(
        "int f(void) { return CUSHIM_HAS(cu, cuCtxGetId) ? cu->cuCtxGetId(c, &id) : 0; }")
    (tmp_path / "b.c").write_text("int f(void) { return cu->cuCtxGetId(c, &id); }")
    words = ["scan", "--drivers", "9.0", "--summary"]
    got = run(*words, tmp_path)
    assert got.code == FAILED
    red, every = got.out.splitlines()
    assert red.startswith(f"{tmp_path}/b.c:1: no guard: cuCtxGetId ")
    assert every.startswith("all 2 sources: ") and every.endswith(", 1 without guard")
    every, = run(*words, tmp_path / "a.c").out.splitlines()
    assert every.startswith("all 1 source: ")


def test_required_is_no_question(tmp_path):
    """What the program requires is there, wherever it asks."""
    path = tmp_path / "a.c"
    path.write_bytes(SOURCES["plain-C.cpp"] + 
                     b"int start(void) { return cushim_require(cu, 11020, NULL); }\n")
    got = run("scan", "--json", "--strict", "--drivers", "9.0", path)
    assert got.code == OK
    assert [(call["guarded"], call["asked"]) for call in got.json()["sources"][0]["calls"]] == [
        (True, None), (True, None)]


@pytest.mark.parametrize("piece", [
    "{", "}", "(", "#if A\n", "#else\n", "#define A \\\n", "f() {\n}\n", "/* CUSHIM_HAS( */",
    "f(a = CUSHIM_HAS(cu, cuInit)", "static void f() { cu->cuCtxGetId(f); }\n",
    "a = CUSHIM_HAS(cu, cuInit); a;", "cuName ",
    "static f() { return CUSHIM_HAS(cu, cuCtxGetId); } g() { f() ? cu->cuCtxGetId() : 0; }\n",
    "if (!CUSHIM_HAS(cu, cuCtxGetId)) return; cu->cuCtxGetId();\n",
    "if (CUSHIM_HAS(cu, cuCtxGetId)) {", "if (CUSHIM_HAS(cu, cuCtxGetId)) x; else ",
    "CUSHIM_HAS(cu, cuCtxGetId) && ", "(CUSHIM_HAS(cu, cuCtxGetId) ? ", "a = b = ",
    "#if A\nCUSHIM_HAS(cu, cuCtxGetId) &&\n#endif\n",
    "case 1: if (!CUSHIM_HAS(cu, cuCtxGetId)) break; a: goto a;\n",
    "cushim_driver_version(cu) >= 12000 && cu->cuCtxGetId();",
    "#define A(x) CUSHIM_HAS(cu, x)\nA(cuCtxGetId) && ",
    "switch (CUSHIM_HAS(cu, cuCtxGetId)) { case 1: cu->cuCtxGetId(0, &id); } ",
    "[] { cu->cuCtxGetId(0, &id); }; CUSHIM_HAS(cu, cuCtxGetId);",
    "a(CUSHIM_HAS(cu, x)), ", "cu->cuCtxGetId(&a, &b); if (a) ", "int a = 5; ",
    "if (CUSHIM_HAS(cu, cuInit)) a = b; ", "f(a, &v, v); cu->cuCtxGetId(v, &v); ",
    "int f(int *a) {\n*a = CUSHIM_HAS(cu, cuInit); f(&b); if (b) b = 1;\n}\n",
    "r = cu->cuCtxGetId(0, 0); if (q == CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER) x; ",
    "namespace { void f() { } } "])
def test_large_files(tmp_path, piece):
    """A search that is not by size takes a minute for each, which is more than this test has."""
    size = 1 << 21 if os.environ["CUSHIM_SANITIZER"] == "none" else 1 << 19
    for head in ("", "int f(void) { "):
        text = head + piece * (size // len(piece)) + "\ncu->cuCtxGetId(0, &id);"
        (tmp_path / "a.c").write_text(text)
        assert run("scan", "--drivers", "9.0", tmp_path / "a.c").code in (OK, FAILED)


def test_sources_for_the_dropin(tmp_path):
    """They call the driver's own names, and need not name cushim."""
    (tmp_path / "a.c").write_text("#include <cuda.h>\n"
                                  "int f(void) { return cuMemAllocAsync(&p, 1, 0); }\n"
                                  "int g(void) { return cuMemAlloc(&p, 1); }\n")
    result = run("scan", "--drivers", "9.0", tmp_path)
    assert (result.code, result.out) == (
        OK, "nothing found that uses the CUDA driver: unknown, by the rule nothing-found; add "
        "--dropin, if it is linked with cushim's drop-in\n")
    result = run("scan", "--drivers", "9.0", "--dropin", tmp_path)
    assert result.code == FAILED
    assert f"{tmp_path}/a.c:2: no guard: cuMemAllocAsync came with" in result.out
    assert run("scan", "--drivers", "11.2", "--dropin", tmp_path).code == OK
