/* SPDX-License-Identifier: MIT */
/*
 * The simulated NVML, beside the simulated driver: run by `cushim sim --devices 3` with
 * CUDA_VISIBLE_DEVICES=2,1. A second process uses a device while this one looks.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cushim/nvml.h>

#define MEBI ((size_t)1 << 20)
#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            printf("line %d: %s (%s)\n", __LINE__, #condition, cushim_last_error());               \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

static const char spin[] = ".version 6.0\n.target sm_30\n.address_size 64\n"
                           ".visible .entry spin(.param .u64 n)\n{\n"
                           ".reg .u64 %i, %n;\n.reg .pred %p;\n"
                           "ld.param.u64 %n, [n];\nmov.u64 %i, 0;\n"
                           "again:\nadd.u64 %i, %i, 1;\nsetp.lt.u64 %p, %i, %n;\n@%p bra again;\n"
                           "ret;\n}\n";

/* The other process: 100 MiB of CUDA's first device, then kernels until it is killed. */
static int work(int ready)
{
    const struct cushim_api *cu = cushim_load(NULL);
    CUdevice device;
    CUcontext context;
    CUdeviceptr memory;
    CUmodule module;
    CUfunction function;
    unsigned long long turns = 2000000;
    void *parameters[] = {&turns};
    CHECK(cu->cuInit(0) == CUDA_SUCCESS && cu->cuDeviceGet(&device, 0) == CUDA_SUCCESS &&
          cu->cuDevicePrimaryCtxRetain(&context, device) == CUDA_SUCCESS &&
          cu->cuCtxSetCurrent(context) == CUDA_SUCCESS &&
          cu->cuMemAlloc(&memory, 100 * MEBI) == CUDA_SUCCESS &&
          cu->cuModuleLoadData(&module, spin) == CUDA_SUCCESS &&
          cu->cuModuleGetFunction(&function, module, "spin") == CUDA_SUCCESS);
    CHECK(write(ready, "x", 1) == 1);
    for (;;)
        CHECK(cu->cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, parameters, NULL) ==
                  CUDA_SUCCESS &&
              cu->cuCtxSynchronize() == CUDA_SUCCESS);
}

static nvmlDevice_t device_at(const struct cushim_nvml *nvml, unsigned index)
{
    nvmlDevice_t device = NULL;
    CHECK(nvml->nvmlDeviceGetHandleByIndex(index, &device) == NVML_SUCCESS);
    return device;
}

static unsigned processes(const struct cushim_nvml *nvml, nvmlDevice_t device,
                          nvmlProcessInfo_t *first)
{
    nvmlProcessInfo_t infos[8];
    unsigned count = 8;
    CHECK(nvml->nvmlDeviceGetComputeRunningProcesses(device, &count, infos) == NVML_SUCCESS);
    if (count)
        *first = infos[0];
    return count;
}

static void test_before_init(const struct cushim_nvml *nvml)
{
    unsigned count;
    int version = 0;
    CHECK(nvml->nvmlDeviceGetCount(&count) == NVML_ERROR_UNINITIALIZED);
    CHECK(nvml->nvmlDeviceGetFanSpeed(NULL, &count) == NVML_ERROR_UNINITIALIZED);
    CHECK(nvml->nvmlShutdown() == NVML_ERROR_UNINITIALIZED);
    CHECK(nvml->nvmlSystemGetCudaDriverVersion(&version) == NVML_ERROR_UNINITIALIZED);
    CHECK(nvml->nvmlInit() == NVML_SUCCESS);
    CHECK(nvml->nvmlSystemGetCudaDriverVersion(&version) == NVML_SUCCESS && version == 12040);
}

static void test_system(const struct cushim_nvml *nvml)
{
    char text[NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE];
    CHECK(nvml->nvmlSystemGetDriverVersion(text, sizeof text) == NVML_SUCCESS);
    CHECK(strncmp(text, "550.", 4) == 0); /* that of CUDA 12.4 */
    CHECK(nvml->nvmlSystemGetDriverVersion(text, 3) == NVML_ERROR_INSUFFICIENT_SIZE);
    CHECK(nvml->nvmlSystemGetDriverVersion(NULL, 3) == NVML_ERROR_INVALID_ARGUMENT);
}

/* What NVML has no behaviour for, and what the driver's release did not have. */
static void test_refused(const struct cushim_nvml *nvml)
{
    unsigned speed;
    nvmlPdi_v1_t pdi = {.version = nvmlPdi_v1};
    nvmlMemory_v2_t memory = {.version = 7};
    nvmlDevice_t device = device_at(nvml, 0), none = NULL;
    CHECK(nvml->nvmlDeviceGetFanSpeed(device, &speed) == NVML_ERROR_NOT_SUPPORTED);
    CHECK(nvml->nvmlDeviceGetPdi(device, &pdi) == NVML_ERROR_FUNCTION_NOT_FOUND);
    CHECK(nvml->nvmlDeviceGetMemoryInfo_v2(device, &memory) == NVML_ERROR_FUNCTION_NOT_FOUND);
    CHECK(nvml->nvmlDeviceGetHandleByIndex(3, &none) == NVML_ERROR_INVALID_ARGUMENT && !none);
    CHECK(nvml->nvmlDeviceGetIndex(NULL, &speed) == NVML_ERROR_INVALID_ARGUMENT);
    CHECK(nvml->nvmlDeviceGetHandleByUUID("GPU-0", &none) == NVML_ERROR_NOT_FOUND && !none);
}

static void test_settings(const struct cushim_nvml *nvml)
{
    nvmlDevice_t device = device_at(nvml, 1);
    unsigned limit, least, most;
    CHECK(nvml->nvmlDeviceGetPowerManagementLimitConstraints(device, &least, &most) ==
          NVML_SUCCESS);
    CHECK(nvml->nvmlDeviceSetPowerManagementLimit(device, most + 1) == NVML_ERROR_INVALID_ARGUMENT);
    CHECK(nvml->nvmlDeviceSetPowerManagementLimit(device, least) == NVML_SUCCESS);
    CHECK(nvml->nvmlDeviceGetEnforcedPowerLimit(device, &limit) == NVML_SUCCESS && limit == least);
}

/* CUDA sees the third device and then the second; NVML all three, in their own order. */
static void test_matched(const struct cushim_nvml *nvml, const struct cushim_api *cu)
{
    static const unsigned expected[] = {2, 1};
    unsigned count = 0;
    CHECK(cu->cuInit(0) == CUDA_SUCCESS);
    CHECK(nvml->nvmlDeviceGetCount(&count) == NVML_SUCCESS && count == 3);
    for (int i = 0; i < 2; i++) {
        CUdevice device, back = -1;
        nvmlDevice_t handle = NULL, by_address = NULL;
        unsigned index = 9;
        char pci[32];
        CHECK(cu->cuDeviceGet(&device, i) == CUDA_SUCCESS);
        CHECK(cushim_nvml_device(nvml, cu, device, &handle) == NVML_SUCCESS);
        CHECK(nvml->nvmlDeviceGetIndex(handle, &index) == NVML_SUCCESS && index == expected[i]);
        CHECK(cushim_nvml_device_cuda(nvml, cu, handle, &back) == NVML_SUCCESS && back == device);
        CHECK(cu->cuDeviceGetPCIBusId(pci, sizeof pci, device) == CUDA_SUCCESS);
        CHECK(nvml->nvmlDeviceGetHandleByPciBusId(pci, &by_address) == NVML_SUCCESS &&
              by_address == handle);
    }
    CUdevice hidden = -1;
    CHECK(cushim_nvml_device_cuda(nvml, cu, device_at(nvml, 0), &hidden) == NVML_ERROR_NOT_FOUND);
    CHECK(hidden == -1 && strstr(cushim_last_error(), "GPU-"));
    nvmlDevice_t none = NULL;
    CHECK(cushim_nvml_device(nvml, cu, 7, &none) == NVML_ERROR_INVALID_ARGUMENT && !none);
    CHECK(cushim_nvml_device(nvml, cu, 0, NULL) == NVML_ERROR_INVALID_ARGUMENT);
}

/* What another process uses is seen here, and is gone with it. */
static void test_other_process(const struct cushim_nvml *nvml, char *program)
{
    int ends[2];
    char number[16], byte;
    nvmlDevice_t device = device_at(nvml, 2);
    nvmlMemory_t before, now;
    nvmlProcessInfo_t info = {.pid = 0};
    nvmlUtilization_t busy = {.gpu = 0};
    CHECK(nvml->nvmlDeviceGetMemoryInfo(device, &before) == NVML_SUCCESS);
    CHECK(processes(nvml, device, &info) == 0);
    CHECK(pipe(ends) == 0);
    snprintf(number, sizeof number, "%d", ends[1]);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        execl(program, program, "work", number, (char *)NULL);
        _exit(127);
    }
    CHECK(child > 0 && close(ends[1]) == 0 && read(ends[0], &byte, 1) == 1);
    CHECK(nvml->nvmlDeviceGetMemoryInfo(device, &now) == NVML_SUCCESS);
    CHECK(now.used - before.used == 100 * MEBI && now.used + now.free == now.total);
    CHECK(processes(nvml, device, &info) == 1 && info.pid == (unsigned)child);
    CHECK(info.usedGpuMemory == 100 * MEBI);
    CHECK(processes(nvml, device_at(nvml, 1), &info) == 0);
    unsigned none = 0;
    CHECK(nvml->nvmlDeviceGetComputeRunningProcesses(device, &none, NULL) ==
              NVML_ERROR_INSUFFICIENT_SIZE &&
          none == 1);
    for (int i = 0; i < 100 && busy.gpu < 10; i++) {
        usleep(150000); /* longer than a sample of utilisation */
        CHECK(nvml->nvmlDeviceGetUtilizationRates(device, &busy) == NVML_SUCCESS);
    }
    CHECK(busy.gpu >= 10 && busy.gpu <= 100);
    CHECK(kill(child, SIGKILL) == 0 && waitpid(child, NULL, 0) == child);
    CHECK(nvml->nvmlDeviceGetMemoryInfo(device, &now) == NVML_SUCCESS && now.used == before.used);
    CHECK(processes(nvml, device, &info) == 0);
}

int main(int argc, char **argv)
{
    if (argc == 3)
        return work(atoi(argv[2]));
    const struct cushim_nvml *nvml = cushim_nvml_load(NULL);
    CHECK(cushim_nvml_status(nvml) == CUSHIM_OK);
    test_before_init(nvml);
    test_system(nvml);
    test_refused(nvml);
    test_settings(nvml);
    test_matched(nvml, cushim_load(NULL));
    test_other_process(nvml, argv[0]);
    CHECK(nvml->nvmlShutdown() == NVML_SUCCESS);
    puts("all good");
    return 0;
}
