/* SPDX-License-Identifier: MIT */
/* One rule, and how its text is read. */
#ifndef CUSHIM_SIM_CALL_RULE_H
#define CUSHIM_SIM_CALL_RULE_H

#include "error_names.h"
#include "sim.h"

#define SIM_RULE_SYMBOL 128

struct rule {
    enum { RULE_CALL, RULE_MEMORY, RULE_LOST, RULE_MISSING, RULE_WRONG_ABI } kind;
    char name[64]; /* of RULE_CALL and RULE_MISSING */
    bool exact;    /* the name is a symbol's, not that of all its ABIs */
    char text[256];
    uint64_t fired; /* calls that it answered, delayed or refused */
    int error;
    uint64_t call, from, every, seen;
    double probability;
    uint64_t state; /* of the random sequence; never 0 */
    int device;     /* -1: any */
    unsigned slow;  /* milliseconds */
    bool after;
    size_t bytes, allocated;
};

/* The library whose entries a rule names. */
struct sim_rule_family {
    const size_t *count;
    const char *(*symbol)(size_t entry, char text[SIM_RULE_SYMBOL]);
    size_t (*name_length)(size_t entry); /* of the symbol's beginning, which all ABIs share */
    const struct cushim_error_data *errors;
    const size_t *error_count;
    const char *error_strings, *error_prefix;
    const char *all;   /* instead of a name: all entries */
    const char *names; /* a sentence's end: what a rule may begin with */
    bool driver;       /* whether there are out-of-memory and wrong-abi, too */
};

bool sim_rule_parse(const struct sim_rule_family *family, const char *text, struct rule *rule,
                    char *error, size_t size);
/* Whether a rule is for an entry: its symbol, or the name of all its ABIs. */
bool sim_rule_names(const struct rule *rule, const char *symbol, size_t name_length);
/* Count a call that the rule is for; whether the rule acts on this one. */
bool sim_rule_count(struct rule *rule);

#endif
