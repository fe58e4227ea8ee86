/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What one program's file needs of the CUDA driver, read from its bytes. Nothing is executed.
 */
#ifndef CUSHIM_TOOLS_SCAN_FILE_H
#define CUSHIM_TOOLS_SCAN_FILE_H

#include "fatbin_read.h"

#include <cushim/cushim.h>

/** How an entry was found in a file; a set of bits. */
enum scan_how {
    SCAN_LINKED = 1 << 0,  /* an undefined symbol, or an import: it must be there */
    SCAN_NAMED = 1 << 1,   /* its exported symbol as a string: likely looked up by dlsym */
    SCAN_ASKED = 1 << 2,   /* likely asked of cuGetProcAddress or cushim, for any ABI */
    SCAN_RUNTIME = 1 << 3, /* named by the CUDA runtime, which does without what a driver lacks */
    /* A string of a file that does not name the driver's library. Also the end of a longer string:
     * of an error message, or shared with one by the linker; SCAN_NAMED is set too if it counts. */
    SCAN_MENTIONED = 1 << 4,
    SCAN_WEAK = 1 << 5,  /* an undefined weak symbol: the program starts without it */
    SCAN_CALLED = 1 << 6 /* an undefined function that is looked up at its first call */
};

/** The formats of files that are a cubin, or PTX, and nothing else. */
#define SCAN_CUBIN "cubin"
#define SCAN_PTX "PTX"

/** Fatbins that have the same code, cubins of the same kernels, or texts of PTX that begin alike.
 */
struct scan_code {
    struct fatbin fatbin;
    size_t times;
    bool text; /* PTX that is plain data of the program, and not in a fatbin */
};

enum { SCAN_LIBRARY_SIZE = 32 };

/** The CUDA runtime that a file uses. */
struct scan_runtime {
    bool inside;                     /* it is in the file itself */
    int release;                     /* that it is of, or the oldest that it can be of; 0: none */
    char library[SCAN_LIBRARY_SIZE]; /* that the file is linked to; "" for none */
};

struct scan_file {
    char *name;                            /* path, and for a member of an archive "path:member" */
    char format[64];                       /* "ELF, x86-64" */
    const char *machine;                   /* "x86-64"; static; NULL where it has none */
    unsigned char how[CUSHIM_ENTRY_COUNT]; /* enum scan_how */
    char **unknown; /* undefined symbols that look like the driver's and are not in the registry */
    size_t unknown_count;
    char misspelt[64]; /* the first string that is near a symbol of the registry, and is none */
    bool asks;         /* cuGetProcAddress is there: plain names may mean any ABI */
    bool asks_runtime; /* cudaGetDriverEntryPoint is there: the runtime's way to ask */
    bool suffix;       /* names with "_v2" are there: names are looked up as symbols */
    struct scan_runtime runtime;
    bool cushim;                            /* it uses the driver through cushim */
    char cushim_library[SCAN_LIBRARY_SIZE]; /* that it is linked to; "" where cushim is in it */
    bool loads;                             /* the library's name is there as a string */
    bool links;                             /* it is linked to the library */
    bool python;                            /* it is an extension module of Python's */
    bool windows;                           /* it is a PE file */
    unsigned runtime_names;                 /* of the two that tell of a runtime in a PE file */
    size_t unread;                          /* COFF objects, which are not read */
    bool object; /* of a link to come, with libcuda or with cushim's drop-in */
    bool table;  /* names what gives cushim's table */
    bool lazy;   /* what it calls may be looked up at the first call, not at the start */
    struct scan_code *code;
    size_t code_count;
};

enum scan_result {
    SCAN_READ,
    SCAN_OTHER,  /* the bytes are no program, library, object, archive, wheel, fatbin, cubin, PTX */
    SCAN_DAMAGED /* they begin as one, and cannot be read */
};

/** Who is told what reading a file gives. */
struct scan_sink {
    void *user;
    /** For each program in the file: an archive has several. Nothing of it may be kept. */
    void (*visit)(void *user, struct scan_file *file);
    /** For each file in a wheel that was not read. */
    void (*skipped)(void *user, const char *name, const char *why);
    /** For each file of Python text in a wheel that names the driver. NULL: not asked for. */
    void (*python)(void *user, const char *name);
    bool python_loads; /* the files, and so has all that they need looked up at the start */
};

/**
 * Read a program, a library, an object, an archive of objects, a wheel, a fatbin, a cubin or PTX
 * in memory.
 *
 * @param name     of the file, for the results
 * @param problem  a static sentence, unless they were read
 * @return what could be read was visited, in any case
 */
enum scan_result scan_bytes(const char *name, const void *data, size_t size,
                            const struct scan_sink *sink, const char **problem);

/** Add what `from` has to `all`. */
void scan_file_merge(struct scan_file *all, const struct scan_file *from);

/** Release what a file holds. */
void scan_file_free(struct scan_file *file);

#endif
