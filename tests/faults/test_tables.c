/* SPDX-License-Identifier: MIT */
/* What is read of a library's tables in memory: of every kind of symbol, of tables that end early
 * at any byte, and of every entry that says that dlsym may find more. The system's loader is
 * replaced: it lists a library that this program made. */
#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

#include "common.h"
#include "loader/elf.h"
#include "loader/registry.h"

#define HIDDEN_BASE 0x10 /* added to st_value */

static const char *const names[] = {"cuInit",         "cuDeviceGet",    "cuMemAlloc_v2",
                                    "cuMemFree_v2",   "cuCtxCreate_v2", "cuStreamQuery",
                                    "cuLaunchKernel", "other",          "cuDeviceGetCount"};
enum { NAMES = COUNT(names), FIRST = 2, SYMBOLS = FIRST + NAMES, BUCKETS = 3, FILTER_WORDS = 2 };

/* A made library: each table at the end of a segment of its own. */
static struct {
    uint32_t gnu[4 + FILTER_WORDS * (sizeof(ElfW(Addr)) / 4) + BUCKETS + NAMES];
    uint32_t sysv[2];
    ElfW(Sym) symbols[SYMBOLS];
    char strings[512];
    ElfW(Dyn) dynamic[16];
    ElfW(Phdr) segments[8];
    struct link_map map;
    size_t strings_size;
} made;

int __real_dl_iterate_phdr(int (*call)(struct dl_phdr_info *, size_t, void *), void *data);
int __wrap_dl_iterate_phdr(int (*call)(struct dl_phdr_info *, size_t, void *), void *data);
int __wrap_dl_iterate_phdr(int (*call)(struct dl_phdr_info *, size_t, void *), void *data)
{
    struct dl_phdr_info info = {.dlpi_addr = made.map.l_addr,
                                .dlpi_phdr = made.segments,
                                .dlpi_phnum = COUNT(made.segments)};
    int result = call(&info, sizeof info, data);
    return result ? result : __real_dl_iterate_phdr(call, data);
}

int __wrap_dlinfo(void *handle, int request, void *answer);
int __wrap_dlinfo(void *handle, int request, void *answer)
{
    struct link_map *map = &made.map;
    assert_ptr_equal(handle, &made);
    assert_int_equal(request, RTLD_DI_LINKMAP);
    memcpy(answer, &map, sizeof map);
    return 0;
}

static void add_segment(unsigned type, unsigned flags, const void *at, size_t size)
{
    for (size_t i = 0; i < COUNT(made.segments); i++)
        if (!made.segments[i].p_type) {
            made.segments[i] = (ElfW(Phdr)){.p_type = type,
                                            .p_flags = flags,
                                            .p_vaddr = (uintptr_t)at - made.map.l_addr,
                                            .p_memsz = size};
            return;
        }
    fail();
}

static void add_entry(long tag, uintptr_t value)
{
    size_t i = 0;
    while (made.dynamic[i].d_tag != DT_NULL)
        i++;
    assert_true(i + 1 < COUNT(made.dynamic));
    made.dynamic[i].d_tag = tag;
    made.dynamic[i].d_un.d_val = value;
}

static uintptr_t add_string(const char *text)
{
    const size_t at = made.strings_size;
    strcpy(made.strings + at, text);
    made.strings_size += strlen(text) + 1;
    return at;
}

/* Symbols lie in the order of their buckets, as linkers sort them. */
static void make(bool gnu)
{
    size_t symbol = FIRST;
    memset(&made, 0, sizeof made);
    made.map.l_addr = HIDDEN_BASE;
    made.map.l_ld = made.dynamic;
    add_string("");
    uint32_t *buckets = made.gnu + 4 + FILTER_WORDS * (sizeof(ElfW(Addr)) / 4),
             *hashes = buckets + BUCKETS;
    memcpy(made.gnu, (uint32_t[]){BUCKETS, FIRST, FILTER_WORDS, 5}, 16);
    for (uint32_t bucket = 0; bucket < BUCKETS; bucket++) {
        const size_t before = symbol;
        for (size_t i = 0; i < NAMES; i++) {
            const uint32_t hash = cushim_registry_hash(names[i]);
            if (hash % BUCKETS != bucket)
                continue;
            made.symbols[symbol] = (ElfW(Sym)){.st_name = (uint32_t)add_string(names[i]),
                                               .st_info = STB_GLOBAL << 4 | STT_FUNC,
                                               .st_shndx = 1,
                                               .st_value = 0x1000 * (symbol + 1)};
            hashes[symbol++ - FIRST] = hash & ~1u;
        }
        buckets[bucket] = symbol > before ? (uint32_t)before : 0;
        if (symbol > before)
            hashes[symbol - 1 - FIRST] |= 1;
    }
    assert_int_equal(symbol, SYMBOLS);
    made.sysv[0] = 1;
    made.sysv[1] = SYMBOLS;
    add_segment(PT_DYNAMIC, PF_R, made.dynamic, sizeof made.dynamic);
    add_segment(PT_LOAD, PF_R, made.gnu, sizeof made.gnu);
    add_segment(PT_LOAD, PF_R, made.symbols, sizeof made.symbols);
    add_segment(PT_LOAD, PF_R, made.strings, sizeof made.strings);
    add_segment(PT_LOAD, PF_R, made.sysv, sizeof made.sysv);
    add_entry(DT_STRTAB, (uintptr_t)made.strings);
    add_entry(DT_SYMTAB, (uintptr_t)made.symbols);
    add_entry(gnu ? DT_GNU_HASH : DT_HASH, gnu ? (uintptr_t)made.gnu : (uintptr_t)made.sysv);
}

/* Reads it; its string table has the bytes that it has by now. */
static bool read_made(void **addresses)
{
    memset(addresses, 0, CUSHIM_ENTRY_COUNT * sizeof *addresses);
    add_entry(DT_STRSZ, made.strings_size);
    return cushim_elf_exports(&made, addresses);
}

static size_t index_of(size_t symbol)
{
    return cushim_registry_find_hashed(
        made.strings + made.symbols[symbol].st_name,
        cushim_registry_hash(made.strings + made.symbols[symbol].st_name));
}

/* Exactly the symbols that `found` has, each at its address. */
static void check_found(void *const *addresses, const bool found[SYMBOLS])
{
    size_t count = 0;
    for (size_t i = 0; i < CUSHIM_ENTRY_COUNT; i++)
        count += !!addresses[i];
    for (size_t i = FIRST; i < SYMBOLS; i++) {
        const size_t index = index_of(i);
        if (index == CUSHIM_ENTRY_COUNT)
            continue;
        const uintptr_t wanted = found[i] ? HIDDEN_BASE + made.symbols[i].st_value : 0;
        assert_true((uintptr_t)addresses[index] == wanted);
        count -= found[i];
    }
    assert_int_equal(count, 0);
}

static void *addresses[CUSHIM_ENTRY_COUNT];

/* ---- symbols */

static void test_symbols(void **state)
{
    static const unsigned bindings[] = {STB_LOCAL, STB_GLOBAL, STB_WEAK, STB_GNU_UNIQUE},
                          types[] = {STT_NOTYPE,  STT_OBJECT, STT_FUNC,
                                     STT_SECTION, STT_TLS,    STT_GNU_IFUNC},
                          sections[] = {SHN_UNDEF, 1, SHN_LORESERVE - 1, SHN_LORESERVE, SHN_ABS};
    (void)state;
    for (unsigned all = 0; all < 4 * 6 * 5 * 4 * 2 * 2; all++) {
        const unsigned binding = bindings[all % 4], type = types[all / 4 % 6],
                       section = sections[all / 24 % 5], visibility = all / 120 % 4,
                       value = all / 480 % 2, gnu = all / 960;
        bool found[SYMBOLS];
        make(gnu);
        const size_t changed = FIRST + (index_of(FIRST) == CUSHIM_ENTRY_COUNT);
        ElfW(Sym) *symbol = &made.symbols[changed];
        symbol->st_info = (unsigned char)(binding << 4 | type);
        symbol->st_other = (unsigned char)visibility;
        symbol->st_shndx = (uint16_t)section;
        symbol->st_value *= value;
        const bool visible = binding != STB_LOCAL && section != SHN_UNDEF &&
                             (visibility == STV_DEFAULT || visibility == STV_PROTECTED);
        const bool plain = section < SHN_LORESERVE && value && type <= STT_FUNC;
        for (size_t i = 0; i < SYMBOLS; i++)
            found[i] = i != changed || (visible && plain);
        assert_int_equal(read_made(addresses), !visible || plain); /* else dlsym knows */
        check_found(addresses, found);
    }
}

/* ---- tables that end early */

/* The rule of elf_each_gnu, for a table of so many words and so many symbols. */
static void model_gnu(size_t words, size_t symbols, bool found[SYMBOLS])
{
    const size_t before = COUNT(made.gnu) - NAMES;
    const uint32_t *buckets = made.gnu + before - BUCKETS, *hashes = made.gnu + before;
    memset(found, 0, SYMBOLS);
    if (words < before)
        return;
    for (size_t bucket = 0, left = words - before; bucket < BUCKETS; bucket++)
        for (size_t symbol = buckets[bucket]; symbol >= FIRST; symbol++) {
            if (symbol >= symbols || symbol - FIRST >= words - before || !left--)
                return;
            found[symbol] = true;
            if (hashes[symbol - FIRST] & 1)
                break;
        }
}

static void test_short_gnu(void **state)
{
    bool found[SYMBOLS];
    (void)state;
    for (int endless = 0; endless < 2; endless++)
        for (size_t bytes = 0; bytes <= sizeof made.gnu; bytes++) {
            make(true);
            for (size_t i = 0; endless && i < NAMES; i++)
                made.gnu[COUNT(made.gnu) - NAMES + i] &= ~1u;
            made.segments[1].p_memsz = bytes;
            model_gnu(bytes / 4, SYMBOLS, found);
            assert_true(read_made(addresses));
            check_found(addresses, found);
        }
    for (size_t bytes = 1; bytes <= sizeof made.symbols; bytes++) {
        make(true);
        made.segments[2].p_memsz = bytes;
        model_gnu(COUNT(made.gnu), bytes / sizeof *made.symbols, found);
        assert_true(read_made(addresses));
        check_found(addresses, found);
    }
    for (uint32_t first = 0; first < BUCKETS; first++) { /* a chain that begins behind the end */
        make(true);
        made.gnu[COUNT(made.gnu) - NAMES - BUCKETS + first] = SYMBOLS;
        model_gnu(COUNT(made.gnu), SYMBOLS, found);
        assert_true(read_made(addresses));
        check_found(addresses, found);
    }
}

static void test_short_sysv(void **state)
{
    bool found[SYMBOLS];
    (void)state;
    for (size_t bytes = 0; bytes <= sizeof made.sysv; bytes++)
        for (uint32_t told = 0; told < SYMBOLS + 3; told++)
            for (size_t held = 1; held <= SYMBOLS; held++) {
                make(false);
                made.sysv[1] = told;
                made.segments[4].p_memsz = bytes;
                made.segments[2].p_memsz = held * sizeof *made.symbols;
                for (size_t i = 0; i < SYMBOLS; i++)
                    found[i] = bytes == sizeof made.sysv && i < told && i < held;
                assert_true(read_made(addresses));
                check_found(addresses, found);
            }
}

/* A string table that has no end is not read; a name behind its end is passed over. */
static void test_strings(void **state)
{
    (void)state;
    for (int gnu = 0; gnu < 2; gnu++) {
        make(gnu);
        const size_t whole = made.strings_size;
        for (size_t size = 0; size <= whole; size++) {
            bool found[SYMBOLS];
            for (int by_segment = 0; by_segment < 2; by_segment++) {
                make(gnu);
                if (by_segment)
                    made.segments[3].p_memsz = size;
                else
                    made.strings_size = size;
                const bool ends = size && !made.strings[size - 1];
                for (size_t i = 0; i < SYMBOLS; i++)
                    found[i] = ends && made.symbols[i].st_name < size;
                assert_int_equal(read_made(addresses), ends);
                if (ends)
                    check_found(addresses, found);
            }
        }
    }
}

/* Of segments that may not be read, or are not loaded, nothing is. */
static void test_segments(void **state)
{
    (void)state;
    for (int i = 1; i <= 3; i++)
        for (int kind = 0; kind < 2; kind++) {
            static const bool none[SYMBOLS];
            make(true);
            if (kind)
                made.segments[i].p_flags = PF_W | PF_X;
            else
                made.segments[i].p_type = PT_NOTE;
            assert_int_equal(read_made(addresses), i != 3);
            check_found(addresses, none);
        }
}

/* ---- whether dlsym may find more */

static void test_complete(void **state)
{
    static const struct {
        long tag;
        const char *name;
        bool complete;
    } rows[] = {
        {DT_NEEDED, "libc.so.6", true},
        {DT_NEEDED, "libm.so.6", true},
        {DT_NEEDED, "libdl.so.2", true},
        {DT_NEEDED, "libpthread.so.0", true},
        {DT_NEEDED, "librt.so.1", true},
        {DT_NEEDED, "libgcc_s.so.1", true},
        {DT_NEEDED, "ld-linux-x86-64.so.2", true},
        {DT_NEEDED, "libnvidia-fatbinaryloader.so.390", true},
        {DT_NEEDED, "libc", false},
        {DT_NEEDED, "libcuda.so.1", false},
        {DT_NEEDED, "xlibc.so.6", false},
        {DT_NEEDED, "", false},
        {DT_AUXILIARY, "libc.so.6", false},
        {DT_FILTER, "libc.so.6", false},
        {DT_SONAME, "libcuda.so.1", true},
        {DT_RUNPATH, "libcuda.so.1", true},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++)
        for (int place = 0; place < 3; place++) { /* others before it, behind it, and none */
            bool all[SYMBOLS];
            memset(all, true, sizeof all);
            make(true);
            const uintptr_t other = add_string("libc.so.6");
            if (place == 0)
                add_entry(DT_NEEDED, other);
            add_entry(rows[i].tag, add_string(rows[i].name));
            if (place == 1)
                add_entry(DT_NEEDED, other);
            assert_int_equal(read_made(addresses), rows[i].complete);
            check_found(addresses, all);
        }
    make(true);
    add_entry(DT_NEEDED, made.strings_size); /* behind the strings */
    assert_false(read_made(addresses));
    make(true);
    add_entry(DT_VERDEF, 0);
    static const bool none[SYMBOLS];
    assert_false(read_made(addresses)); /* a name may have several addresses */
    check_found(addresses, none);
    make(true);
    made.dynamic[2].d_tag = DT_SONAME; /* without a hash */
    assert_false(read_made(addresses));
    make(true);
    made.dynamic[1].d_tag = DT_SONAME; /* without symbols */
    assert_false(read_made(addresses));
    make(true);
    made.dynamic[0].d_tag = DT_SONAME; /* without strings */
    assert_false(read_made(addresses));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_symbols),    cmocka_unit_test(test_short_gnu),
        cmocka_unit_test(test_short_sysv), cmocka_unit_test(test_strings),
        cmocka_unit_test(test_segments),   cmocka_unit_test(test_complete),
    };
    return cmocka_run_group_tests_name("tables", tests, NULL, NULL);
}
