# SPDX-License-Identifier: MIT
"""`cushim scan` of sources: the calls through cushim's table, also where no run comes by."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from command import CLI, FAILED, INPUT, OK, ROOT, USAGE, registry, run
from scanning import build, scan

CODE = r"""
// cu->cuMemAllocAsync(1); and it's over \
   cu->cuMemFreeAsync(2)
/* cu->cuMemAllocAsync(
 */
#error don't
const char *text = "cu->cuMemAllocAsync(\"", c = '"';
int old(void) { return cu->cuInit(0); }
int never(void)
{
    if (CUSHIM_HAS(get(cu), cuCtxGetId))
        cu->cuCtxGetId(p, s);
    return 0 ? cu . cuMemAllocAsync /* here */
        (&p, 4, s) : cu->cuMemAlloc(&p, 1);
}
CUSHIM_HAS(cu, cuCtxCreate_v3); cu->cuCtxCreate(0); cu->cuCtxCreate_v4(0); other.cuNothing();
cuMemPrefetchAsync(0);
"""


@pytest.fixture(name="source")
def source_fixture(tmp_path):
    path = tmp_path / "shim.c"
    path.write_text(CODE)
    return path


def test_newer_without_a_question(source):
    result = run("scan", "--drivers", "9.0,12.4", source)
    assert (result.code, result.err) == (FAILED, "")
    assert result.out.splitlines() == [
        f"{source}:13: no guard: cuMemAllocAsync came with CUDA 11.2; put the call into "
        "if (CUSHIM_HAS(..., cuMemAllocAsync))",
        f"{source}:16: no guard: cuCtxCreate_v4 came with CUDA 12.5; put the call into "
        "if (CUSHIM_HAS(..., cuCtxCreate_v4))",
        f"{source}: calls through cushim's table: 6; newer than CUDA 9.0: 3, 1 of them "
        "guarded, 2 without guard; plain names are those of CUDA 12.0"]


NAMED = """
#include <cushim/cushim.h>
#define TRY(name, ...) check(cu->name(__VA_ARGS__), #name)
TRY(cuMemAllocAsync, &p, 1, s);
pointer = cu->cuLaunchKernelEx;
auto member = &cushim_api::cuGreenCtxCreate; // and no cuMemcpyBatchAsync
say("cuMemcpyBatchAsync");
"""


def test_names_beside_calls(tmp_path):
    """An argument of a macro, and a pointer, if one of the files names cushim."""
    (tmp_path / "a.cpp").write_text(NAMED)
    result = run("scan", "--drivers", "9.0", tmp_path / "a.cpp")
    assert result.code == FAILED
    assert re.findall(r":(\d+): no guard: (\w+) ", result.out) == [
        ("4", "cuMemAllocAsync"), ("5", "cuLaunchKernelEx"), ("6", "cuGreenCtxCreate")]
    (tmp_path / "b.cpp").write_text('#include "app.h"\nTRY(cuCtxGetId, context, &id);')
    assert run("scan", "--drivers", "9.0", tmp_path / "b.cpp").code == OK
    assert "b.cpp:2: no guard: cuCtxGetId " in run("scan", "--drivers", "9.0", tmp_path).out


REASONS = """#include <cushim/cushim.h>
int f(void) { return cu->cuMemAllocAsync(&p, 1, s); }
int g(void) { return CUSHIM_HAS(cu, cuCtxGetId) || a ? cu->cuCtxGetId(c, &id) : 0; }
int h(void) { if (!CUSHIM_HAS(cu, cuCtxGetId)) puts("none"); return cu->cuCtxGetId(c, &id); }
int i(void) { int r = cu->cuGraphCreate(&g, 0); return r || CUSHIM_HAS(cu, cuGraphCreate); }
int j(void) { if (CUSHIM_HAS(cu, cuMemAllocAsync)) return cu->cuCtxGetId(c, &id); return 0; }
int k(void) { return CUSHIM_HAS(cu, cuCtxGetId) && cu->cuCtxGetId(c, &id); }
void l(void) { cushim_require(cu, 0, (const char *[]){"cuGreenCtxCreate", NULL}); }
int m(void) { return cu->cuGreenCtxCreate(&green, 0, 0, 0); }
int n(void) { return cu->cuInit(0); }
int o(void) { return cu->cuMulticastCreate(&handle, &wanted); }
"""
PUT = "put the call into if (CUSHIM_HAS(..., "


def test_reasons(tmp_path):
    """In JSON the words that are printed, and a cure for each."""
    path = tmp_path / "a.c"
    path.write_text(REASONS)
    printed = run("scan", "--drivers", "9.0", path).out.splitlines()
    calls = scan("--drivers", "9.0", path, code=FAILED)["sources"][0]["calls"]
    found = {call["line"]: call for call in calls if call["verdict"] != "runs"}
    for (line, call), words in zip(found.items(), printed, strict=False):
        start = f"{path}:{line}: {call['verdict']}: {call['reason']}"
        end = words.removeprefix(start)
        assert words.startswith(start) and end in ("", f": {call['fix']}", f"; {call['fix']}")
    assert {line: call["fix"] for line, call in found.items()} == {
        2: "ask here, too, or begin a comment before the call with CUSHIM_HAS(...)",
        3: PUT + "cuCtxGetId))",
        4: "return there, or put the call into the branch", 5: PUT + "cuGraphCreate))",
        6: PUT + "cuCtxGetId))", 9: "leave if it is not CUSHIM_OK",
        11: PUT + "cuMulticastCreate))"}
    assert [call["verdict"] for call in calls if call["line"] in (7, 10)] == ["runs", "runs"]
    calls = scan(path)["sources"][0]["calls"]
    assert {(call["verdict"], call["reason"], call["fix"]) for call in calls} == {(None,) * 3}


def test_old_enough(source):
    assert run("scan", "--drivers", "12.5", source).code == OK
    assert run("scan", "--drivers", "12.4", source).code == FAILED


REQUIRED = """
static const char *const needed[] = {"cuCtxGetId", NULL};
int f(void) { return cushim_require(cu, 0, needed) || cu->cuCtxGetId(0, &id); }
int g(void) { return cushim_require(cu, 11020, NULL) || cu->cuMemAllocAsync(&p, 1, s); }
int h(void) { return cushim_require(cu, release) || cu->cuCtxGetDevice_v2(&device, 0); }
int i(void) { return check("cuGreenCtxCreate", cu->cuGreenCtxCreate(&green, 0, 0, 0)); }
"""


def test_what_is_required_is_there(tmp_path):
    """By name or by release."""
    (tmp_path / "a.c").write_text(REQUIRED)
    result = run("scan", "--drivers", "9.0", tmp_path / "a.c")
    assert result.code == FAILED
    assert re.findall(r":(\d+): no guard: (\w+) ", result.out) == [
        ("5", "cuCtxGetDevice_v2"), ("6", "cuGreenCtxCreate")]


def test_asked_elsewhere(tmp_path):
    """A comment says so; a release has a name; the two files to copy are cushim itself."""
    (tmp_path / "a.c").write_text("""/* CUSHIM_HAS(cu, cuMemAllocAsync): main.c asks. */
#define NEEDED 11040
int f(void) { return cushim_require(cu, NEEDED, NULL); }
int g(void) { return cu->cuMemAllocAsync(&p, 1, s) || cu->cuGraphAddMemAllocNode(0, 0, 0, 0, 0); }
int h(void) { return cu->cuGreenCtxCreate(&green, 0, 0, 0); } // no CUSHIM_HAS
""")
    vendor = [sys.executable, ROOT / "gen/vendor.py", tmp_path / "cushim", "cuMemAllocAsync"]
    subprocess.run(vendor, check=True, capture_output=True)
    result = run("scan", "--drivers", "9.0", tmp_path / "a.c", tmp_path / "cushim/cushim.c")
    assert result.code == FAILED
    assert re.findall(r":(\d+): no guard: (\w+) ", result.out) == [("5", "cuGreenCtxCreate")]
    assert "cushim.c" not in run("scan", "--drivers", "9.0", tmp_path).out


PROGRAM = {
    "main.c": """#include "run.h"
#define NEEDED 11020
static const char *const names[] = {"cuGraphAddMemAllocNode", "cuGreenCtxCreate"};
static const char *const needed[] = {"cuCtxGetId", NULL};
static int main_of_others(void) { main(); return main(); }
int main(int count, char **words)
{
    if (cushim_require(cushim_load(NULL), NEEDED, &needed[0]) != CUSHIM_OK)
        return 77;
    return run(words);
}
""",
    "run.cc": """int run(char **words)
{
    return cu->cuMemAllocAsync(&p, 1, s) || cu->cuCtxGetId(0, &id)
        || cu->cuGreenCtxCreate(&green, 0, 0, 0);
}
"""}


def write_program(folder, **more):
    folder.mkdir()
    for name, text in {**PROGRAM, **more}.items():
        (folder / name).write_text(text)
    return folder


def test_required_by_the_program(tmp_path):
    """In any of its files, which the output names."""
    folder = write_program(tmp_path / "src")
    result = run("scan", "--drivers", "9.0", folder)
    assert (result.code, result.err) == (FAILED, "")
    assert result.out.replace(f"{folder}/", "").splitlines() == [
        "run.cc:4: no guard: cuGreenCtxCreate came with CUDA 12.4; put the call into "
        "if (CUSHIM_HAS(..., cuGreenCtxCreate))",
        "run.cc: calls through cushim's table: 3; newer than CUDA 9.0: 3, 2 of them "
        "guarded, 1 without guard; plain names are those of CUDA 12.0",
        "all 2 sources: calls through cushim's table: 3; newer than CUDA 9.0: 3, 2 of them "
        "guarded, 1 without guard"]
    calls = scan("--drivers", "9.0", folder, code=FAILED)["sources"][0]["calls"]
    assert [(call["guarded"], call["required"]) for call in calls] == [
        (True, f"{folder}/main.c:8"), (True, f"{folder}/main.c:8"), (False, None)]
    assert run("scan", "--drivers", "9.0", folder / "run.cc").out.count("no guard") == 3


def test_required_by_one_of_two_programs(tmp_path):
    """Nobody knows which of them the other files belong to."""
    folder = write_program(tmp_path / "src", **{"tool.c": "int main(void) { return run(0); }"})
    result = run("scan", "--drivers", "9.0", folder)
    assert result.code == FAILED and result.out.count("no guard") == 1
    assert result.out.count("some of its callers ask, and some do not") == 2
    assert "main.c:8: this cushim_require counts for its own file alone: 2 files have a main()" \
        in result.out
    text = ("__attribute__((constructor)) static void start(void)\n"
            "{ if (cushim_require(cu, 12040, NULL)) exit(1); }\n")
    (folder / "start.c").write_text(text)
    result = run("scan", "--drivers", "9.0", folder)
    assert result.code == OK and f", 3 required in {folder}/start.c:2;" in result.out


@pytest.mark.parametrize("body, words", [
    ("cushim_require(cu, 11020, NULL);", "not used"),
    ("init();\n(void)cushim_require(cu, 11020, NULL);", "not used"),
    ("if (a) cushim_require(cu, 11020, NULL);", "not used"),
    ("if (a) b(); else cushim_require(cu, 11020, NULL) ;", "not used"),
    ("if (cushim_require(cu, 11020, NULL) == CUSHIM_OK) return 77;", "used inverted"),
    ("if (!cushim_require(cu, 11020, NULL)) { puts(\"old\"); return 1; }", "used inverted"),
    ("if (cushim_require(cu, 11020, NULL) == CUSHIM_OK)\nexit(1);", "used inverted"),
    ("if (cushim_require(cu, 11020, NULL) == CUSHIM_OK) throw old();", "used inverted"),
    ("if (cushim_require(cu, 11020, NULL) != CUSHIM_OK) return 77;", None),
    ("if (cushim_require(cu, 11020, NULL)) { puts(\"old\"); return 1; }", None),
    ("int r = cushim_require(cu, 11020, NULL); if (r) return 77;", None),
    ("int r = (int)cushim_require(cu, 11020, NULL); if (r) return 77;", None),
    ("check(cushim_require(cu, 11020, NULL));", None)])
def test_result_that_is_not_used(tmp_path, body, words):
    """Such a call requires nothing."""
    path = tmp_path / "a.c"
    path.write_text(f"int main(void) {{\n{body}\nreturn cu->cuMemAllocAsync(&p, 1, s); }}\n")
    got = run("scan", "--drivers", "9.0", path)
    found = re.findall(r": no guard: .*; cushim_require in (.*) has it, and its result is (.*): "
                       "leave if it is not CUSHIM_OK\n", got.out)
    line = body[:body.find("cushim_req")].count("\n") + 2
    assert found == ([(f"{path}:{line}", words)] if words else [])
    assert got.code == (FAILED if words else OK)


REQUIRE = "cushim_require(cu, 11020, needed)"
STAYS = "and nothing shows that the program leaves if it is not CUSHIM_OK: return there"
INVERTED = "the guard of line 3 is inverted: it leads here without the entry"


@pytest.mark.parametrize("body, words", [
    (f"if ({REQUIRE} != CUSHIM_OK)\nputs(\"old\");\nCALL",
     "unknown: the branch of line 3 ends in line 4 without leaving: return there, or put the call "
     "into the branch"),
    (f"if ({REQUIRE} == CUSHIM_OK) return g(); CALL", f"no guard: {INVERTED}"),
    (f"if (!{REQUIRE}) {{ a(); return g(); }} CALL", f"no guard: {INVERTED}"),
    (f"if ({REQUIRE} == CUSHIM_OK) exit(0); CALL", f"no guard: {INVERTED}"),
    (f"if ({REQUIRE} == CUSHIM_OK) a(); else CALL",
     "no guard: the call is in the else of line 3, which has no such entry"),
    (f"if ({REQUIRE} == CUSHIM_OK || force) CALL",
     "unknown: the guard of line 3 is joined by ||: the call is reached without it"),
    (f"CALL\nif ({REQUIRE} != CUSHIM_OK) return 1;",
     "no guard: cushim_require in PATH:4 has it, and does not decide whether the call is reached: "
     "require it before"),
    (f"int r = {REQUIRE}; CALL return r;",
     "unknown: the guard of line 3 is in no form that is understood: put the call into its if"),
    (f"printf(\"%d\", {REQUIRE}); CALL",
     "unknown: the guard of line 3 is an argument of what may go on without it: put the call into "
     "an if"),
    (f"if ({REQUIRE} == CUSHIM_OK) CALL", None), (f"if (!{REQUIRE}) {{ CALL }}", None),
    (f"const bool ok = !{REQUIRE}; if (ok) CALL", None),
    (f"if (a || {REQUIRE}) goto out; CALL out: return 1;", None),
    (f"CUSHIM_TRY({REQUIRE}); CALL", None), (f"assert({REQUIRE} == CUSHIM_OK); CALL", None)])
def test_require_in_the_function_of_the_call(tmp_path, body, words):
    """It guards as CUSHIM_HAS does, its release as each entry of its list."""
    path = tmp_path / "a.c"
    for entry in ("cuMemAllocAsync", "cuGreenCtxCreate"):
        path.write_text('static const char *const needed[] = {"cuGreenCtxCreate", NULL};\n'
                        "int main(void) {\n" + body.replace("CALL", f"cu->{entry}(a);") + " }\n")
        found = re.findall(r":\d+: (.*): \w+ came .*?; (.*)\n", run("scan", "--drivers", "9.0",
                                                                   path).out)
        expected = [tuple(words.replace("PATH", str(path)).split(": ", 1))] if words else []
        if entry == "cuMemAllocAsync" or "CALL\n" not in body:
            assert found == expected


@pytest.mark.parametrize("text, words", [
    ("int main(void) { if (REQUIRE) puts(last); return f(); }", STAYS),
    ("int main(void) { if (REQUIRE == CUSHIM_OK) f(); else puts(last); }", None),
    ("static bool has; void init(void) { has = REQUIRE == CUSHIM_OK; }\n"
     "int main(void) { init(); f(); return has; }", STAYS),
    ("int start(void) { return REQUIRE; }\nint main(void) { start(); return f(); }", STAYS),
    ("int start(void) { if (REQUIRE) return 1; return 0; }\nint main(void) { return f(); }",
     "and is in a function that nothing calls"),
    ("int start(void) { return REQUIRE; }\n"
     "int main(void) { if (start()) return 1; return f(); }", None),
    ("static bool has; void init(void) { has = REQUIRE == CUSHIM_OK; }\n"
     "int main(void) { init(); if (!has) return 1; f(); }", None),
    ("int main(void) { if (REQUIRE == CUSHIM_OK) return f(); return 1; }", None),
    ("int start(void) { if (REQUIRE) return 1; return 0; }", None)])
def test_require_in_another_file(tmp_path, text, words):
    """It counts if the program leaves, or may: a library does not show who calls it."""
    (tmp_path / "f.c").write_text("int f(void) { return cu->cuMemAllocAsync(a); }\n")
    (tmp_path / "start.c").write_text(text.replace("REQUIRE", REQUIRE))
    got = run("scan", "--drivers", "9.0", tmp_path)
    assert got.code == OK
    found = re.findall(r"f.c:1: unknown: .*; cushim_require in (.*):1 has it, (.*)\n", got.out)
    assert found == ([(str(tmp_path / "start.c"), words)] if words else [])


@pytest.mark.parametrize("call,good", [
    ("cushim_require(cu, 0, (const char *const[]){\"cuInit\", \"cuCtxGetId\", NULL})", True),
    ("cushim_require(cu, (12000), NULL)", True), ("cushim_require(cu, 11080, names)", False),
    ("cushim_require(cu, CUSHIM_CUDA_VERSION, nullptr)", True),
    ("cushim_require(cu, LEVEL, other)", False), ("cushim_require(cu", False)])
def test_what_a_call_requires(tmp_path, call, good):
    """A list of the file counts only if the call takes it."""
    (tmp_path / "a.c").write_text(
        f"int f(void) {{ return {call}; }}\nstatic const char *const other[2] = {{\"cuInit\"}},\n"
        "    *const shown[] = {\"cuCtxGetId\"};\nint g(void) { return cu->cuCtxGetId(0, &id); }")
    assert run("scan", "--drivers", "9.0", tmp_path / "a.c").code == (OK if good else FAILED)


def test_defined_by_the_compiler(tmp_path):
    """--define is the compiler's -D."""
    (tmp_path / "a.c").write_text("#ifndef CUSHIM_CUDA_VERSION\n#define CUSHIM_CUDA_VERSION 11080\n"
                                  "int f(void) { return cu->cuCtxCreate(&context, 0, 0, 0); }\n"
                                  "int g(void) { return cushim_require(cu, OLDEST, NULL); }\n")
    scanned = ["scan", "--drivers", "12.4", tmp_path / "a.c"]
    assert run(*scanned).code == OK
    result = run(*scanned, "--define", "CUSHIM_CUDA_VERSION=13000")
    assert result.code == FAILED and "cuCtxCreate_v4 came with CUDA 12.5" in result.out
    assert run(*scanned, "--define", "CUSHIM_CUDA_VERSION=13000", "--define", "OLDEST=12050",
               "--define", "OLD=1").code == OK
    for wrong in ("CUSHIM_CUDA_VERSION", "CUSHIM_CUDA_VERSION=99", "X=", "=", "=1", "X=y", "X=1y"):
        result = run(*scanned, f"--define={wrong}")
        assert result.code == USAGE and "--define" in result.err


def test_one_guard_for_a_release(tmp_path):
    """A driver with one entry of a release has all of it, but for two. One with a newer entry says
    nothing about what is called instead."""
    (tmp_path / "a.c").write_text("""int f(void)
{
    if (!CUSHIM_HAS(cu, cuGraphCreate)) /* 10.0 */
        return 77;
    cu->cuGraphLaunch(exec, stream);
    cu->cuGraphDestroy(graph);
    cu->cuDeviceGetLuid(luid, &mask, device);
    cu->cuVDPAUGetDevice(&device, 0, 0);
    cu->cuThreadExchangeStreamCaptureMode(&mode);
    if (CUSHIM_HAS(cu, cuCtxCreate_v4))
        return cu->cuCtxCreate_v4(&context, 0, 0, 0);
    return cu->cuCtxCreate_v3(&context, 0, 0, 0, 0);
}
""")
    calls = scan("--drivers", "9.0", tmp_path / "a.c", code=FAILED)["sources"][0]["calls"]
    assert [call["symbol"] for call in calls if call["newer"] and not call["guarded"]] == [
        "cuDeviceGetLuid", "cuThreadExchangeStreamCaptureMode", "cuCtxCreate_v3"]


@pytest.mark.parametrize("file", sorted((ROOT / "docs/measured").glob("*.json")),
                         ids=lambda file: file.stem)
def test_a_driver_has_all_of_its_releases(file):
    """What the guard of a release takes for granted, on the drivers that were measured."""
    measured = json.loads(file.read_text(encoding="utf-8"))
    here = {row["symbol"] for row in registry() if row.get("platform", "linux") == "linux"
            and row["since"] <= measured["driver"]["version"]}
    assert here - set(measured["symbols"]) <= {"cuDeviceGetLuid", "cuEventCreateFromEGLSync"}


def test_own_sources():
    """What this project shows and ships passes its own check, each program for itself. One example
    calls what is not there, to show what that returns."""
    for file in [*sorted((ROOT / "docs/examples").rglob("*.c*")), *sorted(ROOT.glob("kernels/*.c")),
                 *sorted(ROOT.glob("docs/examples/languages/*.h")),
                 *sorted(ROOT.glob("src/helpers/*.c"))]:
        result = run("scan", "--drivers", "9.0", file)
        inverted = file.name == "entry_versions.c"
        assert (result.code, result.err) == (FAILED if inverted else OK, ""), result.out
        assert (result.out.count("no guard: ") == 1) == inverted


@pytest.mark.parametrize("name", [
    "a.C", "a.CPP", "a.c++", "a.inc", "a.inl", "a.ipp", "a.tpp", "a.tcc", "a.ixx", "a.cppm", "a.H",
    "a.hh", "a.hpp", "a.cuh", "a.cu", "a.h.in", "a.cpp.in", "a.def"])
def test_suffixes(tmp_path, name):
    (tmp_path / name).write_text("cu->cuCtxGetId(0, &id);")
    assert "cuCtxGetId came with" in run("scan", "--drivers", "9.0", tmp_path / name).out


def test_what_was_passed_over(tmp_path, source):
    """A suffix that is no source's here may be one there."""
    for name in ("README", "a.swift", "b.swift", "c.md", f"d.{30 * 'x'}"):
        (source.parent / name).write_text("x")
    assert run("scan", tmp_path).out.splitlines()[-1] == (
        "not read: 5 files that are neither program nor C or C++ source: .md, .swift")
    assert scan(tmp_path)["other"] == 5
    source.unlink()
    assert "not read" not in run("scan", tmp_path).out


def test_helpers_alone(tmp_path):
    """A source that calls nothing newer is right, also if it is owners and helpers alone."""
    path = tmp_path / "a.cpp"
    path.write_text("#include <cushim/cushim.hpp>\ncushim::device gpu(0);\n")
    result = run("scan", "--strict", "--drivers", "9.0", path)
    assert (result.code, result.out) == (
        OK, f"{path}: no call through cushim's table; its helpers and owners need no guard\n")


def test_nothing_found(tmp_path):
    """One rule: no call, in a file or in a folder, is not known."""
    (tmp_path / "a.c").write_text("int a;")
    for place in (tmp_path, tmp_path / "a.c"):
        for strict, code in ([], OK), (["--strict"], FAILED):
            result = run("scan", *strict, "--drivers", "9.0", place)
            assert result.code == code
            assert "nothing found that uses the CUDA driver: unknown, by the rule nothing-found" \
                in result.out


@pytest.mark.parametrize("text", [
    b'"%" PRIuPTR"(" x); cu->cuCtxGetId(0, &id);', b"#define HAS CUSHIM_HAS(cu,\n;%s", b"\0)]}%s",
    b'R"no raw string";%s', b"// \\\r\n cu->cuGreenCtxCreate()\r\n%s", b"({[%s", b"]}){{ %s"])
def test_hostile_text(tmp_path, text):
    """A NUL, CRLF, brackets that match nothing, and macros whose ends look like marks."""
    path = tmp_path / "a.c"
    path.write_bytes(text.replace(b"%s", b"\ncu->cuCtxGetId(0, &id);\n"))
    answer = scan("--drivers", "9.0", path, code=FAILED)
    assert [call["symbol"] for call in answer["sources"][0]["calls"]] == ["cuCtxGetId"]


def test_long_and_wide(tmp_path):
    """A list's name with a NUL is none; a deep or long file ends; UTF-16 is told, and not read."""
    path = tmp_path / "a.c"
    names = '"cuCtxGetId\0' + 600 * "x" + '",'
    path.write_text(f"int f(void) {{ return cushim_require(cu, 0, n) || cu->cuCtxGetId(0, 0); }}"
                    f"n[] = {{{names}}};" + 100000 * "{[(" + 100000 * "]{" +
                    50000 * "cushim_require(" + 50000 * "CUSHIM_HAS(")
    assert run("scan", "--drivers", "9.0", path).code == FAILED
    path.write_text("cu->cuCtxGetId(0, &id);", encoding="utf-16")
    result = run("scan", "--drivers", "9.0", path)
    assert (result.code, result.err) == (
        INPUT, f"cushim scan: {path}: UTF-16, which is not read: convert it to UTF-8\n")


def test_all_together(tmp_path, source):
    """Of several sources those in which nothing is newer have no line."""
    (tmp_path / "old.c").write_text("cu->cuInit(0);")
    result = run("scan", "--drivers", "9.0", tmp_path)
    assert "old.c" not in result.out and f"\n{source}: calls through" in result.out
    assert result.out.splitlines()[-1] == (
        "all 2 sources: calls through cushim's table: 7; newer than CUDA 9.0: 3, 1 of them "
        "guarded, 2 without guard")


def test_release_of_plain_names(tmp_path):
    """A source may choose another than 12.0."""
    code = "int f(void) { return cu->cuCtxCreate(&context, 0, 0, 0); }\n"
    (tmp_path / "a.c").write_text(code)
    assert run("scan", "--drivers", "12.4", tmp_path / "a.c").code == OK
    (tmp_path / "a.c").write_text("#define CUSHIM_CUDA_VERSION 13000\n" + code)
    result = run("scan", "--drivers", "12.4", tmp_path / "a.c")
    assert result.code == FAILED and "cuCtxCreate_v4 came with CUDA 12.5" in result.out


def test_list_without_drivers(source):
    result = run("scan", source)
    assert result.code == OK
    assert [re.sub(".*/", "", line) for line in result.out.splitlines()] == [
        "shim.c:8: cuInit came with CUDA 2.0", "shim.c:12: cuCtxGetId came with CUDA 12.0",
        "shim.c:13: cuMemAllocAsync came with CUDA 11.2",
        "shim.c:14: cuMemAlloc_v2 came with CUDA 3.2",
        "shim.c:16: cuCtxCreate_v2 came with CUDA 3.2",
        "shim.c:16: cuCtxCreate_v4 came with CUDA 12.5"]


def test_json(source):
    answer = scan("--drivers", "9.0", source, code=FAILED)
    assert answer["files"] == [] and answer["problems"] == []
    calls = answer["sources"][0]["calls"]
    assert [(call["line"], call["symbol"]) for call in calls
            if call["newer"] and not call["guarded"]] == [(13, "cuMemAllocAsync"),
                                                          (16, "cuCtxCreate_v4")]
    assert calls[1] == {"line": 12, "symbol": "cuCtxGetId", "since": 12000, "newer": True,
                        "guarded": True, "required": None, "asked": None, "verdict": "runs",
                        "reason": None, "fix": None}


def test_question_by_name_and_raw_strings(tmp_path):
    path = tmp_path / "a.cpp"
    path.write_text('auto s = R"x(" cu->cuMemAllocAsync( )x"; int n = 1\'000;\n'
                    'if (cushim_has(cu, "cuMemAllocAsync")) cu->cuMemAllocAsync(0);\n')
    answer = scan("--drivers", "9.0", path)
    assert [(call["line"], call["guarded"]) for call in answer["sources"][0]["calls"]] == \
        [(2, True)]


@pytest.mark.parametrize("text", ["", "int a;", "R", 'R"', 'R"x(', "/*", '"', "'\\", "//", "cu->",
                                  "CUSHIM_HAS(", "CUSHIM_HAS(((", "\0", "-", "cu->cuIni",
                                  'R"' + 40 * "x", 'cu->R"('])
def test_no_call(tmp_path, text):
    path = tmp_path / "a.hpp"
    path.write_text(text)
    result = run("scan", "--drivers", "9.0", path)
    assert (result.code, result.out) == (
        OK, f"{path}: no call through cushim's table\n"
        "nothing found that uses the CUDA driver: unknown, by the rule nothing-found\n")


def test_folder(tmp_path, source):
    (tmp_path / "other.c").write_text("int a;")
    result = run("scan", "--drivers", "9.0", tmp_path)
    assert result.code == FAILED and "other.c" not in result.out and str(source) in result.out


@pytest.mark.parametrize("text, options", [
    ('const char *const names[] = {"libcuda.so.1", "CUSHIM_LIBCUDA"};\n'
     "int main(int count, char **words) { return names[count][0]; }", []),
    ("int cuMemAllocAsync(); int f() { return cuMemAllocAsync(); }", ["-c"])])
def test_beside_a_program(tmp_path, text, options):
    """The output says that sources alone show guards, where this leaves a verdict open."""
    words = ("programs and objects show no guards: to judge by those of the sources, scan the "
             "sources alone\n")
    path, program = tmp_path / "a.c", build(tmp_path, text, *options)
    path.write_text("int f() { return CUSHIM_HAS(cu, cuMemAllocAsync) && "
                    "cu->cuMemAllocAsync(&p, 1, s); }\n")
    result = run("scan", "--strict", "--drivers", "9.0", tmp_path)
    assert result.code == FAILED and result.out.endswith(words)
    result = run("scan", "--strict", "--drivers", "9.0", path)
    assert result.code == OK and words not in result.out
    for driver, scanned in (("9.0", program), ("13.5", tmp_path)):
        assert words not in run("scan", "--drivers", driver, scanned).out


def test_for_other_programs(tmp_path, source):
    """Each finding has its file and line."""
    words = [word for name in ("junit", "markdown", "sarif") for word in
             (f"--{name}", tmp_path / name)]
    result = run("scan", "--drivers", "9.0,12.4", "--github", *words, source)
    assert (result.code, result.err) == (FAILED, "")
    lines = [line for line in result.out.splitlines() if line.startswith("::")]
    assert lines == [f"::error file={source},line={line},title=unguarded-call::no guard: {name} "
                     f"came with CUDA {release}; put the call into if (CUSHIM_HAS(..., {name}))"
                     for line, name, release in ((13, "cuMemAllocAsync", "11.2"),
                                                 (16, "cuCtxCreate_v4", "12.5"))]
    suite = ElementTree.parse(tmp_path / "junit").getroot()
    assert (suite.get("tests"), suite.get("failures")) == ("2", "2")
    assert suite[1].get("name") == f"{source}:16"
    row = (tmp_path / "markdown").read_text().splitlines()[2]
    assert row.startswith(f"| {source} | 13 | no guard: cuMemAllocAsync came with ")
    answer = json.loads((tmp_path / "sarif").read_text())["runs"][0]
    assert answer["tool"]["driver"]["rules"] == [{
        "id": "unguarded-call", "shortDescription": {
            "text": "A call of an entry that the oldest driver lacks has no guard: put it into "
                    "if (CUSHIM_HAS(...))"}}]
    assert [one["locations"][0]["physicalLocation"]["region"] for one in answer["results"]] == [
        {"startLine": 13}, {"startLine": 16}]


def test_for_other_programs_without_a_finding(tmp_path, source):
    result = run("scan", "--drivers", "12.5", "--sarif", tmp_path / "x", source)
    assert result.code == OK
    assert json.loads((tmp_path / "x").read_text())["runs"][0]["results"] == []


def test_object_that_uses_the_table(tmp_path):
    if not shutil.which("cc"):
        pytest.skip("no C compiler")
    (tmp_path / "a.c").write_text("void *cushim_connect_(void *, long, int);\n"
                                  "void *f(void) { return cushim_connect_(0, 8, 0); }\n")
    subprocess.run(["cc", "-c", "a.c"], cwd=tmp_path, check=True)
    result = run("scan", tmp_path / "a.o")
    assert result.code == OK and result.out.splitlines()[0].endswith(
        ": uses cushim's table, whose calls a file does not show; give its sources to scan")


def test_plain_names_mean_what_the_headers_mean(tmp_path):
    """Of each name of cuda.h, the function that a compiler finds without CUSHIM_CUDA_VERSION."""
    generated = Path(shutil.which(CLI) or ".").resolve().parents[1] / "gen"
    if not shutil.which("cc") or not (generated / "cushim" / "cuda_names.h").is_file():
        pytest.skip("no C compiler, or an installed command")
    names = sorted({row["name"] for row in registry() if row["header"] == "cuda.h"})
    source = tmp_path / "names.c"
    source.write_text("#include <cushim/cushim.h>\n" + "".join(f"@ {name}\n" for name in names))
    text = subprocess.run(["cc", "-E", f"-I{ROOT}/include", f"-I{generated}", source],
                          capture_output=True, text=True, check=True).stdout
    source.write_text("".join(f"cu->{name}();\n" for name in names))
    assert [call["symbol"] for call in scan(source)["sources"][0]["calls"]] == \
        re.findall("^@ (.*)$", text, re.M)
