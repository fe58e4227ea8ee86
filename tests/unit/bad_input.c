/* SPDX-License-Identifier: MIT */
/*
 * Damaged libraries are made from a good fake driver, so that nothing but the damage is wrong with
 * them.
 */
#include "bad_input.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "common.h"

#if UINTPTR_MAX > UINT32_MAX
#define OTHER_CLASS ELFCLASS32
#else
#define OTHER_CLASS ELFCLASS64
#endif
#if defined(__aarch64__)
#define OTHER_MACHINE EM_X86_64
#else
#define OTHER_MACHINE EM_AARCH64
#endif

/* ---- damage ---- */

/* The good fake's bytes, with its ELF header at hand. */
struct image {
    unsigned char *bytes;
    size_t size;
    ElfW(Ehdr) header;
};

static struct image good_image(void)
{
    struct image image;
    image.bytes = read_whole(fake_path(GOOD), &image.size);
    memcpy(&image.header, image.bytes, sizeof image.header);
    return image;
}

static const char *save(struct image *image, const char *name, size_t size)
{
    memcpy(image->bytes, &image->header, sizeof image->header);
    const char *path = write_file(name, image->bytes, size);
    free(image->bytes);
    return path;
}

static const char *cut(const char *name, size_t size)
{
    struct image image = good_image();
    return save(&image, name, size);
}

/* The last loaded segment. */
static ElfW(Phdr) last_segment(void)
{
    struct image image = good_image();
    ElfW(Phdr) last = {0}, segment;
    for (unsigned i = 0; i < image.header.e_phnum; i++) {
        memcpy(&segment, image.bytes + image.header.e_phoff + i * sizeof segment, sizeof segment);
        if (segment.p_type == PT_LOAD)
            last = segment;
    }
    free(image.bytes);
    return last;
}

static const char *cut_in_magic(void)
{
    return cut("cut_in_magic.so", 10);
}

static const char *cut_in_header(void)
{
    return cut("cut_in_header.so", sizeof(ElfW(Ehdr)) - 24);
}

static const char *cut_in_program_headers(void)
{
    return cut("cut_in_program_headers.so", sizeof(ElfW(Ehdr)) + 2 * sizeof(ElfW(Phdr)) + 8);
}

/* The one that kills a process which lets the system's loader map it. */
static const char *cut_in_segment(void)
{
    ElfW(Phdr) last = last_segment();
    return cut("cut_in_segment.so", last.p_offset / 2);
}

static const char *cut_near_end(void)
{
    ElfW(Phdr) last = last_segment();
    return cut("cut_near_end.so", last.p_offset + last.p_filesz - 1);
}

static const char *segments_beyond_end(void)
{
    struct image image = good_image();
    image.header.e_phoff = image.size - 16;
    return save(&image, "segments_beyond_end.so", image.size);
}

static const char *segments_nowhere(void)
{
    struct image image = good_image();
    image.header.e_phoff = (ElfW(Off)) - 8;
    return save(&image, "segments_nowhere.so", image.size);
}

/* p_offset + p_filesz wraps around to a small number. */
static const char *segment_wraps(void)
{
    struct image image = good_image();
    ElfW(Phdr) segment;
    size_t at = image.header.e_phoff;
    for (;; at += sizeof segment) {
        memcpy(&segment, image.bytes + at, sizeof segment);
        if (segment.p_type == PT_LOAD)
            break;
    }
    segment.p_filesz = 0;
    segment.p_filesz -= 4096;
    segment.p_offset = 8192;
    memcpy(image.bytes + at, &segment, sizeof segment);
    return save(&image, "segment_wraps.so", image.size);
}

static const char *other_class(void)
{
    struct image image = good_image();
    image.header.e_ident[EI_CLASS] = OTHER_CLASS;
    image.header.e_machine = EM_386;
    return save(&image, "other_class.so", image.size);
}

#if UINTPTR_MAX > UINT32_MAX
/* A true 32-bit library as far as its headers go, not a patched 64-bit one. */
static const char *small_i386(void)
{
    struct {
        Elf32_Ehdr header;
        Elf32_Phdr segments[2];
        unsigned char text[256];
    } file = {0};
    memcpy(file.header.e_ident, ELFMAG, SELFMAG);
    file.header.e_ident[EI_CLASS] = ELFCLASS32;
    file.header.e_ident[EI_DATA] = ELFDATA2LSB;
    file.header.e_ident[EI_VERSION] = EV_CURRENT;
    file.header.e_type = ET_DYN;
    file.header.e_machine = EM_386;
    file.header.e_version = EV_CURRENT;
    file.header.e_phoff = sizeof file.header;
    file.header.e_ehsize = sizeof file.header;
    file.header.e_phentsize = sizeof file.segments[0];
    file.header.e_phnum = 2;
    file.segments[0].p_type = PT_LOAD;
    file.segments[0].p_filesz = file.segments[0].p_memsz = sizeof file;
    file.segments[1].p_type = PT_DYNAMIC;
    return write_file("i386.so", &file, sizeof file);
}
#endif

static const char *strange_segments(void)
{
    struct image image = good_image();
    image.header.e_phentsize = sizeof(ElfW(Phdr)) + 8;
    return save(&image, "strange_segments.so", image.size);
}

static const char *many_segments(void)
{
    struct image image = good_image();
    image.header.e_phnum = 65;
    return save(&image, "many_segments.so", image.size);
}

static const char *other_machine(void)
{
    struct image image = good_image();
    image.header.e_machine = OTHER_MACHINE;
    return save(&image, "other_machine.so", image.size);
}

static const char *other_byte_order(void)
{
    struct image image = good_image();
    image.header.e_ident[EI_DATA] ^= ELFDATA2LSB ^ ELFDATA2MSB;
    return save(&image, "other_byte_order.so", image.size);
}

static const char *object_file(void)
{
    struct image image = good_image();
    image.header.e_type = ET_REL;
    return save(&image, "object.o", image.size);
}

/* ---- what is no library at all ---- */

static const char *missing(void)
{
    return in_folder("missing/libcuda.so.1");
}

static const char *missing_percent(void)
{
    return in_folder("%s%n%s%n-missing.so");
}

static const char *below_a_file(void)
{
    write_file("plain", "x", 1);
    return in_folder("plain/libcuda.so.1");
}

static const char *dangling_link(void)
{
    const char *path = in_folder("dangling.so");
    assert_int_equal(symlink("nowhere", path), 0);
    return path;
}

static const char *overlong(void)
{
    static char path[6000];
    memset(path, 'a', sizeof path - 1);
    path[0] = '/';
    for (size_t i = 100; i < sizeof path; i += 100)
        path[i - 1] = '/';
    path[sizeof path - 1] = '\0';
    return path;
}

static const char *overlong_name(void)
{
    static char path[600];
    memset(path, 'b', sizeof path - 1);
    path[0] = '/';
    return path;
}

static const char *empty_path(void)
{
    return "";
}

static const char *a_folder(void)
{
    const char *path = in_folder("folder.so");
    assert_int_equal(mkdir(path, 0755), 0);
    return path;
}

static const char *a_fifo(void)
{
    const char *path = in_folder("fifo.so");
    assert_int_equal(mkfifo(path, 0644), 0);
    return path;
}

static const char *a_socket(void)
{
    struct sockaddr_un where = {.sun_family = AF_UNIX};
    const char *path = in_folder("socket.so");
    assert_true(strlen(path) < sizeof where.sun_path);
    memcpy(where.sun_path, path, strlen(path) + 1);
    int end = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(bind(end, (struct sockaddr *)&where, sizeof where), 0);
    close(end);
    return path;
}

static const char *dev_null(void)
{
    return "/dev/null";
}

static const char *dev_zero(void)
{
    return "/dev/zero";
}

static const char *empty_file(void)
{
    return write_file("empty.so", "", 0);
}

static const char *text_file(void)
{
    static const char script[] = "/* GNU ld script */\nGROUP ( libcuda.so.1 )\n";
    return write_file("text.so", script, sizeof script - 1);
}

static const char *one_byte(void)
{
    return write_file("one_byte.so", "x", 1);
}

/* ---- libraries, but not drivers ---- */

static const char *libm(void)
{
    static char path[4096];
    double (*cosine)(double) = cos;
    void *address;
    Dl_info info;
    memcpy(&address, &cosine, sizeof address);
    assert_true(dladdr(address, &info) != 0);
    assert_non_null(realpath(info.dli_fname, path));
    return path;
}

static const char *libm_by_name(void)
{
    return "libm.so.6";
}

static const char *no_such_name(void)
{
    return "libcushim-no-such.so.1";
}

static const char *stub(void)
{
    return fake_path("stub");
}

static const char *needs_gone(void)
{
    return fake_path("needs_gone");
}

static const char *version_fails(void)
{
    return fake_path("version_fails");
}

static const char *version_zero(void)
{
    return fake_path("zero");
}

static const char *version_negative(void)
{
    return fake_path("negative");
}

const struct bad_input bad_inputs[] = {
    {"missing", missing, CUSHIM_ERROR_NOT_FOUND, "no such", NULL},
    {"missing, with percent signs", missing_percent, CUSHIM_ERROR_NOT_FOUND, "no such", NULL},
    {"below a file", below_a_file, CUSHIM_ERROR_NOT_FOUND, "not a directory", NULL},
    {"dangling link", dangling_link, CUSHIM_ERROR_NOT_FOUND, "no such", NULL},
    {"overlong path", overlong, CUSHIM_ERROR_NOT_FOUND, "too long", NULL},
    {"overlong name", overlong_name, CUSHIM_ERROR_NOT_FOUND, "too long", NULL},
    {"missing name", no_such_name, CUSHIM_ERROR_NOT_FOUND, "no such", NULL},
    {"empty path", empty_path, CUSHIM_ERROR_EMPTY_PATH, "empty", ""},
    {"folder", a_folder, CUSHIM_ERROR_NOT_A_FILE, "folder", NULL},
    {"fifo", a_fifo, CUSHIM_ERROR_NOT_A_FILE, "not a regular file", NULL},
    {"socket", a_socket, CUSHIM_ERROR_NOT_A_FILE, "not a regular file", NULL},
    {"/dev/null", dev_null, CUSHIM_ERROR_NOT_A_FILE, "not a regular file", NULL},
    {"/dev/zero", dev_zero, CUSHIM_ERROR_NOT_A_FILE, "not a regular file", NULL},
    {"empty file", empty_file, CUSHIM_ERROR_EMPTY_FILE, "the file is empty", NULL},
    {"text file", text_file, CUSHIM_ERROR_NOT_A_LIBRARY, "not an ELF", NULL},
    {"one byte", one_byte, CUSHIM_ERROR_NOT_A_LIBRARY, "not an ELF", NULL},
    {"strange segments", strange_segments, CUSHIM_ERROR_NOT_A_LIBRARY, "damaged", NULL},
    {"many segments", many_segments, CUSHIM_ERROR_NOT_A_LIBRARY, "damaged", NULL},
    {"object file", object_file, CUSHIM_ERROR_NOT_A_LIBRARY, "shared library", NULL},
    {"cut after the magic", cut_in_magic, CUSHIM_ERROR_TRUNCATED, "truncated", NULL},
    {"cut in ELF header", cut_in_header, CUSHIM_ERROR_TRUNCATED, "truncated", NULL},
    {"cut in program headers", cut_in_program_headers, CUSHIM_ERROR_TRUNCATED, "truncated", NULL},
    {"cut in a segment", cut_in_segment, CUSHIM_ERROR_TRUNCATED, "truncated", NULL},
    {"cut near its end", cut_near_end, CUSHIM_ERROR_TRUNCATED, "truncated", NULL},
    {"headers beyond the end", segments_beyond_end, CUSHIM_ERROR_TRUNCATED, "truncated", NULL},
    {"headers nowhere", segments_nowhere, CUSHIM_ERROR_TRUNCATED, "truncated", NULL},
    {"segment wraps around", segment_wraps, CUSHIM_ERROR_TRUNCATED, "truncated", NULL},
    {"other class", other_class, CUSHIM_ERROR_WRONG_CLASS, "-bit", NULL},
#if UINTPTR_MAX > UINT32_MAX
    {"i386 library", small_i386, CUSHIM_ERROR_WRONG_CLASS, "32-bit", NULL},
#endif
    {"other machine", other_machine, CUSHIM_ERROR_WRONG_MACHINE, "processor", NULL},
    {"other byte order", other_byte_order, CUSHIM_ERROR_WRONG_MACHINE, "byte order", NULL},
    {"libm", libm, CUSHIM_ERROR_NOT_CUDA, "not a CUDA driver", NULL},
    {"libm by name", libm_by_name, CUSHIM_ERROR_NOT_CUDA, "not a CUDA driver", NULL},
    {"stub", stub, CUSHIM_ERROR_STUB, "stub", NULL},
    {"missing dependency", needs_gone, CUSHIM_ERROR_DEPENDENCY, "libcushim-gone.so.9", NULL},
    {"version fails", version_fails, CUSHIM_ERROR_VERSION_FAILED, "999", NULL},
    {"version 0", version_zero, CUSHIM_ERROR_VERSION_INVALID, " 0", NULL},
    {"version -1", version_negative, CUSHIM_ERROR_VERSION_INVALID, " -1", NULL},
};
const size_t bad_input_count = COUNT(bad_inputs);
