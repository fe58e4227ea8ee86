/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Lets the system fail under code that is linked with `--wrap`: an allocation, an open, a read, a
 * mapping, a call of the system's loader, each at a chosen occurrence.
 */
#ifndef CUSHIM_TESTS_INJECT_H
#define CUSHIM_TESTS_INJECT_H

#include <stdbool.h>

enum inject_kind {
    INJECT_ALLOCATE, /* malloc, calloc, realloc, strdup, realpath */
    INJECT_OPEN,     /* open, fopen, fdopen, opendir: out of descriptors */
    INJECT_READ,     /* read, pread, fread, fstat, stat: an error of the disk */
    INJECT_MAP,      /* mmap, madvise */
    INJECT_DLOPEN,
    INJECT_DLSYM,
    INJECT_DLINFO, /* dlinfo, dladdr, dl_iterate_phdr */
    INJECT_KINDS,
    /* These are no failures that everything must name. */
    INJECT_END = INJECT_KINDS, /* pread: the file ends here */
    INJECT_BROKEN,             /* open: an error of the disk */
    INJECT_SHORT,              /* pread: not more than 100 bytes */
    INJECT_SIGNAL,             /* pread: a signal interrupts it */
    INJECT_INHERITED           /* open: of a file that a child inherits, without O_CLOEXEC */
};

extern const char *const inject_names[INJECT_KINDS];

/**
 * From now on the calls of one kind are counted, on this thread. The `first`th fails, and with
 * `on` all after it; 0: none does.
 */
void inject_begin(enum inject_kind kind, unsigned first, bool on);

/** The kind of the last inject_begin. */
enum inject_kind inject_kind(void);

/** Nothing fails any more. Returns how many calls of the kind there were. */
unsigned inject_end(void);

/** Blocks that wrapped calls allocated since inject_begin and that are not freed yet. */
int inject_blocks(void);

#endif
