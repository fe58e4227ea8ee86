/* SPDX-License-Identifier: MIT */
/* What the helpers for modules share; internal to the library.
 *
 * module_image.c and module_ptx.c read images, module_names.c keeps and compares their names,
 * module_options.c turns options into the driver's and logs into results, module_cache.c keeps
 * cubins on disk through module_file.c; module_load.c, module_link.c and module_library.c are the
 * public functions.
 */
#ifndef CUSHIM_SRC_MODULE_INTERNAL_H
#define CUSHIM_SRC_MODULE_INTERNAL_H

#include <cushim/module.h>

#include <stdint.h>

#include "helper.h"

/* ---- names */

/* Names of kernels and variables, one after the other, each with its NUL. */
struct cushim_names {
    char *text;
    size_t length, capacity;
    size_t count;
    bool complete; /* there are no others */
};

enum cushim_names_of { CUSHIM_NAMES_KERNELS = 0, CUSHIM_NAMES_GLOBALS, CUSHIM_NAMES_KINDS };

/* Add a name; for want of memory the list is no longer complete. */
void cushim_names_add(struct cushim_names *names, const char *name, size_t length);
void cushim_names_release(struct cushim_names *names);

/* Words about the nearest names, or all if there are few; empty where none are known. */
void cushim_names_near(const struct cushim_names *names, const char *wanted, char *text,
                       size_t size);

/* Remember and forget the names of a module or library (any handle) that was loaded from an image.
 * Takes what is in `names`. */
void cushim_names_remember(const struct cushim_api *cu, const void *handle,
                           struct cushim_names names[CUSHIM_NAMES_KINDS]);
void cushim_names_forget(const struct cushim_api *cu, const void *handle);

/* The refusal for a name that is missing, from what is remembered of the handle. `of_driver` may be
 * NULL: the driver's own list. */
CUresult cushim_names_missing(const struct cushim_api *cu, const void *handle, const char *helper,
                              const char *call, enum cushim_names_of of, const char *name,
                              const struct cushim_names *of_driver);

/* ---- images */

/* As cushim_image_describe, for another helper. `what` is the argument's name and more. */
CUresult cushim_image_read(const char *helper, const char *what, const void *data, size_t bytes,
                           struct cushim_image *image);

/* Names in an image, as far as they can be read. */
void cushim_image_names(const void *data, size_t bytes, const struct cushim_image *image,
                        struct cushim_names names[CUSHIM_NAMES_KINDS]);

/* "PTX", "cubin", ... */
const char *cushim_image_word(enum cushim_image_kind kind);

/* What module_ptx.c finds in one pass. */
struct cushim_ptx {
    bool is_ptx;   /* its first word is .version */
    int open_line; /* where a brace or comment is opened that nothing closes; 0: none */
    size_t nul;    /* offset of a NUL that other text follows; SIZE_MAX: none */
    struct cushim_image image;
};

/* `names` may be NULL. */
void cushim_ptx_read(const char *text, size_t bytes, struct cushim_ptx *ptx,
                     struct cushim_names names[CUSHIM_NAMES_KINDS]);

/* ---- files */

/* A file or an image in memory. */
struct cushim_bytes {
    void *data; /* owned */
    size_t bytes;
};

/* Read a whole file with a NUL behind it; refused in the name of `helper`, `what` as above. */
CUresult cushim_file_load(const char *helper, const char *what, const char *path,
                          struct cushim_bytes *file);

/* "path: /a/b.ptx", cut at the front where it is long. */
void cushim_file_what(char *text, size_t size, const char *argument, const char *path);

/* The same for the cache: false, and words, on failure; empty words where there is no such file. */
bool cushim_file_read(const char *path, struct cushim_bytes *file, char *why, size_t size);

/* Write a file under a name of its own beside `path`, then give it that name. */
bool cushim_file_write(const char *path, const struct cushim_bytes parts[], size_t count, char *why,
                       size_t size);

/* Make a folder and those above it. */
bool cushim_file_make_folder(const char *path, char *why, size_t size);

/* Remember that a file was used now. */
void cushim_file_touch(const char *path);

/* Remove the entries of a cache (32 hexadecimal digits, .cubin) that were not used for longest,
 * until the others are no more than `limit` bytes; and unfinished ones (.tmp) that are an hour old.
 */
void cushim_file_trim(const char *folder, unsigned long long limit);

/* Where caches are for this user; false where there is no such place. */
bool cushim_file_cache_folder(char *path, size_t size);

/* ---- options and results */

enum { CUSHIM_JIT_MAX_OPTIONS = 24, CUSHIM_JIT_MAX_EXTRA = 64 };

/* The driver's arrays for one compilation. Stays where it is while the driver may write into it. */
struct cushim_jit {
    const struct cushim_api *cu;
    const char *helper;
    struct cushim_jit_options wanted;
    struct cushim_cubin_cache cache; /* where wanted.cache is not NULL */
    CUjit_option options[CUSHIM_JIT_MAX_OPTIONS + CUSHIM_JIT_MAX_EXTRA];
    void *values[CUSHIM_JIT_MAX_OPTIONS + CUSHIM_JIT_MAX_EXTRA];
    unsigned count, wall_at;
    char *error_log, *info_log, *cache_note;
    float wall_ms;
    enum cushim_cache_outcome outcome;
};

/* Read the caller's options and make room for the logs. To be ended also where it fails. */
CUresult cushim_jit_begin(struct cushim_jit *jit, const struct cushim_api *cu, const char *helper,
                          const struct cushim_jit_options *options);

/* Fill the arrays: logs and wall time, and with `compiling` all that has to do with code. */
void cushim_jit_arrange(struct cushim_jit *jit, bool compiling, bool in_context);

/* Note what the driver wrote into the arrays. */
void cushim_jit_note(struct cushim_jit *jit);

/* The sentence for a call that failed on an image; `what` as above. Passes the code on. */
CUresult cushim_jit_checked(struct cushim_jit *jit, CUresult code, const char *call,
                            const char *what, const struct cushim_image *image);

/* Hand the logs over to `result`, which may be NULL, and free the rest. Passes the code on. */
CUresult cushim_jit_end(struct cushim_jit *jit, struct cushim_jit_result *result, CUresult code);

/* ---- linking and the cache */

/* One input that was read and recognised. */
struct cushim_linking {
    const void *data;
    size_t bytes;
    struct cushim_image image;
    char name[256];
    struct cushim_bytes owned; /* what to free */
};

/* Link into a cubin that the caller frees, by way of the cache if it is wanted. */
CUresult cushim_link_all(struct cushim_jit *jit, const struct cushim_linking *inputs, size_t count,
                         struct cushim_cubin *cubin);

/* A place in the cache. */
struct cushim_cache_entry {
    char path[4096];
    struct cushim_bytes key; /* all that the cubin depends on */
};

/* False where no cache can be used; jit->outcome and cache_note then say so. To be ended if true.
 */
bool cushim_cache_begin(struct cushim_jit *jit, const struct cushim_linking *inputs, size_t count,
                        struct cushim_cache_entry *entry);
bool cushim_cache_fetch(struct cushim_jit *jit, const struct cushim_cache_entry *entry,
                        struct cushim_cubin *cubin);
void cushim_cache_store(struct cushim_jit *jit, const struct cushim_cache_entry *entry,
                        const struct cushim_cubin *cubin);
void cushim_cache_end(struct cushim_cache_entry *entry);

/* SipHash-2-4 with 128 bits of output. */
struct cushim_hash {
    uint64_t low, high;
};
struct cushim_hash cushim_hash(const unsigned char key[16], const void *data, size_t bytes);

/* ---- loading */

/* An image made ready for the driver: PTX with a NUL behind it, or the cubin that the cache or the
 * linker made of it. */
struct cushim_loading {
    const void *data;
    size_t bytes;
    struct cushim_image image;
    struct cushim_bytes owned;
};

/* `cached`: through linker and cache, where they are wanted. */
CUresult cushim_loading_begin(struct cushim_jit *jit, const char *what, const void *data,
                              size_t bytes, bool cached, struct cushim_loading *loading);
void cushim_loading_end(struct cushim_loading *loading);

/* Load into the current context. The names are remembered. */
CUresult cushim_loading_module(struct cushim_jit *jit, const char *what,
                               const struct cushim_loading *loading, CUmodule *module);

/* Compute capability of the current context's device, 90 for 9.0; 0: not known. */
int cushim_module_arch(const struct cushim_api *cu);

/* As the public functions, for other helpers. */
CUresult cushim_module_find_function(const struct cushim_api *cu, const char *helper,
                                     CUmodule module, const char *name, CUfunction *function);
CUresult cushim_module_find_global(const struct cushim_api *cu, const char *helper, CUmodule module,
                                   const char *name, CUdeviceptr *address, size_t *bytes);

#endif
