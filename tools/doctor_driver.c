/* SPDX-License-Identifier: MIT */
#include "doctor.h"

#include "driver.h"
#include "management.h"
#include "names.h"

#include <checks.h>
#include <cushim/compat.h>
#include <cushim/device.h>

#include <stdio.h>
#include <string.h>

/* A device must be entered, and a kernel must compute what is expected. */
static void check_device(struct doctor *doctor, const struct cushim_api *cu, int ordinal)
{
    struct cushim_device_scope gpu;
    struct check_run run = {.cu = cu};
    CUdevice device = 0;
    char name[128] = "";
    bool right = false;

    if (cu->cuDeviceGet(&device, ordinal) != CUDA_SUCCESS ||
        cu->cuDeviceGetName(name, sizeof name, device) != CUDA_SUCCESS) {
        doctor_add(doctor, DOCTOR_ERROR, "device", "device %d: %s", ordinal, cushim_last_error());
        return;
    }
    if (cushim_device_enter(cu, device, &gpu) == CUDA_SUCCESS) {
        right = check_kernel(&checks[0], &run);
        if (!right)
            doctor_add(doctor, DOCTOR_ERROR, "device", "device %d, %s: a kernel fails: %s", ordinal,
                       name, run.message);
    }
    if (cushim_device_leave(&gpu) != CUDA_SUCCESS && gpu.outcome.code != CUDA_SUCCESS && right) {
        doctor_add(doctor, DOCTOR_ERROR, "device", "device %d, %s: %s", ordinal, name,
                   gpu.outcome.message);
    } else if (gpu.outcome.code != CUDA_SUCCESS && !right) {
        doctor_add(doctor, DOCTOR_ERROR, "device", "device %d, %s: %s", ordinal, name,
                   gpu.outcome.message);
        doctor_fix(doctor, "'cushim explain %d' has causes", (int)gpu.outcome.code);
    } else if (right) {
        doctor_add(doctor, DOCTOR_OK, "device", "device %d, %s: a kernel runs", ordinal, name);
    }
}

static void check_init(struct doctor *doctor, const struct cushim_api *cu)
{
    int count = 0;

    if (cushim_init(cu) != CUSHIM_OK) {
        doctor_add(doctor, DOCTOR_ERROR, "init", "%s", cushim_message(cu));
        doctor_fix(doctor, "'cushim explain' has causes for the code; other findings here may be "
                           "the reason");
        return;
    }
    CUresult code = cu->cuDeviceGetCount(&count);
    if (code != CUDA_SUCCESS || count == 0) {
        doctor_add(doctor, DOCTOR_ERROR, "init", "cuInit works, and there are no devices");
        return;
    }
    doctor_add(doctor, DOCTOR_OK, "init", "cuInit works; devices: %d", count);
    for (int i = 0; i < count; i++)
        check_device(doctor, cu, i);
}

/* Monitors, schedulers and NCCL load it, and it has to be of the kernel module's version. */
static void check_nvml(struct doctor *doctor)
{
    const struct cushim_nvml *nvml = cushim_nvml_load(NULL);
    char version[NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE] = "";
    unsigned count = 0;
    const char *why;

    if (cushim_nvml_status(nvml) != CUSHIM_OK) {
        doctor_add(doctor, DOCTOR_WARNING, "nvml", "%s", cushim_nvml_message(nvml));
        doctor_fix(doctor,
                   "programs that ask NVML for memory and processes lack it; CUDA does not");
    } else if (!management_start(&why)) {
        doctor_add(doctor, DOCTOR_WARNING, "nvml", "nvmlInit: %s", why);
        doctor_fix(doctor, "its library and the kernel module have to be of one driver");
    } else {
        (void)nvml->nvmlSystemGetDriverVersion(version, sizeof version);
        (void)nvml->nvmlDeviceGetCount(&count);
        doctor_add(doctor, DOCTOR_OK, "nvml", "NVML of driver %s works; devices: %u", version,
                   count);
    }
}

bool doctor_simulated(void)
{
    const struct cushim_api *cu = driver_open(NULL, CUSHIM_ORDER_DEFAULT);
    const char *path = cushim_path(cu), *slash = path ? strrchr(path, '/') : NULL;
    bool simulated = slash && strncmp(slash, "/libcuda-sim-", strlen("/libcuda-sim-")) == 0;

    cushim_close(cu);
    return simulated;
}

void doctor_driver(struct doctor *doctor)
{
    const struct cushim_api *cu = driver_open(NULL, CUSHIM_ORDER_DEFAULT);
    char version[VERSION_TEXT_SIZE];

    if (cushim_status(cu) != CUSHIM_OK) {
        doctor_add(doctor, DOCTOR_ERROR, "driver", "%s", cushim_message(cu));
        doctor_fix(doctor, "'cushim info' lists the candidates that were tried");
    } else {
        doctor_add(doctor, DOCTOR_OK, "driver", "%s, CUDA %s",
                   cushim_path(cu) ? cushim_path(cu) : "loaded already",
                   version_text(version, cushim_driver_version(cu)));
        if (cushim_remarks(cu) & CUSHIM_REMARK_INTERPOSED) {
            doctor_add(doctor, DOCTOR_WARNING, "driver",
                       "another library answers for some of the driver's entries");
            doctor_fix(doctor,
                       "a tool that traces or shares the GPU, or a wrapper: compare without "
                       "it");
        }
        check_init(doctor, cu);
        check_nvml(doctor);
    }
    cushim_close(cu);
}
