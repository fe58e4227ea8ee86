/* SPDX-License-Identifier: MIT */
/* What is read of an image, compared with a second, plain reading of the same rules on many images
 * that are a little wrong; and files, at the sizes where the reading of one ends. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"
#include "helpers/image.h"

#include <cushim/error.h>

static unsigned model_seed;

static unsigned model_random(unsigned below)
{
    model_seed = model_seed * 1664525u + 1013904223u;
    return (model_seed >> 8) % below;
}

/* An image as the library reads it, from a block that ends where it does: the sanitizers notice a
 * byte that is read behind it. */
static CUresult read_exactly(const void *bytes, size_t size, struct cushim_image *image)
{
    void *copy = malloc(size ? size : 1);
    assert_non_null(copy);
    memcpy(copy, bytes, size);
    *image = (struct cushim_image){.size = sizeof *image};
    cushim_last_error_clear();
    CUresult code = cushim_image_describe(copy, size, image);
    free(copy);
    return code;
}

/* ---- ELF */

static void put(unsigned char *at, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        at[i] = (unsigned char)(value >> 8 * i);
}

static uint64_t get(const unsigned char *at, int bytes)
{
    uint64_t value = 0;
    for (int i = 0; i < bytes; i++)
        value |= (uint64_t)at[i] << 8 * i;
    return value;
}

static bool model_within(uint64_t offset, uint64_t size, uint64_t whole)
{
    return offset <= whole && whole - offset >= size;
}

static CUresult model_elf(const unsigned char *data, size_t size, struct cushim_image *image)
{
    const bool wide = data[4] == 2;
    *image = (struct cushim_image){.size = sizeof *image};
    if (size < (wide ? 64 : 52))
        return CUDA_ERROR_INVALID_IMAGE;
    const uint64_t sections = get(data + 40, 8), each = get(data + 58, 2),
                   count = get(data + 60, 2), programs = get(data + 54, 2) * get(data + 56, 2);
    if (wide && programs && !model_within(get(data + 32, 8), programs, size))
        return CUDA_ERROR_INVALID_IMAGE;
    if (wide && count && (each < 64 || !model_within(sections, count * each, size)))
        return CUDA_ERROR_INVALID_IMAGE;
    for (uint64_t i = 0; wide && i < count; i++) {
        const unsigned char *section = data + sections + i * each;
        if (get(section + 4, 4) != 8 &&
            !model_within(get(section + 24, 8), get(section + 32, 8), size))
            return CUDA_ERROR_INVALID_IMAGE;
    }
    const bool cuda = get(data + 18, 2) == 190, relocatable = get(data + 16, 2) == 1;
    if (!cuda && !relocatable)
        return CUDA_ERROR_INVALID_IMAGE;
    image->kind = cuda ? CUSHIM_IMAGE_CUBIN : CUSHIM_IMAGE_OBJECT;
    image->relocatable = relocatable;
    if (cuda && wide)
        image->arch = (int)get(data + (data[7] == 0x41 ? 49 : 48), 1);
    return CUDA_SUCCESS;
}

static uint64_t one_of(const uint64_t *values, size_t count)
{
    return values[model_random((unsigned)count)];
}

#define ONE_OF(...)                                                                                \
    one_of((const uint64_t[]){__VA_ARGS__}, COUNT(((const uint64_t[]){__VA_ARGS__})))

enum { ELF_SIZE = 64 + 2 * 64 + 40 };

/* Mostly good: a header, two sections, what is left. */
static size_t make_elf(unsigned char *data)
{
    const size_t size = (size_t)ONE_OF(ELF_SIZE, ELF_SIZE, ELF_SIZE, 192, 64, 63, 52, 51);
    memset(data, 0, ELF_SIZE);
    memcpy(data, "\177ELF", 4);
    data[4] = (unsigned char)ONE_OF(2, 2, 2, 1);
    data[7] = (unsigned char)ONE_OF(0x41, 0x33, 0x40);
    put(data + 16, ONE_OF(1, 2, 3, 0), 2);
    put(data + 18, ONE_OF(190, 190, 62, 189, 191), 2);
    put(data + 32, ONE_OF(0, 64, size - 56, size - 55, size, size + 1, UINT64_MAX), 8);
    put(data + 40, ONE_OF(64, 64, size - 128, size - 127, 65, size, UINT64_MAX - 1), 8);
    put(data + 48, 0x12345678u + model_random(1u << 16), 4);
    put(data + 54, ONE_OF(56, 0, 57, 1), 2);
    put(data + 56, ONE_OF(0, 0, 1, 2), 2);
    put(data + 58, ONE_OF(64, 64, 63, 65, 0), 2);
    put(data + 60, ONE_OF(2, 1, 0, 3), 2);
    for (int i = 0; i < 2; i++) {
        unsigned char *section = data + 64 + 64 * i;
        put(section + 4, ONE_OF(1, 1, 8, 7, 9), 4);
        put(section + 24, ONE_OF(0, 1, size - 1, size, size + 1, UINT64_MAX), 8);
        put(section + 32, ONE_OF(0, 0, 1, size - 1, size, 2), 8);
    }
    return size;
}

static void check_same(const char *what, CUresult code, const struct cushim_image *image,
                       CUresult wanted, const struct cushim_image *model)
{
    if (code != wanted)
        fail_msg("%s: %d, not %d: %s", what, (int)code, (int)wanted, cushim_last_error());
    if (image->kind != model->kind || image->version_major != model->version_major ||
        image->version_minor != model->version_minor || image->arch != model->arch ||
        image->arch_suffix != model->arch_suffix || image->relocatable != model->relocatable)
        fail_msg("%s: kind %d, version %d.%d, arch %d%.1s; not %d, %d.%d, %d%.1s", what,
                 (int)image->kind, image->version_major, image->version_minor, image->arch,
                 &image->arch_suffix, (int)model->kind, model->version_major, model->version_minor,
                 model->arch, &model->arch_suffix);
}

static void test_elf(void **state)
{
    unsigned good = 0;
    (void)state;
    model_seed = 1;
    for (int round = 0; round < 200000; round++) {
        unsigned char data[ELF_SIZE];
        struct cushim_image image, model;
        char what[64];
        const size_t size = make_elf(data);
        const CUresult wanted = model_elf(data, size, &model);
        const CUresult code = read_exactly(data, size, &image);
        snprintf(what, sizeof what, "ELF file %d", round);
        check_same(what, code, &image, wanted, &model);
        good += code == CUDA_SUCCESS;
    }
    assert_true(good > 2000);
}

/* ---- PTX */

struct model_words {
    char text[64][32];
    size_t count;
};

/* Split into words, up to a brace, a NUL or the last byte. */
static void model_split(const char *text, size_t size, struct model_words *words)
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$%.";
    bool inside = false;
    words->count = 0;
    for (size_t i = 0; i < size && text[i] && text[i] != '{'; i++) {
        const char next = i + 1 < size ? text[i + 1] : '\0';
        if (text[i] == '/' && (next == '/' || next == '*')) {
            const char *end = next == '/' ? "\n" : "*/";
            for (i += 2; i < size && text[i] && strncmp(text + i, end, strlen(end)) != 0; i++)
                continue;
            i += strlen(end) - 1;
        } else if (strchr(letters, text[i])) {
            char *word = words->text[inside ? words->count - 1 : words->count++];
            size_t length = inside ? strlen(word) : 0;
            word[length] = text[i];
            word[length + 1] = '\0';
            inside = true;
            continue;
        }
        inside = false;
    }
}

/* A number of at most seven digits. */
static int model_number(const char **at)
{
    int value = 0;
    for (; **at >= '0' && **at <= '9'; ++*at)
        if (value < 1000000)
            value = 10 * value + (**at - '0');
    return value;
}

static CUresult model_ptx(const char *text, size_t size, struct cushim_image *image)
{
    static struct model_words words;
    struct cushim_image found = {.size = sizeof found, .kind = CUSHIM_IMAGE_PTX};
    size_t i = 1, end = 0;
    *image = (struct cushim_image){.size = sizeof *image};
    model_split(text, size, &words);
    if (!words.count || strcmp(words.text[0], ".version") != 0)
        return CUDA_ERROR_INVALID_IMAGE;
    const char *at = words.count > 1 ? words.text[1] : "";
    found.version_major = model_number(&at);
    if (!found.version_major)
        return CUDA_ERROR_INVALID_PTX;
    if (*at++)
        found.version_minor = model_number(&at);
    while (end < size && text[end])
        end++;
    for (; end < size; end++)
        if (text[end])
            return CUDA_ERROR_INVALID_PTX;
    while (i < words.count && strcmp(words.text[i], ".target") != 0)
        i++;
    if (++i < words.count && strlen(words.text[i]) > 3 && strncmp(words.text[i], "sm_", 3) == 0) {
        at = words.text[i] + 3;
        found.arch = model_number(&at);
        found.arch_suffix = *at;
    }
    *image = found;
    return CUDA_SUCCESS;
}

static size_t make_ptx(char *text, size_t size)
{
    static const char *const pieces[] = {
        " ",
        "\n",
        "// .version 9.9\n",
        "/* .target sm_1 { */",
        "/**/",
        ".version",
        "6.4",
        "8.10",
        "7",
        "10000005.1",
        "1000000.10000005",
        "0",
        ".target",
        "sm_90a",
        "sm_5",
        "sm_",
        "sm_x",
        "compute_80",
        "{",
        ";",
        ",",
        "a/b",
        "/",
        "Zz_$%19",
        "//",
        "@[`",
        ".targets",
        ".versio",
        "7.5.9",
        "sm_100f",
    };
    size_t length = 0;
    if (model_random(8))
        length += (size_t)snprintf(text, size, "%s.version%s%s", model_random(4) ? "" : "// a\n",
                                   model_random(9) ? " " : "/* */", model_random(9) ? "8.4" : "");
    for (unsigned count = model_random(7); count; count--)
        length += (size_t)snprintf(text + length, size - length, "%s%s",
                                   pieces[model_random(COUNT(pieces))], model_random(3) ? " " : "");
    if (!length)
        length = (size_t)snprintf(text, size, "x");
    if (!model_random(4))
        text[length++] = '\0';
    if (!model_random(9))
        text[length++] = "x\0"[model_random(2)];
    return length;
}

static void test_ptx(void **state)
{
    unsigned good = 0;
    (void)state;
    model_seed = 2;
    for (int round = 0; round < 200000; round++) {
        char text[512] = "";
        struct cushim_image image, model;
        const size_t size = make_ptx(text, sizeof text - 2);
        const CUresult wanted = model_ptx(text, size, &model);
        const CUresult code = read_exactly(text, size, &image);
        check_same(text, code, &image, wanted, &model);
        good += code == CUDA_SUCCESS;
    }
    assert_true(good > 20000);
}

/* Every byte at the first, the last and a middle place of those that tell whether it is text. */
static void test_text(void **state)
{
    static const size_t places[] = {0, 1, 31, 62, 63, 64, 65};
    (void)state;
    for (size_t i = 0; i < COUNT(places); i++)
        for (int byte = 0; byte < 256; byte++) {
            char text[96];
            struct cushim_image image;
            const size_t place = places[i];
            memset(text, ' ', sizeof text);
            memcpy(text + 70, ".version 7.1", 12);
            text[place] = (char)byte;
            const CUresult code = read_exactly(text, sizeof text, &image);
            const bool control = (byte < 32 && !(byte >= '\t' && byte <= '\r')) || byte == 127;
            if (control && place < 64 && (byte || !place))
                assert_contains(cushim_last_error(), "data: none of PTX, cubin, fatbin, object and "
                                                     "library: 96 bytes that begin with ");
            else if (!byte || byte == '{' || strchr("$%._", byte) || (byte >= '0' && byte <= '9') ||
                     (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z'))
                assert_contains(cushim_last_error(), "text that is not PTX");
            else
                assert_int_equal(code, CUDA_SUCCESS);
        }
}

/* ---- the other kinds */

static void test_fatbin(void **state)
{
    static const uint64_t headers[] = {0, 15, 16, 17, 39, 40, 41, 65535},
                          bodies[] = {0, 1, 22, 23, 24, 25, 40, UINT64_MAX, UINT64_MAX - 15};
    static const size_t sizes[] = {4, 15, 16, 17, 40};
    (void)state;
    for (size_t s = 0; s < COUNT(sizes); s++)
        for (size_t h = 0; h < COUNT(headers); h++)
            for (size_t b = 0; b < COUNT(bodies); b++) {
                unsigned char data[40] = {0x50, 0xed, 0x55, 0xba, 1, 0};
                struct cushim_image image;
                const size_t size = sizes[s];
                char words[128];
                put(data + 6, headers[h], 2);
                put(data + 8, bodies[b], 8);
                const bool whole =
                    size >= 16 && headers[h] >= 16 && model_within(headers[h], bodies[b], size);
                const CUresult code = read_exactly(data, size, &image);
                assert_int_equal(code, whole ? CUDA_SUCCESS : CUDA_ERROR_INVALID_IMAGE);
                assert_int_equal(image.kind, whole ? CUSHIM_IMAGE_FATBIN : CUSHIM_IMAGE_UNKNOWN);
                snprintf(words, sizeof words, "a fatbin that is truncated: %zu bytes, of %llu",
                         size, size < 16 ? 0ULL : (unsigned long long)(headers[h] + bodies[b]));
                if (!whole)
                    assert_contains(cushim_last_error(), words);
            }
}

static void test_others(void **state)
{
    static const struct {
        const char *bytes;
        size_t size;
        const char *words; /* NULL: a library */
    } others[] = {
        {"!<arch>\n", 8, NULL},
        {"!<arch>\nx", 9, NULL},
        {"!<arch>", 7, "text that is not PTX"},
        {"\1", 1, "1 bytes that begin with 01 00 00 00"},
        {"\1\2", 2, "2 bytes that begin with 01 02 00 00"},
        {"\1\2\3", 3, "3 bytes that begin with 01 02 03 00"},
        {"\1\2\3\4", 4, "4 bytes that begin with 01 02 03 04"},
        {"\177EL", 3, "3 bytes that begin with 7f 45 4c 00"},
        {"\177ELF", 4, "an ELF file that is truncated: 4 bytes"},
        {"\177ELF\2", 5, "an ELF file that is truncated: 5 bytes"},
        {"\x50\xed\x55", 3, "text that is not PTX"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(others); i++) {
        struct cushim_image image;
        const CUresult code = read_exactly(others[i].bytes, others[i].size, &image);
        assert_int_equal(code, others[i].words ? CUDA_ERROR_INVALID_IMAGE : CUDA_SUCCESS);
        if (others[i].words)
            assert_contains(cushim_last_error(), others[i].words);
        else
            assert_int_equal(image.kind, CUSHIM_IMAGE_LIBRARY);
    }
    struct cushim_image image = {.size = sizeof image};
    assert_int_equal(cushim_image_describe(NULL, 1, &image), CUDA_ERROR_INVALID_VALUE);
    assert_string_equal(cushim_last_error(), "cushim_image_describe: data is NULL; pass the image");
    assert_int_equal(cushim_image_describe("x", 0, &image), CUDA_ERROR_INVALID_VALUE);
    assert_string_equal(cushim_last_error(),
                        "cushim_image_describe: data has 0 bytes; pass the size of the image");
}

/* ---- files */

static void test_files(void **state)
{
    static const size_t sizes[] = {0,     1,      65534,  65535,  65536,  65537,
                                   99999, 131070, 131071, 131072, 131073, 300000};
    (void)state;
    for (size_t i = 0; i < COUNT(sizes); i++) {
        struct cushim_image_bytes file = {NULL, 7};
        char *bytes = malloc(sizes[i] + 1);
        assert_non_null(bytes);
        for (size_t k = 0; k < sizes[i]; k++)
            bytes[k] = (char)(k * 7 + k / 251);
        const char *path = write_file("sized", bytes, sizes[i]);
        assert_int_equal(cushim_image_load_file("helper", "path", path, &file), CUDA_SUCCESS);
        assert_int_equal(file.bytes, sizes[i]);
        assert_memory_equal(file.data, bytes, sizes[i]);
        assert_int_equal(((char *)file.data)[sizes[i]], 0); /* ends with a NUL */
        free(file.data);
        free(bytes);
    }
}

static void expect_no_file(const char *path, CUresult code, const char *words)
{
    struct cushim_image_bytes file = {NULL, 7};
    assert_int_equal(cushim_image_load_file("helper", "path", path, &file), code);
    assert_string_equal(cushim_last_error(), words);
    assert_true(!file.data && file.bytes == 7);
}

/* Of a long path its end is shown. */
static void test_no_files(void **state)
{
    char path[256], words[320];
    (void)state;
    expect_no_file(NULL, CUDA_ERROR_INVALID_VALUE, "helper: path is NULL; pass a file's name");
    expect_no_file("", CUDA_ERROR_INVALID_VALUE,
                   "helper: path is an empty string; pass a file's name");
    expect_no_file("/", CUDA_ERROR_OPERATING_SYSTEM, "helper: path: /: not a regular file");
    expect_no_file("/nonexistent", CUDA_ERROR_FILE_NOT_FOUND,
                   "helper: path: /nonexistent: No such file or directory");
    expect_no_file("/dev/null/x", CUDA_ERROR_FILE_NOT_FOUND,
                   "helper: path: /dev/null/x: Not a directory");
    for (size_t length = 179; length <= 182; length++) {
        memset(path, 'x', sizeof path);
        memcpy(path, "/ab", 3);
        path[length] = '\0';
        snprintf(words, sizeof words, "helper: path: %s%s: No such file or directory",
                 length > 180 ? "..." : "", length > 180 ? path + length - 180 : path);
        expect_no_file(path, CUDA_ERROR_FILE_NOT_FOUND, words);
    }
    char name[512];
    char *longest = memset(path, 'a', sizeof path);
    longest[100] = '\0';
    cushim_image_file_name(name, sizeof name, longest, "p");
    assert_int_equal(strlen(name), 60 + strlen(": p"));
}

/* Only PTX without a NUL is copied. */
static void test_terminate(void **state)
{
    static const struct cushim_image ptx = {.kind = CUSHIM_IMAGE_PTX},
                                     cubin = {.kind = CUSHIM_IMAGE_CUBIN};
    static const char text[] = ".version 7.1";
    struct cushim_image_bytes owned = {NULL, 0};
    const void *data = text;
    size_t bytes = sizeof text;
    (void)state;
    assert_int_equal(cushim_image_terminate("h", "w", &ptx, &data, &bytes, &owned), CUDA_SUCCESS);
    assert_true(data == text && bytes == sizeof text && !owned.data);
    bytes = sizeof text - 1;
    assert_int_equal(cushim_image_terminate("h", "w", &cubin, &data, &bytes, &owned), CUDA_SUCCESS);
    assert_true(data == text && bytes == sizeof text - 1 && !owned.data);
    assert_int_equal(cushim_image_terminate("h", "w", &ptx, &data, &bytes, &owned), CUDA_SUCCESS);
    assert_true(data == owned.data && data != text);
    assert_true(bytes == sizeof text && owned.bytes == bytes);
    assert_memory_equal(data, text, sizeof text);
    free(owned.data);
}

static int prepare(void **state)
{
    (void)state;
    return make_folder() ? 0 : -1;
}

static int clean(void **state)
{
    (void)state;
    remove_folder();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_elf),      cmocka_unit_test(test_ptx),
        cmocka_unit_test(test_text),     cmocka_unit_test(test_fatbin),
        cmocka_unit_test(test_others),   cmocka_unit_test(test_files),
        cmocka_unit_test(test_no_files), cmocka_unit_test(test_terminate),
    };
    return cmocka_run_group_tests_name("image", tests, prepare, clean);
}
