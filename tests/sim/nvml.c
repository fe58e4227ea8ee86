/* SPDX-License-Identifier: MIT */
/*
 * The simulated NVML, beside the simulated driver: run by `cushim sim --devices 3` with
 * CUDA_VISIBLE_DEVICES=2,1. A second process uses a device while this one looks.
 */
#include <errno.h>
#include <pthread.h>
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
    nvmlFanSpeedInfo_t fan = {.version = nvmlFanSpeedInfo_v1};
    CHECK(nvml->nvmlDeviceGetFanSpeed(device, &speed) == NVML_ERROR_NOT_SUPPORTED);
    if (CUSHIM_NVML_HAS(nvml, nvmlDeviceGetFanSpeedRPM))
        CHECK(nvml->nvmlDeviceGetFanSpeedRPM(device, &fan) == NVML_ERROR_INVALID_ARGUMENT);
    CHECK(nvml->nvmlDeviceGetPdi(device, &pdi) == NVML_ERROR_FUNCTION_NOT_FOUND);
    CHECK(nvml->nvmlDeviceGetMemoryInfo_v2(device, &memory) == NVML_ERROR_FUNCTION_NOT_FOUND);
    CHECK(nvml->nvmlDeviceGetHandleByIndex(3, &none) == NVML_ERROR_INVALID_ARGUMENT && !none);
    CHECK(nvml->nvmlDeviceGetIndex(NULL, &speed) == NVML_ERROR_INVALID_ARGUMENT);
    CHECK(nvml->nvmlDeviceGetEncoderStats(device, &speed, NULL, &speed) ==
          NVML_ERROR_INVALID_ARGUMENT);
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

/* The helpers, of a device that the other process uses, and of one that nobody does. */
static void test_helpers(const struct cushim_nvml *nvml, unsigned user)
{
    struct cushim_nvml_usage usage;
    struct cushim_nvml_process list[2];
    struct cushim_nvml_links links;
    size_t count = 7;
    CHECK(cushim_nvml_usage_describe(nvml, device_at(nvml, 2), &usage) == NVML_SUCCESS);
    CHECK(usage.used == 100 * MEBI && usage.used + usage.free == usage.total);
    CHECK(usage.reserved == 0 && usage.gpu_percent <= 100 && usage.memory_percent <= 100);
    CHECK(cushim_nvml_process_list(nvml, device_at(nvml, 2), list, 2, &count) == NVML_SUCCESS);
    CHECK(count == 1 && list[0].pid == user && list[0].kinds == CUSHIM_NVML_COMPUTE);
    CHECK(list[0].used == 100 * MEBI && list[0].gpu_percent <= 100);
    CHECK(list[0].gpu_instance == ~0U && list[0].compute_instance == ~0U);
    count = 0;
    CHECK(cushim_nvml_process_list(nvml, device_at(nvml, 2), NULL, 0, &count) == NVML_SUCCESS &&
          count == 1);
    CHECK(cushim_nvml_process_list(nvml, device_at(nvml, 0), NULL, 0, &count) == NVML_SUCCESS &&
          count == 0);
    CHECK(cushim_nvml_link_describe(nvml, device_at(nvml, 0), &links) == NVML_SUCCESS);
    CHECK(links.active == 12 && links.version == 3);
    CHECK(links.fabric_state == NVML_GPU_FABRIC_STATE_NOT_SUPPORTED);
    count = 7;
    CHECK(cushim_nvml_process_list(nvml, NULL, list, 2, &count) == NVML_ERROR_INVALID_ARGUMENT);
    CHECK(strstr(cushim_last_error(), "cushim_nvml_process_list: ") && count == 7);
    CHECK(cushim_nvml_usage_describe(nvml, NULL, &usage) == NVML_ERROR_INVALID_ARGUMENT);
    CHECK(cushim_nvml_link_describe(nvml, NULL, &links) == NVML_ERROR_INVALID_ARGUMENT);
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
    test_helpers(nvml, (unsigned)child);
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

/* Sixteen threads ask about everything that changes, while others set what can be set. */
static void *ask(void *argument)
{
    const struct cushim_nvml *nvml = argument;
    for (int i = 0; i < 50; i++) {
        nvmlDevice_t device = device_at(nvml, (unsigned)i % 3);
        struct cushim_nvml_usage usage;
        unsigned limit, most;
        size_t count;
        CHECK(nvml->nvmlInit() == NVML_SUCCESS);
        CHECK(cushim_nvml_usage_describe(nvml, device, &usage) == NVML_SUCCESS);
        CHECK(cushim_nvml_process_list(nvml, device, NULL, 0, &count) == NVML_SUCCESS);
        CHECK(nvml->nvmlDeviceGetPowerManagementLimitConstraints(device, &limit, &most) ==
              NVML_SUCCESS);
        CHECK(nvml->nvmlDeviceSetPowerManagementLimit(device, i % 2 ? limit : most) ==
              NVML_SUCCESS);
        CHECK(nvml->nvmlShutdown() == NVML_SUCCESS);
    }
    return NULL;
}

static void test_threads(const struct cushim_nvml *nvml)
{
    pthread_t threads[16];
    for (size_t i = 0; i < 16; i++)
        CHECK(pthread_create(&threads[i], NULL, ask, (void *)(uintptr_t)nvml) == 0);
    for (int i = 0; i < 10; i++) { /* a child finds no lock that a lost thread holds */
        unsigned count = 0;
        pid_t child = fork();
        if (child == 0)
            _exit(nvml->nvmlDeviceGetCount(&count) == NVML_SUCCESS && count == 3 ? 0 : 1);
        int status;
        CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
    }
    for (size_t i = 0; i < 16; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
}

/* Under rules: one call fails, one returns an error after it happened, one is gone, and a device is
 * lost for both libraries. */
static int test_faults(const struct cushim_nvml *nvml, const struct cushim_api *cu)
{
    unsigned number = 0;
    char text[64];
    CHECK(nvml->nvmlInit() == NVML_SUCCESS);
    nvmlDevice_t device = device_at(nvml, 0), lost = NULL;
    CHECK(nvml->nvmlDeviceGetIndex(device, &number) == NVML_SUCCESS);
    CHECK(nvml->nvmlDeviceGetIndex(device, &number) == NVML_ERROR_GPU_IS_LOST); /* call=2 */
    CHECK(nvml->nvmlDeviceGetIndex(device, &number) == NVML_SUCCESS);
    CHECK(nvml->nvmlDeviceGetMinorNumber(device_at(nvml, 2), &number) == NVML_ERROR_TIMEOUT);
    CHECK(number == 2 && nvml->nvmlDeviceGetMinorNumber(device, &number) == NVML_SUCCESS);
    CHECK(!CUSHIM_NVML_HAS(nvml, nvmlDeviceGetMemoryInfo_v2));
    struct cushim_nvml_usage usage;
    CHECK(cushim_nvml_usage_describe(nvml, device, &usage) == NVML_SUCCESS && usage.total > 0 &&
          usage.reserved == CUSHIM_NVML_UNKNOWN); /* by the older function */
    CHECK(nvml->nvmlDeviceGetHandleByIndex(1, &lost) == NVML_SUCCESS);
    CHECK(nvml->nvmlDeviceGetName(lost, text, sizeof text) == NVML_ERROR_GPU_IS_LOST);
    CHECK(nvml->nvmlDeviceGetName(device, text, sizeof text) == NVML_SUCCESS);
    CHECK(cu->cuInit(0) == CUDA_SUCCESS && cu->cuDeviceGetName(text, sizeof text, 1) != 0);
    puts("all good");
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 2)
        return test_faults(cushim_nvml_load(NULL), cushim_load(NULL));
    if (argc == 3)
        return work(atoi(argv[2]));
    const struct cushim_nvml *nvml = cushim_nvml_load(NULL);
    CHECK(cushim_nvml_status(nvml) == CUSHIM_OK);
    test_before_init(nvml);
    test_system(nvml);
    test_refused(nvml);
    test_settings(nvml);
    test_matched(nvml, cushim_load(NULL));
    test_threads(nvml);
    test_other_process(nvml, argv[0]);
    CHECK(nvml->nvmlShutdown() == NVML_SUCCESS);
    puts("all good");
    return 0;
}
