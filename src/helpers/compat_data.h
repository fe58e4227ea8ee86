/* SPDX-License-Identifier: MIT */
/* Which driver serves which toolkit, as constant data; drivers.c is generated. */
#ifndef CUSHIM_HELPERS_COMPAT_DATA_H
#define CUSHIM_HELPERS_COMPAT_DATA_H

#include <stddef.h>
#include <stdint.h>

/* Texts are offsets in cushim_driver_strings; an empty one is not known, or there is none. */
struct cushim_toolkit_data {
    uint16_t release, update;
    uint16_t linux_driver, windows_driver; /* that the toolkit ships with */
};
struct cushim_family_data {
    uint16_t major;
    uint16_t linux_driver, windows_driver; /* the oldest that serves the whole family */
};
struct cushim_ptx_data {
    uint16_t release;
    uint16_t ptx;    /* newest version that the release takes: 84 is 8.4 */
    uint16_t branch; /* of the driver of that release: 550 */
};
struct cushim_target_data {
    uint16_t capability; /* 90 is 9.0 */
    uint16_t release;    /* that knows it first */
};

extern const char cushim_driver_strings[];
extern const struct cushim_toolkit_data cushim_toolkits[]; /* oldest first, as all of these */
extern const size_t cushim_toolkits_count;
extern const struct cushim_family_data cushim_families[];
extern const size_t cushim_families_count;
extern const struct cushim_ptx_data cushim_ptx[];
extern const size_t cushim_ptx_count;
extern const struct cushim_target_data cushim_targets[];
extern const size_t cushim_targets_count;
extern const int cushim_forward_since; /* release of the first compat package */

#endif
