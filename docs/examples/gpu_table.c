/* SPDX-License-Identifier: MIT */
/* A table of the machine's GPUs by NVML; and on a machine without it, a sentence that says why. */
#include <stdio.h>

#include <cushim/nvml.h>

/* A question that a device may answer with "not supported", which is no failure. */
static void print_number(nvmlReturn_t result, unsigned value, const char *unit)
{
    if (result == NVML_SUCCESS)
        printf(" %8u %-3s", value, unit);
    else
        printf(" %12s", result == NVML_ERROR_NOT_SUPPORTED ? "-" : cushim_nvml_error_name(result));
}

static bool print_device(const struct cushim_nvml *nvml, unsigned index)
{
    nvmlDevice_t device;
    char name[NVML_DEVICE_NAME_V2_BUFFER_SIZE] = "";
    nvmlPciInfo_t pci = {.busId = ""};
    nvmlMemory_t memory = {.total = 0};
    nvmlUtilization_t used = {.gpu = 0};
    unsigned celsius = 0, processes = 0;
    /* Plain names mean the newest ABI that drivers of CUDA 12.0 have: this is ..._v2. */
    nvmlReturn_t result = nvml->nvmlDeviceGetHandleByIndex(index, &device);
    if (result == NVML_SUCCESS)
        result = nvml->nvmlDeviceGetName(device, name, sizeof name);
    if (result == NVML_SUCCESS)
        result = nvml->nvmlDeviceGetPciInfo(device, &pci);
    if (result != NVML_SUCCESS) {
        printf("%u: %s\n", index, nvml->nvmlErrorString(result));
        return false;
    }
    printf("%2u %-28s %-16s", index, name, pci.busId);
    result = nvml->nvmlDeviceGetMemoryInfo(device, &memory);
    print_number(result, (unsigned)(memory.used >> 20), "MiB");
    print_number(result, (unsigned)(memory.total >> 20), "MiB");
    result = nvml->nvmlDeviceGetUtilizationRates(device, &used);
    print_number(result, used.gpu, "%");
    result = nvml->nvmlDeviceGetTemperature(device, NVML_TEMPERATURE_GPU, &celsius);
    print_number(result, celsius, "C");
    /* With no room the call returns how many there are. */
    if (CUSHIM_NVML_HAS(nvml, nvmlDeviceGetComputeRunningProcesses)) {
        result = nvml->nvmlDeviceGetComputeRunningProcesses(device, &processes, NULL);
        print_number(result == NVML_ERROR_INSUFFICIENT_SIZE ? NVML_SUCCESS : result, processes, "");
    }
    putchar('\n');
    return true;
}

int main(void)
{
    const struct cushim_nvml *nvml = cushim_nvml_load(NULL);
    nvmlReturn_t result = nvml->nvmlInit();
    if (result != NVML_SUCCESS) {
        printf("no GPUs to show: %s\n", nvml->nvmlErrorString(result));
        printf("%s\n", cushim_nvml_message(nvml));
        return 0;
    }
    char version[NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE] = "";
    unsigned count = 0;
    bool good = nvml->nvmlSystemGetDriverVersion(version, sizeof version) == NVML_SUCCESS &&
                nvml->nvmlDeviceGetCount(&count) == NVML_SUCCESS;
    printf("driver %s, %u devices\n", version, count);
    printf("%2s %-28s %-16s %12s %12s %12s %12s %12s\n", "", "name", "PCI", "used", "memory",
           "busy", "temperature", "processes");
    for (unsigned i = 0; i < count; i++)
        good &= print_device(nvml, i);
    nvml->nvmlShutdown();
    return good ? 0 : 1;
}
