/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Whether the device code of a program runs on a GPU, and from which driver on.
 */
#ifndef CUSHIM_TOOLS_SCAN_GPU_H
#define CUSHIM_TOOLS_SCAN_GPU_H

#include "scan_file.h"

/** From good to bad. */
enum gpu_answer {
    GPU_RUNS = 0, /* there is machine code for it */
    GPU_COMPILED, /* the driver compiles PTX */
    GPU_TOO_NEW,  /* the driver is too old for the PTX: error 222 */
    GPU_FAMILY,   /* machine code of a later family of toolkits than the driver's */
    GPU_NO_CODE,  /* neither machine code nor PTX: error 209 */
    GPU_NOT_KNOWN /* the driver is too old for the GPU itself */
};

struct gpu_verdict {
    enum gpu_answer answer; /* of the fatbin that fares worst */
    bool partly;            /* other fatbins fare better */
    int from;               /* the first release of which a driver runs it; 0: none */
    size_t judged;          /* fatbins, cubins and texts of PTX that have code to be judged */
    size_t running;         /* those of them that run */
    size_t cubins;          /* how many are cubins outside of fatbins */
    size_t texts;           /* how many are texts of PTX */
    size_t running_texts;   /* those of them that run */
    size_t fatbins;         /* how many there are, without cubins and texts */
    size_t running_fatbins; /* of which code runs, or perhaps does */
    size_t unsure;          /* those of which nothing is known: of a later family */
    int ptx;                /* the newest PTX version that is too new; 0: none */
};

/**
 * A fatbin without a kernel, or with nothing but intermediate code for a later link, is not judged.
 * One for a single architecture (sm_90a) is judged for that alone, unless there is no other: such
 * code is beside code for all.
 *
 * @param capability  90 is 9.0
 * @param release     of the driver; 0: of any that is new enough
 */
struct gpu_verdict scan_gpu(const struct scan_file *file, int capability, int release);

/** Whether so few of many fatbins have code that runs that a program does not do without the
 * others.
 */
bool scan_gpu_is_little(size_t running, size_t fatbins);

/** "runs", "compiled", "222", "family", "209", for PTX alone "218", "unknown". */
const char *scan_gpu_name(const struct scan_file *file, enum gpu_answer answer);

/** The next compute capability that is known, behind this one; 0 at the end. Begins behind 49. */
int scan_gpu_next(int capability);

#endif
