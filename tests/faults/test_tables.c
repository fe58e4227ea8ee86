/* SPDX-License-Identifier: MIT */
/* What is read of a library's tables in memory: of every kind of symbol, of tables that end early
 * at any byte, and of every entry that says that dlsym may find more. The system's loader is
 * replaced: it lists a library that this program made. */
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

#include "common.h"
#include "loader/elf.h"
#include "loader/registry.h"

static const char *const names[] = {"cuInit",         "cuDeviceGet",    "cuMemAlloc_v2",
                                    "cuMemFree_v2",   "cuCtxCreate_v2", "cuStreamQuery",
                                    "cuLaunchKernel", "other",          "cuDeviceGetCount"};
enum {
    NAMES = COUNT(names),
    FIRST = 3,
    SYMBOLS = FIRST + NAMES,
    BUCKETS = 4,
    FILTER_WORDS = 2,
    BUCKETS_AT = 4 + FILTER_WORDS * (sizeof(ElfW(Addr)) / 4),
    LEAD = 24, /* bytes of a table's segment before the table */
    SEGMENTS = 8
};

/* A made library: each table at the end of a segment of its own. Behind the segments that are
 * listed is one of everything, which nobody may look at. */
static struct {
    char lead_gnu[LEAD];
    uint32_t gnu[BUCKETS_AT + BUCKETS + NAMES];
    char lead_sysv[LEAD];
    uint32_t sysv[2];
    char lead_symbols[LEAD];
    ElfW(Sym) symbols[SYMBOLS];
    char lead_strings[LEAD];
    char strings[512];
    ElfW(Dyn) dynamic[16];
    ElfW(Phdr) segments[SEGMENTS + 1];
    struct link_map map;
    size_t strings_size;
    int no_information; /* dlinfo fails */
} made;
static uintptr_t base = 0x10;

/* Listed before it, with no segment: the one behind says that it is the made library. */
static ElfW(Phdr) first_segments[2];
static struct dl_phdr_info first = {.dlpi_phdr = first_segments};

int __real_dl_iterate_phdr(int (*call)(struct dl_phdr_info *, size_t, void *), void *data);
int __wrap_dl_iterate_phdr(int (*call)(struct dl_phdr_info *, size_t, void *), void *data);
int __wrap_dl_iterate_phdr(int (*call)(struct dl_phdr_info *, size_t, void *), void *data)
{
    struct dl_phdr_info info = {
        .dlpi_addr = made.map.l_addr, .dlpi_phdr = made.segments, .dlpi_phnum = SEGMENTS};
    int result = call(&first, sizeof first, data);
    result = result ? result : call(&info, sizeof info, data);
    return result ? result : __real_dl_iterate_phdr(call, data);
}

int __wrap_dlinfo(void *handle, int request, void *answer);
int __wrap_dlinfo(void *handle, int request, void *answer)
{
    struct link_map *map = &made.map;
    assert_ptr_equal(handle, &made);
    assert_int_equal(request, RTLD_DI_LINKMAP);
    memcpy(answer, &map, sizeof map);
    return made.no_information;
}

static void add_segment(unsigned type, const void *at, size_t size, size_t lead)
{
    for (size_t i = 0; i < SEGMENTS; i++)
        if (!made.segments[i].p_type) {
            made.segments[i] = (ElfW(Phdr)){.p_type = type,
                                            .p_flags = PF_R,
                                            .p_vaddr = (uintptr_t)at - lead - base,
                                            .p_memsz = size + lead};
            return;
        }
    fail();
}

/* A table's segment: how many bytes of the table it has. */
static void set_bytes(unsigned segment, size_t bytes)
{
    made.segments[segment].p_memsz = LEAD + bytes;
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
    memset(&first_segments, 0, sizeof first_segments);
    first.dlpi_phnum = 0;
    made.map.l_addr = base;
    made.map.l_ld = made.dynamic;
    add_string("");
    uint32_t *buckets = made.gnu + BUCKETS_AT, *hashes = buckets + BUCKETS;
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
    add_segment(PT_DYNAMIC, made.dynamic, sizeof made.dynamic, 0);
    add_segment(PT_LOAD, made.gnu, sizeof made.gnu, LEAD);
    add_segment(PT_LOAD, made.symbols, sizeof made.symbols, LEAD);
    add_segment(PT_LOAD, made.strings, sizeof made.strings, LEAD);
    add_segment(PT_LOAD, made.sysv, sizeof made.sysv, LEAD);
    made.segments[SEGMENTS] = (ElfW(Phdr)){.p_type = PT_LOAD,
                                           .p_flags = PF_R | PF_X,
                                           .p_vaddr = 0 - base,
                                           .p_memsz = (ElfW(Addr)) - 1};
    first_segments[0] = made.segments[0];
    first_segments[0].p_vaddr += base;
    add_entry(DT_STRTAB, (uintptr_t)made.strings);
    add_entry(DT_SYMTAB, (uintptr_t)made.symbols);
    add_entry(gnu ? DT_GNU_HASH : DT_HASH, gnu ? (uintptr_t)made.gnu : (uintptr_t)made.sysv);
}

/* Reads it; its string table has the bytes that it has by now. */
static bool read_made(void **addresses)
{
    memset(addresses, 0, CUSHIM_ENTRY_COUNT * sizeof *addresses);
    addresses[CUSHIM_ENTRY_COUNT] = made.strings; /* nobody's */
    add_entry(DT_STRSZ, made.strings_size);
    const bool complete = cushim_elf_exports(&made, addresses);
    assert_ptr_equal(addresses[CUSHIM_ENTRY_COUNT], made.strings);
    return complete;
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
        const uintptr_t wanted = found[i] ? base + made.symbols[i].st_value : 0;
        assert_true((uintptr_t)addresses[index] == wanted);
        count -= found[i];
    }
    assert_int_equal(count, 0);
}

static void *addresses[CUSHIM_ENTRY_COUNT + 1];
static const bool none[SYMBOLS];
static bool all[SYMBOLS];

/* Whether the tables tell all, and which symbols they have. */
static void expect(bool complete, const bool found[SYMBOLS])
{
    assert_int_equal(read_made(addresses), complete);
    check_found(addresses, found);
}

static void test_symbols(void **state)
{
    static const unsigned bindings[] = {STB_LOCAL, STB_GLOBAL, STB_WEAK, STB_GNU_UNIQUE},
                          types[] = {STT_NOTYPE,  STT_OBJECT, STT_FUNC,
                                     STT_SECTION, STT_TLS,    STT_GNU_IFUNC},
                          sections[] = {SHN_UNDEF, 1, SHN_LORESERVE - 1, SHN_LORESERVE, SHN_ABS};
    (void)state;
    for (unsigned each = 0; each < 4 * 6 * 5 * 4 * 2 * 2; each++) {
        const unsigned binding = bindings[each % 4], type = types[each / 4 % 6],
                       section = sections[each / 24 % 5], visibility = each / 120 % 4,
                       value = each / 480 % 2, gnu = each / 960;
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
        expect(!visible || plain, found); /* else dlsym knows */
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
            set_bytes(1, bytes);
            model_gnu(bytes / 4, SYMBOLS, found);
            expect(true, found);
        }
    for (size_t bytes = 1; bytes <= sizeof made.symbols; bytes++) {
        make(true);
        set_bytes(2, bytes);
        model_gnu(COUNT(made.gnu), bytes / sizeof *made.symbols, found);
        expect(true, found);
    }
    for (uint32_t changed = 0; changed < BUCKETS; changed++) { /* a chain from behind the end on */
        make(true);
        made.gnu[BUCKETS_AT + changed] = SYMBOLS;
        model_gnu(COUNT(made.gnu), SYMBOLS, found);
        expect(true, found);
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
                set_bytes(4, bytes);
                set_bytes(2, held * sizeof *made.symbols);
                for (size_t i = 0; i < SYMBOLS; i++)
                    found[i] = bytes == sizeof made.sysv && i < told && i < held;
                expect(true, found);
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
                    set_bytes(3, size);
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

/* What follows the buckets is none, even if it has a symbol's number. */
static void test_behind_buckets(void **state)
{
    (void)state;
    make(true);
    memset(made.gnu + BUCKETS_AT, 0, BUCKETS * sizeof *made.gnu);
    made.gnu[BUCKETS_AT + BUCKETS] = SYMBOLS - 1;
    expect(true, none);
}

/* A C library leaves the addresses of tables as they are in the file, or relocates them: then one
 * may be the library's own address. */
static void test_addresses(void **state)
{
    const uintptr_t held = base;
    (void)state;
    base = (uintptr_t)&made - 0x40;
    for (int gnu = 0; gnu < 2; gnu++) {
        make(gnu);
        for (size_t i = 0; i < 3; i++)
            made.dynamic[i].d_un.d_ptr -= base;
        expect(true, all);
    }
    base = (uintptr_t)made.gnu;
    make(true);
    expect(true, all);
    base = held;
}

/* Of segments that may not be read, or are not loaded, nothing is. */
static void test_segments(void **state)
{
    (void)state;
    make(true);
    made.segments[5] = made.segments[1];
    set_bytes(1, 0); /* one that ends where the table begins is not the table's */
    expect(true, all);
    for (int i = 1; i <= 3; i++)
        for (int kind = 0; kind < 2; kind++) {
            make(true);
            if (kind)
                made.segments[i].p_flags = PF_W | PF_X;
            else
                made.segments[i].p_type = PT_NOTE;
            expect(i != 3, none);
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
        {DT_NEEDED, "xibc.so.6", false},
        {DT_NEEDED, "", false},
        {DT_AUXILIARY, "libc.so.6", false},
        {DT_FILTER, "libc.so.6", false},
        {DT_SONAME, "libcuda.so.1", true},
        {DT_RUNPATH, "libcuda.so.1", true},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++)
        for (int place = 0; place < 3; place++) { /* others before it, behind it, and none */
            make(true);
            const uintptr_t other = add_string("libc.so.6");
            if (place == 0)
                add_entry(DT_NEEDED, other);
            add_entry(rows[i].tag, add_string(rows[i].name));
            if (place == 1)
                add_entry(DT_NEEDED, other);
            expect(rows[i].complete, all);
        }
    for (int i = 0; i < 3; i++) { /* without strings, symbols, a hash */
        make(true);
        made.dynamic[i].d_tag = DT_SONAME;
        assert_false(read_made(addresses));
    }
    make(true);
    add_entry(DT_NEEDED, made.strings_size); /* behind the strings */
    strcpy(made.strings + made.strings_size, "libc.so.6");
    assert_false(read_made(addresses));
    make(true);
    add_entry(DT_VERDEF, 0); /* a name may have several addresses */
    expect(false, none);
    make(true);
    assert_false(cushim_elf_exports(&made, addresses)); /* without the strings' size */
    make(true);
    made.no_information = -1;
    expect(false, none);
}

/* ---- whose dlsym it is */

static void add_first(const void *code, size_t size)
{
    first_segments[first.dlpi_phnum++] = (ElfW(Phdr)){
        .p_type = PT_LOAD, .p_flags = PF_X, .p_vaddr = (uintptr_t)code, .p_memsz = size};
}

/* The tables tell what dlsym finds if it is in one library with dlerror, and not the program's own,
 * which is listed first. */
static void test_whose(void **state)
{
    void *(*find)(void *, const char *) = dlsym;
    char *(*explain)(void) = dlerror;
    void *one, *other;
    (void)state;
    memcpy(&one, &find, sizeof one);
    memcpy(&other, &explain, sizeof other);
    for (int in_first = 0; in_first < 4; in_first++)
        for (int loaded = 0; loaded < 2; loaded++) {
            make(true);
            first_segments[0] = made.segments[SEGMENTS]; /* not listed */
            if (in_first & 1)
                add_first(one, 1);
            if (in_first & 2)
                add_first(other, 1);
            if (!loaded)
                first_segments[0].p_type = first_segments[1].p_type = PT_NOTE;
            assert_int_equal(read_made(addresses), !in_first || !loaded);
            if (in_first && loaded)
                check_found(addresses, none);
        }
}

/* ---- what the system says of a library */

/* As much of its path as there is room for. */
static void test_describe(void **state)
{
    static char name[] = "/folder/libcuda.so.1";
    (void)state;
    make(true);
    made.map.l_name = name;
    for (size_t size = 1; size < sizeof name + 3; size++) {
        char path[64], wanted[64];
        const void *at = NULL;
        memset(path, 'x', sizeof path);
        cushim_elf_describe(&made, path, size, &at);
        assert_ptr_equal(at, base);
        memset(wanted, 'x', sizeof wanted);
        snprintf(wanted, size, "%s", name);
        assert_memory_equal(path, wanted, sizeof path);
    }
    char path[8] = "none";
    const void *at = &made;
    made.no_information = -1;
    cushim_elf_describe(&made, path, sizeof path, &at);
    assert_string_equal(path, "none");
    assert_ptr_equal(at, &made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_symbols),        cmocka_unit_test(test_short_gnu),
        cmocka_unit_test(test_behind_buckets), cmocka_unit_test(test_addresses),
        cmocka_unit_test(test_short_sysv),     cmocka_unit_test(test_strings),
        cmocka_unit_test(test_segments),       cmocka_unit_test(test_complete),
        cmocka_unit_test(test_whose),          cmocka_unit_test(test_describe),
    };
    memset(all, true, sizeof all);
    return cmocka_run_group_tests_name("tables", tests, NULL, NULL);
}
