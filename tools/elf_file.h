/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What an ELF file exports, needs and has in its data. Nothing of the file is executed, and nothing
 * in it is believed without a check.
 */
#ifndef CUSHIM_TOOLS_ELF_FILE_H
#define CUSHIM_TOOLS_ELF_FILE_H

#include <stdbool.h>
#include <stddef.h>

/** How the system's loader needs a symbol that another library has. */
enum elf_need {
    ELF_AT_START, /* the file is not started, or loaded, without it */
    ELF_AT_CALL,  /* it is looked up at the first call of it ("lazy binding") */
    ELF_WEAK      /* it is zero if no library has it */
};

/** Called for what a file has; any of them may be NULL. Texts live during the call. */
struct elf_visitor {
    void *user;
    void (*exported)(void *user, const char *symbol);
    void (*undefined)(void *user, const char *symbol, enum elf_need need);
    void (*needed)(void *user, const char *library);
    /* Constants and initialised data; the section is "" in a file without section headers. */
    void (*data)(void *user, const char *section, const char *bytes, size_t size);
};

struct elf_facts {
    const char *machine; /* "x86-64"; static */
    bool stripped;       /* of its section headers: only its dynamic table was read */
    bool object;         /* not linked yet: what it calls, a library of the link may have */
    bool lazy;           /* some symbols may be looked up at their first call */
};

/** Whether the bytes begin as an ELF file does. */
bool elf_file_is(const void *data, size_t size);

/**
 * Read an ELF file in memory.
 *
 * @param problem  on failure a static sentence
 * @return false where it is damaged
 */
bool elf_file_read(const void *data, size_t size, const struct elf_visitor *visitor,
                   struct elf_facts *facts, const char **problem);

#endif
