# SPDX-License-Identifier: MIT
"""`cushim matrix` and `cushim sim` name the line of the program that made a call."""

import os
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as xml
from pathlib import Path

import pytest
from command import FAILED, OK, ROOT, run, run_on_terminal
from simulated import matrix, nothing_is_left  # noqa: F401

BUILD = Path(os.environ["CUSHIM_SIM_FOLDER"]).parents[1]
# What each mode does wrong is on the line with its name in a comment.
BEGIN = """
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cushim/cushim.h>
static const char ptx[] = ".version 6.0\\n.target sm_30\\n.address_size 64\\n"
    ".visible .entry k()\\n{\\n.reg .u64 %r;\\nmov.u64 %r, 16;\\nst.global.u32 [%r], 1;\\nret;\\n}";
"""
MAIN = """
int main(int count, char **words)
{
    const char *mode = words[1];
    if (strcmp(mode, "fork") == 0) {
        int status;
        if (fork() > 0)
            return wait(&status) < 0;
        mode = "leak";
    }
    return try_mode(mode);
}
"""
C = BEGIN + """
static CUresult allocate(const struct cushim_api *cu, CUdeviceptr *memory)
{
    CUresult code = cu->cuMemAlloc_v2(memory, 65536); /* leak */
    return code;
}
static int try_mode(const char *mode)
{
    const struct cushim_api *cu = cushim_load(NULL);
    CUdeviceptr memory = 0;
    CUcontext context = NULL;
    CUmodule module;
    CUfunction function;
    int code = 0;
    cushim_init(cu);
    if (cu->cuCtxCreate_v2(&context, 0, 0) != CUDA_SUCCESS)
        return 3;
    allocate(cu, &memory);
    if (strcmp(mode, "leak") != 0)
        cu->cuMemFree_v2(memory);
    if (strcmp(mode, "free") == 0)
        cu->cuMemFree_v2(memory); /* free */
    if (strcmp(mode, "lacks") == 0)
        cu->cuMemAllocAsync(&memory, 16, NULL); /* lacks */
    if (strcmp(mode, "ignores") == 0)
        cu->cuMemsetD8Async(0, 0, 0, NULL); /* ignores */
    if (strcmp(mode, "launch") == 0) {
        cu->cuModuleLoadData(&module, ptx);
        cu->cuModuleGetFunction(&function, module, "k");
        cu->cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL); /* launch */
        code = cu->cuCtxSynchronize();
    }
    cu->cuCtxDestroy_v2(context);
    return code != 0;
}
""" + MAIN
DRIVER = C.replace("cu->", "").replace("const struct cushim_api *cu = cushim_load(NULL);", "") \
    .replace("cushim_init(cu)", "cuInit(0)").replace("const struct cushim_api *cu, ", "") \
    .replace("allocate(cu, ", "allocate(").replace("cushim/cushim.h", "cushim/cuda.h")
CXX = BEGIN + """
#include <cushim/cushim.hpp>
#include <memory>
static std::unique_ptr<cushim::unique_memory<char>> allocate(const cushim::unique_device &gpu)
{
    return std::make_unique<cushim::unique_memory<char>>(gpu, 65536); /* leak */
}
static void put(cushim::unique_stream &stream, const cushim::unique_module &code)
{
    auto kernel = code.function("k");
    auto shape = cushim_launch_1d(1, 1, nullptr);
    stream.launch(kernel, shape); /* launch */
}
static int try_mode(const char *mode)
{
    try {
        const struct cushim_api *cu = cushim_load(nullptr);
        cushim_init(cu);
        cushim::unique_device gpu(cu);
        cushim::unique_stream stream(gpu);
        auto memory = allocate(gpu);
        CUdeviceptr plain = memory->get();
        if (strcmp(mode, "leak") == 0)
            memory->release();
        if (strcmp(mode, "free") == 0) {
            memory.reset();
            cu->cuMemFree_v2(plain); /* free */
        }
        if (strcmp(mode, "lacks") == 0)
            cu->cuMemAllocAsync(&plain, 16, nullptr); /* lacks */
        if (strcmp(mode, "ignores") == 0)
            cu->cuMemsetD8Async(0, 0, 0, nullptr); /* ignores */
        if (strcmp(mode, "launch") == 0) {
            cushim::unique_module code(gpu, ptx, sizeof ptx);
            put(stream, code);
            stream.synchronize();
        }
        return 0;
    } catch (const std::exception &) {
        return 1;
    }
}
""" + MAIN
MODES = {"leak": "allocate", "fork": "allocate", "free": "try_mode", "lacks": "try_mode",
         "ignores": "try_mode", "launch": "try_mode"}
EACH = ("--cuda", "9.0", "--strict", "--check")


def build(folder, text, *flags, name="a.c", link=("STATIC",)):
    """The program `a`, with its source beside it."""
    (folder / name).write_text(text)
    compiler = ["c++", "-std=c++14"] if name.endswith("cpp") else ["cc"]
    subprocess.run([*compiler, "-w", *flags, "-I", ROOT / "include", "-I", BUILD / "gen", "-o",
                    "a", name, *(os.environ.get(f"CUSHIM_{word}", word) for word in link), "-ldl",
                    "-lpthread"], check=True, cwd=folder)


def place(text, mode, name="a.c", function=None):
    """"a.c:42 (f)" of the line that a mode does wrong."""
    mark = f"/* {'leak' if mode == 'fork' else mode} */"
    line, = (i for i, words in enumerate(text.splitlines(), 1) if mark in words)
    return f"{name}:{line} ({function or MODES[mode]})"


def options(mode):
    """Under which the fault of a mode is found."""
    if mode == "ignores":
        return (*EACH, "--fault", "cuMemsetD8Async:error=UNKNOWN", "--")
    return (*EACH, "--")


pytestmark = pytest.mark.skipif("CUSHIM_STATIC" not in os.environ,
                                reason="a plain program cannot open a driver with sanitizers")


@pytest.fixture(name="here")
def here_fixture(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def places(expected):
    for mode, wanted in expected.items():
        one, = matrix(*options(mode), "./a", mode, code=FAILED)
        assert one["place"] == wanted, (mode, one)


def test_each_report(here):
    build(here, C, "-g")
    for mode in MODES:
        words, wanted = (*options(mode), "./a", mode), place(C, mode)
        out = run("matrix", "--github", "--junit", "x", "--markdown", "m", *words).rows
        annotation, row, *_ = out.splitlines()
        assert f" at {wanted}" in row
        path, line = wanted.split(" ")[0].split(":")
        assert annotation.startswith(f"::error file={path},line={line},title=")
        assert f" at {wanted}" in Path("x").read_text()
        table = Path("m").read_text().replace("\\", "") # once, in its column
        assert table.count(wanted) == 1 and f" | {wanted} |" in table


@pytest.mark.parametrize("flag", ["-O0", "-O2"])
def test_c(here, flag):
    # At -O2 functions are inlined, and addr2line tells of which.
    build(here, C, "-g", flag)
    places({mode: place(C, mode) for mode in MODES})


def test_linked_to_the_driver(here):
    shutil.copy(Path(os.environ["CUSHIM_SIM_FOLDER"]) / "libcuda-sim-13.5.so", "libcuda.so.1")
    build(here, DRIVER, "-g", link=("./libcuda.so.1",))
    os.remove("libcuda.so.1")
    places({mode: place(DRIVER, mode) for mode in MODES if mode != "lacks"})
    build(here, DRIVER, "-g", "-no-pie", link=("DROPIN", "STATIC"))
    places({mode: place(DRIVER, mode) for mode in MODES})


def test_a_wrong_abi(here):
    shutil.copy(Path(os.environ["CUSHIM_SIM_FOLDER"]) / "libcuda-sim-13.5.so", "libcuda.so.1")
    build(here, """#include <cushim/cuda.h>
        #undef cuMemAlloc
        CUresult cuMemAlloc(unsigned *memory, unsigned bytes);
        int main(void)
        {
            unsigned memory;
            return cuInit(0) || cuMemAlloc(&memory, 16);
        }""", "-g", link=("./libcuda.so.1",))
    os.remove("libcuda.so.1")
    words = ("--cuda", "12.4", "--fault", "wrong-abi", "--", "./a")
    one, = matrix(*words, code=FAILED)
    assert (one["result"], one["place"]) == ("crashes", "a.c:7 (main)")
    told = "; wrong ABI called at a.c:7 (main): the symbol cuMemAlloc "
    assert told in run("matrix", *words).rows


@pytest.mark.parametrize("flag", ["-O0", "-O2"])
def test_owners_of_cxx(here, flag):
    build(here, CXX, "-g", flag, name="a.cpp")
    expected = {mode: place(CXX, mode, "a.cpp") for mode in MODES}
    places(expected | {"launch": place(CXX, "launch", "a.cpp", "put")})


@pytest.mark.parametrize("flag", ["-O0", "-O2"])
def test_a_wait_of_an_owner(here, flag):
    """A destructor of cushim.hpp has nobody to tell of a failure; what is called does."""
    text = """#include <cushim/cushim.hpp>
        int main()
        {
            const struct cushim_api *cu = cushim_load(nullptr);
            if (cushim_init(cu) != CUSHIM_OK)
                return 77;
            try {
                cushim::unique_device gpu(cu);
                cushim::unique_stream stream(gpu);
                cushim::unique_memory<int> memory(gpu, 16);
                stream.fill(memory, 7);
                RESET
            } catch (const cushim::call_error &) {
                return 1;
            }
            return 0;
        }"""
    for reset, code in ("", OK), ("(void)stream.try_synchronize();", FAILED):
        build(here, text.replace("RESET", reset), "-g", flag, name="a.cpp")
        runs = matrix("--gate", "--cuda", "12.4", "--", "./a", code=code)
        assert {one["place"] for one in runs if one["result"] == "fails"} == (
            {"a.cpp:12 (main)"} if reset else set())


def test_a_refusal_in_a_class(here):
    """It stands in the program's line, and not in cushim.hpp."""
    build(here, """#include <cushim/cushim.hpp>
        int main()
        {
            const struct cushim_api *cu = cushim_load(nullptr);
            cushim::unique_device gpu(cu);
            cushim::unique_stream stream(gpu);
            cushim::unique_memory<int> memory(gpu, 16);
            try {
                stream.launch(nullptr, cushim_launch_1d(16, 0, nullptr), memory, 1u);
            } catch (const cushim::call_error &) {
            }
            return 0;
        }""", "-g", "-O0", name="a.cpp")
    one, = matrix("--strict", "--cuda", "12.4", "--", "./a", code=FAILED)
    assert one["place"] == "a.cpp:9 (main)"


def offsets(modes):
    for mode in modes:
        one, = matrix(*options(mode), "./a", mode, code=FAILED)
        assert re.fullmatch(r"a\+0x[0-9a-f]+", one["place"]), (mode, one)


def test_without_debug_information(here, monkeypatch):
    """The function, if its name is in the file, and the offset: never a line."""
    build(here, C, "-O0")
    for mode in MODES:
        one, = matrix(*options(mode), "./a", mode, code=FAILED)
        assert re.fullmatch(rf"a\+0x[0-9a-f]+ \({MODES[mode]}\)", one["place"]), mode
    # The nearest function of which a stripped file has the name is another one.
    build(here, C, "-s", "-O0", "-rdynamic")
    offsets(MODES)
    build(here, C, "-g", "-O0")
    monkeypatch.setenv("PATH", str(here))
    offsets(MODES)


def test_a_library_of_the_program(here):
    """One that it opens, by a path that only its first working directory has."""
    text = C.replace("int main(", "int run(")
    (here / "lib").mkdir()
    build(here, text, "-g", "-shared", "-fPIC")
    (here / "a").rename("lib/plugin é.so")
    build(here, """#include <dlfcn.h>
        #include <unistd.h>
        int main(int count, char **words)
        {
            int (*run)(int, char **) = dlsym(dlopen("lib/plugin é.so", RTLD_NOW), "run");
            return chdir("/") || run(count, words);
        }""", name="b.c", link=())
    places({mode: place(text, mode) for mode in MODES})


@pytest.mark.parametrize(("written", "shown", "annotated"), [
    ("{here}/src/k.cu", "src/k.cu", "src/k.cu"), ("src/k.cu", "src/k.cu", "src/k.cu"),
    ("k.cu", "k.cu", "src/k.cu"), ("../src/k.cu", "../src/k.cu", "src/k.cu"),
    ("/x/h.cu", "/x/h.cu", "h.cu"), ("none.cu", "none.cu", None)])
def test_the_line_of_a_kernel(here, written, shown, annotated):
    """It comes before that of the PTX. An annotation stands there if the file is found: as the PTX
    has it, else beside the source of the launch, else in the working directory."""
    text = C.replace(".visible", f'.file 1 \\"{written.format(here=here)}\\"\\n.visible') \
        .replace("st.global", ".loc 1 6 0\\nst.global")
    (here / "src").mkdir()
    for file in ("src/k.cu", "h.cu"):
        (here / file).write_text(6 * "\n")
    build(here, text, "-g", name="src/a.c")
    wanted = place(text, "launch", "src/a.c")
    words = ("--github", "--junit", "x", "--markdown", "m", *options("launch"), "./a", "launch")
    annotation, row, *_ = run("matrix", *words).rows.splitlines()
    table = Path("m").read_text().replace("\\", "")
    for told in annotation.replace("%3A", ":"), row, Path("x").read_text(), table:
        assert (f"at {wanted}: kernel" in told or
                (told == table and told.endswith(f" | {wanted} |\n"))) and \
            f", thread (0,0,0), {shown}:6 (PTX line 10), st: " in told, told
    path, line = (annotated, "6") if annotated else wanted.split(" ")[0].split(":")
    assert annotation.startswith(f"::error file={path},line={line},title=")


def test_an_ignored_error_comes_before_what_a_kernel_found(here):
    """The annotation stands at the call that failed, not in the kernel that read what it left."""
    kernel = ".reg .u32 %v; .reg .u64 %r;\\nld.param.u64 %r, [p];\\n.loc 1 1 0\\nld.global.u32 " \
        "%v, [%r];\\nst.global.u32 [%r], %v;\\nret;\\n}\";"
    begin, rest = C.split(".visible")
    text = begin + '.file 1 \\"k.cu\\"\\n.visible .entry k(.param .u64 p)\\n{\\n' + kernel + \
        rest.split('}";', 1)[1]
    text = text.replace("cu->cuLaunchKernel(", "cu->cuMemAlloc_v2(&memory, 64); void *all[] = "
                        "{&memory};\n cu->cuMemsetD8_v2(memory, 0, 64); /* filled */\n"
                        "cu->cuLaunchKernel(").replace("NULL, NULL, NULL); /* l", "NULL, all, "
                                                       "NULL); /* l")
    text = text.replace("code = cu->cuCtxSynchronize();",
                        "code = cu->cuCtxSynchronize(); cu->cuMemFree_v2(memory);"
                        "cu->cuModuleUnload(module);")
    build(here, text, "-g")
    (here / "k.cu").touch()
    words = ("--cuda", "12.4", "--strict", "--check=init", "--fault-each", "--survives",
             "cuMemAlloc,cuModuleLoadData,cuModuleGetFunction,cuLaunchKernel")
    matrix("--cuda", "12.4", "--check=init", "--", "./a", "launch")
    wanted = place(text, "filled", function="try_mode")
    annotation, = (line for line in run(
        "matrix", *words, "--github", "--junit", "x", "--markdown", "m", "--", "./a",
        "launch").out.splitlines() if line.startswith("::error") and "cuMemsetD8" in line)
    assert annotation.startswith(f"::error file=a.c,line={wanted[4:].split(' ')[0]},title=")
    told = f"cuMemsetD8_v2 failed at {wanted}, the program went on with cuLaunchKernel, then the " \
        f"check found: cuLaunchKernel at {place(text, 'launch')}: init: kernel 'k', "
    assert told in annotation and told in xml.parse("x").find(
        "*[@name='CUDA 12.4, cuMemsetD8_v2 fails']/failure").get("message")
    one, = (one for one in matrix(*words, "--", "./a", "launch", code=FAILED)
            if one["fired"] == "cuMemsetD8_v2")
    assert (one["result"], one["place"]) == ("fails", wanted)


ENDS = BEGIN.replace("st.global.u32 [%r], 1;", "L: bra L;").replace(
    ".visible", '.file 1 \\"k.cu\\"\\n.visible').replace("L: bra", ".loc 1 3 0\\nL: bra") + """
#include <pthread.h>
static int (*volatile absent)(void);
static volatile int endless = 1, none;
const char *newer = "cuMemAllocAsync";
static void *use(void *pointer)
{
    return (void *)(long)*(volatile int *)pointer; /* pointer */
}
struct large { char bytes[4000]; };
static int deep(struct large all) { all.bytes[++none % 8] = 1; return deep(all) + 1; } /* stack */
static void on_term(int number)
{
    _exit(number);
}
static int try_mode(const char *mode)
{
    const struct cushim_api *cu = cushim_load(NULL);
    volatile int count = 0;
    struct large large = {0};
    CUcontext context;
    CUmodule module;
    CUfunction function;
    pthread_t thread;
    cushim_init(cu);
    cu->cuCtxCreate_v2(&context, 0, 0);
    if (strcmp(mode, "own") == 0) {
        signal(SIGSEGV, on_term);
        mode = "pointer";
    }
    if (strcmp(mode, "pointer") == 0)
        use(NULL);
    if (strcmp(mode, "thread") == 0)
        return pthread_create(&thread, NULL, use, NULL) || pthread_join(thread, NULL);
    if (strcmp(mode, "absent") == 0)
        absent(); /* absent */
    if (strcmp(mode, "abort") == 0)
        abort(); /* abort */
    if (strcmp(mode, "alone") == 0)
        return pthread_create(&thread, NULL, (void *(*)(void *))abort, NULL) ||
            pthread_join(thread, NULL);
    if (strcmp(mode, "stack") == 0)
        deep(large);
    if (strcmp(mode, "loop") == 0)
        while (endless) count++; /* loop */
    if (strcmp(mode, "waits") == 0)
        pause(); /* waits */
    cu->cuModuleLoadData(&module, ptx);
    cu->cuModuleGetFunction(&function, module, "k");
    cu->cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL); /* kernel */
    return cu->cuCtxSynchronize(); /* synchronize */
}
""".replace("<pthread.h>", "<pthread.h>\n#include <signal.h>") + MAIN


def ended(mode, begin, function, mark=None, shell=False):
    """The end of a mode in the table, at its place."""
    program = ("sh", "-c", f"./a {mode}; exit $?") if shell else ("./a", mode)
    words = ("matrix", "--cuda", "12.4", "--timeout", "1", "--github", "--", *program)
    annotation, row, *_ = run(*words).rows.splitlines()
    wanted = place(ENDS, mark or mode, function=function)
    assert re.match(rf"CUDA 12\.4  \w+  {begin} at {re.escape(wanted)}(; |$)", row), row
    return annotation, wanted


@pytest.mark.parametrize(("mode", "function", "mark"), [
    ("pointer", "use", None), ("thread", "use", "pointer"), ("absent", "try_mode", None),
    ("abort", "try_mode", None), ("stack", "deep", None)])
def test_a_crash(here, mode, function, mark):
    """In each thread, in functions of the system, beyond the stack, and of no function at all. The
    shell's exit code tells of it too."""
    build(here, ENDS, "-g")
    annotation, wanted = ended(mode, r"signal \d+ \([A-Z][a-z ]+\)", function, mark)
    assert annotation.startswith(f"::error file=a.c,line={wanted[4:].split(' ')[0]},")
    one, = matrix("--cuda", "9.0", "--", "./a", mode, code=FAILED)
    assert one["call"] is None, "cushim's stubs do not crash"
    ended(mode, r"exit code \d+ \([^()]+\)", function, mark, shell=True)


def test_a_crash_of_a_program_that_has_a_handler(here):
    build(here, ENDS, "-g")
    one, = matrix("--cuda", "12.4", "--", "./a", "own", code=FAILED)
    assert (one["result"], one["code"]) == ("fails", 11)


@pytest.mark.parametrize("shell", [False, True])
def test_over_the_time_limit(here, shell):
    """A loop, a wait, and an endless kernel, which is named."""
    build(here, ENDS, "-g")
    (here / "k.cu").write_text(3 * "\n")
    for mode in ("loop", "waits"):
        ended(mode, "over the time limit", "try_mode", shell=shell)
    annotation, _ = ended("kernel", "over the time limit", "try_mode", "synchronize", shell)
    assert annotation.startswith("::error file=k.cu,line=3,") and \
        f"cuLaunchKernel at {place(ENDS, 'kernel', function='try_mode')}: kernel 'k', block " \
        "(0,0,0), thread (0,0,0), k.cu:3 (PTX line " in annotation


def test_a_signal_that_has_no_place(here):
    """The last call is told; a thread that has nothing of the program has no place."""
    build(here, ENDS.replace("pause()", "kill(getpid(), SIGKILL)"), "-g")
    for mode in ("waits", "abort", "alone"):
        row, *_ = run("matrix", "--cuda", "12.4", "--", "./a", mode).rows.splitlines()
        assert (" after cuCtxCreate_v2" in row) == (mode != "abort"), row


def test_rows_are_folded_on_a_terminal(here):
    """At blanks, and go on under their text, in logs as well."""
    build(here, C, "-g")
    words = ("matrix", *options("launch"), "./a", "launch")
    rows = run_on_terminal(*words, NO_COLOR="1").out.splitlines()
    assert len(rows) > 3 and max(map(len, rows)) <= 100 < len(run(*words).rows.splitlines()[0])
    assert all(line.startswith(17 * " ") for line in rows[1:-1])
    assert rows == run(*words).out.splitlines()


@pytest.mark.parametrize("folder", [1, 8, 16, 24, 32, 40, 48, 56, 95])
def test_a_place_is_not_folded(here, folder):
    """One searches for it in a log. What is wider than the column is in a line of its own, and the
    function behind it in another one."""
    name = f"{folder * 'f'}/a.c"
    (here / name).parent.mkdir()
    build(here, C, "-g", name=name)
    wanted = place(C, "launch", name)
    rows = run("matrix", *options("launch"), "./a", "launch").out.splitlines()
    line = wanted.split(" ")[0]
    assert sum(f"at {wanted if folder < 60 else line}" in row for row in rows) == \
        sum(line in row for row in rows) > 0
    assert all(len(row) <= 100 or re.fullmatch(r" +at f+/a\.c:\d+", row) for row in rows[:-1])


def test_check_and_its_summary(here):
    build(here, C, "-g")
    result = run("sim", "--quiet", "--check", "--summary", "s", "./a", "launch")
    assert result.err.count(f"1 kernel ended by a fault, launched by cuLaunchKernel at "
                            f"{place(C, 'launch')}\n") == 1
    result = run("sim", "--quiet", "--check", "--summary", "s", "./a", "leak")
    told = f"cuMemAlloc_v2 at {place(C, 'leak')}"
    assert f"65536 bytes of memory in 1 block, made by {told}\n" in result.err
    assert f'"left_to_context_by": {{"memory": "{told}"}}'.replace(" ", "") in \
        "".join(Path("s").read_text().split())


def test_a_launch_in_a_graph(here):
    """A kernel's fault belongs to where it was put into the graph, and not to what copied that."""
    build(here, CXX.replace("put(stream, code);", "cushim::unique_graph graph(stream, [&] { "
                            "put(stream, code); }); graph.launch(stream);"), "-g", name="a.cpp")
    result = run("sim", "--quiet", "--check", "--summary", "s", "./a", "launch")
    assert f"launched by cuLaunchKernel at {place(CXX, 'launch', 'a.cpp', 'put')}\n" in result.err


@pytest.mark.parametrize("free, before, rest", [
    ("cuMemFree_v2", "", "(memory)"),
    ("cuMemFreeAsync", "cu->cuLaunchHostFunc(NULL, rest, NULL); ", "(memory, NULL)")])
def test_memory_that_was_freed(here, free, before, rest):
    """The row of a kernel that uses it has the call, also of memory that goes later, behind what is
    in its stream."""
    text = "#include <unistd.h>\nvoid rest(void *data) { usleep(data ? 0 : 100000); }\n" + C
    for old, new in (("entry k()", "entry k(.param .u64 p)"),
                     ("mov.u64 %r, 16", "ld.param.u64 %r, [p]"),
                     ("NULL, NULL); /* launch", "(void *[]){&memory}, NULL); /* launch"),
                     ("cu->cuMemFree_v2(memory);\n", f"{before}cu->{free}{rest}; /* early */\n")):
        text = text.replace(old, new, 1)
    build(here, text, "-g")
    freed = f"{free} at {place(text, 'early', function='try_mode')}"
    assert f"; a block of 65536 bytes was there, and was freed by {freed}; every later" in \
        run("matrix", "--cuda", "12.0", *options("launch")[2:], "./a", "launch").rows


@pytest.mark.parametrize("call", [
    "cuMemcpyHtoD_v2(memory + 8, host, 8)", "cuMemcpyDtoHAsync_v2(host, memory, 8, NULL)",
    "cuMemsetD8_v2(memory, 0, 8)", "cuMemFree_v2(memory)", "cuMemcpyHtoD_v2(8, host, 8)"])
def test_a_call_on_memory_that_was_freed(call, here):
    """The row of a copy, a fill or a second release has the first one; not that of others."""
    text = C.replace("cu->cuMemFree_v2(memory);\n", f"""cu->cuMemFree_v2(memory); /* early */
        char host[8] = "";
        code = cu->{call}; /* use */
        if (code)
            return 3;
        """, 1)
    build(here, text, "-g")
    first, use = (place(text, mode, function="try_mode") for mode in ("early", "use"))
    name, row = call.split("(")[0], run("matrix", "--cuda", "12.4", "--", "./a", "ignores").rows
    assert f"exit code 3; {name} at {use}: 1 CUDA_ERROR_INVALID_VALUE" in row
    assert (f"VALUE, of memory that was freed by cuMemFree_v2 at {first}\n" in row) == \
        ("memory" in call), row


def test_log(here):
    """Without the variable it has no callers, and with it those of failed calls alone, and of what
    freed their memory."""
    build(here, C)
    words = ("sim", "--quiet", "--log", "-", "./a", "free")
    assert "\t" not in run(*words).err
    lines = [line for line in run(*words, CUSHIM_SIM_CALLERS="1").err.splitlines() if "\t" in line]
    assert len(lines) == 2 and " cuMemFree_v2(" in lines[1]
    assert lines[0].startswith("cushim: it was freed by cuMemFree_v2\t")
    call, first, *more = lines[1].split("\t")
    assert call.endswith(" us") and re.fullmatch(rf"{re.escape(str(here))}/a\+0x[0-9a-f]+", first)
    assert 1 <= len(more) <= 7
    assert run("matrix", "--cuda", "12.4", "--", "./a", "none").code == OK


def test_no_place_in_python(here):
    """That of libffi says nothing."""
    (here / "a.py").write_text("""
import ctypes
cu = ctypes.CDLL("libcuda.so.1")
context, memory = ctypes.c_void_p(), ctypes.c_void_p()
cu.cuInit(0)
cu.cuCtxCreate_v2(ctypes.byref(context), 0, 0)
cu.cuMemAlloc_v2(ctypes.byref(memory), 100)
cu.cuCtxDestroy_v2(context)
""")
    one, = matrix("--cuda", "12.4", "--check", "--", sys.executable, "a.py", code=FAILED)
    assert one["place"] is None and one["errors"].endswith("made by cuMemAlloc_v2\n")
