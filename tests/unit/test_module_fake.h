/* SPDX-License-Identifier: MIT */
/* A driver that takes PTX for code: it finds .entry and .global in it, refuses what a test says,
 * and counts what is live. Contexts are small numbers. */
#ifndef CUSHIM_TESTS_UNIT_TEST_MODULE_FAKE_H
#define CUSHIM_TESTS_UNIT_TEST_MODULE_FAKE_H

#include <cushim/module.h>

#include "common.h"

/* All of the driver's state; set by module_fake_open. */
extern struct module_fake {
    int version;
    const char *lacks; /* a symbol that it has not, or NULL */
    const char *fails; /* a symbol that fails with `code` */
    CUresult code;
    int ptx_version;     /* newest .version: 84 is 8.4 */
    int arch;            /* of all devices: 90 is 9.0 */
    bool refuses_cubins; /* NO_BINARY_FOR_GPU for what it linked itself */
    bool terse;          /* the error log has one letter */
    bool late;           /* cuLibraryLoadData accepts PTX that does not compile */

    /* What happened. */
    unsigned compiled, modules, links, libraries, loads;
    unsigned named; /* calls of cuFuncGetName */
    unsigned count; /* options of the last load, link or library */
    CUjit_option options[96];
    void *values[96];
    char inputs[256]; /* of the last link: "1:name 4:other " */
} module_fake;

/* PTX with one kernel of this name, and one variable; this thread's buffer. */
const char *module_fake_ptx(const char *version, const char *target, const char *kernel);

/* An instance on a fresh fake, in which context 1 is current. The caller closes it. */
const struct cushim_api *module_fake_open(int version);

/* Context by number; 0: none. */
CUcontext module_fake_context(uintptr_t number);

/* Make this the only context of the thread's stack. */
void module_fake_set(CUcontext context);

/* Which is current, and the depth of the stack. */
CUcontext module_fake_current(void);
int module_fake_depth(void);

/* Whether the last call had an option, and its value. */
bool module_fake_had(CUjit_option option, uintptr_t *value);

/* A helper's refusal: its code, name and words; and the stack of contexts is as it was opened. */
void module_refused(CUresult got, CUresult expected, const char *helper, const char *words);

/* An ELF of 64-bit class with two sections: nothing, and 16 bytes at its end. Its size. */
size_t module_fake_elf(unsigned char bytes[208], int type, int machine, unsigned flags, int abi);

/* ---- for the fake's own functions */

struct module_fake_export {
    const char *symbol;
    void (*function)(void);
    int since;
};

/* Address of a symbol that the fake's version has, or NULL. */
void *module_fake_export(const struct module_fake_export *exports, size_t count,
                         const char *symbol);
void *module_fake_resolve_context(const char *symbol);

#define EXPORT(symbol, since)                                                                      \
    {                                                                                              \
#symbol, (void (*)(void))f_##symbol, since                                                 \
    }

/* Fail where a test says so. */
#define CALLED(symbol)                                                                             \
    do {                                                                                           \
        if (module_fake.fails && strcmp(module_fake.fails, #symbol) == 0)                          \
            return module_fake.code;                                                               \
    } while (0)

#endif
