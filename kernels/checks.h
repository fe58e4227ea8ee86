/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Every kernel of this folder against the same computation on the CPU, bit by bit. Sizes are no
 * multiples of anything, and what lies behind an output must stay as it was.
 */
#ifndef KERNELS_CHECKS_H
#define KERNELS_CHECKS_H

#include <cushim/cushim.h>

enum { CHECK_MOST = 16, CHECK_MESSAGE = 512 };

/** What a check is given, and what it leaves. All zero but the first four members is a new one. */
struct check_run {
    const struct cushim_api *cu; /* the kernels run in the context that is current */
    bool large;                  /* sizes that take a while on a CPU */
    void (*progress)(void *user, unsigned done, unsigned of); /* may be NULL */
    void *user;
    char message[CHECK_MESSAGE]; /* what was compared, or what went wrong */
    /* What is held meanwhile. */
    void *host[CHECK_MOST];
    CUdeviceptr device[CHECK_MOST];
    CUarray array;
    CUtexObject texture;
    CUlinkState linker;
    CUmodule module;
    size_t bytes; /* compared so far */
};

struct check {
    const char *name;
    bool (*run)(struct check_run *run);
};

/** All checks; the last one has no name. */
extern const struct check checks[];

/** Run one and release all that it took. True: every byte was right. */
bool check_kernel(const struct check *check, struct check_run *run);

#endif
