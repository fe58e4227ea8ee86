/* SPDX-License-Identifier: MIT */
/* Arguments of any call of the driver: what the generated calls (api_calls.py) ask for. */
#ifndef CUSHIM_TEST_FUZZ_API_H
#define CUSHIM_TEST_FUZZ_API_H

#include <stddef.h>
#include <stdint.h>

/* Types that other headers of NVIDIA's define. */
#include <cushim/cuda.h>
#include <cushim/cudaEGL.h>
#include <cushim/cudaGL.h>
#include <cushim/cudaProfiler.h>
#include <cushim/cudaVDPAU.h>
#include <cushim/cushim.h>

enum { FUZZ_BLOCKS = 1024 };
/* One thread's sequence of calls. */
struct fuzz {
    const struct cushim_api *cu;
    uint64_t random;
    unsigned depth;            /* of calls inside callbacks */
    bool waits;                /* work may wait for memory to change, and so for ever */
    bool frees;                /* memory goes again; then no host memory is used as a device's */
    void *blocks[FUZZ_BLOCKS]; /* arguments of the running call, freed after it */
    unsigned block_count;
    size_t image_size; /* of the image that the call was given last */
};
enum fuzz_class {
    FUZZ_SMALL, /* a count of elements that are there: at most 8 */
    FUZZ_NEAR,  /* a size or a place in host memory: small */
    FUZZ_BYTES, /* of device memory */
    FUZZ_SHAPE, /* a size in one dimension */
    FUZZ_FLAGS, /* bits */
    FUZZ_ANY    /* whatever */
};

uint64_t fuzz_next(struct fuzz *f);
unsigned fuzz_below(struct fuzz *f, unsigned limit); /* 0 to limit - 1 */
uint64_t fuzz_number(struct fuzz *f, enum fuzz_class which);
float fuzz_float(struct fuzz *f);
int fuzz_device(struct fuzz *f);
int fuzz_operation(struct fuzz *f); /* of a batch */
int64_t fuzz_pick(struct fuzz *f, const int64_t *values, size_t count);
#define FUZZ_PICK(f, ...)                                                                          \
    fuzz_pick(f, (const int64_t[]){__VA_ARGS__},                                                   \
              sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t))

/* A handle of the kind: live, destroyed, of another kind, NULL or none at all. */
uint64_t fuzz_handle(struct fuzz *f, int kind);
uint64_t fuzz_device_memory(struct fuzz *f); /* an address that is no host's */
/* What a call that succeeded wrote. */
void fuzz_learn(struct fuzz *f, int kind, const void *output);

/* Pointers, NULL now and then. Blocks are as large as they must be, so that a sanitizer sees what
 * is written behind them. */
void *fuzz_block(struct fuzz *f, size_t size);
void *fuzz_filled(struct fuzz *f, size_t size, unsigned count, void (*fill)(struct fuzz *, void *));
void *fuzz_handles(struct fuzz *f, size_t size, unsigned count, int kind);
void *fuzz_numbers(struct fuzz *f, size_t size, unsigned count, enum fuzz_class which);
void fuzz_fill_numbers(struct fuzz *f, void *memory, size_t size, size_t each);
void *fuzz_area(struct fuzz *f);         /* host memory, more than any copy can need */
void *fuzz_host_pointer(struct fuzz *f); /* the same, or what the driver allocated */
const char *fuzz_name(struct fuzz *f);   /* of a symbol */
const char *fuzz_path(struct fuzz *f);
void *fuzz_image(struct fuzz *f, size_t *size); /* of a module; with NULL: it has an end */
void *fuzz_function(struct fuzz *f, const char *type);
void **fuzz_params(struct fuzz *f);   /* kernelParams */
void **fuzz_extra(struct fuzz *f);    /* extra of a launch */
void **fuzz_pointers(struct fuzz *f); /* to 64 bytes each */
void fuzz_jit(struct fuzz *f, CUjit_option *options, void **values);

struct fuzz_call {
    const char *symbol;
    CUresult (*call)(struct fuzz *f);
};
extern const struct fuzz_call fuzz_calls[];
extern const size_t fuzz_call_count, fuzz_kind_count;

#endif
