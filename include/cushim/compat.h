/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Which driver runs which toolkit's programs, and which PTX it takes.
 *
 * The facts are NVIDIA's, from the tables of its release notes; gen/registry/drivers.jsonl names
 * the source of each. Nothing here calls the driver. A program that uses none of it does not carry
 * the tables.
 */
#ifndef CUSHIM_COMPAT_H
#define CUSHIM_COMPAT_H

#include <cushim/cushim.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Whether a driver runs programs that were built with a toolkit. Values never change. */
enum cushim_runs {
    CUSHIM_RUNS = 0,       /**< its release is that of the toolkit or a later one */
    CUSHIM_RUNS_LIMITED,   /**< an older one of the same family: without later entries and PTX */
    CUSHIM_RUNS_NOT,       /**< it takes a later driver, or a compat package */
    CUSHIM_RUNS_NO_DRIVER, /**< there is no driver */
    CUSHIM_RUNS_INVALID    /**< the version is none */
};

/**
 * Whether the driver runs programs that were built with a toolkit.
 *
 * From CUDA 11 on a driver serves all toolkits of its family (11.x, 12.x, ...): NVIDIA's minor
 * version compatibility. Such a program cannot use what came after the driver's release, and its
 * PTX of a later version is refused with CUDA_ERROR_UNSUPPORTED_PTX_VERSION (222).
 *
 * @param version  release of the toolkit: 12040 is 12.4
 * @return any of enum cushim_runs; CUSHIM_RUNS_NO_DRIVER for a table without a driver
 *
 * Threads: safe. Since: 0.1.
 */
CUSHIM_PUBLIC enum cushim_runs cushim_driver_runs(const struct cushim_api *cu, int version);

/**
 * The same for the driver of a release, with none at hand: one that is not older than the oldest
 * that serves its family.
 *
 * @param driver   release of the driver: 12040 is 12.4
 * @param version  release of the toolkit
 * @return any of enum cushim_runs
 *
 * Threads: safe. Since: 0.1.
 */
CUSHIM_PUBLIC enum cushim_runs cushim_release_runs(int driver, int version);

/**
 * The same for a Linux driver, by its version. Early drivers of a family's first release are older
 * than the oldest one that serves the whole family: 450.51.06 runs programs of 11.0, and not those
 * of 11.1.
 *
 * @param driver   version of a Linux driver: "550.163.01"
 * @param version  release of the toolkit: 12040 is 12.4
 * @return any of enum cushim_runs; CUSHIM_RUNS_NO_DRIVER for a text that is no version, and for a
 *         driver that is older than what this build knows
 *
 * Threads: safe. Since: 0.1.
 */
CUSHIM_PUBLIC enum cushim_runs cushim_driver_runs_linux(const char *driver, int version);

/**
 * Newest PTX version that the driver of a release takes.
 *
 * @param release  release of the driver: 12040 is 12.4
 * @return 84 for PTX 8.4; 0 for a release that this build does not know
 *
 * Threads: safe. Since: 0.1.
 */
CUSHIM_PUBLIC int cushim_release_ptx(int release);

/**
 * The first release whose driver takes a PTX version.
 *
 * @param ptx  84 is PTX 8.4
 * @return 12040 for 12.4; 0 if none is known
 *
 * Threads: safe. Since: 0.1.
 */
CUSHIM_PUBLIC int cushim_ptx_release(int ptx);

/**
 * The first known release that knows devices of a compute capability.
 *
 * @param capability  90 is 9.0
 * @return 12040 for 12.4; 0 if none is known. A capability that the oldest known release has too
 *         gives that release
 *
 * Threads: safe. Since: 0.1.
 */
CUSHIM_PUBLIC int cushim_capability_release(int capability);

/**
 * Whether NVIDIA publishes a cuda-compat package for a release.
 *
 * @param release  of CUDA: 12040 is 12.4
 * @return true if this build knows of one
 *
 * Threads: safe. Since: 0.1.
 */
CUSHIM_PUBLIC bool cushim_release_has_compat(int release);

/** A toolkit as it was published. Strings are static. */
struct cushim_toolkit {
    size_t size;                /**< of this structure; set by the caller */
    int release;                /**< 12040 is 12.4 */
    int update;                 /**< 0, 1, ...: 12.4, 12.4 Update 1, ... */
    const char *linux_driver;   /**< that it ships with: "550.54.14"; NULL where it is not known */
    const char *windows_driver; /**< NULL where it ships with none, or that is not known */
};

/**
 * The toolkits, oldest first.
 *
 * @param index    from 0, the oldest
 * @param toolkit  its `size` is set; written on success
 * @return false behind the last one, and for a toolkit that is NULL or of no known size
 *
 * Threads: safe. Since: 0.1.
 */
CUSHIM_PUBLIC bool cushim_toolkit_at(size_t index, struct cushim_toolkit *toolkit);

/**
 * The oldest driver that serves all toolkits of a family.
 *
 * @param major           12 for 12.x
 * @param linux_driver    may be NULL; written on success
 * @param windows_driver  may be NULL; written on success; NULL where it is not known
 * @return false where there is no such family: each toolkit takes the driver that it ships with
 *
 * Threads: safe. Since: 0.1.
 */
CUSHIM_PUBLIC bool cushim_family_floor(int major, const char **linux_driver,
                                       const char **windows_driver);

/**
 * The release of a Linux driver, by its version. One of a branch that this build does not know is
 * of the release of the branch before it, or later.
 *
 * @param version  of a Linux driver: "550.163.01"
 * @return 12040 for 12.4; 0 if the text is no version, or the driver is older than what this build
 *         knows
 *
 * Threads: safe. Since: 0.1.
 */
CUSHIM_PUBLIC int cushim_driver_release(const char *version);

#ifdef __cplusplus
}
#endif

#endif
