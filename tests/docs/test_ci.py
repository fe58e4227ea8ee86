# SPDX-License-Identifier: MIT
"""Every command of docs/ci.md's workflow files, run on a program that is right, and on one with
each of the mistakes that they find."""

import os
import re
import subprocess
from dataclasses import replace

import pytest
from pages import ROOT, fenced
from runner import BUILD, CLI, SIM, compile_block, environment, run
from test_docs import FIRST

PAGE = ROOT / "docs" / "ci.md"
FOLDED = re.compile(r"(run:|-) >\n((?: {10}.*\n| {6}(?!- )\S.*\n)+)")
LINE = re.compile(r"\s*(?:- )?(?:run: )?((?:CUSHIM_\w*=\S* |cushim |cat ).*)")


def commands(block):
    """The lines of a workflow file or a script that use cushim, or what it wrote."""
    text = FOLDED.sub(lambda found: f"{found[1]} {' '.join(found[2].split())}\n", block.text)
    return [found[1].strip() for found in map(LINE.fullmatch, text.splitlines()) if found]


BLOCKS = {block.line: commands(block) for block in fenced(PAGE) if commands(block)}


def build(text, folder):
    """A program with cushim in it, as the workflow's `make` leaves it."""
    compile_block(replace(FIRST, text=text), folder)


def runner(folder, **more):
    """Its environment: the command is found."""
    (folder / "cushim").unlink(missing_ok=True)
    (folder / "cushim").symlink_to(CLI)
    variables = environment(CUSHIM_SIM_DIR=str((BUILD / "src/sim").resolve()),
                            GITHUB_STEP_SUMMARY=str(folder / "summary.md"), **more)
    variables["PATH"] = f"{folder}:{variables['PATH']}"
    return variables


def test_the_workflows_are_there():
    """Both services have the same commands, but for how they report."""
    def plain(command):
        return re.sub(r" --(?:github|explain|(?:junit|markdown) \S+)", "", command)
    github, gitlab = BLOCKS.values()
    assert [plain(command) for command in github if not command.startswith("cat ")] == \
        [plain(command) for command in gitlab]
    assert len(gitlab) == 3


def test_what_is_not_known_is_not_green():
    """Each gate of `cushim scan` has --strict, and the page says what that means."""
    text = PAGE.read_text(encoding="utf-8")
    gates = re.findall(r"cushim scan [^`\n]*--(?:drivers|gpus)[^`\n]*", text)
    assert len(gates) == 7
    assert all("--strict" in gate for gate in gates)
    assert "without `--strict` it is green" in text


# The mistake that MISTAKE names.
MISTAKEN = r"""
#include <dlfcn.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <cushim/cushim.h>
static int is(const char *mistake)
{
    return getenv("MISTAKE") && strcmp(getenv("MISTAKE"), mistake) == 0;
}
int main(void)
{
    const char *ptx = ".version 4.1\n.target sm_30\n.address_size 64\n"
        ".visible .entry k(.param .u64 p) { .reg .b64 %a; .reg .b32 %t; ld.param.u64 %a, [p]; "
        "mov.u32 %t, %tid.x; st.global.u32 [%a], %t; ret; }";
    const struct cushim_api *cu = cushim_load(NULL);
    CUcontext context;
    CUmodule module = NULL;
    CUfunction kernel;
    CUdeviceptr memory = 0;
    unsigned *word = NULL;
    void *values[] = {&memory};
    unsigned threads = is("race") ? 64 : 1;
    unsigned long long id;
    int result = 1;
    if (cushim_init(cu) != CUSHIM_OK)
        return is("no driver") && cushim_status(cu) != CUSHIM_OK ? 1 : 77;
    if (cu->cuCtxCreate_v2(&context, 0, 0))
        return 1;
    if (is("unguarded") && cu->cuCtxGetId(context, &id))
        goto end;
    if (is("abi"))
        ((int (*)(void *, size_t))dlsym(dlopen("libcuda.so.1", RTLD_NOW), "cuMemAlloc"))(&id, 4);
    if (cu->cuModuleLoadData(&module, ptx) || cu->cuModuleGetFunction(&kernel, module, "k"))
        goto end;
    if (cu->cuMemAlloc_v2(&memory, is("address") ? 2 : 64) ||
        (cu->cuLaunchKernel(kernel, 1, 1, 1, threads, 1, 1, 0, NULL, values, NULL) &&
         !is("unchecked")) || cu->cuMemAllocHost_v2((void **)&word, 4))
        goto end;
    *word = 1;
    if (cu->cuMemcpyDtoHAsync_v2(word, memory, 4, NULL) ||
        (is("wait") ? poll(NULL, 0, 20) : (int)cu->cuCtxSynchronize()))
        goto end;
    result = *word != 0;
end:
    if (!is("leak") && !(is("late leak") && result))
        cu->cuMemFree_v2(memory);
    if (word)
        cu->cuMemFreeHost(word);
    if (module)
        cu->cuModuleUnload(module);
    cu->cuCtxDestroy_v2(context);
    return result;
}
"""


@pytest.fixture(name="mistaken", scope="module")
def fixture_mistaken(tmp_path_factory):
    """The folder of that program, and of its sources, which ask before each call."""
    if not SIM:
        pytest.skip("built without the simulated driver")
    folder = tmp_path_factory.mktemp("mistaken")
    build(MISTAKEN, folder)
    (folder / "src").mkdir()
    return folder


def write_source(folder, mistake):
    """The source that `cushim scan` reads, in which the call is guarded but for one mistake."""
    guard = "" if mistake == "unguarded" else "/* CUSHIM_HAS(cu, cuCtxGetId) */\n"
    text = MISTAKEN.replace("    if (is(\"unguarded\")", f"    {guard}    if (is(\"unguarded\")")
    (folder / "src/program.c").write_text(text)


@pytest.mark.parametrize("line", BLOCKS)
def test_commands(line, mistaken):
    """In their order, in one folder, as a runner's shell runs them: each ends with 0."""
    write_source(mistaken, "none")
    for command in BLOCKS[line]:
        done = run(["sh", "-ec", command], mistaken, runner(mistaken))
        assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
    assert (mistaken / "drivers.xml").stat().st_size > 0


@pytest.mark.parametrize("mistake, found", [
    ("none", ""), ("unguarded", "scan --strict --drivers, matrix"), ("abi", "matrix"),
    ("leak", "matrix"), ("late leak", "--check"), ("race", "matrix"), ("wait", "matrix"),
    ("unchecked", "matrix"), ("address", "matrix"), ("no driver", "matrix")])
def test_mistakes_are_found(mistaken, mistake, found):
    """By the lines that the page names, and by no other."""
    write_source(mistaken, mistake)
    *_, lines = BLOCKS.values()
    gate = lines[-1].replace(" --gate", " --gate --cuda 11.4,13.5")
    for command in [*lines[:-1], gate, gate.replace("--gate", "--gate --check")]:
        done = run(["sh", "-ec", command], mistaken, runner(mistaken, MISTAKE=mistake))
        red = any(words in command for words in found.split(", ") if words)
        assert (done.returncode != 0) == red, f"{command}: {done.stdout}{done.stderr}"
