# SPDX-License-Identifier: MIT
"""`cushim explain`: numbers, names and messages; the registry's texts and no others."""

import itertools
import json
import os
import re
import subprocess
import sys

import pytest
from command import FAILED, OK, ROOT, run

ERRORS = [json.loads(line) for line in
          (ROOT / "gen/registry/errors.jsonl").read_text(encoding="utf-8").splitlines()]
CAUSES = [json.loads(line) for line in
          (ROOT / "gen/registry/causes.jsonl").read_text(encoding="utf-8").splitlines()]


SENTENCES = [json.loads(line) for line in
             (ROOT / "gen/registry/sentences.jsonl").read_text(encoding="utf-8").splitlines()]


def explain(*words, code=OK):
    """The codes that are explained."""
    result = run("explain", "--json", *words)
    assert result.code == code
    errors = result.json()["errors"]
    assert (result.err == "") == (code == OK)
    return [error["code"] for error in errors]


@pytest.mark.parametrize("words, code", [
    (["222"], 222), (["CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"], 803), (["system_driver_mismatch"], 803),
    (["PTX was compiled with an unsupported toolchain"], 222),
    (["cuda", "error:", "PTX", "was", "compiled", "with", "an", "Unsupported", "Toolchain."], 222),
    (["cudaErrorNoKernelImageForDevice"], 209), (["cudaErrorInsufficientDriver"], 35),
    (["cuInit returned 803, CUDA_ERROR_SYSTEM_DRIVER_MISMATCH; restart"], 803),
    (["RuntimeError: CUDA error: no kernel image is available for execution"], 209),
    (["Found no NVIDIA driver; cudaGetDeviceCount: error 804: a text"], 804),
    (["error code=719(a name of another library)"], 719), (["cuInit() returned 100"], 100),
    (["RuntimeError: No CUDA GPUs are available"], 100), (["CUDA error: out of memory"], 2),
    (["0"], 0), (["999"], 999), (["918"], 918),
    (["20"], 20), (["52"], 52), (["98"], 98), (["9"], 9),
    (["file.c:12: error 700"], 700), (["cuInit: error 3"], 3), (["GPU 0 returned 35"], 35),
    (["CUDA error: invalid device function"], 98), (["CUDA_ERROR_222"], 222),
    (["cuInit failed: 804"], 804), (["CUDA failed: 700"], 700), (["status 222"], 222),
    (["cuMemAlloc failed with 2"], 2), (["cuInit -> 100"], 100), (["cudaMalloc failed: 2"], 2),
    (["result = 719"], 719), (["rc=100"], 100), (["CUDA_ERROR(719)"], 719),
    (["cuInit(0) -> 100"], 100), (["cudaMalloc(100) failed (a.c:17): 2"], 2),
    (["3 files, 2 errors: CUDA 12.4, a.c:17: cuInit failed with 804"], 804),
    (["cudaError 700"], 700), (["CUresult: 2"], 2), (["cuInit failed with code 100, exit"], 100),
    (["[804] Call to cuInit results in UNKNOWN_CUDA_ERROR"], 804),
    (["Call to cuInit results in UNKNOWN_CUDA_ERROR (804)"], 804),
])
def test_found(words, code):
    assert explain(*words) == [code]


@pytest.mark.parametrize("words", [
    ["1000"], ["-1"], ["35x"], ["99999999999999999999"], [""], ["CUDA_ERROR_"], ["error"],
    ["nothing of that kind"], ["XCUDA_ERROR_NOT_FOUNDED"], ["5000 errors in 3 lines"], ["10"],
    ["x" * 9000], ["./a returned 1"], ["exit code 35"], ["make: *** [all] Error 2"],
    ["CUDA: 3 errors"], ["cuda failed: 2 files"], ["cuInit failed at a.c:17"], ["CUDA 12 failed"],
    ["CUDA failed: 12.4"], ["cuMemAlloc failed after 2 tries"], ["exited with status 100"],
    ["cuDeviceGet(0) failed"], ["cudaMalloc of 100 MB failed"], ["GPU 0 failed"], ["src 100"],
    ["cuda: collect2: error: ld returned 1 exit status"], ["sm_80: cuda failed"], ["decode 100"],
    ["HTTP status 500"], ["cuInit returned -1"], ["program exited with code 139"],
])
def test_not_found(words):
    assert explain("--", *words, code=FAILED) == []


def test_longer_name():
    """A name within another is not meant: NOT_FOUND stands in FILE_NOT_FOUND."""
    assert explain("CUDA_ERROR_FILE_NOT_FOUND") == [301]
    assert explain("first CUDA_ERROR_NOT_FOUND then CUDA_ERROR_UNKNOWN") == [500, 999]


def test_several_numbers():
    assert explain("700", "222") == explain("700, 222") == [700, 222]
    assert explain("700 1000", code=FAILED) == explain("700 -2", code=FAILED) == []


@pytest.mark.parametrize("word, told", [
    ("cuMemAlloc", "cuMemAlloc is an entry of the driver: give the error that it returned, or see "
     "'cushim symbols --name cuMemAlloc'"),
    ("cuMemAlloc_v2", "cuMemAlloc_v2 is an entry of the driver: "),
    ("OUT_OF_MEMRY", "no error is known by this text; did you mean CUDA_ERROR_OUT_OF_MEMORY?"),
    ("cuda_error_invald_value", "did you mean CUDA_ERROR_INVALID_VALUE?"),
    ("cudaErrorNoDevic", "did you mean cudaErrorNoDevice?"),
    ("CUDA_EROR_NO_DEVICE", "did you mean CUDA_ERROR_NO_DEVICE?"),
    ("out of memmory", "did you mean out of memory?"),
    ("foo", "give its number or its name")])
def test_what_may_have_been_meant(word, told):
    result = run("explain", word)
    assert result.code == FAILED and told in result.err


def test_every_code():
    """Meanings are the registry's; so are causes."""
    listed = {row["code"]: row for row in run("explain", "--json").json()["errors"]}
    assert set(listed) == {row["code"] for row in ERRORS + CAUSES} - {0}
    for row in ERRORS[1:]:
        assert (listed[row["code"]]["name"], listed[row["code"]]["means"]) == \
            (row["name"], row["text"])
        assert explain(row["name"]) == explain(str(row["code"])) == [row["code"]]
    for row in CAUSES:
        assert listed[row["code"]]["causes"] == row["causes"]
        for phrase in row["phrases"]:
            assert explain(f"a program: {phrase}!") == [row["code"]]


def test_text():
    result = run("explain", "222")
    assert (result.code, result.err) == (OK, "")
    row = next(row for row in CAUSES if row["code"] == 222)
    for part in ("CUDA_ERROR_UNSUPPORTED_PTX_VERSION", row["runtime"], row["who"],
                 *(text for cause in row["causes"] for text in cause.values())):
        assert part in " ".join(result.out.split())
    assert max(map(len, result.out.splitlines())) <= 100
    assert len(run("explain").out.splitlines()) == len(ERRORS) - 1 + \
        len([row for row in CAUSES if "text" in row])


def test_page(tmp_path):
    """docs/errors.md is what the registry gives."""
    subprocess.run([sys.executable, ROOT / "gen/emit.py", "errors.md", tmp_path / "errors.md"],
                   check=True)
    assert (tmp_path / "errors.md").read_text(encoding="utf-8") == \
        (ROOT / "docs/errors.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("text, cure", [
    ("libcuda.so.1: truncated: 9 bytes, but a segment ends at 20; reinstall NVIDIA's driver",
     "reinstall the driver; was the disk full?"),
    ("truncated: the file ends within its ELF header", "reinstall the driver; was the disk full?"),
    ("x: CUDA 9.0, but the program needs CUDA 11.2, and it lacks cuMemAllocAsync",
     "use a newer driver; cushim compat names its version"),
    ("PTX with a NUL at byte 27 of 30, and text behind it", "give the size without the NUL"),
    ("add.cu:7: __nanosleep is not supported by cushim-embed; --with nvcc has it",
     "write it another way"),
    ("cushim sim: check: process 15 leaked 2750 bytes of memory in 4 blocks",
     "free the memory"),
    ("cushim_memory_alloc: bytes is 0; ask for at least 1", "no driver allocates 0 bytes"),
    ("cushim matrix: no driver to run it under", "give releases or drivers"),
    ("stream: copy of 100 elements to 99: CUDA_ERROR_INVALID_VALUE (1), an argument has a value "
     "this call does not accept", "make the target as large as the source"),
    ("stream: used while it is empty", "the owner was moved from"),
    ("cushim_launch: function is NULL; pass a kernel", "give what cushim_module_function"),
    ("Failed: the checks of kernels found 2 faults in test_a; standard error has them",
     "correct the kernel"),
    ("./a: error while loading shared libraries: libcuda.so.1: cannot open shared object file: "
     "No such file or directory", "the program is linked with -lcuda, and the machine has no "
     "driver: install"),
    ("OSError: libcuda.so.1: cannot open shared object file: No such file or directory",
     "the machine, or the container, has no driver"),
    ("Error loading shared library libcuda.so.1: No such file or directory (needed by ./a)",
     "the program is linked with -lcuda, and the machine has no driver for musl"),
    ("./a: error while loading shared libraries: libcushim.so.0: cannot open shared object file: "
     "No such file or directory", "the system's loader does not know the folder"),
    ("./a: error while loading shared libraries: libx.so.1: cannot open shared object file: No "
     "such file or directory", "install the library that is named"),
    ("./a: symbol lookup error: ./a: undefined symbol: cuCtxCreate_v4",
     "the driver is older than the headers"),
    ("Error relocating ./a: cuCtxCreate_v4: symbol not found",
     "the driver is older than the headers"),
    ("ImportError: /usr/lib/b.so: undefined symbol: cuMemCreate",
     "the driver is older than the headers"),
    ("ImportError: b.so: undefined symbol: cudaMallocAsync", "the program was built with a newer "
     "CUDA runtime"),
    ("./a: symbol lookup error: ./a: undefined symbol: cushim_init",
     "the installed libcushim.so.0 is older"),
    ("./a: libcushim.so.0: version `CUSHIM_0.2' not found (required by ./a)",
     "the installed libcushim.so.0 is older"),
    ("/usr/bin/ld: cannot find -lcuda: No such file or directory", "the machine has no driver to"),
    ("a.c:(.text+0x9): undefined reference to `cuInit'", "link the drop-in, or -lcuda"),
    ("ptxas x.ptx, line 3; error   : Predicate expression expected", "Real compilers refuse it"),
])
def test_sentence(text, cure):
    """Of cushim's own sentences the cure is printed, whatever stands around them."""
    result = run("explain", text)
    assert (result.code, result.err) == (OK, "")
    assert f" cure {cure}" in " ".join(result.out.split())
    assert run("explain", "--json", text).json()["sentence"]["cure"].startswith(cure)


@pytest.mark.parametrize("text, cure", [
    ("degrades", "the program ended with the code of --degrade"),
    ("CUDA 11.2  degrades  exit code 3", "the program ended with the code of --degrade"),
    ("CUDA 9.0   passes", "the program ended with 0, and nothing is wrong"),
    ("notices", "a fault made a call fail"), ("crashes", "a signal ended the program"),
    ("CUDA 12.4  fails   exit code 35", "the program ended with another code than 0"),
    ("CUDA 9.0   unused  no call of the driver", "the program did not use CUDA"),
    ("CUDA 9.0   hangs   over the time limit", "raise --timeout"),
    ("CUDA 9.0   crashes  signal 11 (Segmentation fault)  no cuMemAllocAsync (CUDA 11.2): the "
     "driver lacks what the program looks up", "the program looks up an entry"),
    ("the driver lacks what the program looks up", "the program looks up an entry"),
    ("cuMemAlloc_v2 failed at a.c:4 (main), the program went on with cuMemsetD8_v2, then exit code "
     "1", "a fault made a call fail, and the program went on"),
    ("exit code 0 though cuMemAlloc_v2 failed", "that call failed, by a fault"),
    ("CUDA 13.5 and 9.0, 17 calls fail in turn  fails  exit code 0 though these calls failed: "
     "cuMemAlloc_v2 at a.c:4 (main)", "each of them failed in a run of its own"),
    ("exit code 1 after cuMemAlloc_v2 failed at a.c:4 (main); \"wrong\"",
     "a fault made that call fail"),
    ("no driver  not run  does not start without libcuda.so.1: it is linked with -lcuda (load it "
     "at run time, or --needs-driver)", "the system's loader ends the program"),
    ("CUDA 13.4  fails  exit code 1; it passes when no other run is beside it: does it write a "
     "file of a fixed name, or use a port? --jobs=1; \"bad\"", "runs go several at a time"),
    ("if the program rightly goes on: --survives cuMemAlloc", "the program ended with 0 although"),
    ("race", "two threads use the same bytes"), ("sync", "a mask of threads is wrong"),
    ("cushim: simulated device 0: race: kernel 'sum', block (0,0,0), thread (32,0,0), "
     "sum.cu:14 (PTX line 26), ld: it reads shared memory that thread (0,0,0), sum.cu:13 (PTX line "
     "25), st, wrote, and nothing orders the two", "put a barrier between the two"),
    ("init: kernel 'k', PTX line 2, ld: it reads global memory that nothing wrote",
     "copy, fill or"),
    ("cuLaunchKernel at a.c:4 (f) ran before cuMemsetD32Async at a.c:3 (f), and nothing orders "
     "them", "two calls in two streams use the same memory"),
    ("cuMemcpyDtoHAsync_v2 at a.c:4 (f) was not waited for", "the result of this call was used"),
    ("CUDA 13.5, queued work runs late  fails  exit code 1; cuMemcpyDtoHAsync_v2 at a.c:52 (f) was "
     "waited for too late, by cuStreamSynchronize at a.c:80 (g); \"wrong\"",
     "the first call was done only when the second one waited"),
    ("the host changed what cuMemcpyHtoDAsync_v2 at a.c:5 (f) reads, before anything waited for it",
     "the program writes to pinned memory"),
    ("a wait for queued work is missing", "the result is wrong if queued work runs late"),
    ("leaked", "a process ended with objects or memory"),
    ('cushim sim: check: process 15 leaked 1 event', "destroy the objects"),
    ("leaked 4096 bytes of memory in 1 block, made by cuMemAlloc_v2 at program.c:41 (load)",
     "free the memory that the call behind"),
    ("CUDA 13.5 to 6.5  fails  the check found: leaked 1 context, made by cuCtxCreate_v2",
     "destroy the objects, and free"),
    ("the check found: left to the end of a context: 1 event, made by cuEventCreate at a.c:7 (f)",
     "free the memory before the end of its context"),
    ("1 kernel ended by a fault, launched by cuLaunchKernel at a.c:44 (f)", "the kernel's own"),
])
def test_words_of_matrix_and_checks(text, cure):
    """Words of a table, or one of its lines; an exit code is no code of CUDA."""
    found = run("explain", "--json", text).json()
    assert found["errors"] == [] and found["sentence"]["cure"].startswith(cure)


@pytest.mark.parametrize("text, cure", [
    ("no guard", "no guard that is understood"), ("text-alone", "run the program, or look whether"),
    ("runtime-floor", "install the driver that the fix names, or build"),
    ("unknown: CUDA 12.4, GPU 8.6 (rule named-entry)", "run it under that release"),
    ("[-1] Call to cuInit results in UNKNOWN_CUDA_ERROR", "numba has no name"),
    ("a.c:9: no guard: cuMemAllocAsync came with CUDA 11.2; the guard of line 4 is inverted: it "
     "leads here without the entry", "Behind no guard and unknown: put the call into"),
    ("pool.c:18: no guard: cuGraphCreate came with CUDA 10.0; put the call into if (CUSHIM_HAS("
     "..., cuGraphCreate))", "Behind no guard and unknown: put the call into"),
    ("the driver lacks cuMemAllocAsync and 3 more, which the program asks for one by one or links "
     "weakly: what uses them does not work", "it starts; what uses these entries does not"),
])
def test_words_of_scan(text, cure):
    """Words of a table, or one of its lines; an exit code is no code of CUDA."""
    found = run("explain", "--json", text).json()
    assert found["errors"] == [] and found["sentence"]["cure"].startswith(cure)


INIT = ("; cuLaunchKernel at a.c:7 (f): init: kernel 'k', block (0,0,0), thread (0,0,0), PTX line "
        "11, ld: it reads global memory that nothing wrote")


@pytest.mark.parametrize("row, cure", [
    ("CUDA 13.5, queued work reordered  fails  exit code 2; cuLaunchKernel at a.c:7 (f) ran before "
     "cuMemcpyHtoDAsync_v2 at a.c:6 (f), and nothing orders them" + INIT, "two calls in two"),
    ("CUDA 13.5, cuMemsetD8_v2 fails  fails  cuMemsetD8_v2 failed at a.c:6 (f), the program went "
     "on with cuEventRecord, then exit code 2" + INIT, "a fault made a call fail"),
    ("CUDA 6.5, cuStreamSynchronize fails   fails  exit code 0 though cuStreamSynchronize failed "
     "at a.c:9 (f); no cuMemAllocAsync (CUDA 11.2): the driver lacks what the program looks up; "
     "cuStreamSynchronize: 719 CUDA_ERROR_LAUNCH_FAILED; \"right\"", "that call failed"),
    ("CUDA 13.5, queued work runs late  fails  exit code 2; cuMemcpyDtoHAsync_v2 at a.c:8 (f) was "
     "waited for too late, by cuStreamSynchronize at a.c:9 (f); cuCtxSynchronize: 700 "
     "CUDA_ERROR_ILLEGAL_ADDRESS; \"wrong\"", "the first call was done only when"),
])
def test_first_cause_of_a_row(row, cure):
    """What follows came of it. A terminal's row is folded."""
    for text in (row, row.replace(" at a.c", "\n" + 40 * " " + "at a.c"),
                 row.replace(" ", "\n      ")):
        found = run("explain", "--json", text).json()
        assert found["errors"] == [] and found["sentence"]["cure"].startswith(cure)


@pytest.mark.parametrize("end, cure", [
    ("", "the line with it"), ("; no block is near", "the pointer is NULL"),
    ("; a block of 64 bytes, which ends 2 bytes further on, is there", "the access begins in"),
    ("; the nearest block, 64 bytes at 0x7f, ends 0 bytes before that", "an index is too large"),
    ("; the nearest block, 64 bytes at 0x7f, begins 8 bytes behind that", "an index is negative"),
    ("; a block of 64 bytes was there, and was freed", "it was freed"),
])
@pytest.mark.parametrize("tail", ["", "; every later call for this device fails because of it; 1 "
                                  "kernel ended by a fault, launched by cuLaunchKernel"])
def test_fault_of_a_kernel(end, cure, tail):
    """The whole line has a cure of its own."""
    found = run("explain", "--json", "cushim: simulated device 0: kernel 'hist', block (4,0,0), "
                "thread (32,0,0), hist.cu:8 (PTX line 60), ld: reads 1 byte that is no live memory "
                f"at 0x7f28{end}{tail}").json()
    assert found["sentence"]["cure"].startswith(
        f"the thread used memory that the kernel may not use: {cure}")


def test_every_reason_of_a_kernel():
    """Of a whole line the reason's cure is given, and not that of the words around it."""
    first = SENTENCES.index(next(row for row in SENTENCES if row.get("cure", "").startswith(
        "see the reason, which is one of those below"))) + 1
    rows = list(itertools.takewhile(lambda row: "sentence" in row, SENTENCES[first:]))
    reasons = [row["sentence"] for row in rows if row["sentence"][0] not in "…;" and
               row["sentence"] not in ("race", "init", "sync")]
    assert len(reasons) > 50
    for reason in reasons:
        found = run("explain", "--json", "cushim: simulated device 0: kernel 'k', block (4,0,0), "
                    f"thread (2,0,0), a.cu:8 (PTX line 60), ld: {reason.replace('…', '7')}; every "
                    "later call for this device fails because of it; 1 kernel ended by a fault")
        assert found.json()["sentence"]["text"] == reason


def test_statuses():
    """As `cushim info` prints them: each has a cure, and is no code of a similar name."""
    names = re.findall(r'X\(\w+, "([a-z-]+)"', (ROOT / "src/loader/status.c").read_text("utf-8"))
    assert len(names) > 25
    for name in names:
        for text in (name, f"  {name}  search  /usr/lib64/x"):
            found = run("explain", "--json", text).json()
            assert (found["errors"], found["sentence"]["text"]) == ([], name)


def test_part_of_words_of_matrix():
    near = run("explain", "--json", "went on with").json()["near"]
    assert len(near) == 1 and near[0]["cure"].startswith("a fault made a call fail")
    near = run("explain", "--json", "nothing orders them").json()["near"]
    assert len(near) == 2 and all("cuStreamWaitEvent" in one["cure"] for one in near)
    for words in ("the test passes", "it was unused", "a race", "went to with"):
        assert run("explain", words).code == FAILED


@pytest.mark.parametrize("text, code", [
    ("RuntimeError: CUDA error: no kernel image is available for execution on the device", 209),
    ("CUDA unknown error - this may be due to an incorrectly set up environment", 999),
    ("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB", 2),
    ("peer access is not supported between these two devices", 217),
])
def test_one_answer(text, code):
    """A sentence that is no more than the words by which the code was found is not added."""
    found = run("explain", "--json", text).json()
    assert [error["code"] for error in found["errors"]] == [code]
    assert (found["sentence"], found["near"]) == (None, [])
    assert run("explain", text).out.count("  cure ") == 0


@pytest.mark.parametrize("text, cure", [
    ("Failed to initialize NVML: Driver/library version mismatch", "the driver was updated"),
    ("NVML_ERROR_LIB_RM_VERSION_MISMATCH", "the driver was updated"),
    ("NVRM: API version mismatch: the NVIDIA kernel module has version 550.54",
     "the driver was updated"),
    ("RuntimeError: Found no NVIDIA driver on your system. Please check", "PyTorch found no"),
    ("RuntimeError: CUDA driver initialization failed, you might not have a CUDA gpu.", "cuInit"),
    ("CUDA error: CUBLAS_STATUS_NOT_INITIALIZED when calling `cublasCreate(handle)`", "cuBLAS"),
    ("nvidia-container-cli: initialization error: load library failed: libnvidia-ml.so.1: cannot",
     "the host has no driver"),
    ("nvidia-container-cli: initialization error: nvml error: driver not loaded", "the tool's own"),
    ("nvidia-container-cli: requirement error: unsatisfied condition: cuda>=12.6, please update",
     "the image asks"),
    ("Failed to initialize NVML: Unknown Error", "NVML's own error: a container"),
    ("NVML: Unknown Error", "NVML's own error, and not the driver's 999"),
    ("The NVIDIA driver on your system is too old (found version 11040)", "PyTorch's CUDA runtime"),
    ("CUDNN_STATUS_NOT_INITIALIZED", "cuDNN could not start"),
    ("nvrtc: error: invalid value for --gpu-architecture (-arch)", "this NVRTC is older"),
    ("CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`", "the GPU's memory is full"),
    ("cuDNN error: CUDNN_STATUS_EXECUTION_FAILED", "a kernel of cuDNN failed"),
    ("Could not find cuda drivers on your machine, GPU will not be used.", "TensorFlow found no"),
    ("nvcc fatal   : Unsupported gpu architecture 'compute_120'", "the toolkit is older"),
    ("ptxas fatal   : Unresolved extern function '_Z3foov'", "a kernel calls a function of"),
    ("ImportError: libcudart.so.12: cannot open shared object file: No such file or directory",
     "the CUDA runtime of that release is not found"),
    ("./a: error while loading shared libraries: libcudart.so.12: cannot open shared object file: "
     "No such file or directory", "the CUDA runtime of that release is not found"),
    ("RuntimeError: Cannot re-initialize CUDA in forked subprocess. To use CUDA with "
     "multiprocessing, you must use the 'spawn' start method", "CUDA does not survive a fork"),
    ("ProcessGroupNCCL.cpp:1333, unhandled cuda error, NCCL version 2.14.3", "a call of CUDA"),
    ("unhandled system error, NCCL version 2.18.1", "a call of the system failed in NCCL"),
    ("NVRM: Xid (PCI:0000:01:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the "
     "bus.", "Xid 79"),
    ("NVRM: Xid (PCI:0000:01:00): 31, Ch 00000010, engmask 00000101", "a kernel of the program"),
    ("NVRM: Xid (PCI:0000:01:00): 62, 23f1", "the kernel module's report"),
    ("Unable to determine the device handle for GPU 0000:01:00.0: GPU is lost.  Reboot the system "
     "to recover this GPU", "the GPU no longer answers"),
    ("NVRM: GPU 0000:01:00.0: RmInitAdapter failed! (0x26:0x56:1474)", "the kernel module cannot"),
    ("modprobe: ERROR: could not insert 'nvidia': Key was rejected by service", "Secure Boot"),
    ("Failed to initialize NVML: Insufficient Permissions", "the user may not open"),
    ("nvidia-container-cli.real: mount error: failed to add device rules: unable to find any",
     "the container toolkit is older"),
    ("docker: Error response from daemon: unknown or invalid runtime name: nvidia.", "Docker does"),
    ("nvidia-container-cli: detection error: nvml error: unknown error", "the host's driver does"),
    ("An NVIDIA GPU may be present on this machine, but a CUDA-enabled jaxlib is not installed.",
     "this JAX has no code for CUDA"),
    ("Cannot dlopen some GPU libraries. Please make sure the missing libraries", "TensorFlow does"),
    ("NvvmSupportError: libNVVM cannot be found. Do `conda install cudatoolkit`:", "numba finds"),
    ("nvrtc: error: failed to open nvrtc-builtins64_112.dll.", "NVRTC finds only one"),
    ("ImportError: libcudnn.so.8: cannot open shared object file: No such file", "cuDNN of that"),
    ("CuDNN library needs to have matching major version and equal or higher", "an older cuDNN"),
    ("RuntimeError: cuDNN error: CUDNN_STATUS_NOT_SUPPORTED", "this cuDNN has no way"),
    ("CUBLAS_STATUS_EXECUTION_FAILED when calling `cublasGemmEx`", "a kernel of cuBLAS failed"),
    ('msg="no compatible GPUs were discovered"', "Ollama found no GPU"),
    ('msg="unable to load cuda driver library" library=/usr/lib64/libcuda.so.460.106.00',
     "Ollama found a driver"),
    ('Unable to dynamically load the "cuda" shared library - searched for library names',
     "cudarc found no driver"),
    ('Unable to dynamically load the "cublas" shared library - searched for', "cudarc does not"),
    ("a.cu:1:10: fatal error: cuda_runtime.h: No such file or directory", "the compiler finds no"),
    ("a.c:1:10: fatal error: cuda.h: No such file or directory", "the compiler finds no CUDA tool"),
    ("#error -- unsupported GNU version! gcc versions later than 12", "the host's compiler"),
    ("Failed to find nvcc.", "CMake finds no CUDA toolkit"),
    ('CUDA_ARCHITECTURES is set to "native", but no NVIDIA GPU was detected.', "CMake cannot ask"),
    ("ptxas fatal   : Value 'sm_120' is not defined for option 'gpu-name'", "this ptxas is older"),
])
def test_other_programs(text, cure):
    """They are not answered by the driver's codes."""
    found = run("explain", "--json", text).json()
    assert found["errors"] == [] and found["sentence"]["cure"].startswith(cure)


@pytest.mark.parametrize("text", ["NVML error 3",
                                  "Out of memory: Killed process 1234 (python)",
                                  "nvmlInit: not initialized",
                                  "nvidia-container-cli: mount error: unknown error"])
def test_other_programs_unknown(text):
    result = run("explain", text)
    assert (result.code, result.out) == (FAILED, "") and "are not the driver's" in result.err


def test_part_of_a_sentence():
    """Those that it may be a part of, and none for anybody's words."""
    near = run("explain", "--json", "cuMemAllocAsync is not available").json()
    assert near["sentence"] is None
    assert [row["text"].split(":")[1][:17] for row in near["near"]][:2] == \
        [" it came with CUD", " … does not expor"]
    assert len(near["near"]) > 3 and all("is not available" in row["text"] for row in near["near"])
    for words in ("the driver found no room", "at least 1 of the", "x" * 600):
        result = run("explain", "--json", words)
        assert (result.code, result.json()["near"]) == (FAILED, [])
    assert run("explain", "--json", "no CUDA driver").json()["near"] == []
    assert run("explain", "--json", "undefined symbol: curl_init").json()["sentence"] is None


def test_every_long_sentence_is_found():
    """Or a longer one that has it in it, or a code that it is the words of. "see" leads to a table
    of the page."""
    own = [row for row in SENTENCES if len(row.get("sentence", "").replace("…", "")) >= 12 and
           not row.get("cure", "").startswith("see ")]
    assert len(own) > 400
    for row in own[::9]:
        text = row["sentence"].replace("…", "7")
        answer = run("explain", "--json", "--", text).json()
        found = answer["sentence"]
        if not found and answer["errors"]:
            continue
        assert len(found["text"].replace("…", "")) >= len(row["sentence"].replace("…", "")), row


def test_commands_of_checks():
    """The subcommands that the checks name exist."""
    texts = " ".join(cause["check"] for row in CAUSES for cause in row["causes"])
    words = {part.split()[0].rstrip(":;") for part in texts.split("cushim ")[1:]}
    if "CUSHIM_SIM_FOLDER" not in os.environ:  # a command without the simulated driver
        words -= {"sim", "matrix"}
    assert words and all(run(word, "--help").code == OK for word in words)
