/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Facts that a build does not have, from files: docs/facts.md has their form.
 */
#ifndef CUSHIM_TOOLS_FACTS_FILE_H
#define CUSHIM_TOOLS_FACTS_FILE_H

#include "facts.h"
#include "options.h"

struct facts_release {
    int release, ptx, branch; /* 13060, 96, 625; ptx is 0 if it is not known */
};

struct facts_target {
    int capability, release; /* the first release that is known to have it */
};

struct facts_toolkit {
    int release, update;
    const char *linux_driver, *windows_driver; /* windows_driver may be NULL */
};

struct facts_family {
    int major;
    const char *linux_driver, *windows_driver; /* windows_driver may be NULL */
};

enum { FACTS_ENTRIES = 16 };

/** A feature: entries that a driver must have. */
struct facts_feature {
    const char *name, *group, *text;
    int since;
    size_t entry[FACTS_ENTRIES]; /* as for cushim_entry_at */
    size_t count;
};

/** What files have added. Nothing in it is released. */
struct facts_added {
    struct facts_architecture *architecture;
    struct facts_gpu *gpu;
    struct facts_runtime *runtime;
    struct facts_release *release;
    struct facts_target *target;
    struct facts_toolkit *toolkit;
    struct facts_family *family;
    struct facts_feature *feature;
    size_t architectures, gpus, runtimes, releases, targets, toolkits, families, features;
};
extern struct facts_added facts_added;

/** The files of the option --facts. */
extern struct option_list facts_files;

#define FACTS_OPTION                                                                               \
    {                                                                                              \
        .name = "facts", .list = &facts_files, .value = "FILE", .values = VALUES_FILES,            \
        .doc = "Take facts about drivers, GPUs and toolkits from this file too"                    \
    }

/**
 * Read the files of --facts, of the variable CUSHIM_FACTS, and the user's own.
 *
 * @param command  begins the message about one that cannot be taken
 * @return false after that message
 */
bool facts_file_read_all(const char *command);

#endif
