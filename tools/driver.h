/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Opening the driver that a subcommand was asked for, and its place in a table.
 */
#ifndef CUSHIM_TOOLS_DRIVER_H
#define CUSHIM_TOOLS_DRIVER_H

#include <cushim/cushim.h>

#include <jansson.h>

#include <stdint.h>

/** Refuse a release, such as "12.4", as the path of a driver, unless there is such a file. */
void driver_refuse_release(const char *path);

/**
 * Open an instance; the caller closes it. It is there without a driver too: driver_found() says.
 * Want of memory ends the program.
 *
 * @param path  NULL: search
 */
const struct cushim_api *driver_open(const char *path, enum cushim_order order);

/** Whether there is a driver. If not, say why on stderr, as `command`. */
bool driver_found(const struct cushim_api *cu, const char *command);

/**
 * Start the driver (cuInit) and make sure that it has a device of this number. If not, say why on
 * stderr, as `command`.
 */
bool driver_has_device(const struct cushim_api *cu, int device, const char *command);

/** {"path", "version", "status"} of the driver. */
json_t *driver_json(const struct cushim_api *cu);

/** One line: path and CUDA version, or "no driver". */
void driver_print(const struct cushim_api *cu);

enum { OFFSET_TEXT_SIZE = 24 };

/** A slot's address relative to the library, as nm shows it: "0x1a2b3c"; NULL where it has none. */
const char *driver_offset(char text[OFFSET_TEXT_SIZE], const struct cushim_api *cu,
                          const struct cushim_slot *slot);

#endif
