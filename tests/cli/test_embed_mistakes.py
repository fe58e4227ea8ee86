# SPDX-License-Identifier: MIT
"""cushim-embed on usual mistakes: what it says of a kernel, and what it never writes over."""

import subprocess
import sys

import pytest

from test_embed import EMBED, by_clang, embed

CALL = "has no __device__ ({}): a kernel can call only functions with it"
READ = ("has no __device__ or __constant__ ({}): a kernel can use only variables with one of them, "
        "and constants")
UNKNOWN = ("the compiler does not know the value of {} ({}): a kernel can use constants, and "
           "variables with __device__ or __constant__")
LAUNCHED = "is a kernel ({}): it can be launched, not called"
# What stands before the kernel, from line 1; the kernel's one statement; what is said of it.
HOST = [
    ("static int h() { return 1; }", "*x = h();", f"h {CALL}"),
    ("int h(int a);", "*x = h(2);", f"h {CALL}"),
    ("__host__ int h(int a) { return a; }", "int (*f)(int) = h; *x = f(2);", f"h {CALL}"),
    ("template <class T> T h(T a) { return a; }", "*x = h(x[1]);", f"h {CALL}"),
    ("#define FN(n) int n(int a)\nFN(h) { return a; }", "*x = h(1);", f"h {CALL}"),
    ("namespace a {\nint h(int b) { return b; }\n}", "*x = a::h(2);",
     "h " + CALL.format("k.cu:2")),
    ("struct V { int a; int get() { return a; } };", "*x = V().get();", f"get {CALL}"),
    ("struct V { int a;\nV(int b) : a(b) {} };", "*x = V(3).a;",
     f"the constructor of V {CALL}"),
    ("struct V { int a;\nV(int b) : a(b) {} };", "V v(3); *x = v.a;",
     f"the constructor of V {CALL}"),
    ("struct V { int a;\n~V() {} };", "V v; *x = v.a;", f"~V {CALL}"),
    ("struct V { int a;\noperator int() { return a; } };", "*x = V();", f"operator int {CALL}"),
    ("struct V { int a;\nint operator()(int b) { return b; } };", "*x = V()(3);",
     f"operator() {CALL}"),
    ("struct V { int a; };\nint operator+(V a, V b) { return a.a + b.a; }", "*x = V() + V();",
     f"operator+ {CALL}"),
    ("struct A { A() {} };\nstruct B : A { int a; };", "B b; *x = b.a;",
     "the implicit default constructor of B ({}) calls a function that has no __device__"),
    ("struct A { ~A() {} };\nstruct B : A { int a; };", "B *b = (B *)x; b->~B();",
     "the implicit destructor of B ({}) calls a function that has no __device__"),
    ("int n;", "*x = n;", f"n {READ}"),
    ("auto n = [](int a) { return a; };", "*x = n(2);", f"n {READ}"),
    ("struct S { static int n; };\nint S::n;", "S::n = 3;", f"n {READ}"),
    ("int h();\nconst int n = h();", "*x = n;", UNKNOWN.format("n", "{}")),
    ("__global__ void j(int *x) { *x = 1; }", "j(x);", f"j {LAUNCHED}"),
    ("__constant__ int n;", "n = *x;", "a kernel cannot write to a variable with __constant__"),
    ("__constant__ int n[2];", "atomicAdd(n + *x, 1);",
     "a kernel cannot write to a variable with __constant__"),
    ("__device__ int h(int a, int b) { return a + b; }", "*x = h(1);",
     "no matching function for call to 'h': it requires 2 arguments, but 1 was provided"),
    ("#include <vector>", "std::vector<int> v(3); *x = v[1];",
     "std::vector<int> is not supported by cushim-embed"),
    ("#include <string>", 'x[0] = (std::string("a") == "b");',
     "std::string is not supported by cushim-embed"),
    ("#include <iostream>", "std::cout << 3;", "cout is not supported by cushim-embed\n"
     "k.cu:4: std::ostream is not supported by cushim-embed"),
    ("", "__sync_threads();", "there is no __sync_threads; did you mean __syncthreads?"),
    ("", "*x = threadidx.x;", "there is no threadidx; did you mean threadIdx?"),
    ("", "__hadd2(1, 2);", "__hadd2 is not supported by cushim-embed; --with nvcc has it"),
    ('extern "C" template <class T> void h(T a) {}', "",
     None),
]


@by_clang
@pytest.mark.parametrize("before, statement, words", HOST)
def test_what_only_the_host_has(before, statement, words, tmp_path):
    """The user's own function, variable and kernel are told with the line that declares them."""
    lines = before.count("\n") + 1
    code, said, _ = embed(tmp_path, f'{before}\nextern "C" __global__ void k(int *x)\n{{\n'
                          f"    {statement}\n}}\n")
    wanted = f"k.cu:{lines + 3}: {words.format(f'k.cu:{lines}')}" if words else \
        'k.cu:1: a template cannot have extern "C"'
    assert (code, said) == (1, wanted.replace("k.cu:4: std", f"k.cu:{lines + 3}: std") + "\n")


@by_clang
def test_what_a_header_of_the_project_has_for_the_host(tmp_path):
    """In the folder of the source, and in one of -I; what a library's header has is no mistake."""
    (tmp_path / "near.h").write_text("\nint near(int a);\n", encoding="utf-8")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/far.h").write_text("struct F { int a; int b() { return a; } };\n",
                                         encoding="utf-8")
    code, said, _ = embed(tmp_path, '#include "near.h"\n#include <far.h>\n#include <stdlib.h>\n'
                          "__global__ void k(int *x)\n{\n    *x = near(1);\n    *x += F().b();\n"
                          "    *x += abs(rand());\n}\n", "-I", "mine")
    assert (code, said.splitlines()) == (1, [
        f"k.cu:6: near {CALL.format('near.h:2')}",
        f"k.cu:7: b {CALL.format(f'{tmp_path}/mine/far.h:1')}",
        "k.cu:8: rand is not supported by cushim-embed"])


@by_clang
def test_code_for_both_compilers(tmp_path):
    """Headers write __device__ where __CUDACC__ is; constants of the host can be used."""
    code, said, ptx = embed(tmp_path, """#include <algorithm>
#include <cmath>
#ifdef __CUDACC__
#define BOTH __host__ __device__
#else
#define BOTH
#endif
BOTH inline int twice(int a) { return 2 * a; }
constexpr int square(int a) { return a * a; }
const int n = 3;
constexpr float table[] = {1, 2, 3};
extern "C" __global__ void k(float *x)
{
    auto more = [](int a) { return a + n; };
    x[0] = table[(int)x[1]] + square(more(twice((int)x[2]))) + std::min(x[3], 2.0f);
}
""")
    assert (code, said) == (0, "") and ".entry k(" in ptx and ".extern" not in ptx


@by_clang
@pytest.mark.parametrize("source, words", [
    ("int h() { return 1; }\nstruct B { int a = h(); };\n"
     'extern "C" __global__ void k(int *x) { B b; *x = b.a; }\n',
     "k.cu:1: warning: h() has no body with __device__: only another module, linked with this "
     "one, can have it\n"),
    ('\n// k(a & b)\nextern "C" __global__ void __launch_bounds__(64) k(int *x,\n'
     "    const float &f)\n{\n    *x = (int)f & 3;\n}\n",
     "k.cu:2: warning: the kernel k has a parameter of reference type: a launch must give it an "
     "address of the GPU's memory\n"),
    ("namespace a {\n__global__ void j(int *x) { *x = *x & 1; }\n}\n",
     "k.cu:2: warning: in the PTX the kernel a::j is called _ZN1a1jEPi; extern \"C\" keeps its "
     "name\n"),
    ("struct S {\n    static __global__ void j(int *x) { *x = 1; }\n};\n",
     "k.cu:2: warning: in the PTX the kernel S::j is called _ZN1S1jEPi\n"),
    ("static __global__ void j(int *x) { *x = 1; }\n",
     "k.cu:1: warning: in the PTX the kernel j is called _ZL1jPi; extern \"C\" keeps its name\n"),
    ("__global__ void j(int *x) { *x = 1; }\n__global__ void j(float *x) { *x = 1; }\n",
     "k.cu:1: warning: in the PTX the kernel j is called _Z1jPi\n"
     "k.cu:2: warning: in the PTX the kernel j is called _Z1jPf\n"),
])
def test_what_a_driver_or_a_launch_would_trip_over(source, words, tmp_path):
    """It compiles, and a warning tells what is needed."""
    code, said, _ = embed(tmp_path, source)
    assert (code, said) == (0, words)


PTX = ".version 3.2\n.target sm_20\n.entry k() { ret; }\n"


@by_clang
@pytest.mark.parametrize("arguments, words", [
    ("k.cu notes.txt", "notes.txt: not written, because an output is a header of C (.h) or PTX"),
    ("k.cu other.cu", "other.cu: not written, because an output is a header of C (.h) or PTX"),
    ("k.h k.cu", "k.cu: not written, because an output is a header of C (.h) or PTX"),
    ("k.cu mine.h", "mine.h: not written, because it is also an input or the output"),
    ("k.ptx k.ptx", "k.ptx: not written, because it is also an input or the output"),
    ("--depfile k.cu k.cu k.h", "k.cu: not written, because it is also an input or the output"),
    ("--depfile k.h k.cu k.h", "k.h: not written, because it is also an input or the output"),
])
def test_no_source_is_written_over(arguments, words, tmp_path):
    """By a wrong order, a second kernel, or a name that a file of the project has."""
    files = {"k.cu": '#include "mine.h"\nextern "C" __global__ void k(int *x) { *x = N; }\n',
             "other.cu": "\n", "notes.txt": "mine\n", "mine.h": "#define N 3\n", "k.ptx": PTX}
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    done = subprocess.run([sys.executable, EMBED, *arguments.split()], cwd=tmp_path, text=True,
                          check=False, capture_output=True)
    assert done.returncode == 1 and done.stderr.startswith(words)
    assert {path.name: path.read_text(encoding="utf-8") for path in tmp_path.iterdir()} == files


@pytest.mark.parametrize("name, string", [("a.b.ptx", "a_b_ptx"), ("my-add.ptx", "my_add_ptx")])
def test_a_name_with_dots_and_hyphens(name, string, tmp_path):
    (tmp_path / name).write_text(PTX, encoding="ascii")
    subprocess.run([sys.executable, EMBED, name, "out.hpp"], cwd=tmp_path, check=True)
    assert f"static const char {string}[] = {{\n" in (tmp_path / "out.hpp").read_text("ascii")
    subprocess.run(["cc", "-Wno-unused", "-Werror", "-c", "-x", "c", "-o", "k.o", "out.hpp"],
                   cwd=tmp_path, check=True)


@by_clang
@pytest.mark.parametrize("source, code, words", [
    ("__global__ void k(int *x)\n{\n    __syncthreads;\n    x[0] = 1; // __syncwarp;\n}\n", 0,
     "k.cu:3: warning: __syncthreads is not called: () is missing\n"),
    ("__global__ void k(int *x) { *x = __shfl_down(*x, 1); }\n", 1,
     "k.cu:1: __shfl_down is not supported by cushim-embed; __shfl_down_sync is\n"),
    ("__constant__ int big[16385];\n__global__ void k(int *x) { *x = big[*x]; }\n", 1,
     "k.cu: 65540 bytes of constant memory; a module can have 65536\n"),
    ("__constant__ int big[16384];\n__global__ void k(int *x) { *x = big[*x]; }\n", 0, ""),
    ("#define N 12288\n__global__ void k(int *x)\n{\n    __shared__ int s[N];\n    s[*x] = 1;\n"
     "    __syncthreads();\n    *x = s[N - *x];\n}\n", 0, ""),
    ("#define N 12289\n__global__ void k(int *x)\n{\n    __shared__ int s[N];\n    s[*x] = 1;\n"
     "    __syncthreads();\n    *x = s[N - *x];\n}\n", 0,
     "k.cu:2: warning: the kernel k has 49156 bytes of static shared memory: ptxas refuses more "
     "than 49152, and a driver more than its device has; extern __shared__ and launch.shared are "
     "for more\n"),
])
def test_what_is_silent_or_too_large(source, code, words, tmp_path):
    """A barrier that is not called, names before CUDA 9, and more memory than there is."""
    assert embed(tmp_path, source)[:2] == (code, words)


@by_clang
@pytest.mark.parametrize("options", [[], ["--std", "c++11"]])
def test_what_nvcc_has_without_a_line(options, tmp_path):
    """<cmath>, and the types with which a shared header declares functions of the host."""
    code, said, ptx = embed(tmp_path, """cudaError_t launch(float *x, cudaStream_t s = nullptr);
void wait(cudaEvent_t event);
inline bool good(float *x) { return launch(x) == cudaSuccess; }
extern "C" __global__ void k(float *x) { x[0] = std::sqrt(x[1]) + std::fabs(x[2]); }
""", *options)
    assert (code, said) == (0, "") and "sqrt" in ptx


@by_clang
def test_where_the_library_of_cxx_has_it(tmp_path):
    """The header that is missing, the standard from which a kernel can call it; what a toolkit
    has, and nothing that is not there."""
    source = """__managed__ int total;
extern "C" __global__ void k(int *x)
{
    x[0] = std::clamp(x[0], 1, 2);
}
extern "C" __global__ void l(int *x)
{
    std::swap(x[0], x[1]);
    cudaGetLastError();
}
"""
    code, said, _ = embed(tmp_path, source)
    assert (code, said.splitlines()) == (1, [
        "k.cu:1: __managed__ is not supported by cushim-embed; --with nvcc has it",
        "k.cu:4: no member named 'clamp' in namespace 'std'; #include <algorithm>",
        "k.cu:8: swap is not supported by cushim-embed; --std c++20 has it",
        "k.cu:9: cudaGetLastError is not supported by cushim-embed"])
    source = source.replace("__managed__", "__device__").replace("    cudaGetLastError();\n", "")
    source = "#include <algorithm>\n" + source.replace("    cudaGetLastError();\n", "")
    assert embed(tmp_path, source, "--std", "c++20")[:2] == (0, "")
