# SPDX-License-Identifier: MIT
"""`cushim demo`, on a fake driver whose kernel is the host's."""

import re

import pytest
from command import (FAILED, FAKE_GPU, NO_DRIVER, OK, each_branch, real_driver, run, run_on)

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
    assert result.err.startswith("cushim demo: /nonexistent/libcuda.so.1: ")
    assert ";" in result.err, "no word on what to do"


def test_real_driver_without_gpu(branch):
    result = run_on(real_driver(branch), "demo", CUDA_VISIBLE_DEVICES="")
    assert result.code == NO_DRIVER
    assert result.out.count("driver   ") == 1, "a driver that forks printed it twice"
    assert "cuInit" in result.err
