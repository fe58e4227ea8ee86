/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The fatbins and cubins in a file's bytes: which architectures have machine code, and which PTX
 * there is.
 */
#ifndef CUSHIM_TOOLS_FATBIN_READ_H
#define CUSHIM_TOOLS_FATBIN_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum fatbin_kind { FATBIN_CUBIN, FATBIN_PTX, FATBIN_OTHER };

enum { FATBIN_MAX_CODES = 64 };

/** One entry of a fatbin. */
struct fatbin_code {
    enum fatbin_kind kind;
    int architecture; /* 90 is sm_90 */
    int ptx_version;  /* 84 is PTX 8.4; 0 for machine code, or where it cannot be read */
    int toolkit;      /* that made machine code: 12040 is CUDA 12.4, or the oldest that can have
                       * made it; 0 for PTX, or if it cannot be read */
    char variant;     /* 'a' or 'f' of sm_90a and sm_100f; 0 for none */
    bool empty;       /* it has no kernel and no function */
};

/** What one fatbin has, or a cubin outside of one. More than it holds is left out, and `cut` says
 * so. */
struct fatbin {
    struct fatbin_code code[FATBIN_MAX_CODES];
    size_t count;
    bool cut;
    bool damaged;     /* it ends before it says */
    uint64_t kernels; /* of a cubin: a number that stands for their names; 0: a fatbin */
};

/** @param end  of the fatbin, or cubin, in the bytes that are searched */
typedef void fatbin_visitor(void *user, const struct fatbin *fatbin, const char *begin,
                            const char *end);

/**
 * Read the directives that PTX begins with: its version, and the architecture that it is for.
 *
 * @param text  at ".version"
 * @param size  of what may be read
 * @return false where the text is not such a beginning
 */
bool fatbin_read_ptx(const char *text, size_t size, struct fatbin_code *code);

/** Whether a file is PTX: its first words, behind remarks, are ".version" and ".target". */
bool fatbin_is_ptx(const char *text, size_t size);

/** Find each fatbin in some bytes, and each cubin outside of them, wherever it begins. */
void fatbin_search(const void *data, size_t size, fatbin_visitor *visit, void *user);

#endif
