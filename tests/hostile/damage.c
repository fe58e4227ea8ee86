/* SPDX-License-Identifier: MIT */
#include "damage.h"

#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

struct damage {
    struct damage_file *file;
    uint64_t random;
    ElfW(Ehdr) header; /* as they were */
    size_t dynamic, entries;
};

static uint64_t damage_random(struct damage *work)
{
    work->random += 0x9e3779b97f4a7c15;
    uint64_t value = work->random;
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
    value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
    return value ^ (value >> 31);
}

static size_t damage_below(struct damage *work, size_t limit)
{
    return limit ? (size_t)(damage_random(work) % limit) : 0;
}

/* What a number of a damaged file may be: near to what it was, near to a limit, or anything. */
static uint64_t damage_number(struct damage *work, uint64_t was)
{
    static const uint64_t odd[] = {0,
                                   1,
                                   2,
                                   0x7f,
                                   0xfff,
                                   0xffff,
                                   0x10000,
                                   0x7fffffff,
                                   0x80000000,
                                   0xffffffff,
                                   0x7fffffffffffffff,
                                   (uint64_t)1 << 63,
                                   UINT64_MAX,
                                   UINT64_MAX - 4095};
    switch (damage_below(work, 8)) {
    case 0:
        return was + 1 + damage_below(work, 64);
    case 1:
        return was - 1 - damage_below(work, 64);
    case 2:
        return was ^ ((uint64_t)1 << damage_below(work, 64));
    case 3:
        return work->file->size - 32 + damage_below(work, 64);
    case 4:
        return damage_below(work, work->file->size + 8192);
    case 5:
        return damage_random(work) >> damage_below(work, 64);
    default:
        return odd[damage_below(work, sizeof odd / sizeof *odd)];
    }
}

/* Replace a number of `size` bytes, if the file has it. */
static void damage_field(struct damage *work, size_t at, size_t size)
{
    uint64_t value = 0;
    if (at >= work->file->size || size > work->file->size - at)
        return;
    memcpy(&value, work->file->bytes + at, size); /* little-endian */
    value = damage_number(work, value);
    memcpy(work->file->bytes + at, &value, size);
}

/* ---- where things are, in the undamaged file */

static bool damage_segment(const struct damage *work, size_t index, ElfW(Phdr) * segment)
{
    size_t at = work->header.e_phoff + index * sizeof *segment;
    if (index >= work->header.e_phnum || at + sizeof *segment > work->file->size)
        return false;
    memcpy(segment, work->file->bytes + at, sizeof *segment);
    return true;
}

/* Offset in the file of an address; 0 if it has none. */
static size_t damage_offset(const struct damage *work, uint64_t address)
{
    ElfW(Phdr) segment;
    for (size_t i = 0; damage_segment(work, i, &segment); i++)
        if (segment.p_type == PT_LOAD && address - segment.p_vaddr < segment.p_filesz)
            return (size_t)(address - segment.p_vaddr + segment.p_offset);
    return 0;
}

static uint64_t damage_tag(const struct damage *work, int64_t tag)
{
    for (size_t i = 0; i < work->entries; i++) {
        ElfW(Dyn) entry;
        memcpy(&entry, work->file->bytes + work->dynamic + i * sizeof entry, sizeof entry);
        if ((int64_t)entry.d_tag == tag)
            return entry.d_un.d_val;
    }
    return 0;
}

static size_t damage_table(const struct damage *work, int64_t tag)
{
    return damage_offset(work, damage_tag(work, tag));
}

/* ---- kinds of damage */

static void damage_header(struct damage *work)
{
    static const struct {
        size_t at, size;
    } fields[] = {{EI_CLASS, 1},
                  {EI_DATA, 1},
                  {EI_VERSION, 1},
                  {EI_OSABI, 2},
                  {offsetof(ElfW(Ehdr), e_type), 2},
                  {offsetof(ElfW(Ehdr), e_machine), 2},
                  {offsetof(ElfW(Ehdr), e_version), 4},
                  {offsetof(ElfW(Ehdr), e_phoff), sizeof(ElfW(Off))},
                  {offsetof(ElfW(Ehdr), e_flags), 4},
                  {offsetof(ElfW(Ehdr), e_phentsize), 2},
                  {offsetof(ElfW(Ehdr), e_phnum), 2}};
    size_t field = damage_below(work, sizeof fields / sizeof *fields);
    damage_field(work, fields[field].at, fields[field].size);
}

static void damage_segments(struct damage *work)
{
    size_t index = damage_below(work, work->header.e_phnum);
    size_t words = sizeof(ElfW(Phdr)) / 4, at = damage_below(work, words) * 4;
    bool wide = sizeof(ElfW(Phdr)) > 32 && at >= 8 && at % 8 == 0; /* behind type and flags */
    damage_field(work, work->header.e_phoff + index * sizeof(ElfW(Phdr)) + at, wide ? 8 : 4);
}

/* Two headers change places, so that their addresses do not rise. */
static void damage_order(struct damage *work)
{
    ElfW(Phdr) one, two;
    size_t i = damage_below(work, work->header.e_phnum), j = damage_below(work, 4);
    if (!damage_segment(work, i, &one) || !damage_segment(work, j, &two))
        return;
    memcpy(work->file->bytes + work->header.e_phoff + i * sizeof one, &two, sizeof two);
    memcpy(work->file->bytes + work->header.e_phoff + j * sizeof one, &one, sizeof one);
}

static void damage_dynamic(struct damage *work)
{
    size_t at = work->dynamic + damage_below(work, work->entries) * sizeof(ElfW(Dyn));
    bool tag = damage_below(work, 4) == 0;
    damage_field(work, tag ? at : at + offsetof(ElfW(Dyn), d_un), sizeof(ElfW(Addr)));
}

/* The end of the dynamic section goes, and what follows is read as more of it. */
static void damage_endless_dynamic(struct damage *work)
{
    size_t at = work->dynamic + (work->entries - 1) * sizeof(ElfW(Dyn));
    uint64_t tag = DT_DEBUG;
    memcpy(work->file->bytes + at, &tag, sizeof(ElfW(Addr)));
}

/* Words of a hash table: its head four times as often as the rest. */
static void damage_hash(struct damage *work)
{
    size_t gnu = damage_table(work, DT_GNU_HASH);
    size_t at = gnu ? gnu : damage_table(work, DT_HASH);
    size_t word = damage_below(work, damage_below(work, 5) ? 4 : 120);
    damage_field(work, at + word * 4, 4);
}

/* All of the table's words from one on are the same: chains without an end, or in a circle. */
static void damage_hash_same(struct damage *work)
{
    size_t gnu = damage_table(work, DT_GNU_HASH);
    size_t at = gnu ? gnu : damage_table(work, DT_HASH);
    uint32_t value = (uint32_t)(damage_number(work, 2) & ~(uint64_t)1);
    for (size_t i = 4 + damage_below(work, 60); i < 400 && at + i * 4 + 4 < work->file->size; i++)
        memcpy(work->file->bytes + at + i * 4, &value, 4);
}

static void damage_symbol(struct damage *work)
{
    static const unsigned char wide[] = {0, 4, 4, 1, 5, 1, 6, 2, 8, 8, 16, 8};
    static const unsigned char narrow[] = {0, 4, 4, 4, 8, 4, 12, 1, 13, 1, 14, 2};
    const unsigned char *fields = sizeof(ElfW(Sym)) == 24 ? wide : narrow;
    size_t field = damage_below(work, 6), many = damage_below(work, 2) ? 1 : 60;
    for (size_t i = 0; i < many; i++)
        damage_field(work,
                     damage_table(work, DT_SYMTAB) + damage_below(work, 70) * sizeof(ElfW(Sym)) +
                         fields[2 * field],
                     fields[2 * field + 1]);
}

static void damage_names(struct damage *work)
{
    size_t at = damage_table(work, DT_STRTAB), size = (size_t)damage_tag(work, DT_STRSZ);
    size_t start = damage_below(work, size);
    int letter = (int)damage_below(work, 256);
    if (at && at + size <= work->file->size)
        memset(work->file->bytes + at + start, letter, damage_below(work, size - start));
}

static void damage_relocation(struct damage *work)
{
    int64_t tag = damage_below(work, 2) ? DT_JMPREL : sizeof(ElfW(Sym)) == 24 ? DT_RELA : DT_REL;
    size_t at = damage_table(work, tag);
    if (at)
        damage_field(work, at + damage_below(work, 60) * sizeof(ElfW(Addr)), sizeof(ElfW(Addr)));
}

static void damage_bytes(struct damage *work)
{
    size_t room = damage_below(work, 2) ? work->file->size : 4096;
    for (size_t i = damage_below(work, 8) + 1; i > 0; i--)
        work->file->bytes[damage_below(work, room) % work->file->size] =
            (unsigned char)damage_random(work);
}

static void damage_cut(struct damage *work)
{
    work->file->size = damage_below(work, work->file->size + 1);
}

static void damage_longer(struct damage *work)
{
    size_t more = damage_below(work, DAMAGE_MORE / 4); /* three times at most */
    memset(work->file->bytes + work->file->size, (int)damage_below(work, 256), more);
    work->file->size += more;
}

static const struct {
    const char *name;
    void (*make)(struct damage *);
} damages[] = {
    {"header", damage_header},
    {"segments", damage_segments},
    {"order", damage_order},
    {"dynamic", damage_dynamic},
    {"dynamic", damage_dynamic},
    {"endless dynamic", damage_endless_dynamic},
    {"hash", damage_hash},
    {"hash", damage_hash},
    {"hash all the same", damage_hash_same},
    {"symbol", damage_symbol},
    {"symbol", damage_symbol},
    {"names", damage_names},
    {"relocation", damage_relocation},
    {"bytes", damage_bytes},
    {"cut", damage_cut},
    {"longer", damage_longer},
};

void damage_make(struct damage_file *file, uint64_t seed, char *text, size_t size)
{
    struct damage work = {.file = file, .random = seed * 0x2545f4914f6cdd1d};
    ElfW(Phdr) segment;
    *text = '\0';
    memcpy(&work.header, file->bytes, sizeof work.header);
    for (size_t i = 0; damage_segment(&work, i, &segment); i++)
        if (segment.p_type == PT_DYNAMIC) {
            work.dynamic = segment.p_offset;
            work.entries = segment.p_filesz / sizeof(ElfW(Dyn));
        }
    /* Places are those of the file as it was, or as the damage before left it. */
    for (size_t count = 1 + damage_below(&work, 3); count > 0; count--) {
        size_t kind = damage_below(&work, sizeof damages / sizeof *damages);
        size_t length = strlen(text);
        snprintf(text + length, size - length, "%s%s", length ? ", " : "", damages[kind].name);
        damages[kind].make(&work);
        if (file->size < sizeof work.header)
            return;
    }
}
