/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What a Windows program or library imports, exports and has in its data, read from its file.
 */
#ifndef CUSHIM_TOOLS_PE_FILE_H
#define CUSHIM_TOOLS_PE_FILE_H

#include <stdbool.h>
#include <stddef.h>

/** Called for what a file has; any of them may be NULL. Texts live during the call. */
struct pe_visitor {
    void *user;
    void (*exported)(void *user, const char *symbol);
    /* `delayed`: it is looked up at its first call. */
    void (*imported)(void *user, const char *library, const char *symbol, bool delayed);
    void (*data)(void *user, const char *section, const char *bytes, size_t size);
};

struct pe_facts {
    const char *machine; /* "x86-64"; static */
    const char *library; /* its own name as a library, in its bytes; NULL: none */
};

/** Whether the bytes begin as a PE file does, "MZ" and all. */
bool pe_file_is(const void *data, size_t size);

/** Whether the bytes begin as an object of Windows ("COFF") does, and are no part of an import
 *  library, whose objects have nothing but tables. */
bool pe_file_is_object(const void *data, size_t size);

/** Whether the bytes are what an import library has for one name, or a table of it. */
bool pe_file_is_import(const void *data, size_t size);

/** Read a PE file in memory; false, with a static sentence, where it is damaged. */
bool pe_file_read(const void *data, size_t size, const struct pe_visitor *visitor,
                  struct pe_facts *facts, const char **problem);

#endif
