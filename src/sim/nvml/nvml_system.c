/* SPDX-License-Identifier: MIT */
/* What NVML tells of the system. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cushim/compat.h>

#include "nvml/nvml.h"

/* The newest driver that a toolkit of that release came with. */
const char *sim_nvml_driver(void)
{
    struct cushim_toolkit toolkit = {.size = sizeof toolkit};
    const char *found = "0.0";
    for (size_t i = 0; cushim_toolkit_at(i, &toolkit); i++)
        if (toolkit.release <= sim_config.cuda && toolkit.linux_driver)
            found = toolkit.linux_driver;
    return found;
}

nvmlReturn_t sim_nvmlSystemGetNVMLVersion(char *version, unsigned int length)
{
    char text[NVML_SYSTEM_NVML_VERSION_BUFFER_SIZE];
    snprintf(text, sizeof text, "%d.%s", sim_config.cuda / 1000, sim_nvml_driver());
    return sim_nvml_text(text, version, length);
}

nvmlReturn_t sim_nvmlSystemGetDriverBranch(nvmlSystemDriverBranchInfo_t *branchInfo,
                                           unsigned int length)
{
    char text[sizeof branchInfo->branch];
    snprintf(text, sizeof text, "r%d_00", atoi(sim_nvml_driver()));
    return sim_nvml_text(text, branchInfo->branch, length);
}

nvmlReturn_t sim_nvmlSystemGetProcessName(unsigned int pid, char *name, unsigned int length)
{
    char path[32], text[4096] = "";
    if (!length)
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
