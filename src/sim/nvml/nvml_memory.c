/* SPDX-License-Identifier: MIT */
/* Memory, and the processes that use it. */
#include "device/device.h"
#include "nvml/nvml.h"

void sim_nvml_visit(nvmlDevice_t device, sim_nvml_visitor *function, void *user)
{
    struct sim_usage *all = sim_usage_all();
    for (int i = 0; all && i < SIM_USAGE_PROCESSES; i++) {
        struct sim_usage_device *use = &all[i].devices[device->number];
        if (atomic_load(&use->contexts) && sim_usage_alive(&all[i]))
            function(&all[i], use, user);
    }
}

static void add_bytes(struct sim_usage *place, struct sim_usage_device *use, void *user)
{
    (void)place;
    *(unsigned long long *)user += atomic_load(&use->bytes);
}

unsigned long long sim_nvml_used(nvmlDevice_t device)
{
    unsigned long long used = 0, total = sim_identity_memory();
    sim_nvml_visit(device, add_bytes, &used);
    return used < total ? used : total; /* each process has the whole device */
}

nvmlReturn_t sim_nvmlDeviceGetMemoryInfo(nvmlDevice_t device, nvmlMemory_t *memory)
{
    memory->total = sim_identity_memory();
    memory->used = sim_nvml_used(device);
    memory->free = memory->total - memory->used;
    return NVML_SUCCESS;
}

nvmlReturn_t sim_nvmlDeviceGetMemoryInfo_v2(nvmlDevice_t device, nvmlMemory_v2_t *memory)
{
    nvmlMemory_t first;
    (void)sim_nvmlDeviceGetMemoryInfo(device, &first);
    memory->total = first.total;
    memory->reserved = 0;
    memory->used = first.used;
    memory->free = first.free;
    return NVML_SUCCESS;
}
