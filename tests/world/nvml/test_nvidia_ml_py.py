# SPDX-License-Identifier: MIT
"""Every function of nvidia-ml-py is called: each answers, or refuses as a device does that lacks
what it asks for. None fails in another way, and none finds a function missing."""

import ctypes
import inspect
import os
import socket

import pynvml
import pytest
from pynvml import (NVML_ERROR_ARGUMENT_VERSION_MISMATCH, NVML_ERROR_INVALID_ARGUMENT,
                    NVML_ERROR_NOT_FOUND, NVML_ERROR_NOT_SUPPORTED, NVML_ERROR_TIMEOUT)

FUNCTIONS = {name: function for name, function in vars(pynvml).items()
             if name.startswith("nvml") and inspect.isfunction(function)}
REFUSALS = {NVML_ERROR_NOT_SUPPORTED, NVML_ERROR_INVALID_ARGUMENT, NVML_ERROR_NOT_FOUND,
            NVML_ERROR_ARGUMENT_VERSION_MISMATCH, NVML_ERROR_TIMEOUT}
# Neither a question nor a setting.
APART = {"nvmlInit", "nvmlInitWithFlags", "nvmlShutdown"}
class Everything(ctypes.Structure):
    """A structure of any kind: all zeros, so that a version in it is wrong."""
    _fields_ = [("version", ctypes.c_uint), ("rest", ctypes.c_char * 65536)]


class Named(ctypes.Structure):
    """A structure of texts alone, as the package can fill no other."""
    _fields_ = [("name", ctypes.c_char * 8)]


def handles():
    """Values of parameters by their names; one that is not here is the number 0."""
    device = pynvml.nvmlDeviceGetHandleByIndex(0)
    other = pynvml.nvmlDeviceGetHandleByIndex(1)
    pci = pynvml.nvmlDeviceGetPciInfo(device)
    return {
        "handle": device, "device": device, "device1": device, "device2": other,
        "handle1": device, "handle2": other, "migDevice": device,
        "unit": ctypes.c_void_p(), "gpuInstance": ctypes.c_void_p(),
        "computeInstance": ctypes.c_void_p(), "eventSet": pynvml.nvmlEventSetCreate(),
        "setHandle": ctypes.c_void_p(), "pciInfo": pci, "pciBusId": pci.busId,
        "uuid": pynvml.nvmlDeviceGetUUID(device), "serial": pynvml.nvmlDeviceGetSerial(device),
        "pid": os.getpid(), "hostname": b"name", "version": 1,
        "countRef": ctypes.byref(ctypes.c_uint()), "fieldIds": [pynvml.NVML_FI_DEV_POWER_INSTANT],
        "moduleId": ctypes.c_uint(), "cpuSetSize": 16, "nodeSetSize": 1, "cpuNumber": 0,
        "gpmSample": pynvml.nvmlGpmSampleAlloc(), "memoryClockMHz": 1, "link": 1, "mode": 0,
        "obj": pynvml.nvmlFriendlyObject({"name": "text"}), "struct": pci,
        "nvmlErrorCode": 1, "result": 1, "sampling_type": 1,
    }


# Parameters that are structures in all functions, or in one.
STRUCTURES = {
    "info", "c_info", "caps", "params", "status", "counts", "samples", "settings", "gpuFabricInfo",
    "limits", "profile", "placement", "cper", "config", "getBwMode", "setBwMode",
    "setBwModeAsync", "supportedBwModes", "platformInfo", "requestedProfiles", "currentProfiles",
    "profilesInfo", "updateProfiles", "metricsGet", "control", "sched_state", "sched_state_v2",
    "c_vgpu_instance_info", "c_vgpus", "c_vgpu_sched_log_info", "c_vgpu_sched_log_info_v2",
    "c_vgpu_sched_state_info", "c_vgpu_placements", "c_vgpu_sched_state_info_v2", "vgpuMetadata",
    "pgpuMetadata", "vgpuVersion", "placementsRef", "gpuInstancesRef", "computeInstancesRef",
    "c_ccMemSize", "eventData", "nvmlDevicePowerSmoothingSetState.state"}
# Where a name means something else than elsewhere.
OWN = {
    "nvmlDeviceGetConfComputeGpuAttestationReport.c_nonce": (ctypes.c_uint8 * 32)(),
    "nvmlDeviceGetGpuInstanceProfileInfo.profile": 0,
    "nvmlDeviceGetGpuInstanceProfileInfoV.profile": 0,
    "nvmlFriendlyObjectToStruct.model": Named(),
    "nvmlGpuInstanceGetVgpuTypeCreatablePlacements.c_vgpu_placements":
        pynvml.c_nvmlVgpuCreatablePlacementInfo_v1_t(),
    "nvmlGpuInstanceGetComputeInstanceProfileInfo.profile": 0,
    "nvmlGpuInstanceGetComputeInstanceProfileInfoV.profile": 0,
}


def argument(name, function, parameter, values):
    """A value for one parameter of a function."""
    own = f"{name}.{parameter}"
    if own in OWN:
        return OWN[own]
    if not {own, parameter} & STRUCTURES:
        return values.get(parameter, 0)
    structure = Everything()
    if f"byref({parameter})" in inspect.getsource(function):
        return structure
    return ctypes.byref(structure)


@pytest.fixture(name="library", scope="module")
def library_fixture():
    pynvml.nvmlInit()
    yield handles()
    pynvml.nvmlShutdown()


def test_every_function(library):
    answers, refused, wrong = [], [], []
    for name, function in sorted(FUNCTIONS.items()):
        if name in APART:
            continue
        needed = [parameter.name for parameter in inspect.signature(function).parameters.values()
                  if parameter.default is parameter.empty]
        try:
            function(*(argument(name, function, one, library) for one in needed))
            answers.append(name)
        except pynvml.NVMLError as error:
            (refused if error.value in REFUSALS else wrong).append((name, error.value))
        except Exception as error:  # noqa: BLE001 pylint: disable=broad-exception-caught
            wrong.append((name, repr(error)))
    print(f"# nvidia-ml-py: {len(answers)} functions answer, {len(refused)} refuse")
    assert not wrong
    assert len(answers) + len(refused) == len(FUNCTIONS) - len(APART)
    assert len(answers) > 180


def test_structures_of_every_version(library):
    device = library["device"]
    memory = pynvml.nvmlDeviceGetMemoryInfo(device, version=pynvml.nvmlMemory_v2)
    assert memory.total == pynvml.nvmlDeviceGetMemoryInfo(device).total == memory.free + memory.used
    for kind in (pynvml.c_nvmlGpuFabricInfo_v2_t, pynvml.c_nvmlGpuFabricInfo_v3_t):
        fabric = kind()
        pynvml.nvmlDeviceGetGpuFabricInfoV(device, ctypes.byref(fabric))
        assert fabric.state == pynvml.NVML_GPU_FABRIC_STATE_COMPLETED
    fabric.version = 7
    with pytest.raises(pynvml.NVMLError_ArgumentVersionMismatch):
        pynvml.nvmlDeviceGetGpuFabricInfoV(device, ctypes.byref(fabric))
    assert pynvml.nvmlDeviceGetTemperatureV1(device, 0) == \
        pynvml.nvmlDeviceGetTemperature(device, 0)


def test_system(library):
    assert pynvml.nvmlDeviceGetCount() == 2 and pynvml.nvmlSystemGetCudaDriverVersion() == 13050
    assert pynvml.nvmlDeviceGetName(library["device"]) == "NVIDIA H200"
    assert pynvml.nvmlDeviceGetHostname_v1(library["device"]) == socket.gethostname()
    links = range(pynvml.NVML_NVLINK_MAX_LINKS)
    active = [link for link in links if link < 18 and
              pynvml.nvmlDeviceGetNvLinkState(library["device"], link)]
    assert len(active) == 18
