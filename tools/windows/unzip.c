/* SPDX-License-Identifier: MIT */
/*
 * A zip file ends with a record that says where the directory is; one of more than 4 GiB has a
 * longer record before that. The directory has an entry for each member, and the member itself
 * begins with a header whose length differs from the entry's.
 */
#include <minizip/unzip.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
    END = 22,
    END_64_LOCATOR = 20,
    END_64 = 56,
    ENTRY = 46,
    HEADER = 30,
    LONGEST_COMMENT = 65535,
    INPUT = 65536,
    STORED = 0,
    DEFLATED = 8
};

struct unz {
    zlib_filefunc64_def call;
    voidpf stream;
    uint64_t directory, entry, left; /* where it begins; the entry; entries from it on */
    unsigned char record[ENTRY];     /* the entry's */
    uint64_t packed, size, header;
    unsigned name, extra, comment;
    /* The member that is open. */
    bool open;
    z_stream inflater;
    unsigned char *input;
    uint64_t at, packed_left, left_to_read;
    uLong sum;
};

static uint64_t number(const unsigned char *at, int bytes)
{
    uint64_t value = 0;
    for (int i = 0; i < bytes; i++)
        value |= (uint64_t)at[i] << 8 * i;
    return value;
}

static bool read_at(unzFile zip, uint64_t offset, void *to, size_t size)
{
    return zip->call.zseek64_file(zip->call.opaque, zip->stream, offset, ZLIB_FILEFUNC_SEEK_SET) ==
               0 &&
           zip->call.zread_file(zip->call.opaque, zip->stream, to, (uLong)size) == size;
}

static bool find_directory(unzFile zip)
{
    unsigned char record[END_64], *tail = malloc(END + LONGEST_COMMENT);
    uint64_t size, begin;
    bool found = false;

    if (!tail ||
        zip->call.zseek64_file(zip->call.opaque, zip->stream, 0, ZLIB_FILEFUNC_SEEK_END) != 0) {
        free(tail);
        return false;
    }
    size = zip->call.ztell64_file(zip->call.opaque, zip->stream);
    begin = size > END + LONGEST_COMMENT ? size - (END + LONGEST_COMMENT) : 0;
    if (size >= END && read_at(zip, begin, tail, (size_t)(size - begin))) {
        for (uint64_t at = size - END + 1; at-- > begin && !found;) {
            const unsigned char *end = tail + (at - begin);
            if (memcmp(end, "PK\5\6", 4) != 0)
                continue;
            found = true;
            zip->left = number(end + 10, 2);
            zip->directory = number(end + 16, 4);
            if (at < END_64_LOCATOR || !read_at(zip, at - END_64_LOCATOR, record, END_64_LOCATOR) ||
                memcmp(record, "PK\6\7", 4) != 0)
                continue;
            found = read_at(zip, number(record + 8, 8), record, END_64) &&
                    memcmp(record, "PK\6\6", 4) == 0;
            zip->left = number(record + 32, 8);
            zip->directory = number(record + 48, 8);
        }
    }
    free(tail);
    return found;
}

unzFile unzOpen2_64(const void *name, zlib_filefunc64_def *functions)
{
    unzFile zip = calloc(1, sizeof *zip);

    if (!zip)
        return NULL;
    zip->call = *functions;
    zip->stream = functions->zopen64_file(functions->opaque, name, 0);
    if (find_directory(zip))
        return zip;
    free(zip);
    return NULL;
}

int unzClose(unzFile zip)
{
    unzCloseCurrentFile(zip);
    zip->call.zclose_file(zip->call.opaque, zip->stream);
    free(zip);
    return UNZ_OK;
}

/* Numbers that do not fit into the entry are behind its name, in the order of the entry. */
static void read_extra(unzFile zip)
{
    unsigned char *extra = malloc(zip->extra + 1u);
    size_t at = 0;

    if (!extra || !read_at(zip, zip->entry + ENTRY + zip->name, extra, zip->extra)) {
        free(extra);
        return;
    }
    while (at + 4 <= zip->extra) {
        size_t length = (size_t)number(extra + at + 2, 2), next = at + 4;
        if (length > zip->extra - next)
            break;
        if (number(extra + at, 2) == 1) {
            uint64_t *const values[] = {&zip->size, &zip->packed, &zip->header};
            for (size_t i = 0, place = next; i < 3 && place + 8 <= next + length; i++) {
                if (*values[i] == UINT32_MAX) {
                    *values[i] = number(extra + place, 8);
                    place += 8;
                }
            }
        }
        at = next + length;
    }
    free(extra);
}

static int read_entry(unzFile zip)
{
    if (zip->left == 0)
        return UNZ_END_OF_LIST_OF_FILE;
    if (!read_at(zip, zip->entry, zip->record, ENTRY) || memcmp(zip->record, "PK\1\2", 4) != 0)
        return UNZ_BADZIPFILE;
    zip->packed = number(zip->record + 20, 4);
    zip->size = number(zip->record + 24, 4);
    zip->name = (unsigned)number(zip->record + 28, 2);
    zip->extra = (unsigned)number(zip->record + 30, 2);
    zip->comment = (unsigned)number(zip->record + 32, 2);
    zip->header = number(zip->record + 42, 4);
    read_extra(zip);
    return UNZ_OK;
}

int unzGoToFirstFile(unzFile zip)
{
    zip->entry = zip->directory;
    return read_entry(zip);
}

int unzGoToNextFile(unzFile zip)
{
    unzCloseCurrentFile(zip);
    zip->entry += (uint64_t)ENTRY + zip->name + zip->extra + zip->comment;
    zip->left--;
    return read_entry(zip);
}

int unzGetCurrentFileInfo64(unzFile zip, unz_file_info64 *info, char *name, unsigned long size,
                            void *extra, unsigned long extra_size, char *comment,
                            unsigned long comment_size)
{
    size_t length = zip->name < size ? zip->name : size - 1;

    (void)extra, (void)extra_size, (void)comment, (void)comment_size;
    info->flag = (unsigned)number(zip->record + 8, 2);
    info->uncompressed_size = zip->size;
    if (!read_at(zip, zip->entry + ENTRY, name, length))
        return UNZ_BADZIPFILE;
    name[length] = '\0';
    return UNZ_OK;
}

int unzOpenCurrentFile(unzFile zip)
{
    unsigned char header[HEADER];
    uint64_t method = number(zip->record + 10, 2);

    unzCloseCurrentFile(zip);
    if ((method != STORED && method != DEFLATED) ||
        (method == STORED && zip->size != zip->packed) ||
        !read_at(zip, zip->header, header, HEADER) || memcmp(header, "PK\3\4", 4) != 0)
        return UNZ_BADZIPFILE;
    zip->inflater = (z_stream){0};
    zip->input = malloc(INPUT);
    if (!zip->input || inflateInit2(&zip->inflater, -MAX_WBITS) != Z_OK) {
        free(zip->input);
        zip->input = NULL;
        return UNZ_BADZIPFILE;
    }
    zip->open = true;
    zip->at = zip->header + HEADER + number(header + 26, 2) + number(header + 28, 2);
    zip->packed_left = zip->packed;
    zip->left_to_read = zip->size;
    zip->sum = crc32(0, NULL, 0);
    return UNZ_OK;
}

/* Packed bytes to read on from; false where the file ends before them. */
static bool refill(unzFile zip)
{
    size_t some = zip->packed_left < INPUT ? (size_t)zip->packed_left : INPUT;

    if (!read_at(zip, zip->at, zip->input, some))
        return false;
    zip->at += some;
    zip->packed_left -= some;
    zip->inflater.next_in = zip->input;
    zip->inflater.avail_in = (uInt)some;
    return true;
}

int unzReadCurrentFile(unzFile zip, void *to, unsigned size)
{
    z_stream *inflater = &zip->inflater;
    bool stored = number(zip->record + 10, 2) == STORED;

    if (size > zip->left_to_read)
        size = (unsigned)zip->left_to_read;
    inflater->next_out = to;
    inflater->avail_out = size;
    while (inflater->avail_out > 0) {
        if (inflater->avail_in == 0 && (zip->packed_left == 0 || !refill(zip)))
            return UNZ_BADZIPFILE;
        if (stored) {
            uInt some =
                inflater->avail_in < inflater->avail_out ? inflater->avail_in : inflater->avail_out;
            memcpy(inflater->next_out, inflater->next_in, some);
            inflater->next_in += some;
            inflater->next_out += some;
            inflater->avail_in -= some;
            inflater->avail_out -= some;
            continue;
        }
        int code = inflate(inflater, Z_NO_FLUSH);
        if (code != Z_OK && !(code == Z_STREAM_END && inflater->avail_out == 0))
            return UNZ_BADZIPFILE;
    }
    zip->sum = crc32(zip->sum, to, size);
    zip->left_to_read -= size;
    return (int)size;
}

int unzCloseCurrentFile(unzFile zip)
{
    bool wrong = zip->open && zip->left_to_read == 0 && zip->sum != number(zip->record + 16, 4);

    if (zip->open)
        inflateEnd(&zip->inflater);
    free(zip->input);
    zip->input = NULL;
    zip->open = false;
    return wrong ? UNZ_CRCERROR : UNZ_OK;
}
