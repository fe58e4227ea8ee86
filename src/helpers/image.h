/* SPDX-License-Identifier: MIT */
/* Recognising images and reading them from files; internal to the library. */
#ifndef CUSHIM_HELPERS_IMAGE_H
#define CUSHIM_HELPERS_IMAGE_H

#include <cushim/module.h>

/* As cushim_image_describe, for another helper. `what` is the argument's name and more. */
CUresult cushim_image_read(const char *helper, const char *what, const void *data, size_t bytes,
                           struct cushim_image *image);

/* "PTX", "cubin", ... */
const char *cushim_image_word(enum cushim_image_kind kind);

/* An image in memory. */
struct cushim_image_bytes {
    void *data; /* owned */
    size_t bytes;
};

/* Read a whole file, with a NUL behind it; refused in the name of `helper`, `what` as above. */
CUresult cushim_image_load_file(const char *helper, const char *what, const char *path,
                                struct cushim_image_bytes *file);

/* "path: /a/b.ptx", cut at the front if it is long. */
void cushim_image_file_name(char *text, size_t size, const char *argument, const char *path);

/* An image for the driver, which reads PTX up to a NUL: a copy with a NUL is made if there is none
 * behind the text. `owned` is to be freed. */
CUresult cushim_image_terminate(const char *helper, const char *what,
                                const struct cushim_image *image, const void **data, size_t *bytes,
                                struct cushim_image_bytes *owned);

#endif
