/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Which driver the demo runs on: the one asked for, the one found, or a simulated one.
 */
#ifndef CUSHIM_TOOLS_DEMO_OPEN_H
#define CUSHIM_TOOLS_DEMO_OPEN_H

#include <cushim/cushim.h>

struct demo_driver {
    const struct cushim_api *cu; /* the caller's to close */
    bool simulated;
};

/**
 * Open a driver. Where none was asked for, by `path` or CUSHIM_LIBCUDA, and there is none or it has
 * no device, it is a simulated one, and a line on stdout says so and why.
 *
 * @param path      NULL: search
 * @param simulate  take the simulated one in any case
 */
struct demo_driver demo_open(const char *path, bool simulate);

#endif
