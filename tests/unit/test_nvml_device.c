/* SPDX-License-Identifier: MIT */
/* NVML's helpers on drivers of several ages: which device is which, and the newest function that a
 * driver has. The tables are those of a machine without a driver, with functions of this file. */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include <cushim/nvml.h>

#include "common.h"

static struct cushim_nvml nvml;
static struct cushim_api cu;
static int devices[3];
#define DEVICE(n) ((nvmlDevice_t)(void *)&devices[n])

/* ---- CUDA: device 0 is a MIG instance, 1 a whole GPU */

static CUresult get_count(int *count)
{
    *count = 2;
    return CUDA_SUCCESS;
}

static CUresult get_device(CUdevice *device, int ordinal)
{
    *device = ordinal;
    return CUDA_SUCCESS;
}

static CUresult get_uuid(CUuuid *uuid, CUdevice device)
{
    memset(uuid->bytes, 0x10 * (device + 1), sizeof uuid->bytes);
    return device < 2 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

static CUresult get_address(char *address, int size, CUdevice device)
{
    snprintf(address, (size_t)size, "0000:%02x:00.0", 0xa0 + device);
    return device < 2 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

static CUresult at_address(CUdevice *device, const char *address)
{
    if (strcmp(address, "0000:a1:00.0") != 0)
        return CUDA_ERROR_INVALID_DEVICE;
    *device = 1;
    return CUDA_SUCCESS;
}

/* ---- NVML */

static nvmlReturn_t by_uuid(const char *uuid, nvmlDevice_t *device)
{
    if (strcmp(uuid, "MIG-10101010-1010-1010-1010-101010101010") == 0)
        *device = DEVICE(0);
    else if (strcmp(uuid, "GPU-20202020-2020-2020-2020-202020202020") == 0)
        *device = DEVICE(1);
    else
        return NVML_ERROR_NOT_FOUND;
    return NVML_SUCCESS;
}

static nvmlReturn_t uuid_of(nvmlDevice_t device, char *uuid, unsigned int length)
{
    snprintf(uuid, length, "%s",
             device == DEVICE(0)   ? "MIG-10101010-1010-1010-1010-101010101010"
             : device == DEVICE(1) ? "GPU-20202020-2020-2020-2020-202020202020"
                                   : "GPU-30303030-3030-3030-3030-303030303030");
    return NVML_SUCCESS;
}

static nvmlReturn_t by_address(const char *address, nvmlDevice_t *device)
{
    if (strcmp(address, "0000:a1:00.0") != 0)
        return NVML_ERROR_NOT_FOUND;
    *device = DEVICE(1);
    return NVML_SUCCESS;
}

static nvmlReturn_t address_of(nvmlDevice_t device, nvmlPciInfo_t *pci)
{
    memset(pci, 0, sizeof *pci);
    pci->bus = device == DEVICE(1) ? 0xa1 : 0xee;
    return NVML_SUCCESS;
}

static nvmlReturn_t memory_first(nvmlDevice_t device, nvmlMemory_t *memory)
{
    *memory = (nvmlMemory_t){.total = 100, .free = 30, .used = 70};
    return device == DEVICE(1) ? NVML_SUCCESS : NVML_ERROR_GPU_IS_LOST;
}

static nvmlReturn_t memory_second(nvmlDevice_t device, nvmlMemory_v2_t *memory)
{
    (void)device;
    if (memory->version != nvmlMemory_v2)
        return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    memory->total = 100;
    memory->free = 30;
    memory->used = 60;
    memory->reserved = 10;
    return NVML_SUCCESS;
}

static unsigned running; /* one more at each call, as if programs were starting */

static nvmlReturn_t list_first(nvmlDevice_t device, unsigned *count, nvmlProcessInfo_v1_t *infos)
{
    unsigned room = *count;
    (void)device;
    *count = ++running;
    if (room < running)
        return NVML_ERROR_INSUFFICIENT_SIZE;
    for (unsigned i = 0; i < running; i++)
        infos[i] = (nvmlProcessInfo_v1_t){.pid = 10 + i, .usedGpuMemory = 1000 + i};
    return NVML_SUCCESS;
}

static nvmlReturn_t list_third(nvmlDevice_t device, unsigned *count, nvmlProcessInfo_t *infos)
{
    unsigned room = *count;
    (void)device;
    *count = 2;
    if (room < 2)
        return NVML_ERROR_INSUFFICIENT_SIZE;
    infos[0] = (nvmlProcessInfo_t){
        .pid = 10, .usedGpuMemory = 5, .gpuInstanceId = UINT_MAX, .computeInstanceId = UINT_MAX};
    infos[1] = (nvmlProcessInfo_t){.pid = 11,
                                   .usedGpuMemory = CUSHIM_NVML_UNKNOWN,
                                   .gpuInstanceId = 3,
                                   .computeInstanceId = 0};
    return NVML_SUCCESS;
}

static nvmlReturn_t busy_of(nvmlDevice_t device, nvmlProcessUtilizationSample_t *samples,
                            unsigned *count, unsigned long long since)
{
    (void)device, (void)since;
    *count = 2;
    if (!samples)
        return NVML_ERROR_INSUFFICIENT_SIZE;
    samples[0] = (nvmlProcessUtilizationSample_t){.pid = 11, .timeStamp = 1, .smUtil = 20};
    samples[1] = (nvmlProcessUtilizationSample_t){.pid = 11, .timeStamp = 2, .smUtil = 40};
    return NVML_SUCCESS;
}

static nvmlReturn_t link_state(nvmlDevice_t device, unsigned link, nvmlEnableState_t *state)
{
    (void)device;
    *state = link % 2 ? NVML_FEATURE_DISABLED : NVML_FEATURE_ENABLED;
    return link < 6 ? NVML_SUCCESS : NVML_ERROR_INVALID_ARGUMENT; /* as one that knows six */
}

static nvmlReturn_t fabric_second(nvmlDevice_t device, nvmlGpuFabricInfoV_t *info)
{
    (void)device;
    if (info->version != nvmlGpuFabricInfo_v2)
        return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    info->state = NVML_GPU_FABRIC_STATE_COMPLETED;
    info->cliqueId = 7;
    info->healthMask = 2;
    return NVML_SUCCESS;
}

static nvmlReturn_t fabric_first(nvmlDevice_t device, nvmlGpuFabricInfo_t *info)
{
    (void)device;
    info->state = NVML_GPU_FABRIC_STATE_IN_PROGRESS;
    return NVML_SUCCESS;
}

/* ---- tests */

static int setup(void **state)
{
    (void)state;
    struct cushim_nvml_options options = CUSHIM_NVML_OPTIONS_INIT;
    options.path = "/nowhere";
    nvml = *cushim_nvml_load(&options);
    struct cushim_options without = {.size = sizeof without, .path = "/nowhere"};
    const struct cushim_api *opened = cushim_open(&without);
    cu = *opened; /* not closed: what belongs to it is used */
    cu.cuDeviceGetCount = get_count;
    cu.cuDeviceGet = get_device;
    cu.cuDeviceGetPCIBusId = get_address;
    nvml.nvmlDeviceGetUUID = uuid_of;
    running = 0;
    return 0;
}

/* An instance of MIG by the second ABI of CUDA's function, and NVML's name of it. */
static void test_by_uuid(void **state)
{
    nvmlDevice_t found = NULL;
    CUdevice back = -1;
    (void)state;
    cu.cuDeviceGetUuid_v2 = get_uuid;
    nvml.nvmlDeviceGetHandleByUUID = by_uuid;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(cushim_nvml_device(&nvml, &cu, i, &found), NVML_SUCCESS);
        assert_ptr_equal(found, DEVICE(i));
        assert_int_equal(cushim_nvml_device_cuda(&nvml, &cu, found, &back), NVML_SUCCESS);
        assert_int_equal(back, i);
    }
    assert_int_equal(cushim_nvml_device_cuda(&nvml, &cu, DEVICE(2), &back), NVML_ERROR_NOT_FOUND);
    assert_contains(cushim_last_error(), "GPU-30303030");
}

/* A driver without UUIDs. */
static void test_by_address(void **state)
{
    nvmlDevice_t found = NULL;
    CUdevice back = -1;
    (void)state;
    nvml.nvmlDeviceGetHandleByPciBusId_v2 = by_address;
    assert_int_equal(cushim_nvml_device(&nvml, &cu, 1, &found), NVML_SUCCESS);
    assert_ptr_equal(found, DEVICE(1));
    assert_int_equal(cushim_nvml_device(&nvml, &cu, 0, &found), NVML_ERROR_NOT_FOUND);
    assert_contains(cushim_last_error(), "PCI address 0000:a0:00.0");
    assert_int_equal(cushim_nvml_device_cuda(&nvml, &cu, DEVICE(1), &back), NVML_ERROR_NOT_FOUND);
    cu.cuDeviceGetByPCIBusId = at_address;
    nvml.nvmlDeviceGetPciInfo_v2 = address_of;
    assert_int_equal(cushim_nvml_device_cuda(&nvml, &cu, DEVICE(1), &back), NVML_SUCCESS);
    assert_int_equal(back, 1);
    assert_int_equal(cushim_nvml_device_cuda(&nvml, &cu, DEVICE(2), &back), NVML_ERROR_NOT_FOUND);
}

static void test_usage(void **state)
{
    struct cushim_nvml_usage usage = {.used = 7};
    (void)state;
    assert_int_equal(cushim_nvml_usage_describe(&nvml, DEVICE(1), &usage),
                     NVML_ERROR_LIBRARY_NOT_FOUND);
    nvml.nvmlDeviceGetMemoryInfo = memory_first;
    assert_int_equal(cushim_nvml_usage_describe(&nvml, DEVICE(0), &usage), NVML_ERROR_GPU_IS_LOST);
    assert_contains(cushim_last_error(), "nvmlDeviceGetMemoryInfo: NVML_ERROR_GPU_IS_LOST");
    assert_true(usage.used == 7);
    assert_int_equal(cushim_nvml_usage_describe(&nvml, DEVICE(1), &usage), NVML_SUCCESS);
    assert_true(usage.used == 70 && usage.reserved == CUSHIM_NVML_UNKNOWN);
    assert_true(usage.gpu_percent == CUSHIM_NVML_UNKNOWN);
    nvml.nvmlDeviceGetMemoryInfo_v2 = memory_second;
    assert_int_equal(cushim_nvml_usage_describe(&nvml, DEVICE(1), &usage), NVML_SUCCESS);
    assert_true(usage.used == 60 && usage.reserved == 10);
}

static void test_processes(void **state)
{
    struct cushim_nvml_process list[4] = {{.pid = 7}};
    size_t count = 9;
    (void)state;
    assert_int_equal(cushim_nvml_process_list(&nvml, DEVICE(1), list, 4, &count),
                     NVML_ERROR_LIBRARY_NOT_FOUND);
    assert_true(count == 9 && list[0].pid == 7);
    nvml.nvmlDeviceGetComputeRunningProcesses_v1 = list_first;
    assert_int_equal(cushim_nvml_process_list(&nvml, DEVICE(1), list, 1, &count), NVML_SUCCESS);
    assert_true(count == 2 && list[0].pid == 10 && list[0].used == 1000 && list[1].pid == 0);
    assert_true(list[0].gpu_instance == UINT_MAX && list[0].gpu_percent == CUSHIM_NVML_UNKNOWN);
    nvml.nvmlDeviceGetComputeRunningProcesses_v3 = list_third;
    nvml.nvmlDeviceGetGraphicsRunningProcesses_v3 = list_third; /* the same processes */
    nvml.nvmlDeviceGetProcessUtilization = busy_of;
    assert_int_equal(cushim_nvml_process_list(&nvml, DEVICE(1), list, 4, &count), NVML_SUCCESS);
    assert_true(count == 2 && list[1].pid == 11 && list[1].gpu_instance == 3);
    assert_true(list[1].kinds == (CUSHIM_NVML_COMPUTE | CUSHIM_NVML_GRAPHICS));
    assert_true(list[0].gpu_percent == CUSHIM_NVML_UNKNOWN && list[1].gpu_percent == 40);
    assert_true(list[1].used == CUSHIM_NVML_UNKNOWN);
}

static void test_links(void **state)
{
    struct cushim_nvml_links links;
    (void)state;
    assert_int_equal(cushim_nvml_link_describe(&nvml, DEVICE(1), &links),
                     NVML_ERROR_LIBRARY_NOT_FOUND);
    nvml.nvmlDeviceGetNvLinkState = link_state;
    assert_int_equal(cushim_nvml_link_describe(&nvml, DEVICE(1), &links), NVML_SUCCESS);
    assert_true(links.active == 3 && links.version == 0 && links.fabric_state == 0);
    nvml.nvmlDeviceGetGpuFabricInfo = fabric_first;
    assert_int_equal(cushim_nvml_link_describe(&nvml, DEVICE(1), &links), NVML_SUCCESS);
    assert_int_equal(links.fabric_state, NVML_GPU_FABRIC_STATE_IN_PROGRESS);
    nvml.nvmlDeviceGetGpuFabricInfoV = fabric_second;
    assert_int_equal(cushim_nvml_link_describe(&nvml, DEVICE(1), &links), NVML_SUCCESS);
    assert_int_equal(links.fabric_state, NVML_GPU_FABRIC_STATE_COMPLETED);
    assert_true(links.clique == 7 && links.health_mask == 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_by_uuid, setup), cmocka_unit_test_setup(test_by_address, setup),
        cmocka_unit_test_setup(test_usage, setup),   cmocka_unit_test_setup(test_processes, setup),
        cmocka_unit_test_setup(test_links, setup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
