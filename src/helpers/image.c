/* SPDX-License-Identifier: MIT */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* O_CLOEXEC, and one of the two forms of strerror_r */
#endif
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#ifndef _WIN32
#include <fcntl.h>
#include <unistd.h>
#endif

#ifdef _WIN32
#include <wchar.h>

#include "loader/platform.h"
#endif
#include "error.h"
#include "image.h"

#define IMAGE_FATBIN_MAGIC 0xba55ed50u
#define IMAGE_ELF_CUDA 190 /* e_machine of a cubin */

/* Little-endian numbers at any address. */
static uint64_t image_number(const unsigned char *at, int bytes)
{
    uint64_t value = 0;
    while (bytes--)
        value = value << 8 | at[bytes];
    return value;
}

#define IMAGE_U16(at) ((unsigned)image_number(at, 2))
#define IMAGE_U32(at) ((uint32_t)image_number(at, 4))
#define IMAGE_U64(at) image_number(at, 8)

const char *cushim_image_word(enum cushim_image_kind kind)
{
    switch (kind) {
    case CUSHIM_IMAGE_PTX:
        return "PTX";
    case CUSHIM_IMAGE_CUBIN:
        return "cubin";
    case CUSHIM_IMAGE_FATBIN:
        return "fatbin";
    case CUSHIM_IMAGE_OBJECT:
        return "object";
    case CUSHIM_IMAGE_LIBRARY:
        return "library";
    case CUSHIM_IMAGE_UNKNOWN:
        break;
    }
    return "unknown image";
}

/* ---- ELF */

/* Whether a range is all in a file. */
static bool image_has(size_t bytes, uint64_t offset, uint64_t size)
{
    return offset <= bytes && size <= bytes - offset;
}

/* Whether all sections and segments are within the file. */
static bool image_elf_is_whole(const unsigned char *data, size_t bytes)
{
    if (bytes < 64)
        return false;
    const uint64_t sections = IMAGE_U64(data + 40), segments = IMAGE_U64(data + 32);
    const unsigned section_size = IMAGE_U16(data + 58), count = IMAGE_U16(data + 60);
    const unsigned segment_bytes = IMAGE_U16(data + 54) * IMAGE_U16(data + 56);
    if ((count && section_size < 64) ||
        !image_has(bytes, count ? sections : 0, count * section_size) ||
        !image_has(bytes, segment_bytes ? segments : 0, segment_bytes))
        return false;
    for (unsigned i = 0; i < count; i++) {
        const unsigned char *section = data + sections + i * section_size;
        const bool in_file = IMAGE_U32(section + 4) != 8; /* SHT_NOBITS */
        if (in_file && !image_has(bytes, IMAGE_U64(section + 24), IMAGE_U64(section + 32)))
            return false;
    }
    return true;
}

/* e_ident's 7th byte tells the two layouts of a cubin's flags apart. */
static int image_cubin_arch(const unsigned char *data)
{
    const uint32_t flags = IMAGE_U32(data + 48);
    return (int)(data[7] == 0x41 ? flags >> 8 & 0xff : flags & 0xff);
}

static CUresult image_elf_read(const char *helper, const char *what, const unsigned char *data,
                               size_t bytes, struct cushim_image *image)
{
    const bool wide = bytes > 4 && data[4] == 2;
    if (bytes < 52 || (wide && !image_elf_is_whole(data, bytes)))
        return cushim_error_refuse(
            CUDA_ERROR_INVALID_IMAGE, helper,
            "%s: an ELF file that is truncated: %zu bytes are not all that its "
            "headers say",
            what, bytes);
    const bool cuda = IMAGE_U16(data + 18) == IMAGE_ELF_CUDA;
    image->kind = cuda ? CUSHIM_IMAGE_CUBIN : CUSHIM_IMAGE_OBJECT;
    image->relocatable = IMAGE_U16(data + 16) == 1;
    image->arch = cuda && wide ? image_cubin_arch(data) : 0;
    if (cuda || image->relocatable)
        return CUDA_SUCCESS;
    return cushim_error_refuse(
        CUDA_ERROR_INVALID_IMAGE, helper,
        "%s: a program or shared library of the host, with no code for a GPU that "
        "could be taken from it",
        what);
}

/* ---- PTX */

/* PTX up to its first brace, as words; comments and space are passed over. */
struct image_text {
    const char *at, *end;
    const char *word; /* NULL at the end */
    size_t length;
};

static bool image_is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '$' || c == '%' || c == '.';
}

/* Behind the comment that begins here; NULL if none does. */
static const char *image_skip_comment(const char *at, const char *end)
{
    if (end - at < 2 || at[0] != '/' || (at[1] != '/' && at[1] != '*'))
        return NULL;
    const bool line = at[1] == '/';
    for (at += 2; at < end; at++)
        if (line ? *at == '\n' : *at == '/' && at[-1] == '*')
            return at + 1;
    return end;
}

static void image_next_word(struct image_text *text)
{
    text->word = NULL;
    while (text->at < text->end && *text->at != '{') {
        const char *behind = image_skip_comment(text->at, text->end);
        if (behind) {
            text->at = behind;
        } else if (!image_is_word(*text->at)) {
            text->at++;
        } else {
            text->word = text->at;
            while (text->at < text->end && image_is_word(*text->at))
                text->at++;
            text->length = (size_t)(text->at - text->word);
            return;
        }
    }
}

static bool image_word_is(const struct image_text *text, const char *word)
{
    return text->word && strlen(word) == text->length &&
           memcmp(text->word, word, text->length) == 0;
}

/* A number within the word, from *at on. */
static int image_word_number(const struct image_text *text, size_t *at)
{
    int value = 0;
    for (; *at < text->length && text->word[*at] >= '0' && text->word[*at] <= '9'; ++*at)
        value = value < 1000000 ? 10 * value + (text->word[*at] - '0') : value;
    return value;
}

static void image_read_version(const struct image_text *text, struct cushim_image *image)
{
    size_t at = 0;
    if (!text->word)
        return;
    image->version_major = image_word_number(text, &at);
    at++;
    image->version_minor = image_word_number(text, &at); /* 0 behind the end */
}

static void image_read_target(const struct image_text *text, struct cushim_image *image)
{
    size_t at = 3;
    if (!text->word || text->length < 4 || memcmp(text->word, "sm_", 3) != 0)
        return;
    image->arch = image_word_number(text, &at);
    if (at < text->length)
        image->arch_suffix = text->word[at];
}

static CUresult image_ptx_read(const char *helper, const char *what, const char *data, size_t bytes,
                               struct cushim_image *image)
{
    const char *nul = memchr(data, 0, bytes);
    const size_t length = nul ? (size_t)(nul - data) : bytes;
    struct image_text text = {.at = data, .end = data + length};
    image_next_word(&text);
    if (!image_word_is(&text, ".version"))
        return cushim_error_refuse(CUDA_ERROR_INVALID_IMAGE, helper,
                                   "%s: %zu bytes of text that is not PTX: its first word is not "
                                   ".version",
                                   what, bytes);
    image->kind = CUSHIM_IMAGE_PTX;
    image_next_word(&text);
    image_read_version(&text, image);
    if (!image->version_major)
        return cushim_error_refuse(CUDA_ERROR_INVALID_PTX, helper,
                                   "%s: PTX that is truncated: no number follows .version (%zu "
                                   "bytes)",
                                   what, bytes);
    for (size_t i = length; i < bytes; i++)
        if (data[i])
            return cushim_error_refuse(CUDA_ERROR_INVALID_PTX, helper,
                                       "%s: PTX with a NUL at byte %zu of %zu, and text behind it",
                                       what, length, bytes);
    while (text.word && !image_word_is(&text, ".target"))
        image_next_word(&text);
    image_next_word(&text);
    image_read_target(&text, image);
    return CUDA_SUCCESS;
}

/* ---- all kinds */

static CUresult image_fatbin_read(const char *helper, const char *what, const unsigned char *data,
                                  size_t bytes, struct cushim_image *image)
{
    const uint64_t header = bytes >= 16 ? IMAGE_U16(data + 6) : 0;
    const uint64_t body = bytes >= 16 ? IMAGE_U64(data + 8) : 0;
    if (bytes < 16 || header < 16 || header > bytes || body > bytes - header)
        return cushim_error_refuse(CUDA_ERROR_INVALID_IMAGE, helper,
                                   "%s: a fatbin that is truncated: %zu bytes, of %llu", what,
                                   bytes, (unsigned long long)(header + body));
    image->kind = CUSHIM_IMAGE_FATBIN;
    return CUDA_SUCCESS;
}

/* Whether it looks like text, by its first bytes. */
static bool image_is_text(const unsigned char *data, size_t bytes)
{
    for (size_t i = 0; i < bytes && i < 64; i++)
        if ((data[i] < 32 && !strchr("\t\n\v\f\r", data[i])) || data[i] == 127)
            return false;
    return bytes > 0 && data[0] != 0;
}

CUresult cushim_image_read(const char *helper, const char *what, const void *data, size_t bytes,
                           struct cushim_image *image)
{
    const unsigned char *at = data;
    struct cushim_image found = {0};
    CUresult code = CUDA_SUCCESS;
    if (!data)
        return cushim_error_absent(CUDA_ERROR_INVALID_VALUE, helper, what, "the image");
    if (!bytes)
        return cushim_error_refuse(CUDA_ERROR_INVALID_VALUE, helper,
                                   "%s has 0 bytes; pass the size of the image", what);
    if (bytes >= 4 && memcmp(at, "\177ELF", 4) == 0)
        code = image_elf_read(helper, what, at, bytes, &found);
    else if (bytes >= 4 && IMAGE_U32(at) == IMAGE_FATBIN_MAGIC)
        code = image_fatbin_read(helper, what, at, bytes, &found);
    else if (bytes >= 8 && memcmp(at, "!<arch>\n", 8) == 0)
        found.kind = CUSHIM_IMAGE_LIBRARY;
    else if (image_is_text(at, bytes))
        code = image_ptx_read(helper, what, data, bytes, &found);
    else
        code = cushim_error_refuse(
            CUDA_ERROR_INVALID_IMAGE, helper,
            "%s: none of PTX, cubin, fatbin, object and library: %zu bytes that "
            "begin with %02x %02x %02x %02x",
            what, bytes, at[0], bytes > 1 ? at[1] : 0, bytes > 2 ? at[2] : 0,
            bytes > 3 ? at[3] : 0);
    if (code == CUDA_SUCCESS)
        *image = found;
    return code;
}

CUresult cushim_image_describe(const void *data, size_t bytes, struct cushim_image *image)
{
    struct cushim_image found;
    CUSHIM_REQUIRE(image);
    CUresult code =
        cushim_error_check_sized(__func__, "image", image, CUSHIM_LEAST(cushim_image, reserved));
    if (code == CUDA_SUCCESS)
        code = cushim_image_read(__func__, "data", data, bytes, &found);
    if (code == CUDA_SUCCESS)
        cushim_text_write_sized(image, &found, sizeof found);
    return code;
}

/* ---- files */

/* strerror is not safe in threads by the standard. */
static const char *image_words(int error, char *buffer, size_t size)
{
#ifdef __GLIBC__
    return strerror_r(error, buffer, size);
#elif defined(_WIN32)
    return strerror_s(buffer, size, error) == 0 ? buffer : "unknown error";
#else
    return strerror_r(error, buffer, size) == 0 ? buffer : "unknown error";
#endif
}

/* A regular file, without waiting for who writes into a pipe. */
static FILE *image_open(const char *path, char *why, size_t size)
{
#ifdef _WIN32
    wchar_t wide[CUSHIM_WIDE_PATH_SIZE];
    struct _stat64 about;
    const bool named = cushim_platform_wide_path(path, wide);
    const bool regular = !named || _wstat64(wide, &about) != 0 || (about.st_mode & _S_IFREG);
    FILE *file = named && regular ? _wfopen(wide, L"rb") : NULL;
    if (!named)
        errno = ENOENT;
#else
    struct stat about;
    const int number = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    const bool regular = number < 0 || fstat(number, &about) != 0 || S_ISREG(about.st_mode);
    FILE *file = number >= 0 && regular ? fdopen(number, "rb") : NULL;
#endif
    const int error = regular ? errno : EISDIR;
    if (file)
        return file;
    char words[128];
    snprintf(why, size, "%s",
             regular ? image_words(error, words, sizeof words) : "not a regular file");
#ifndef _WIN32
    if (number >= 0)
        close(number);
#endif
    errno = error;
    return NULL;
}

static bool image_read_all(FILE *file, struct cushim_image_bytes *whole, char *why, size_t size)
{
    size_t capacity = (size_t)64 << 10, bytes = 0;
    char *data = malloc(capacity);
    while (data) {
        const size_t room = capacity - bytes - 1, got = fread(data + bytes, 1, room, file);
        bytes += got;
        if (got < room)
            break;
        char *more = capacity < SIZE_MAX / 2 ? realloc(data, 2 * capacity) : NULL;
        if (!more)
            free(data);
        data = more;
        capacity *= 2;
    }
    if (!data || ferror(file)) {
        snprintf(why, size, data ? "reading it failed" : "no memory for it");
        free(data);
        return false;
    }
    data[bytes] = 0;
    *whole = (struct cushim_image_bytes){data, bytes};
    return true;
}

void cushim_image_file_name(char *text, size_t size, const char *argument, const char *path)
{
    const size_t length = strlen(path), most = 180;
    char head[64];
    snprintf(head, sizeof head, "%.60s", argument);
    snprintf(text, size, "%s: %s%s", head, length > most ? "..." : "",
             length > most ? path + length - most : path);
}

CUresult cushim_image_load_file(const char *helper, const char *what, const char *path,
                                struct cushim_image_bytes *file)
{
    char why[200] = "", place[256];
    if (!path)
        return cushim_error_absent(CUDA_ERROR_INVALID_VALUE, helper, what, "a file's name");
    if (!path[0])
        return cushim_error_refuse(CUDA_ERROR_INVALID_VALUE, helper,
                                   "%s is an empty string; pass a file's name", what);
    errno = 0;
    FILE *stream = image_open(path, why, sizeof why);
    const int error = errno;
    const bool good = stream && image_read_all(stream, file, why, sizeof why);
    if (stream)
        fclose(stream);
    if (good)
        return CUDA_SUCCESS;
    if (!stream && strchr(path, '\n'))
        return cushim_error_refuse(CUDA_ERROR_FILE_NOT_FOUND, helper,
                                   "%s has several lines, as PTX has, and is no file's name; to "
                                   "load PTX from memory pass its address and size",
                                   what);
    cushim_image_file_name(place, sizeof place, what, path);
    return cushim_error_refuse(!stream && (error == ENOENT || error == ENOTDIR)
                                   ? CUDA_ERROR_FILE_NOT_FOUND
                                   : CUDA_ERROR_OPERATING_SYSTEM,
                               helper, "%s: %s", place, why);
}

CUresult cushim_image_terminate(const char *helper, const char *what,
                                const struct cushim_image *image, const void **data, size_t *bytes,
                                struct cushim_image_bytes *owned)
{
    const char *text = *data;
    if (image->kind != CUSHIM_IMAGE_PTX || text[*bytes - 1] == 0)
        return CUDA_SUCCESS;
    char *copy = malloc(*bytes + 1);
    if (!copy)
        return cushim_error_refuse(CUDA_ERROR_OUT_OF_MEMORY, helper, "%s: no memory for %zu bytes",
                                   what, *bytes + 1);
    memcpy(copy, text, *bytes);
    copy[(*bytes)++] = 0;
    *owned = (struct cushim_image_bytes){copy, *bytes};
    *data = copy;
    return CUDA_SUCCESS;
}
