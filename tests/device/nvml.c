/* SPDX-License-Identifier: MIT */
/*
 * Records what NVML answers about the first device: an entry, its code and what it stored, a line
 * each. By hand, on a machine with a GPU and under `cushim sim`, to compare the two:
 *
 *     build/tests/device/device-nvml
 *     cushim sim --profile hopper -- build/tests/device/device-nvml
 */
#include <stdio.h>

#include <cushim/nvml.h>

static const struct cushim_nvml *nvml;
static nvmlDevice_t device;

static void line(const char *entry, nvmlReturn_t result, const char *format,
                 unsigned long long value)
{
    printf("%s %d", entry, result);
    if (result == NVML_SUCCESS)
        printf(format, value);
    putchar('\n');
}

/* Entries that store one number. */
#define NUMBER(entry, type)                                                                        \
    do {                                                                                           \
        type value = 0;                                                                            \
        nvmlReturn_t result = nvml->entry(device, &value);                                         \
        line(#entry, result, " %llu", (unsigned long long)value);                                  \
    } while (0)
#define TWO(entry, type)                                                                           \
    do {                                                                                           \
        type one = 0, two = 0;                                                                     \
        nvmlReturn_t result = nvml->entry(device, &one, &two);                                     \
        line(#entry, result, " %llu", (unsigned long long)one);                                    \
    } while (0)
#define TEXT(entry)                                                                                \
    do {                                                                                           \
        char text[256] = "";                                                                       \
        nvmlReturn_t result = nvml->entry(device, text, sizeof text);                              \
        printf("%s %d %s\n", #entry, result, text);                                                \
    } while (0)

static void record_numbers(void)
{
    NUMBER(nvmlDeviceGetIndex, unsigned);
    NUMBER(nvmlDeviceGetMinorNumber, unsigned);
    NUMBER(nvmlDeviceGetBoardId, unsigned);
    NUMBER(nvmlDeviceGetMultiGpuBoard, unsigned);
    NUMBER(nvmlDeviceGetBrand, nvmlBrandType_t);
    NUMBER(nvmlDeviceGetArchitecture, nvmlDeviceArchitecture_t);
    NUMBER(nvmlDeviceGetNumGpuCores, unsigned);
    NUMBER(nvmlDeviceGetMemoryBusWidth, unsigned);
    NUMBER(nvmlDeviceGetDisplayMode, nvmlEnableState_t);
    NUMBER(nvmlDeviceGetDisplayActive, nvmlEnableState_t);
    NUMBER(nvmlDeviceGetMaxPcieLinkGeneration, unsigned);
    NUMBER(nvmlDeviceGetCurrPcieLinkGeneration, unsigned);
    NUMBER(nvmlDeviceGetMaxPcieLinkWidth, unsigned);
    NUMBER(nvmlDeviceGetCurrPcieLinkWidth, unsigned);
    NUMBER(nvmlDeviceGetVirtualizationMode, nvmlGpuVirtualizationMode_t);
    NUMBER(nvmlDeviceGetPowerUsage, unsigned);
    NUMBER(nvmlDeviceGetPowerManagementMode, nvmlEnableState_t);
    NUMBER(nvmlDeviceGetPowerManagementLimit, unsigned);
    NUMBER(nvmlDeviceGetPowerManagementDefaultLimit, unsigned);
    NUMBER(nvmlDeviceGetEnforcedPowerLimit, unsigned);
    NUMBER(nvmlDeviceGetPerformanceState, nvmlPstates_t);
    NUMBER(nvmlDeviceGetPowerState, nvmlPstates_t);
    NUMBER(nvmlDeviceGetPersistenceMode, nvmlEnableState_t);
    NUMBER(nvmlDeviceGetComputeMode, nvmlComputeMode_t);
    NUMBER(nvmlDeviceGetCurrentClocksThrottleReasons, unsigned long long);
    NUMBER(nvmlDeviceGetSupportedClocksThrottleReasons, unsigned long long);
    NUMBER(nvmlDeviceGetTotalEnergyConsumption, unsigned long long);
    NUMBER(nvmlDeviceGetFanSpeed, unsigned);
    NUMBER(nvmlDeviceGetNumFans, unsigned);
    NUMBER(nvmlDeviceGetPcieReplayCounter, unsigned);
    NUMBER(nvmlDeviceGetPcieSpeed, unsigned);
    NUMBER(nvmlDeviceGetInforomConfigurationChecksum, unsigned);
    NUMBER(nvmlDeviceGetMaxMigDeviceCount, unsigned);
    NUMBER(nvmlDeviceIsMigDeviceHandle, unsigned);
    NUMBER(nvmlDeviceGetBusType, nvmlBusType_t);
    NUMBER(nvmlDeviceGetIrqNum, unsigned);
    NUMBER(nvmlDeviceGetAccountingMode, nvmlEnableState_t);
    NUMBER(nvmlDeviceGetDefaultEccMode, nvmlEnableState_t);
    TWO(nvmlDeviceGetPowerManagementLimitConstraints, unsigned);
    TWO(nvmlDeviceGetCudaComputeCapability, int);
    TWO(nvmlDeviceGetEccMode, nvmlEnableState_t);
    TWO(nvmlDeviceGetMigMode, unsigned);
    TWO(nvmlDeviceGetEncoderUtilization, unsigned);
    TWO(nvmlDeviceGetDecoderUtilization, unsigned);
    TWO(nvmlDeviceGetGpuOperationMode, nvmlGpuOperationMode_t);
    TWO(nvmlDeviceGetAutoBoostedClocksEnabled, nvmlEnableState_t);
    TEXT(nvmlDeviceGetName);
    TEXT(nvmlDeviceGetUUID);
    TEXT(nvmlDeviceGetSerial);
    TEXT(nvmlDeviceGetVbiosVersion);
    TEXT(nvmlDeviceGetBoardPartNumber);
    TEXT(nvmlDeviceGetInforomImageVersion);
}

static void record_rest(void)
{
    nvmlMemory_t memory = {.total = 0};
    nvmlMemory_v2_t second = {.version = nvmlMemory_v2}, wrong = {.version = 7};
    nvmlBAR1Memory_t bar1 = {.bar1Total = 0};
    nvmlPciInfo_t pci = {.busId = ""};
    nvmlUtilization_t used = {.gpu = 0};
    unsigned number = 0;
    int version = 0;
    nvmlReturn_t result = nvml->nvmlDeviceGetMemoryInfo(device, &memory);
    line("nvmlDeviceGetMemoryInfo.total", result, " %llu", memory.total);
    line("nvmlDeviceGetMemoryInfo.used", result, " %llu", memory.used);
    result = nvml->nvmlDeviceGetMemoryInfo_v2(device, &second);
    line("nvmlDeviceGetMemoryInfo_v2.reserved", result, " %llu", second.reserved);
    result = nvml->nvmlDeviceGetMemoryInfo_v2(device, &wrong);
    line("nvmlDeviceGetMemoryInfo_v2 of version 7", result, " %llu", wrong.total);
    result = nvml->nvmlDeviceGetBAR1MemoryInfo(device, &bar1);
    line("nvmlDeviceGetBAR1MemoryInfo.bar1Total", result, " %llu", bar1.bar1Total);
    result = nvml->nvmlDeviceGetPciInfo(device, &pci);
    printf("nvmlDeviceGetPciInfo %d %s %s %x %x\n", result, pci.busId, pci.busIdLegacy,
           pci.pciDeviceId, pci.pciSubSystemId);
    result = nvml->nvmlDeviceGetUtilizationRates(device, &used);
    line("nvmlDeviceGetUtilizationRates", result, " %llu", used.gpu);
    for (int type = 0; type <= NVML_CLOCK_COUNT; type++) {
        result = nvml->nvmlDeviceGetClockInfo(device, (nvmlClockType_t)type, &number);
        line("nvmlDeviceGetClockInfo", result, " %llu", number);
        result = nvml->nvmlDeviceGetMaxClockInfo(device, (nvmlClockType_t)type, &number);
        line("nvmlDeviceGetMaxClockInfo", result, " %llu", number);
    }
    for (int sensor = 0; sensor < 2; sensor++) {
        result = nvml->nvmlDeviceGetTemperature(device, (nvmlTemperatureSensors_t)sensor, &number);
        line("nvmlDeviceGetTemperature", result, " %llu", number);
    }
    for (int threshold = 0; threshold < NVML_TEMPERATURE_THRESHOLD_COUNT; threshold++) {
        result = nvml->nvmlDeviceGetTemperatureThreshold(
            device, (nvmlTemperatureThresholds_t)threshold, &number);
        line("nvmlDeviceGetTemperatureThreshold", result, " %llu", number);
    }
    number = 0;
    result = nvml->nvmlDeviceGetComputeRunningProcesses(device, &number, NULL);
    line("nvmlDeviceGetComputeRunningProcesses", result, " %llu", number);
    number = 5;
    result = nvml->nvmlDeviceGetComputeRunningProcesses(device, &number, NULL);
    line("nvmlDeviceGetComputeRunningProcesses without room", result, " %llu", number);
    result = nvml->nvmlSystemGetCudaDriverVersion(&version);
    line("nvmlSystemGetCudaDriverVersion", result, " %llu", (unsigned long long)version);
    line("nvmlDeviceGetIndex without a device", nvml->nvmlDeviceGetIndex(NULL, &number), "", 0);
    line("nvmlDeviceGetIndex without room", nvml->nvmlDeviceGetIndex(device, NULL), "", 0);
    line("nvmlDeviceGetHandleByIndex of 99", nvml->nvmlDeviceGetHandleByIndex(99, &device), "", 0);
    line("nvmlDeviceGetHandleByUUID of none", nvml->nvmlDeviceGetHandleByUUID("GPU-0", &device), "",
         0);
    line("nvmlDeviceGetHandleByPciBusId of words",
         nvml->nvmlDeviceGetHandleByPciBusId("words", &device), "", 0);
    line("nvmlDeviceGetHandleByPciBusId of none",
         nvml->nvmlDeviceGetHandleByPciBusId("0000:FE:00.0", &device), "", 0);
}

int main(void)
{
    unsigned count = 0;
    int version = 0;
    nvml = cushim_nvml_load(NULL);
    line("nvmlDeviceGetCount before nvmlInit", nvml->nvmlDeviceGetCount(&count), "", 0);
    line("nvmlSystemGetCudaDriverVersion before nvmlInit",
         nvml->nvmlSystemGetCudaDriverVersion(&version), "", 0);
    line("nvmlShutdown before nvmlInit", nvml->nvmlShutdown(), "", 0);
    if (nvml->nvmlInit() != NVML_SUCCESS ||
        nvml->nvmlDeviceGetHandleByIndex(0, &device) != NVML_SUCCESS) {
        printf("skipped: %s\n", cushim_nvml_message(nvml));
        return 77;
    }
    record_numbers();
    record_rest();
    line("nvmlShutdown", nvml->nvmlShutdown(), "", 0);
    line("nvmlShutdown again", nvml->nvmlShutdown(), "", 0);
    return 0;
}
