# SPDX-License-Identifier: MIT
"""cushim.hpp and the launch macros: every compiler takes them without a warning."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

import toolkits

ROOT = Path(__file__).resolve().parents[2]
WARNINGS = ["-Wall", "-Wextra", "-Wconversion", "-Wsign-conversion", "-Wshadow", "-Wpedantic",
            "-Wno-overlength-strings", "-Werror"]
MODULES = pytest.mark.skipif(re.search(r"[^!-~]", str(ROOT)) is not None,
                             reason="gcc's modules take no path with a blank")
PAIRS = [(compiler, standard) for compiler in ("gcc", "clang") for standard in ("c++11", "c++20")]
ALL = [pytest.param(compiler, standard, marks=[] if standard in in_ci else [toolkits.BY_HAND])
       for compiler, in_ci in (("gcc", ("c++11", "c++2b")), ("clang", ("c++14", "c++20")))
       for standard in ("c++11", "c++14", "c++17", "c++20", "c++2b")]
# Numbers of several types as dimensions, and a launch.
DIMENSIONS = """
#include <cushim/launch.h>
CUresult use(const struct cushim_api *cu, CUfunction function, int width, long height, short few);
CUresult use(const struct cushim_api *cu, CUfunction function, int width, long height, short few)
{
    struct cushim_launch by_hand = {sizeof(struct cushim_launch), CUSHIM_DIM((width + 15) / 16,
        height, few), CUSHIM_DIM(16, 16u), 0, 0, CUSHIM_DIM(width), false, 0, 0};
    struct cushim_launch flat = cushim_launch_2d(640, 480, 16, 16, 0);
    CUresult code = CUSHIM_LAUNCH(cu, function, &by_hand, width, 2.0f);
    return code ? code : CUSHIM_LAUNCH(cu, function, &flat);
}
"""


@pytest.mark.parametrize("options", [[], ["-DCUSHIM_CHECK_LAUNCHES"]], ids=["plain", "checked"])
@pytest.mark.parametrize("compiler, standard", PAIRS + [("gcc", "c11"), ("clang", "c11")])
def test_dimensions(compiler, standard, options):
    """CUSHIM_DIM takes ints, which is a narrowing in C++."""
    assert toolkits.check(compiler, standard, DIMENSIONS, *WARNINGS, *options) == ""


@pytest.mark.parametrize("options", [[], ["-fno-exceptions"]], ids=["exceptions", "codes"])
@pytest.mark.parametrize("compiler, standard", ALL)
def test_owners(compiler, standard, options):
    """The example that uses codes compiles either way."""
    text = (ROOT / "docs" / "examples" / "timed_graph.cpp").read_text(encoding="utf-8")
    assert toolkits.check(compiler, standard, text, *WARNINGS, *options) == ""


@pytest.mark.parametrize("compiler, standard", PAIRS)
def test_without_exceptions_nothing_throws(compiler, standard):
    """What would throw is not declared."""
    text = "#include <cushim/cushim.hpp>\ncushim::unique_device gpu(nullptr);\n"
    assert toolkits.check(compiler, standard, text) == ""
    assert "error" in toolkits.check(compiler, standard, text, "-fno-exceptions")


@pytest.mark.parametrize("device, host, words", [
    ("float", "const float", "the target of a copy is not const"),
    ("float", "int", "a copy is between elements of one type"), ("float", "float", "")])
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_wrong_copies(compiler, device, host, words):
    """Each mistake has one assertion, and that names it."""
    text = ("#include <cushim/cushim.hpp>\n#include <vector>\n"
            f"void use(cushim::unique_stream &s, cushim::unique_memory<{device}> &memory,\n"
            f"         cushim::host_span<{host}> to) {{ s.copy(to, memory); }}\n")
    said = toolkits.check(compiler, "c++11", text)
    assert re.findall(r"error: static.assert.*(the target .*const|a copy .*type)\b", said) == (
        [words] if words else []), said


# A program's own names, those of std and of the C library, all without their namespace.
NAMES = """
#include <algorithm>
#include <future>
#include <memory>
#include <system_error>
#include <vector>
#include <error.h>
#include <cushim/cushim.hpp>
struct device {}; struct memory {}; struct module {}; struct stream {}; struct event {};
struct graph {}; struct pinned {}; struct pool {}; struct span {}; struct error_code_ {};
void check(device, memory, module, stream, event);
void copy_all(graph, pinned, pool, span);
namespace own { using namespace cushim; inline span whole() { return span(); } } // std has one too
using namespace std;
using namespace cushim;
void use(module &m, device &d, stream &s, event &e, memory &b, graph &g, pinned &p, pool &o);
void use(module &m, device &d, stream &s, event &e, memory &b, graph &g, pinned &p, pool &o)
{
    check(d, b, m, s, e);
    copy_all(g, p, o, own::whole());
    error(0, 0, "%d", static_cast<int>(launch::async));
    vector<int> numbers;
    copy(numbers.begin(), numbers.end(), numbers.begin());
    fill(numbers.begin(), numbers.end(), 0);
    unique_device gpu;
    unique_module code;
    unique_ptr<unique_stream> made;
}
"""


@pytest.mark.parametrize("compiler, standard", ALL)
def test_names_clash_with_none(compiler, standard):
    """`using namespace cushim` leaves the program's names, std's and the C library's usable."""
    assert toolkits.check(compiler, standard, NAMES) == ""


@MODULES
def test_module_as_a_name():
    """Where g++ knows modules, `module` cannot be declared; nothing of cushim has that name."""
    text = ("#include <cushim/cushim.hpp>\nusing namespace cushim;\nunique_module code(\n"
            "    unique_device(), \"\", 0);\n")
    assert toolkits.check("gcc", "c++20", text, "-fmodules-ts") == ""


# A named module over the header, and a program that imports it. g++ 12 exports no names by a using
# declaration, so that these are aliases.
INTERFACE = """
module;
#include <cushim/cushim.hpp>
export module gpu;
export using api = cushim_api;
export using device = cushim::unique_device;
export using stream = cushim::unique_stream;
export using event = cushim::unique_event;
export using graph = cushim::unique_graph;
export using launch_shape = cushim_launch;
export template <typename Value> using memory = cushim::unique_memory<Value>;
export template <typename Value> using stream_memory = cushim::unique_stream_memory<Value>;
export template <typename Value> using pinned = cushim::unique_pinned<Value>;
export template <typename Value> using managed = cushim::unique_managed<Value>;
export inline void add(const device &gpu, float *data, unsigned long count)
{
    stream queue(gpu);
    memory<float> numbers(gpu, count);
    queue.copy(numbers, cushim::host_span<float>(data, count));
    queue.synchronize();
}
export CUfunction no_function() { return nullptr; }
export launch_shape no_launch() { return cushim_launch_1d(1, 1, nullptr); }
"""
IMPORTER = """
import gpu;
void use(const api *cu, float *data);
void use(const api *cu, float *data)
{
    device gpu(cu);
    stream queue(gpu);
    pinned<float> host(gpu, 10);
    memory<float> numbers(gpu, 10);
    stream_memory<float> more(queue, 10);
    event done(gpu);
    queue.copy(numbers, host);
    queue.copy(more, numbers.part(0, 5));
    queue.copy(more.part(5, 5), numbers.part(0, 5));
    queue.fill(more, 1.0f);
    queue.record(done);
    queue.wait(done);
    queue.launch(no_function(), no_launch(), numbers, 2.0f);
    graph both(queue, [&] { queue.fill(numbers, 2.0f); });
    both.launch(queue);
    add(gpu, data, 10);
}
"""


@MODULES
def test_named_module(tmp_path):
    """Included in the global fragment of a module, exported from it and imported (C++20)."""
    if not shutil.which("g++"):
        pytest.skip("no g++")
    for name, text in (("interface.cc", INTERFACE), ("importer.cc", IMPORTER)):
        (tmp_path / name).write_text(text, encoding="utf-8")
        shown = subprocess.run(["g++", "-std=c++20", "-fmodules-ts", f"-I{toolkits.PUBLIC}",
                                f"-I{toolkits.GENERATED}", "-c", name], cwd=tmp_path, text=True,
                               capture_output=True, check=False)
        assert shown.returncode == 0, shown.stderr


@pytest.mark.in_all
def test_named_module_of_clang(tmp_path):
    """The interface alone: clang 14 finds no definition of the global fragment from outside."""
    if not shutil.which("clang++"):
        pytest.skip("no clang++")
    (tmp_path / "interface.cc").write_text(INTERFACE, encoding="utf-8")
    shown = subprocess.run(["clang++", "-std=c++20", f"-I{toolkits.PUBLIC}",
                            f"-I{toolkits.GENERATED}", "-x", "c++-module", "--precompile",
                            "interface.cc", "-o", "gpu.pcm"], cwd=tmp_path, text=True,
                           capture_output=True, check=False)
    assert shown.returncode == 0, shown.stderr
