/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Starting the driver and describing its devices.
 */
#ifndef CUSHIM_TOOLS_DEVICES_H
#define CUSHIM_TOOLS_DEVICES_H

#include <cushim/cushim.h>

#include "management.h"

#include <jansson.h>

enum { DEVICE_TEXT_SIZE = 128 };

/** What is known of a device. A text that the driver did not give is empty. */
struct device_facts {
    CUdevice device;
    int ordinal;
    int major, minor; /* compute capability */
    size_t memory;    /* bytes */
    char name[DEVICE_TEXT_SIZE];
    char uuid[DEVICE_TEXT_SIZE];
    char pci[DEVICE_TEXT_SIZE];
    bool managed;                       /* NVML was asked */
    struct management_facts management; /* if so */
};

/** Ask an initialised driver about one device. False where it does not know the ordinal. */
bool device_read(const struct cushim_api *cu, int ordinal, struct device_facts *facts);

/** Write a size as people do: "139.8 GiB". Returns `text`. */
const char *device_memory(char text[DEVICE_TEXT_SIZE], size_t bytes);

/**
 * Start the driver and report its devices: as text on stdout, or as the member "init" of `root`.
 *
 * @param root  NULL: text
 * @return an exit code
 */
int devices_report(const struct cushim_api *cu, json_t *root);

#endif
