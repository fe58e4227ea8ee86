# SPDX-License-Identifier: MIT
"""Monitors as pip installs them: what they show of two simulated devices and of a process."""

import json

import pynvml
import pytest

NAME, USED = "NVIDIA H200", 100 << 20


def test_gpustat(load, tool):
    shown = json.loads(tool("gpustat", "--json"))
    first, second = shown["gpus"]
    assert first["name"] == NAME and shown["driver_version"]
    assert first["memory.used"] == 100 and first["utilization.gpu"] > 0
    assert [(one["pid"], one["gpu_memory_usage"]) for one in first["processes"]] == [(load, 100)]
    assert second["memory.used"] == 0 and not second["processes"]
    assert first["power.draw"] > second["power.draw"] > 0


def test_nvitop(load, tool):
    text = tool("nvitop", "--once", "--ascii")
    assert "CUDA Driver Version: 13.5" in text and "100.0MiB" in text
    assert str(load) in text


def test_nvitop_devices(load):
    nvitop = pytest.importorskip("nvitop")
    first, second = nvitop.Device.all()
    assert first.memory_used() == USED and second.memory_used() == 0
    process = first.processes()[load]
    assert process.gpu_memory() == USED and process.gpu_sm_utilization() >= 0
    assert nvitop.CudaDevice(0).uuid() == first.uuid()


def test_py3nvml(load, tool):
    assert f"{load}" in tool("py3smi")


def test_glances(load, tool):
    assert load
    line = next(line for line in tool("glances", "--stdout-json", "gpu", "--stop-after", "1")
                .splitlines() if line.startswith("{"))
    first, second = json.loads(line)["gpu"]
    assert first["name"] == NAME and first["mem"] > second["mem"] == 0


def test_codecarbon(load):
    gpu = pytest.importorskip("codecarbon.core.gpu")
    first, second = gpu.AllGPUDevices().get_gpu_details()
    assert first["used_memory"] == USED and first["compute_processes"][0]["pid"] == load
    assert second["compute_processes"] == [] and second["power_usage"] > 0


def test_zeus(load):
    device = pytest.importorskip("zeus.device")
    assert load
    gpus = device.get_gpus()
    assert len(gpus) == 2 and gpus.get_name(0) == NAME
    before = gpus.get_total_energy_consumption(0)
    assert gpus.get_total_energy_consumption(0) >= before > 0
    gpus.set_power_management_limit(0, 400000)
    assert gpus.get_power_management_limit(0) == 400000


def test_cuda_bindings(load):
    nvml = pytest.importorskip("cuda.bindings.nvml")
    nvml.init_v2()
    device = nvml.device_get_handle_by_index_v2(0)
    assert nvml.device_get_name(device) == NAME
    assert nvml.device_get_memory_info_v2(device).used == USED
    found = nvml.device_get_compute_running_processes_v3(device)
    assert [one.pid for one in found] == [load]
    assert nvml.device_get_gpu_fabric_info_v(device).state == pynvml.NVML_GPU_FABRIC_STATE_COMPLETED


def test_cuda_core(load):
    system = pytest.importorskip("cuda.core.system")
    devices = list(system.Device.get_all_devices())
    assert system.get_num_devices() == len(devices) == 2
    assert devices[0].memory_info.used == USED
    assert [one.pid for one in devices[0].compute_running_processes] == [load]
    assert devices[0].to_cuda_device().uuid in devices[0].uuid
    refused = []
    for name in dir(devices[0]):
        if name.startswith("_"):
            continue
        try:
            getattr(devices[0], name)
        except system.NotSupportedError:
            refused.append(name)
    print("# cuda.core: not supported are", *refused)
    assert len(refused) < 10
