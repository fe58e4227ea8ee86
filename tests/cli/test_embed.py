# SPDX-License-Identifier: MIT
"""cushim-embed on .cu files: what it names as unsupported, what it writes, what it runs."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
EMBED = ROOT / "kernels/embed.py"
sys.path.insert(0, str(ROOT / "kernels"))
import compilers  # noqa: E402  pylint: disable=wrong-import-position
import toolkit  # noqa: E402  pylint: disable=wrong-import-position

TUTORIALS = ROOT / "tests/device/own"


def by_clang(function):
    """A case that compiles."""
    skip = pytest.mark.skipif(not shutil.which("clang"), reason="clang is not installed")
    return pytest.mark.in_all(skip(function))


def embed(folder, source, *options, name="k.cu", **env):
    """(exit code, what was said, PTX) of a source."""
    (folder / name).write_text(source, encoding="utf-8")
    done = subprocess.run([sys.executable, EMBED, *options, name, "k.h"], cwd=folder, text=True,
                          check=False, capture_output=True, env={**os.environ, **env})
    assert "Traceback" not in done.stderr and done.stdout == ""
    header = folder / "k.h"
    assert header.exists() == (done.returncode == 0)
    codes = header.read_text(encoding="utf-8").partition("{")[2] if header.exists() else ""
    ptx = bytes(map(int, re.findall(r"\d+(?=,)", codes))).decode("ascii").rstrip("\0")
    return done.returncode, NAMES.sub("", done.stderr), ptx


NAMES = re.compile(r"^.*: warning: in the PTX the kernel k is called _Z.*\n", re.M)


def version_and_target(ptx):
    """('3.2', 'sm_20')"""
    return tuple(re.findall(r"^\.(?:version|target) (\S+)$", ptx, re.M))


HERE = " is not supported by cushim-embed"
NVCC = HERE + "; --with nvcc has it"
REFUSED = [
    ("    __nanosleep(10);", "__nanosleep" + NVCC),
    ("    x[0] = erfinvf(x[0]);", "erfinvf" + NVCC),
    ("    x[0] = __half2float(x[1]);", "__half2float" + NVCC),
    ("    x[0] = tex2D<float>(3, 1, 2);", "tex2D" + NVCC),
    ("    cudaMalloc(0, 1);", "cudaMalloc" + HERE),
    ("    atomicAdd_block(x, 1);", "atomicAdd_block" + NVCC),
    ("    x[0] = j0f(x[0]);", "j0f" + NVCC),
    ("    x[0] = rand();", "rand" + HERE),
    ("    x[0] = std::erf(3.0);", "erf of double" + NVCC),
    ("    __of_nobody(1);", "__of_nobody" + HERE),
    ("    k<<<1, 2>>>(x);", "<<<...>>>" + HERE),
    ("    cooperative_groups::this_grid();", "cooperative_groups" + NVCC),
    ("    x[0] = misspelt;", "use of undeclared identifier 'misspelt'"),
    ("    x[0] = 1", "expected ';' after expression"),
]


@by_clang
def test_each_fault_is_one_line(tmp_path):
    """With file and line, and nothing of the compiler's."""
    head = "#include <cmath>\n#include <cstdlib>\n__global__ void k(float *x)\n{\n"
    source = head + "\n".join(line for line, _ in REFUSED) + "\n}\n"
    code, said, _ = embed(tmp_path, source)
    lines = [f"k.cu:{number}: {words}" for number, (_, words) in enumerate(REFUSED, 5)]
    assert code == 1 and said.splitlines() == lines


@by_clang
@pytest.mark.parametrize("source, words", [
    ("#include <cuda_fp99.h>\n",
     "k.cu:1: cuda_fp99.h is not supported by cushim-embed; --with nvcc has it"),
    ("#include <builtin_types.h>\n__global__ void k(char *x) { *x = 1; }\n",
     "k.cu:1: builtin_types.h is not supported by cushim-embed; --with nvcc has it"),
    ("#include \"mine.h\"\n", "k.cu:1: 'mine.h' file not found"),
    ("\n__global__ void k(int *x, int n)\n{\n    int *p = (int *)__builtin_alloca(n);\n"
     "    p[0] = 3;\n    x[0] = p[n];\n}\n",
     "k.cu:2: no PTX from clang: "),
    ("\n__device__ double l(long double x) { return __builtin_sinl(x); }\n"
     "__global__ void k(double *x) { *x = l(*x); }\n", "sinl is not supported by cushim-embed"),
    ("\n\n__global__ void k(__int128 *x) { *x /= 10; }\n",
     "k.cu:3: division of __int128 is not supported by cushim-embed"),
    ("#include <complex>\n__global__ void k(std::complex<float> *x) { *x *= x[1]; }\n",
     "k.cu:1: arithmetic of complex numbers is not supported by cushim-embed"),
])
def test_what_ends_the_compiler(source, words, tmp_path):
    """A header that is not there; what LLVM has no instruction for; a function nobody has."""
    code, said, _ = embed(tmp_path, source)
    assert code == 1 and words in said and len(said.splitlines()) == 1


@by_clang
@pytest.mark.parametrize("source, says", [
    ("\n__global__ void __cluster_dims__(2, 1, 1) k(int *x)\n{\n    x[0] = 1;\n}\n",
     "k.cu:2: __cluster_dims__" + NVCC),
    ("__global__ void k(int *x)\n{\n    static thread_local int t;\n    x[0] = t++;\n}\n",
     "k.cu:3: thread_local" + HERE),
    ("namespace std { __device__ int __look(int); }\n__global__ void k(int *x)\n{\n"
     "    x[0] = std::__look(3);\n}\n", "k.cu: std::__look(int)" + HERE),
])
def test_what_clang_takes_for_another_thing(source, says, tmp_path):
    """The word is named, and not what follows from it; a function of the C++ library, which the
    driver would not find."""
    code, said, _ = embed(tmp_path, source)
    assert (code, said) == (1, f"{says}\n")


@by_clang
@pytest.mark.parametrize("standard", ["c++11", "c++17", "c++20"])
def test_pointers_of_the_host(standard, tmp_path):
    """<memory> has the name of a macro that clang lacked before 15."""
    code, said, ptx = embed(tmp_path, "#include <future>\n#include <memory>\n"
                            "std::shared_ptr<int> host;\n"
                            "__device__ __noinline__ int f(int n) { return n * n; }\n"
                            "__global__ void k(int *x) { x[0] = f(x[1]); }\n", "--std", standard)
    assert (code, said) == (0, "") and ".func" in ptx


@by_clang
def test_macros_of_one_letter(tmp_path):
    """They change the kernel alone, as with nvcc: all but T and U, which are types in its headers.
    """
    letters = sorted(set("ABCDEFGHIJKLMNOPQRSTUVWXYZ") - set("TU"))
    code, said, _ = embed(tmp_path, "#include <cmath>\n"
                          "__global__ void k(double *x) { *x = sin(x[R] * B); }\n",
                          *(f"-D{letter}=4" for letter in letters))
    assert (code, said) == (0, "")


@by_clang
def test_a_target_that_clang_does_not_know(tmp_path):
    code, said, _ = embed(tmp_path, "__global__ void k() {}\n", "--target", "sm_777")
    assert code == 1 and said.startswith("--target sm_777: clang does not know it. Leave it out, ")


@by_clang
def test_a_constant_of_the_grid(tmp_path):
    code, said, ptx = embed(tmp_path, "struct P { int a; };\n__global__ void k(\n"
                            "    const __grid_constant__ P p, int *x) { x[0] = p.a; }\n")
    assert (code, said) == (0, "") and "ld.param" in ptx


@by_clang
@pytest.mark.parametrize("standard", ["c++11", "c++14", "c++17", "c++20"])
@pytest.mark.parametrize("head", ["", "#include <new>\n"])
def test_new_and_virtual(head, standard, tmp_path):
    """They end in what the driver has; the driver would refuse the PTX otherwise."""
    source = head + """
struct A { __device__ virtual int f() = 0; __device__ virtual ~A() {} };
struct B : A { __device__ int f() override { return 2; } };
__device__ __noinline__ int call(A *a) { return a->f(); }
extern "C" __global__ void k(A **all, int **x, char *room)
{
    all[0] = new B;
    x[0] = new int[4];
    x[1][0] = call(all[1]) + (new (room) B)->f();
    delete all[2];
    delete[] x[2];
}
"""
    code, said, ptx = embed(tmp_path, source, "--std", standard)
    assert (code, said) == (0, "")
    wanted = re.findall(r"^\.extern \.func\s+(?:\(.*?\)\s*)?([\w$]+)", ptx, re.M | re.S)
    assert set(wanted) == {"malloc", "free"}
    assemble(tmp_path, ptx, lambda known: known[:1])


@by_clang
def test_a_header_of_the_project(tmp_path):
    """Its line is named; -I, -D and --std reach the compiler; a path with a blank."""
    folder = tmp_path / "of mine"
    folder.mkdir()
    (folder / "mine.h").write_text("\n#ifdef BAD\n__device__ int f() { return __hadd2(1, 2); }\n"
                                   "#endif\n", encoding="utf-8")
    source = "#include <mine.h>\n__global__ void k() { if constexpr (N == 3) {} }\n"
    options = ["-I", str(folder), "-DN=3", "--std", "c++17"]
    code, said, _ = embed(tmp_path, source, *options)
    assert (code, said) == (0, "")
    (tmp_path / "k.h").unlink()
    code, said, _ = embed(tmp_path, source, *options, "-D", "BAD")
    assert (code, said) == (1, f"{folder}/mine.h:3: __hadd2 is not supported by cushim-embed; "
                            "--with nvcc has it\n")


@by_clang
def test_the_standard_is_the_same_for_every_clang(tmp_path):
    """C++17, and another on demand; --help says so."""
    source = ("#include <algorithm>\n__global__ void k(float *x)\n{\n"
              "    *x = std::clamp(*x, 0.0f, 1.0f);\n}\n")
    assert embed(tmp_path, source)[:2] == (0, "")
    (tmp_path / "k.h").unlink()
    code, said, _ = embed(tmp_path, source, "--std", "c++14")
    assert (code, said) == (1, "k.cu:4: no member named 'clamp' in namespace 'std'\n")
    told = subprocess.run([sys.executable, EMBED, "--help"], check=True, text=True,
                          capture_output=True, env={**os.environ, "COLUMNS": "200"}).stdout
    assert "standard of C++ (clang: c++17 by default; nvcc and nvrtc: their own default)" in told


NEEDS = [
    ("x[0] = expf(x[0]) + atomicAdd(x, 1.0f);", "3.2", "sm_20"),
    ("atomicAdd((unsigned long long *)x, 1ull);", "3.2", "sm_20"),
    ("atomicMax((unsigned long long *)x, 1ull);", "4.0", "sm_32"),
    ("atomicAdd((double *)x, 1.0);", "5.0", "sm_60"),
    ("x[0] = __shfl_xor_sync(~0u, x[0], 1);", "6.0", "sm_30"),
    ("x[0] = __activemask();", "6.2", "sm_30"),
    ("x[0] = __match_any_sync(~0u, 3);", "6.0", "sm_70"),
    ("x[0] = __vadd4(x[1], x[2]); __stcs(x, __ldcg(x + 1));", "3.2", "sm_20"),
    ("x[0] = __dp2a_lo(1, 2, 3);", "5.0", "sm_61"),
    ("x[0] = __reduce_add_sync(~0u, 3u); atomicAdd((double *)x, 1.0);", "7.0", "sm_80"),
]


def assemble(folder, ptx, chosen=lambda known: known):
    """Where there is an assembler: it takes PTX for these of its GPUs that the target allows."""
    assembler = toolkit.find_program("ptxas")
    if not assembler:
        return
    (folder / "k.ptx").write_text(ptx, encoding="ascii")
    told = subprocess.run([assembler, "--help"], check=True, capture_output=True, text=True).stdout
    least = int(version_and_target(ptx)[1][3:])
    known = sorted({int(number) for number in re.findall(r"'sm_(\d+)'", told)} - {*range(least)})
    for number in chosen(known):
        subprocess.run([assembler, f"-arch=sm_{number}", "k.ptx"], check=True, cwd=folder)


@by_clang
@pytest.mark.parametrize("body, version, target", NEEDS)
def test_what_a_kernel_needs_is_written(body, version, target, tmp_path):
    """The lowest .version and .target that suffice."""
    code, said, ptx = embed(tmp_path, f"__global__ void k(float *x) {{ {body} }}\n")
    assert (code, said) == (0, "") and version_and_target(ptx) == (version, target)
    assemble(tmp_path, ptx, lambda known: known[:1])


@by_clang
def test_the_usual_atomic_of_double(tmp_path):
    """Programs define it themselves for GPUs before sm_60; theirs is taken."""
    code, said, ptx = embed(tmp_path, """
#if __CUDA_ARCH__ < 600
__device__ double atomicAdd(double *address, double value)
{
    unsigned long long *word = (unsigned long long *)address, old = *word, seen;
    do {
        seen = old;
        old = atomicCAS(word, seen, __double_as_longlong(value + __longlong_as_double(seen)));
    } while (old != seen);
    return __longlong_as_double(old);
}
#endif
__global__ void k(double *x) { atomicAdd(x, 1); }
""")
    assert (code, said) == (0, "") and version_and_target(ptx) == ("3.2", "sm_20")
    assert "atom.cas.b64" in ptx


@by_clang
@pytest.mark.parametrize("name, needed", [
    ("kernels", ("6.2", "sm_32")), ("pieces", ("6.2", "sm_32")), ("functions", ("3.2", "sm_20")),
    ("packed", ("5.0", "sm_61"))])
def test_kernels_of_the_courses(name, needed, tmp_path):
    """They compile for old drivers, and the assembler takes them: some for every GPU it knows."""
    source = (TUTORIALS / f"{name}.cu").read_text(encoding="utf-8")
    code, said, ptx = embed(tmp_path, source, "-I", str(TUTORIALS), "--oldest", "9.2")
    assert (code, said) == (0, "") and version_and_target(ptx) == needed
    assemble(tmp_path, ptx, lambda known: known if name == "kernels" else known[:1])


@by_clang
def test_more_can_be_asked_for(tmp_path):
    """--isa and --target; --oldest refuses; a warning is shown and is no fault."""
    source = "__global__ void k(float *x) { int unused; x[0] = __activemask(); }\n"
    code, said, ptx = embed(tmp_path, source, "--isa", "7.8", "--target", "sm_60")
    assert code == 0 and version_and_target(ptx) == ("7.8", "sm_60")
    assert re.fullmatch(r"k\.cu:1:\d+: warning: unused variable 'unused' \[.*\]\n", said)
    (tmp_path / "k.h").unlink()
    code, said, _ = embed(tmp_path, source, "--oldest", "9.0")
    assert (code, said.splitlines()[-1]) == (
        1, "k.cu:1: __activemask needs a newer driver: drivers from CUDA 9.2 on read .version 6.2, "
        "and --oldest is 9.0")
    code, said, _ = embed(tmp_path, source, "--isa", "7.8", "--oldest", "9.0")
    assert code == 1 and "k.cu: drivers from CUDA 11.8 on read .version 7.8" in said


@pytest.mark.parametrize("release, words", [
    ("99.0", "the newest release that cushim-embed knows is CUDA 1"),
    ("9.5", "there is no such release; CUDA 9 has 9.0, 9.1, 9.2"), ("12.99", "is written as 10.2"),
    ("13.9", None), ("5.0", None)])
def test_a_release_that_there_is_not(release, words, tmp_path):
    """A misspelt one would let PTX pass that no driver of the one that was meant reads."""
    (tmp_path / "k.ptx").write_text(".version 3.2\n.target sm_20\n.entry k() { ret; }\n",
                                    encoding="ascii")
    done = subprocess.run([sys.executable, EMBED, "--oldest", release, "k.ptx", "k.h"],
                          cwd=tmp_path, text=True, check=False, capture_output=True)
    assert done.returncode == (2 if words else 0), done.stderr
    assert not words or f"error: --oldest {release}: " in done.stderr and words in done.stderr
    assert (tmp_path / "k.h").exists() == (not words)


@by_clang
def test_a_mangled_name_is_told(tmp_path):
    """With file and line; not of a template, whose kernels have no other names."""
    source = ("// first\n__constant__ float w;\n\n__global__ void first(float *x) { *x = w; }\n"
              "template <class T> __global__ void many(T *x) { *x = 1; }\n"
              "template __global__ void many<float>(float *);\n"
              "extern \"C\" __global__ void plain(int *x) { *x = 1; }\n")
    code, said, ptx = embed(tmp_path, source)
    assert code == 0 and "_Z5firstPf(" in ptx and "plain(" in ptx
    assert said == ("k.cu:4: warning: in the PTX the kernel first is called _Z5firstPf; "
                    "extern \"C\" keeps its name\n")


@by_clang
@pytest.mark.parametrize("output", ["k.ptx", "-"])
def test_ptx_alone(output, tmp_path):
    """For Python, Go and Rust: an output that ends in .ptx, and standard output."""
    (tmp_path / "odd name.cu").write_text('extern "C" __global__ void k() {}\n', encoding="utf-8")
    done = subprocess.run([sys.executable, EMBED, "odd name.cu", output], cwd=tmp_path, text=True,
                          check=True, capture_output=True)
    ptx = done.stdout if output == "-" else (tmp_path / output).read_text(encoding="ascii")
    assert ptx.startswith(".version 3.2\n") and ".entry k(" in ptx and done.stderr == ""
    assert {file.name for file in tmp_path.iterdir()} == {"odd name.cu", output} - {"-"}


@by_clang
def test_the_names_are_in_the_header(tmp_path):
    """Of the kernels, mangled ones with what they are in C++; and of the string."""
    code, said, _ = embed(
        tmp_path, "template <int N, class T> __global__ void many(T *x) { *x = N; }\n"
        "template __global__ void many<3, float>(float *);\n"
        "extern \"C\" __global__ void plain(int *x) { *x = 1; }\n", "--name", "mine")
    header = (tmp_path / "k.h").read_text(encoding="utf-8")
    assert (code, said) == (0, "") and "static const char mine[] = {" in header
    assert ("/* Kernels:\n *     _Z4manyILi3EfEvPT0_ is many<3, float>(float*)\n *     plain\n */\n"
            in header)
    subprocess.run(["cc", "-std=c99", "-Wall", "-Wextra", "-Werror", "-Wno-unused", "-c", "-x", "c",
                    "-o", "k.o", "k.h"], cwd=tmp_path, check=True)


@by_clang
@pytest.mark.parametrize("source", ["", "template <class T> __global__ void k(T *x) {}\n"])
def test_without_a_kernel(source, tmp_path):
    code, said, _ = embed(tmp_path, source)
    assert code == 1 and said.startswith("k.cu: there is no kernel in it")
    code, said, _ = embed(tmp_path, source + "extern \"C\" __device__ int g() { return 1; }\n")
    assert (code, said) == (0, "k.cu: warning: there is no kernel in it, only what another module "
                            "can link\n")


@by_clang
def test_headers_of_a_toolkit(tmp_path):
    """One line, at the user's #include: whether clang refuses them or makes nothing of them."""
    (tmp_path / "kit/crt").mkdir(parents=True)
    for name, text in (("driver_types.h", ""), ("cooperative_groups.h", ""),
                       ("cuda_fp16.h", '#include "crt/half.h"\n'), ("crt/half.h", "int a b;\n"),
                       ("../mine.h", "\n#include <cuda_fp16.h>\n")):
        (tmp_path / "kit" / name).write_text(text, encoding="utf-8")
    for source, where in (("\n#include <cuda_fp16.h>\n", "k.cu:2: cuda_fp16.h"),
                          ("#include \"mine.h\"\n", "mine.h:2: cuda_fp16.h"),
                          ("#include <cooperative_groups.h>\nnamespace g = cooperative_groups;\n",
                           "k.cu:1: cooperative_groups.h")):
        code, said, _ = embed(tmp_path, source, "-I", "kit")
        assert (code, said) == (1, f"{where} is not supported by cushim-embed; "
                                "--with nvcc has it\n")


@by_clang
def test_lines_of_the_source_and_assert(tmp_path):
    """The PTX has them, by names that depend on no folder; assert needs no header, as with nvcc."""
    source = "\n\nextern \"C\" __global__ void k(int *x)\n{\n    assert(*x);\n    x[3] = 7;\n}\n"
    code, said, ptx = embed(tmp_path, source)
    assert (code, said) == (0, "")
    assert re.findall(r"^\t\.file\t\d+ \"(.*)\"$", ptx, re.M)[0] == "k.cu"
    assert str(tmp_path) not in ptx and "/" not in re.sub(r"//.*", "", ptx)
    assert re.search(r"\.loc\t1 6 \d+\n.*st\.global", ptx) and "__assertfail" in ptx
    assemble(tmp_path, ptx, lambda known: known[:1])


@by_clang
def test_lines_of_functions_of_cuda(tmp_path):
    """Their instructions have the line of the call, not one of a header."""
    source = ("extern \"C\" __global__ void k(float *x)\n{\n    __syncwarp();\n"
              "    x[1] = __shfl_xor_sync(~0u, *x, 1);\n    atomicAdd(x, sinf(x[2]));\n}\n")
    code, said, ptx = embed(tmp_path, source)
    assert (code, said) == (0, "")
    assert re.findall(r"^\t\.file\t\d+ \"(.*)\"$", ptx, re.M) == ["k.cu"]
    for line, instruction in ((3, "bar.warp.sync"), (4, "shfl.sync"), (5, "atom.global")):
        before = ptx[:ptx.index(instruction)]
        assert re.findall(r"\.loc\t1 (\d+) ", before)[-1] == str(line), ptx


def test_without_clang(tmp_path):
    """One line that says what to install, and what else can be done."""
    code, said, _ = embed(tmp_path, "", "--clang", "clang-of-nobody")
    assert (code, said) == (1, "clang-of-nobody: not found. cushim-embed needs clang to compile "
                            "k.cu: install it (Debian's package clang), or name one with --clang, "
                            "or take a toolkit's compiler with --with nvcc\n")


@pytest.mark.parametrize("options, code, words", [
    (["--isa", "six"], 2, "--isa six: a version is written as 6.3"),
    (["--target", "90"], 2, "--target 90: a target is written as sm_75"),
    (["--clang", "/nonexistent/clang"], 1, "/nonexistent/clang: not found. "),
    (["--with", "gcc"], 2, "--with"),
    (["--name", "3d"], 1, "--name 3d: no C identifier"),
    (["-arch=sm_70"], 2, "-arch=sm_70: --target names the oldest GPU, as in --target sm_70"),
    (["-gencode", "arch=compute_70,code=sm_70"], 2, "-gencode: --target names the oldest GPU"),
    (["-O3"], 2, "-O3: not needed, the PTX is optimised and has the source's lines"),
    (["-lineinfo"], 2, "-lineinfo: not needed, the PTX is optimised and has"),
    (["--with", "nvcc", "-lineinfo"], 2, "unrecognized arguments: -lineinfo"),
    (["--fast"], 2, "unrecognized arguments: --fast"),
])
def test_wrong_use(options, code, words, tmp_path):
    got, said, _ = embed(tmp_path, "", *options)
    assert got == code and words in said


def test_a_source_that_is_not_called_cu(tmp_path):
    """C++ by another name is no PTX; a .ptx file without .version is told as one."""
    told = "no PTX, it has no .version line"
    for name, more in (("k.cpp", "; a file of CUDA source must be called .cu"), ("k.ptx", "")):
        code, said, _ = embed(tmp_path, "__global__ void k() {}\n", name=name)
        assert (code, said) == (1, f"{name}: {told}{more}\n")


LAST_BLOCK = """__device__ unsigned done;
extern "C" __global__ void k(float *sum, float *partial)
{
    __shared__ bool last;
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = 1;
        __threadfence();
        last = atomicAdd(&done, 1u) == gridDim.x - 1;
    }
    BARRIER;
    if (last)
        sum[threadIdx.x] = partial[threadIdx.x];
}
"""


@by_clang
@pytest.mark.parametrize("barrier, text", [
    ("__syncthreads()", "bar.sync"), ("__syncwarp()", "bar.warp.sync"),
    ("__syncthreads_or(0)", "bar.red.or"), ("__threadfence_block()", "membar.cta")])
def test_nothing_shared_is_read_before_a_barrier(barrier, text, tmp_path):
    """Also a variable whose address nobody takes."""
    code, _, ptx = embed(tmp_path, LAST_BLOCK.replace("BARRIER", barrier))
    read = re.search(r"ld\.shared\.u8.*last", ptx)
    assert code == 0 and ptx.index(text) < read.start()
    assert not re.search(r"ld\.shared.*last", ptx[:ptx.index(text)])


@pytest.mark.in_all
@pytest.mark.parametrize("compiler", ["clang", "nvcc", "nvrtc"])
def test_depfile(compiler, tmp_path):
    """Make reads it; it names the headers, those of headers and of -I, as Make writes them."""
    try:
        assert toolkit.find_nvrtc() if compiler == "nvrtc" else toolkit.find_program(compiler)
        assert shutil.which("make")
    except (AssertionError, compilers.Refused):
        pytest.skip(f"no {compiler}, or no make")
    (tmp_path / "sub").mkdir()
    for name, text in (("sub/a b#$.h", "#ifdef __CUDA_ARCH__\n#include \"deep.h\"\n#endif\n"),
                       ("sub/deep.h", "\n"), ("other.h", "#define V 1\n"), ("unused.h", "")):
        (tmp_path / name).write_text(text, encoding="utf-8")
    code, said, _ = embed(tmp_path / "sub", "#include \"a b#$.h\"\n #  include <other.h>\n"
                          "__global__ void k(int *x) { *x = V; }\n", "--with", compiler,
                          "-I", "..", "--depfile", "k.d")
    assert (code, said) == (0, "")
    rule = (tmp_path / "sub/k.d").read_text(encoding="utf-8")
    assert rule.startswith("k.h: k.cu \\\n") and r"a\ b\#$$.h" in rule and "unused.h" not in rule
    (tmp_path / "sub/Makefile").write_text("k.h:\n\t@echo again\ninclude k.d\n", encoding="utf-8")
    for changed, words in ((None, "'k.h' is up to date"), ("a b#$.h", "again"), ("deep.h", "again"),
                           ("../other.h", "again")):
        if changed:
            os.utime(tmp_path / "sub" / changed, (2**32, 2**32))
        shown = subprocess.run(["make"], cwd=tmp_path / "sub", text=True, check=True,
                               capture_output=True, env={**os.environ, "LC_ALL": "C"})
        assert words in shown.stdout
        if changed:
            os.utime(tmp_path / "sub" / changed, (1, 1))


@by_clang
@pytest.mark.parametrize("output, redirected, words", [
    ("/dev/full", "", "/dev/full: No space left on device"),
    ("-", ">/dev/full", "standard output: No space left on device"),
    ("-", ">&-", "standard output: Bad file descriptor"),
    ("k.h --depfile /nowhere/k.d", "", "/nowhere/k.d: No such file or directory"),
    ("-", "--depfile k.d", "cushim-embed: error: --depfile: standard output is not made again"),
])
def test_an_output_that_cannot_be_written(output, redirected, words, tmp_path):
    (tmp_path / "k.cu").write_text("__global__ void k() {}\n", encoding="utf-8")
    command = ["sh", "-c", f'"$@" {redirected}', "sh", sys.executable, EMBED, "k.cu"]
    done = subprocess.run([*command, *output.split()], cwd=tmp_path, text=True, check=False,
                          capture_output=True)
    assert (done.returncode, done.stderr.splitlines()[-1]) == (2 if "error:" in words else 1, words)


@pytest.mark.in_all
@pytest.mark.parametrize("compiler", ["nvcc", "nvrtc"])
def test_compilers_of_a_toolkit(compiler, tmp_path):
    """Where there is one: the tutorials' kernels, by the oldest version; a fault as clang's."""
    try:
        assert toolkit.find_nvrtc() if compiler == "nvrtc" else toolkit.find_program("nvcc")
    except (AssertionError, compilers.Refused):
        pytest.skip(f"no {compiler}")
    source = (TUTORIALS / "kernels.cu").read_text(encoding="utf-8")
    source = re.sub(r"#include <(float|math)\.h>", "", source).replace("FLT_MAX", "3.4e38f")
    code, said, ptx = embed(tmp_path, source, "--with", compiler, "--oldest", "10.2")
    assert (code, said) == (0, "")
    version, target = version_and_target(ptx)
    assert version.startswith("6.") and target.startswith("sm_")
    (tmp_path / "k.h").unlink()
    code, said, _ = embed(tmp_path, "\n__global__ void k() { f(); }\n", "--with", compiler)
    assert (code, said) == (1, "k.cu:2: identifier \"f\" is undefined\n")
    code, said, _ = embed(tmp_path, source, "--with", compiler, "--isa", "3.2")
    assert code == 1 and "the PTX needs more than --isa 3.2" in said


def test_a_toolkit_that_is_not_there(tmp_path, monkeypatch):
    monkeypatch.setattr(toolkit, "toolkit_folders", lambda: [tmp_path])
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(compilers.Refused, match="nvcc: not in PATH, CUDA_HOME or /usr/local/cuda"):
        toolkit.by_nvcc(tmp_path / "k.cu", None, None, [], None)


def test_page_has_the_errors_that_are_tested():
    """docs/kernel-functions.md's two tables are tests/device/own/functions.h."""
    listed = (TUTORIALS / "functions.h").read_text(encoding="utf-8")
    stated = {name: float(error) for name, error in
              re.findall(r"(?:ONE|TWO)\((\w+), \w+, ([\d.]+)", listed)}
    page = (ROOT / "docs/kernel-functions.md").read_text(encoding="utf-8")
    shown = {name: float(error) for error, names in re.findall(r"^\| ([\d.]+) \| (`.*`) \|$", page,
                                                               re.M)
             for name in re.findall(r"`(\w+)`", names)}
    assert len(stated) > 70 and shown == stated


def test_page_has_the_packed_functions():
    """docs/kernel-functions.md's row names what tests/device/own/packed.h computes."""
    listed = (TUTORIALS / "packed.h").read_text(encoding="utf-8")
    page = (ROOT / "docs/kernel-functions.md").read_text(encoding="utf-8")
    names = set(re.findall(r"(?:P|D)\((__\w+),", listed))
    names = {re.sub(r"(__v(?:cmp|set))\w+", r"\1eq", name) for name in names}
    row = re.search(r"^\| packed \|.*\n.*", page, re.M)[0]
    assert len(names) > 25 and names <= {re.sub("(__v.*)[24]$", r"\1", name)
                                         for name in re.findall(r"`(__\w+)`", row)}
