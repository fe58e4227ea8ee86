# SPDX-License-Identifier: MIT
"""`cushim demo`, on a fake driver whose kernel is the host's, and on a simulated one."""

import os
import pty
import re
import subprocess
from pathlib import Path

import pytest
from command import (CLI, FAILED, FAKE_GPU, NO_DRIVER, OK, USAGE, each_branch, environment,
                     real_driver, run, run_on)

pytest_generate_tests = each_branch

# Every call between cuInit and the end, and what the user reads of it.
CALLS = ["cuDeviceGetCount", "cuDevicePrimaryCtxRetain", "cuCtxPushCurrent_v2", "cuMemAlloc_v2:1",
         "cuMemAlloc_v2:2", "cuMemAlloc_v2:3", "cuMemcpyHtoD_v2:1", "cuMemcpyHtoD_v2:2",
         "cuEventCreate:1", "cuEventCreate:2", "cuModuleLoadDataEx", "cuModuleGetFunction",
         "cuMemsetD8_v2:1", "cuMemsetD8_v2:2", "cuEventRecord:1", "cuEventRecord:4",
         "cuLaunchKernel:1", "cuLaunchKernel:2", "cuEventSynchronize:1", "cuEventElapsedTime",
         "cuMemcpyDtoH_v2"]
RELEASES = ["cuEventDestroy_v2", "cuModuleUnload", "cuMemFree_v2", "cuCtxPopCurrent_v2",
            "cuDevicePrimaryCtxRelease"]


def demo(tmp_path, *arguments, driver=FAKE_GPU, **variables):
    """The result, and how many objects were not released."""
    log = tmp_path / "log"
    result = run("demo", "--driver", driver, *arguments, FAKE_LOG=log, **variables)
    return result, int(log.read_text().split()[-1])


def test_success(tmp_path):
    result, held = demo(tmp_path)
    assert (result.code, result.err, held) == (OK, "", 0)
    driver, entries, device, vecadd, time = result.out.splitlines()
    assert driver == f"driver   {FAKE_GPU}, CUDA 10.2"
    assert re.fullmatch(r"entries  \d+ of \d+ are available", entries)
    assert device == "device   0: Fake GPU A, compute 7.5, 3.0 GiB"
    assert vecadd == "vecadd   1000000 sums, every one correct"
    assert re.fullmatch(r"time     125\.0 us in the kernel, \d+\.\d ms in all, "
                        r"start of the GPU included", time)


def test_other_device(tmp_path):
    result, held = demo(tmp_path, "--device", 1)
    assert (result.code, held) == (OK, 0)
    assert "device   1: Fake GPU B," in result.out


@pytest.mark.parametrize("number, devices", [(2, 2), (2147483647, 2), (1, 1)])
def test_no_such_device(tmp_path, number, devices):
    result, held = demo(tmp_path, "--device", number, FAKE_DEVICES=str(devices))
    assert (result.code, held) == (NO_DRIVER, 0)
    assert f"no device {number}; this driver has {devices}, numbered from 0" in result.err


def test_wrong_element(tmp_path):
    result, held = demo(tmp_path, FAKE_WRONG="1")
    assert (result.code, held) == (FAILED, 0)
    assert re.search(r"element 999999 is -?nan instead of -?\d", result.err)
    assert "correct" not in result.out


@pytest.mark.parametrize("failure", CALLS)
def test_failing_call(tmp_path, failure):
    result, held = demo(tmp_path, FAKE_FAIL=failure)
    assert (result.code, held) == (FAILED, 0)
    call = failure.partition(":")[0].removesuffix("_v2")
    assert result.err.startswith(f"cushim demo: {call} failed: CUDA_ERROR_UNKNOWN (999): ")
    assert result.err.count("failed") == 1
    assert "correct" not in result.out


@pytest.mark.parametrize("failure", RELEASES)
def test_failing_release(tmp_path, failure):
    result, held = demo(tmp_path, FAKE_FAIL=failure)
    assert result.code == FAILED
    assert f"cushim demo: {failure.removesuffix('_v2')} failed: CUDA_ERROR_UNKNOWN" in result.err
    assert held > 0


def test_compiler_log(tmp_path):
    result, _ = demo(tmp_path, FAKE_FAIL="cuModuleLoadDataEx")
    assert "the driver's compiler says:\nptxas fatal : the fake compiler refuses\n" in result.err


def test_driver_without_an_entry(tmp_path):
    result, held = demo(tmp_path, driver=FAKE_GPU.replace("fake_gpu", "fake_gpu_no_memset"))
    assert (result.code, held) == (FAILED, 0)
    assert result.err.startswith("cushim demo: cuMemsetD8 failed: CUDA_ERROR_NOT_SUPPORTED (801)")
    assert "cuMemsetD8_v2" in result.err, "the missing symbol is not named"


@pytest.mark.parametrize("failure", ["cuInit"])
def test_init_fails(tmp_path, failure):
    result, held = demo(tmp_path, FAKE_FAIL=failure)
    assert (result.code, held) == (NO_DRIVER, 0)
    assert "cuInit" in result.err and "nvidia-smi" in result.err


def test_no_device(tmp_path):
    result, held = demo(tmp_path, FAKE_DEVICES="0")
    assert (result.code, held) == (NO_DRIVER, 0)
    assert result.err.startswith("cushim demo: ")


def test_no_driver_says_what_to_do():
    result = run("demo", CUSHIM_LIBCUDA="/nonexistent/libcuda.so.1")
    assert (result.code, result.out) == (NO_DRIVER, "")
    assert result.err.startswith("cushim demo: CUSHIM_LIBCUDA=/nonexistent/libcuda.so.1: ")
    assert ";" in result.err, "no word on what to do"


def test_real_driver_without_gpu(branch):
    result = run_on(real_driver(branch), "demo", CUDA_VISIBLE_DEVICES="")
    assert result.code == NO_DRIVER
    assert result.out.count("driver   ") == 1, "a driver that forks printed it twice"
    assert "cuInit" in result.err


# ---- where there is no GPU

simulated = pytest.mark.skipif("CUSHIM_SIM_PROGRAM" not in os.environ,
                               reason="built without the simulated driver")
FIRST = "simulated GPU on this machine's CPU: "
KERNELS = ["vecadd", "saxpy", "fill", "reduce", "transpose", "histogram", "matmul", "texture",
           "parameters", "link_main and link_part"]


@pytest.fixture(name="found")
def fixture_found(tmp_path):
    """A folder in which the system's loader finds the fake driver, as if it were installed."""
    (tmp_path / "libcuda.so.1").symlink_to(FAKE_GPU)
    return {"LD_LIBRARY_PATH": str(tmp_path)}


def check_simulated(result, reason):
    """All kernels ran, and were right."""
    assert (result.code, result.err) == (OK, "")
    first, driver, entries, device, vecadd, time, *kernels = result.out.splitlines()
    assert first.startswith(FIRST) and reason in first
    assert re.fullmatch(r"driver   simulated, CUDA \d+\.\d", driver)
    assert re.fullmatch(r"entries  \d+ of \d+ are available", entries)
    assert re.fullmatch(r"device   0: NVIDIA A100-SXM4-40GB, compute 8.0, [\d.]+ [GM]iB", device)
    assert vecadd == "vecadd   1000000 sums, every one correct"
    assert time.startswith("time     ")
    assert [line.partition(": ")[0].removeprefix("kernel   ") for line in kernels] == \
        [*KERNELS, "bad/syntax_error"]
    for line in kernels[:-1]:
        assert re.search(r": \d+ bytes as on the CPU$", line)
    assert re.search(r": refused, as it should be: .*line \d+.*frobnicate", kernels[-1])


@simulated
def test_simulated():
    check_simulated(run("demo", "--simulated"), "asked for by --simulated")


@simulated
def test_no_device_falls_back(found):
    check_simulated(run("demo", FAKE_DEVICES="0", **found), "lists no device")


@simulated
@pytest.mark.skipif(Path("/proc/driver/nvidia/version").exists(), reason="there is a GPU")
def test_no_driver_falls_back():
    check_simulated(run("demo", CUDA_VISIBLE_DEVICES=""), "libcuda.so.1")


@simulated
def test_hidden_devices(found):
    """What hides the real devices does not hide the simulated one."""
    check_simulated(run("demo", CUDA_VISIBLE_DEVICES="", FAKE_DEVICES="0", **found), "no device")


@simulated
@pytest.mark.skipif(Path("/proc/driver/nvidia/version").exists(), reason="there is a GPU")
def test_driver_without_kernel_module_falls_back(found):
    result = run("demo", FAKE_FAIL="cuInit", **found)
    assert result.code == OK and result.out.startswith(FIRST) and "999" in result.out


def test_found_driver_is_used(found):
    result = run("demo", **found)
    assert (result.code, result.err) == (OK, "")
    assert result.out.startswith("driver   ") and "kernel   " not in result.out


@simulated
@pytest.mark.parametrize("asked", ["option", "environment"])
def test_given_driver_is_never_replaced(asked):
    if asked == "option":
        result = run("demo", "--driver", FAKE_GPU, FAKE_DEVICES="0")
    else:
        result = run("demo", CUSHIM_LIBCUDA=FAKE_GPU, FAKE_DEVICES="0")
    assert result.code == NO_DRIVER and FIRST not in result.out


@simulated
def test_simulated_devices():
    result = run("demo", "--simulated", "--device", 1)
    assert result.code == NO_DRIVER and "no device 1; this driver has 1" in result.err
    result = run("demo", "--simulated", "--device", 1, CUSHIM_SIM_DEVICES="2",
                 CUSHIM_SIM_PROFILE="turing")
    assert result.code == OK and "device   1: Tesla T4, compute 7.5" in result.out


@simulated
def test_simulated_and_driver():
    result = run("demo", "--simulated", "--driver", FAKE_GPU)
    assert result.code == USAGE and "exclude each other" in result.err


@simulated
@pytest.mark.parametrize("fault, kernel", [
    ("cuLaunchKernel:call=3,error=719", "vecadd"), ("cuLinkComplete", "link_main and link_part"),
    ("cuTexObjectDestroy:call=2", "texture"), ("cuMemFree:call=4", "vecadd"),
    ("cuMemcpyDtoH:after,call=5", "reduce")])
def test_failing_kernel(fault, kernel):
    result = run("demo", "--simulated", CUSHIM_SIM_FAULT=fault)
    assert result.code == FAILED
    assert re.search(rf"^cushim demo: kernel {kernel}: .*\((719|999)\)", result.err,
                     re.MULTILINE)
    assert f"kernel   {kernel}:" not in result.out


def test_all_on_another_driver():
    """The fake driver has vecadd alone."""
    result = run("demo", "--all", "--driver", FAKE_GPU)
    assert result.code == FAILED and "vecadd   1000000 sums, every one correct" in result.out
    assert "cushim demo: " in result.err


def on_terminal(**variables):
    """What stderr gets where that is a terminal."""
    ours, theirs = pty.openpty()
    with subprocess.Popen([CLI, "demo", "--simulated"], stdout=subprocess.PIPE, stderr=theirs,
                          env=environment(**variables)) as process:
        os.close(theirs)
        chunks = []
        process.stdout.read()
        try:
            while chunk := os.read(ours, 65536):
                chunks.append(chunk)
        except OSError:  # how Linux says that the other side was closed
            pass
        assert process.wait(timeout=60) == OK
    os.close(ours)
    return b"".join(chunks).decode()


@simulated
def test_progress():
    """Slow calls make a kernel long enough; the bar is gone at the end."""
    slow = {"CUSHIM_SIM_FAULT": "cuCtxSynchronize:slow=30"}
    err = on_terminal(**slow)
    bars = re.findall(r"\rmatmul \[\x1b\[32m(#+\.*)\x1b\[0m\] +(\d+) %", err)
    assert len(bars) > 3 and bars[-1] == (30 * "#", "100")
    assert len(set(bars)) == len(bars), "it is written anew only if it changed"
    assert [int(part) for _, part in bars] == sorted(int(part) for _, part in bars)
    assert re.search(r"\r +\r$", err)
    assert "\x1b" not in on_terminal(NO_COLOR="1", **slow)
    assert on_terminal(TERM="dumb", **slow) == ""
