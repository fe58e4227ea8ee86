/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The registry's entries by symbol and by name.
 */
#ifndef CUSHIM_TOOLS_KNOWN_H
#define CUSHIM_TOOLS_KNOWN_H

#include <cushim/cushim.h>

/* For an index: there is none. */
#define KNOWN_NONE ((size_t)-1)

/** Index of the entry with this exported symbol ("cuMemAlloc_v2"). */
size_t known_symbol(const char *symbol);

/** As known_symbol, for a text of `length` bytes without end. */
size_t known_symbol_of(const char *text, size_t length);

/**
 * The newest ABI of a name and a kind of stream that a release has: what cuGetProcAddress gives.
 *
 * @param name     "cuMemAlloc"
 * @param release  12040 is 12.4
 */
size_t known_newest(const char *name, enum cushim_stream stream, int release);

/** The entry with an index, which must be one. */
struct cushim_entry known_entry(size_t index);

enum known_platform {
    KNOWN_ANYWHERE,
    KNOWN_LINUX,
    KNOWN_WINDOWS,
#ifdef _WIN32
    KNOWN_HERE = KNOWN_WINDOWS,
#else
    KNOWN_HERE = KNOWN_LINUX,
#endif
};

/** Of each entry, where it exists; generated. */
extern const unsigned char known_platforms[];

/** Whether an entry exists on a platform. */
bool known_on(size_t index, enum known_platform platform);

/** Whether a symbol begins as the driver API's do ("cu" and a capital letter). */
bool known_looks_like_entry(const char *symbol);

/** Whether drivers export this symbol beside the documented API. */
bool known_private(const char *symbol);

enum { KNOWN_NAME_SIZE = 128, KNOWN_CHANGES = 2 };

/** How many letters are to be changed, added or taken away to make one word of the other, which is
 * shorter than KNOWN_NAME_SIZE; capitals count as others. */
size_t known_distance(const char *word, const char *other);

/** The nearest symbol, of at most KNOWN_CHANGES changes; NULL: none is near. */
const char *known_near(const char *symbol);

/** Take "_v2", "_ptsz" and "_ptds" off a symbol. */
void known_split(const char *symbol, char name[KNOWN_NAME_SIZE], enum cushim_stream *stream);

#endif
