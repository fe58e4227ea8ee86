/* SPDX-License-Identifier: MIT */
/* One rule, and how its text is read. */
#ifndef CUSHIM_SIM_CALL_RULE_H
#define CUSHIM_SIM_CALL_RULE_H

#include "sim.h"

struct rule {
    enum { RULE_CALL, RULE_MEMORY, RULE_LOST, RULE_MISSING, RULE_WRONG_ABI } kind;
    char name[64]; /* of RULE_CALL and RULE_MISSING */
    bool exact;    /* the name is a symbol's, not that of all its ABIs */
    char text[256];
    uint64_t fired; /* calls that it answered, delayed or refused */
    CUresult error;
    uint64_t call, from, every, seen;
    double probability;
    uint64_t state; /* of the random sequence; never 0 */
    int device;     /* -1: any */
    unsigned slow;  /* milliseconds */
    bool after;
    size_t bytes, allocated;
};

bool sim_rule_parse(const char *text, struct rule *rule, char *error, size_t size);

#endif
