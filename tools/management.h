/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What NVML adds to what the driver tells. NVML is loaded when it is first asked for.
 */
#ifndef CUSHIM_TOOLS_MANAGEMENT_H
#define CUSHIM_TOOLS_MANAGEMENT_H

#include <cushim/nvml.h>

#include <jansson.h>

/** Of one device; `known` is false if NVML does not know it, and why is in cushim_last_error(). */
struct management_facts {
    bool known;
    struct cushim_nvml_usage usage;
    struct cushim_nvml_links links;
    size_t processes;
    int ecc, mig; /* 1 on, 0 off, -1 not known or not supported */
};

/** How many of NVML's entries the library has; 0 without one. */
size_t management_entries(void);

/** Start NVML (nvmlInit), which talks to the kernel module. False: `text` says why not. */
bool management_start(const char **text);

/** Of a device of CUDA's, after cuInit and management_start. */
void management_read(const struct cushim_api *cu, CUdevice device, struct management_facts *facts);

enum { MANAGEMENT_TEXT_SIZE = 384 };

/** The facts as words: "100 of 6026 MiB in use, 1 process, 90 % busy, 18 NVLinks, ...". */
const char *management_words(char text[MANAGEMENT_TEXT_SIZE], const struct management_facts *facts);

/** {"used", "processes", ...}; null if it is not known. */
json_t *management_json(const struct management_facts *facts);

#endif
