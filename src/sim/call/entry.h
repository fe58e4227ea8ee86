/* SPDX-License-Identifier: MIT */
/* The entries of the registry, as the generated sim_exports.c has them. */
#ifndef CUSHIM_SIM_CALL_ENTRY_H
#define CUSHIM_SIM_CALL_ENTRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sim_field { /* of a structure that a call reads */
    const char *name;
    uint16_t offset;
    uint8_t size;
    char kind; /* as a parameter's */
};
struct sim_parameter {
    const char *name;
    uint8_t size; /* bytes */
    char kind;    /* p pointer, h handle, i int, u unsigned, f float, s string, b bytes */
    char output;  /* kind of what it points to and the call writes, t: characters; -: not known */
    uint8_t output_size;
    uint8_t field_count; /* of what it points to */
    const struct sim_field *fields;
};
struct sim_entry {
    const char *symbol, *name;
    int since;
    char stream;     /* 'l' legacy, 's' ptsz, 'd' ptds */
    bool behaviour;  /* whether there is one */
    bool superseded; /* the plain symbol of a name that every toolkit maps to another ABI */
    int abi;         /* equal for entries of one name with the same parameters */
    uint8_t parameter_count;
    const struct sim_parameter *parameters;
    void *function; /* sim_entry_address has where programs call it */
    void *trap;     /* aborts: what a wrong-ABI trap hands out instead */
};
extern const struct sim_entry sim_entries[];
extern const size_t sim_entry_count; /* SIM_ENTRY_COUNT */
extern const struct sim_new_error {
    int code, since;
} sim_new_errors[]; /* ends with code 0 */

/* Before the first call: programs know the functions by other addresses. */
void sim_entry_export(void *(*address)(size_t entry));
/* Where programs call the entry: what dlsym and cuGetProcAddress return. */
void *sim_entry_address(const struct sim_entry *entry);

#endif
