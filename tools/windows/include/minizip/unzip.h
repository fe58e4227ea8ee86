/* SPDX-License-Identifier: MIT */
/* What the command uses of minizip, for systems without it: the members of a zip file, read by the
 * caller's functions. */
#ifndef CUSHIM_WINDOWS_UNZIP_H
#define CUSHIM_WINDOWS_UNZIP_H

#include <stdint.h>
#include <zlib.h>

typedef uint64_t ZPOS64_T;
typedef struct unz *unzFile;

enum { ZLIB_FILEFUNC_SEEK_CUR = 1, ZLIB_FILEFUNC_SEEK_END, ZLIB_FILEFUNC_SEEK_SET = 0 };
enum { UNZ_OK = 0, UNZ_END_OF_LIST_OF_FILE = -100, UNZ_BADZIPFILE = -103, UNZ_CRCERROR = -105 };

typedef struct {
    voidpf (*zopen64_file)(voidpf opaque, const void *name, int mode);
    uLong (*zread_file)(voidpf opaque, voidpf stream, void *to, uLong size);
    ZPOS64_T (*ztell64_file)(voidpf opaque, voidpf stream);
    long (*zseek64_file)(voidpf opaque, voidpf stream, ZPOS64_T offset, int origin);
    int (*zclose_file)(voidpf opaque, voidpf stream);
    int (*zerror_file)(voidpf opaque, voidpf stream);
    voidpf opaque;
} zlib_filefunc64_def;

typedef struct {
    unsigned flag;
    uint64_t uncompressed_size;
} unz_file_info64;

unzFile unzOpen2_64(const void *name, zlib_filefunc64_def *functions);
int unzClose(unzFile zip);
int unzGoToFirstFile(unzFile zip);
int unzGoToNextFile(unzFile zip);
int unzGetCurrentFileInfo64(unzFile zip, unz_file_info64 *info, char *name, unsigned long size,
                            void *extra, unsigned long extra_size, char *comment,
                            unsigned long comment_size);
int unzOpenCurrentFile(unzFile zip);
int unzReadCurrentFile(unzFile zip, void *to, unsigned size); /* below 0: damaged */
int unzCloseCurrentFile(unzFile zip);                         /* UNZ_CRCERROR: bytes differ */

#endif
