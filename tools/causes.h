/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What causes an error and what to check. gen/registry/causes.jsonl has the texts.
 */
#ifndef CUSHIM_TOOLS_CAUSES_H
#define CUSHIM_TOOLS_CAUSES_H

#include <stddef.h>

enum { CAUSES_MOST = 8, CAUSES_PHRASES = 4 };

struct causes_row {
    int code;
    const char *name;    /* the driver's, or where it has none the runtime's */
    const char *runtime; /* "cudaErrorNoDevice" */
    const char *text;    /* what it means */
    const char *who;
    const char *phrase[CAUSES_PHRASES]; /* words of messages about it; NULL behind the last */
    struct {
        const char *cause; /* NULL behind the last */
        const char *check;
    } cause[CAUSES_MOST];
};

extern const struct causes_row causes_rows[]; /* by their codes */
extern const size_t causes_count;

#endif
