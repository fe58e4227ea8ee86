/* SPDX-License-Identifier: MIT */
/* Initialisation, and what NVML tells of the system. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cushim/compat.h>

#include "core/core.h"
#include "nvml/nvml.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int initialised; /* how often; each wants its nvmlShutdown */
static struct nvmlDevice_st devices[SIM_MAX_DEVICES];

static void read_settings(void)
{
    const char *text = secure_getenv("CUSHIM_SIM_NVML_CUDA");
    int major = 0, minor = 0;
    sim_config_read();
    if (text && sscanf(text, "%d.%d", &major, &minor) == 2)
        sim_config.cuda = 1000 * major + 10 * minor;
    for (int i = 0; i < SIM_MAX_DEVICES; i++)
        devices[i] = (struct nvmlDevice_st){.number = i, .persistent = true};
}

static nvmlReturn_t initialise(void)
{
    static bool read;
    pthread_mutex_lock(&lock);
    if (!read)
        read_settings();
    read = true;
    initialised++;
    pthread_mutex_unlock(&lock);
    return NVML_SUCCESS;
}

static bool is_initialised(void)
{
    pthread_mutex_lock(&lock);
    bool is = initialised > 0;
    pthread_mutex_unlock(&lock);
    return is;
}

nvmlReturn_t sim_nvml_ready(void)
{
    return is_initialised() ? NVML_SUCCESS : NVML_ERROR_UNINITIALIZED;
}

nvmlReturn_t sim_nvml_ready_for(nvmlDevice_t device, const void *answer)
{
    if (!is_initialised())
        return NVML_ERROR_UNINITIALIZED;
    bool known = device >= devices && device < devices + sim_config.devices;
    return known && answer ? NVML_SUCCESS : NVML_ERROR_INVALID_ARGUMENT;
}

nvmlReturn_t sim_nvml_refuse(int since)
{
    if (!is_initialised())
        return NVML_ERROR_UNINITIALIZED;
    return since > sim_config.cuda ? NVML_ERROR_FUNCTION_NOT_FOUND : NVML_ERROR_NOT_SUPPORTED;
}

int sim_nvml_cuda(void)
{
    return sim_config.cuda;
}

nvmlDevice_t sim_nvml_device(int number)
{
    return number >= 0 && number < sim_config.devices ? &devices[number] : NULL;
}

int sim_nvml_attribute(int number)
{
    int value = 0;
    /* What a device has does not depend on the driver's age. */
    return sim_profile_attribute(sim_config.profile, number, sim_config_built, &value) ? value : 0;
}

bool sim_nvml_profile_is(const char *names)
{
    const char *found = strstr(names, sim_config.profile->name);
    return found && found[strlen(sim_config.profile->name)] == ' ';
}

nvmlReturn_t sim_nvml_text(const char *text, char *buffer, unsigned length)
{
    if (!buffer)
        return NVML_ERROR_INVALID_ARGUMENT;
    if (strlen(text) >= length)
        return NVML_ERROR_INSUFFICIENT_SIZE;
    strcpy(buffer, text);
    return NVML_SUCCESS;
}

/* ---- entries */

SIM_EXPORT nvmlReturn_t nvmlInit(void)
{
    return initialise();
}

SIM_EXPORT nvmlReturn_t nvmlInit_v2(void)
{
    return initialise();
}

SIM_EXPORT nvmlReturn_t nvmlInitWithFlags(unsigned int flags)
{
    (void)flags;
    return initialise();
}

SIM_EXPORT nvmlReturn_t nvmlShutdown(void)
{
    pthread_mutex_lock(&lock);
    nvmlReturn_t result = initialised > 0 ? NVML_SUCCESS : NVML_ERROR_UNINITIALIZED;
    initialised -= initialised > 0;
    pthread_mutex_unlock(&lock);
    return result;
}

/* The newest driver that a toolkit of that release came with. */
SIM_EXPORT nvmlReturn_t nvmlSystemGetDriverVersion(char *version, unsigned int length)
{
    struct cushim_toolkit toolkit = {.size = sizeof toolkit};
    const char *found = "0.0";
    nvmlReturn_t result = sim_nvml_ready();
    if (result != NVML_SUCCESS)
        return result;
    for (size_t i = 0; cushim_toolkit_at(i, &toolkit); i++)
        if (toolkit.release <= sim_config.cuda && toolkit.linux_driver)
            found = toolkit.linux_driver;
    return sim_nvml_text(found, version, length);
}

SIM_EXPORT nvmlReturn_t nvmlSystemGetNVMLVersion(char *version, unsigned int length)
{
    char text[NVML_SYSTEM_NVML_VERSION_BUFFER_SIZE], driver[64];
    nvmlReturn_t result = nvmlSystemGetDriverVersion(driver, sizeof driver);
    if (result != NVML_SUCCESS)
        return result;
    snprintf(text, sizeof text, "%d.%s", sim_config.cuda / 1000, driver);
    return sim_nvml_text(text, version, length);
}

SIM_EXPORT nvmlReturn_t nvmlSystemGetCudaDriverVersion(int *cudaDriverVersion)
{
    nvmlReturn_t result = sim_nvml_ready();
    if (result == NVML_SUCCESS && !cudaDriverVersion)
        result = NVML_ERROR_INVALID_ARGUMENT;
    if (result == NVML_SUCCESS)
        *cudaDriverVersion = sim_config.cuda;
    return result;
}

SIM_EXPORT nvmlReturn_t nvmlSystemGetCudaDriverVersion_v2(int *cudaDriverVersion)
{
    return nvmlSystemGetCudaDriverVersion(cudaDriverVersion);
}

SIM_EXPORT nvmlReturn_t nvmlSystemGetProcessName(unsigned int pid, char *name, unsigned int length)
{
    char path[32], text[4096] = "";
    nvmlReturn_t result = sim_nvml_ready();
    if (result != NVML_SUCCESS)
        return result;
    if (!name || !length)
        return NVML_ERROR_INVALID_ARGUMENT;
    snprintf(path, sizeof path, "/proc/%u/cmdline", pid);
    FILE *file = fopen(path, "re");
    if (!file)
        return NVML_ERROR_NOT_FOUND;
    (void)!fread(text, 1, sizeof text - 1, file); /* the first of its strings */
    fclose(file);
    snprintf(name, length, "%s", text); /* as NVML does, what there is room for */
    return NVML_SUCCESS;
}

SIM_EXPORT nvmlReturn_t nvmlUnitGetCount(unsigned int *unitCount)
{
    nvmlReturn_t result = sim_nvml_ready();
    if (result == NVML_SUCCESS && !unitCount)
        result = NVML_ERROR_INVALID_ARGUMENT;
    if (result == NVML_SUCCESS)
        *unitCount = 0;
    return result;
}
