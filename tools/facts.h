/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Facts about GPUs, drivers, toolkits and CUDA runtimes: those of gen/registry, which has the
 * source of each, and those of files (facts_file.h). The arrays are the registry's alone.
 */
#ifndef CUSHIM_TOOLS_FACTS_H
#define CUSHIM_TOOLS_FACTS_H

#include <cushim/compat.h>

#include <stdbool.h>
#include <stddef.h>

struct facts_architecture {
    int capability; /* 90 is 9.0 */
    int last;       /* driver branch that has it: 580; 0: all that are known */
    const char *name;
    bool tegra; /* of a system on a chip, whose machine code is its own */
};
extern const struct facts_architecture facts_architectures[];
extern const size_t facts_architecture_count;

struct facts_gpu {
    const char *name; /* "RTX 4090" */
    int capability;
};
extern const struct facts_gpu facts_gpus[];
extern const size_t facts_gpu_count;

struct facts_runtime {
    const char *library; /* "libcudart.so.12" */
    int release;         /* the first of the family that it may be of */
};
extern const struct facts_runtime facts_runtimes[];
extern const size_t facts_runtime_count;

struct facts_branch {
    int branch;  /* of Linux drivers: 535 */
    int release; /* 12020 is 12.2 */
};
extern const struct facts_branch facts_branches[];
extern const size_t facts_branch_count;

/** The architectures, GPUs and branches, those of files behind the others; NULL at the end. */
const struct facts_architecture *facts_architecture_at(size_t index);
const struct facts_gpu *facts_gpu_at(size_t index);
const struct facts_branch *facts_branch_at(size_t index);

/* What cushim/compat.h has, with the facts of files. */
int facts_release_ptx(int release);
int facts_ptx_release(int ptx);
int facts_capability_release(int capability);
int facts_driver_release(const char *version);
enum cushim_runs facts_driver_runs(const char *version, int release);
enum cushim_runs facts_driver_runs_windows(const char *version, int release);
bool facts_family_floor(int major, const char **linux_driver, const char **windows_driver);
bool facts_toolkit_at(size_t index, struct cushim_toolkit *toolkit);

/** NULL for a compute capability that is not known. */
const struct facts_architecture *facts_architecture(int capability);

/**
 * The compute capabilities that a word names: "8.0", "sm_80", "A100", "GeForce RTX 4090" or, for
 * all of an architecture but those of Tegra, "maxwell".
 *
 * @param most  room in `capabilities`
 * @return how many; 0 for a word that is not known
 */
size_t facts_capabilities(const char *word, int *capabilities, size_t most);

/** The release of which a runtime library is, by its name in DT_NEEDED; 0 for any other name. */
int facts_runtime_release(const char *library);

/** The driver branch that came with a release: 535 for 12.2; 0 where none is known. */
int facts_release_branch(int release);

enum { FACTS_DRIVER_SIZE = 48 };

/**
 * The version of the Linux driver that a word names: itself, or for a branch ("550") one that is
 * later than all of it ("550.999.99").
 *
 * @return false for a word that is neither
 */
bool facts_driver_version(const char *word, char version[FACTS_DRIVER_SIZE]);

/** Whether a version is one of Windows' drivers in the tables, and none of Linux' there. */
bool facts_driver_is_windows(const char *version);

/** The newest branch that is known, and the newest release. */
int facts_newest_branch(void);
int facts_newest_release(void);

#endif
