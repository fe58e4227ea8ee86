/* SPDX-License-Identifier: MIT */
/* What the device tests share: they end with 77, and the reason, where there is no GPU. */
#ifndef TESTS_DEVICE_H
#define TESTS_DEVICE_H

#include <stdio.h>
#include <stdlib.h>

#include <cushim/cushim.h>

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

#define CALL(call)                                                                                 \
    do {                                                                                           \
        CUresult result_ = (call);                                                                 \
        if (result_ != CUDA_SUCCESS) {                                                             \
            fprintf(stderr, "%s:%d: %s: %d\n", __FILE__, __LINE__, #call, (int)result_);           \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

/* A helper that must work; says what it said where it does not. */
#define OK(call)                                                                                   \
    do {                                                                                           \
        CUresult ok_ = (call);                                                                     \
        if (ok_ != CUDA_SUCCESS) {                                                                 \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cushim_last_error());    \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

static inline const struct cushim_api *device_or_skip(void)
{
    const struct cushim_api *cu = cushim_load(NULL);
    if (cushim_init(cu) != CUSHIM_OK) {
        printf("skipped: %s\n", cushim_message(cu));
        exit(77);
    }
    return cu;
}

#endif
