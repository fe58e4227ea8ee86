/* SPDX-License-Identifier: MIT */
/* Names in scopes: one hash table; a bucket's newest name comes first, so that an inner scope hides
 * an outer one, and leaving a scope takes its names off the front. */
#include "ptx/read/read.h"

#include <stdlib.h>

enum { FIRST_BUCKETS = 1024, MAX_RANGE_DIGITS = 10 };

static bool same(const struct symbol *symbol, struct name name, uint32_t hash)
{
    return symbol->hash == hash && symbol->name.length == name.length &&
           memcmp(symbol->name.text, name.text, name.length) == 0;
}

static struct symbol **bucket_of(const struct symbols *symbols, uint32_t hash)
{
    return &symbols->buckets[hash & (symbols->bucket_count - 1)];
}

/* Twice the buckets. Names are put back oldest first, to keep the newest in front. */
static void grow(struct symbols *symbols)
{
    uint32_t count = symbols->bucket_count * 2;
    struct symbol **buckets = count > UINT32_MAX / 4 ? NULL : calloc(count, sizeof *buckets);
    if (!buckets)
        return; /* longer chains only */
    free(symbols->buckets);
    symbols->buckets = buckets;
    symbols->bucket_count = count;
    struct symbol *oldest = NULL; /* reverse the order, then put back while reversing again */
    for (struct symbol *symbol = symbols->newest; symbol;) {
        struct symbol *previous = symbol->previous;
        symbol->previous = oldest;
        oldest = symbol;
        symbol = previous;
    }
    symbols->newest = NULL;
    while (oldest) {
        struct symbol *symbol = oldest;
        oldest = symbol->previous;
        symbol->previous = symbols->newest;
        symbols->newest = symbol;
        symbol->chain = *bucket_of(symbols, symbol->hash);
        *bucket_of(symbols, symbol->hash) = symbol;
    }
}

/* A label, a range and a variable may have one name. */
enum { SPACE_NAMES, SPACE_LABELS, SPACE_RANGES };

static uint8_t name_space(unsigned kind)
{
    return kind == SYMBOL_LABEL ? SPACE_LABELS : kind == SYMBOL_RANGE ? SPACE_RANGES : SPACE_NAMES;
}

struct symbol *symbol_add(struct parser *parser, struct name name, enum symbol_kind kind,
                          uint32_t index)
{
    struct symbols *symbols = &parser->symbols;
    uint32_t hash = parse_hash(name.text, name.length);
    uint8_t space = name_space(kind);
    for (struct symbol *old = *bucket_of(symbols, hash); old; old = old->chain) {
        if (!same(old, name, hash) || old->depth != parser->depth || name_space(old->kind) != space)
            continue;
        parse_error(parser, parser->token.line, "Duplicate definition of %s '%.*s'",
                    kind == SYMBOL_LABEL ? "label" : "variable", (int)name.length, name.text);
        return NULL;
    }
    if (symbols->count >= symbols->bucket_count)
        grow(symbols);
    struct symbol *symbol = symbols->spare;
    if (symbol) {
        symbols->spare = symbol->previous;
        memset(symbol, 0, sizeof *symbol);
    } else {
        symbol = arena_alloc(parser->reader->scratch, sizeof *symbol);
    }
    if (!symbol) {
        parse_no_memory(parser->reader);
        return NULL;
    }
    symbol->name = name;
    symbol->hash = hash;
    symbol->kind = (uint8_t)kind;
    symbol->index = index;
    symbol->depth = (uint16_t)parser->depth;
    symbol->chain = *bucket_of(symbols, hash);
    *bucket_of(symbols, hash) = symbol;
    symbol->previous = symbols->newest;
    symbols->newest = symbol;
    symbols->count++;
    return symbol;
}

void symbol_leave(struct parser *parser, unsigned depth)
{
    struct symbols *symbols = &parser->symbols;
    while (symbols->newest && symbols->newest->depth >= depth) {
        struct symbol *symbol = symbols->newest;
        symbols->newest = symbol->previous;
        *bucket_of(symbols, symbol->hash) = symbol->chain;
        symbol->previous = symbols->spare;
        symbols->spare = symbol;
        symbols->count--;
    }
}

static struct symbol *find_exact(struct parser *parser, struct name name, uint8_t space)
{
    uint32_t hash = parse_hash(name.text, name.length);
    struct symbol *symbol = *bucket_of(&parser->symbols, hash);
    for (; symbol; symbol = symbol->chain)
        if (same(symbol, name, hash) && name_space(symbol->kind) == space)
            return symbol;
    return NULL;
}

struct symbol *symbol_find_label(struct parser *parser, struct name name)
{
    return find_exact(parser, name, SPACE_LABELS);
}

struct symbol *symbol_find_module(struct parser *parser, struct name name)
{
    struct symbol *symbol = find_exact(parser, name, SPACE_NAMES);
    while (symbol && (symbol->depth != 0 || name_space(symbol->kind) != SPACE_NAMES ||
                      !same(symbol, name, symbol->hash)))
        symbol = symbol->chain;
    return symbol;
}

/* --- Ranges: %r<10> stands for %r0 to %r9; registers are made when they are first named. --- */
static uint64_t *number_slot(struct parser *parser, uint64_t key)
{
    uint64_t hash = key * UINT64_C(0x9e3779b97f4a7c15);
    uint32_t mask = parser->number_capacity - 1;
    uint32_t at = (uint32_t)(hash >> 32) & mask;
    while (parser->numbers[2 * at] != 0 && parser->numbers[2 * at] != key)
        at = (at + 1) & mask;
    return &parser->numbers[2 * (size_t)at];
}

static bool grow_numbers(struct parser *parser)
{
    uint64_t *old = parser->numbers;
    uint32_t old_capacity = parser->number_capacity;
    uint32_t capacity = old_capacity == 0 ? 256 : old_capacity * 2;
    uint64_t *numbers = capacity > UINT32_MAX / 64 ? NULL : calloc(capacity, 2 * sizeof *numbers);
    if (!numbers)
        return parse_no_memory(parser->reader);
    parser->numbers = numbers;
    parser->number_capacity = capacity;
    for (uint32_t i = 0; i < old_capacity; i++) {
        if (old[2 * i] != 0) {
            uint64_t *slot = number_slot(parser, old[2 * i]);
            slot[0] = old[2 * i];
            slot[1] = old[2 * i + 1];
        }
    }
    free(old);
    return true;
}

uint32_t symbol_register_add(struct parser *parser, struct name name, uint8_t type, uint8_t vector)
{
    struct ir_register *added =
        parse_list_add(parser->reader, &parser->registers, sizeof(struct ir_register));
    char *copy = added ? parse_copy(parser, name) : NULL;
    if (!copy)
        return UINT32_MAX;
    *added = (struct ir_register){.name = copy, .type = type, .vector = vector};
    return parser->registers.count - 1;
}

static uint32_t symbol_range_register(struct parser *parser, const struct symbol *range,
                                      uint32_t number, struct name name)
{
    if (parser->number_count >= parser->number_capacity / 2 && !grow_numbers(parser))
        return UINT32_MAX;
    uint64_t key = ((uint64_t)range->index + 1) << 32 | number;
    uint64_t *slot = number_slot(parser, key);
    if (slot[0] == 0) {
        uint32_t index = symbol_register_add(parser, name, range->type, range->vector);
        if (index == UINT32_MAX)
            return UINT32_MAX;
        slot[0] = key;
        slot[1] = index;
        parser->number_count++;
    }
    return (uint32_t)slot[1];
}

/* The range that holds `name`, whose digits may begin anywhere: %r1<10> holds %r15. A found one is
 * returned as a register's symbol in parser->symbols' own spare place. */
static const struct symbol *find_range(struct parser *parser, struct name name, uint32_t *number)
{
    const struct symbol *best = NULL;
    uint64_t value = 0, power = 1;
    for (uint32_t digits = 1; digits <= MAX_RANGE_DIGITS && digits < name.length; digits++) {
        char digit = name.text[name.length - digits];
        if (digit < '0' || digit > '9')
            break;
        value += (uint64_t)(digit - '0') * power;
        power *= 10;
        if (digit == '0' && digits > 1)
            continue; /* %r01 is no name of a range */
        const struct symbol *range =
            find_exact(parser, (struct name){name.text, name.length - digits}, SPACE_RANGES);
        if (range && value < range->count && (!best || range->depth > best->depth)) {
            best = range;
            *number = (uint32_t)value;
        }
    }
    return best;
}

struct symbol *symbol_find(struct parser *parser, struct name name)
{
    struct symbol *symbol = find_exact(parser, name, SPACE_NAMES);
    if (name.length == 0 || name.text[name.length - 1] < '0' || name.text[name.length - 1] > '9' ||
        (symbol && symbol->depth == parser->depth))
        return symbol;
    uint32_t number = 0;
    const struct symbol *range = find_range(parser, name, &number);
    if (!range || (symbol && symbol->depth >= range->depth))
        return symbol;
    uint32_t index = symbol_range_register(parser, range, number, name);
    if (index == UINT32_MAX)
        return NULL;
    parser->found = (struct symbol){.name = name,
                                    .kind = SYMBOL_REGISTER,
                                    .type = range->type,
                                    .vector = range->vector,
                                    .depth = range->depth,
                                    .index = index};
    return &parser->found;
}

/* --- Special registers --- */
static const struct special {
    const char *name;
    uint8_t special, type, vector, count; /* count: %name0 to %name(count-1) */
} specials[] = {
#define IR_SPECIAL(special, name, type, vector, count) {name, IR_##special, type, vector, count},
#include "ptx/read/opcodes_specials.def"
    {"%reserved_smem_offset_", IR_RESERVED_SMEM_BEGIN, IR_B32, 1, 2},
};

unsigned symbol_special_parts(uint32_t special)
{
    for (size_t i = 0; i < sizeof specials / sizeof *specials; i++)
        if (specials[i].special == special)
            return specials[i].vector;
    return 1;
}

static bool add_special(struct parser *parser, const struct special *special, struct name name,
                        uint32_t number)
{
    struct symbol *symbol = symbol_add(parser, name, SYMBOL_SPECIAL, special->special);
    if (!symbol)
        return false;
    symbol->type = special->type;
    symbol->vector = special->vector;
    symbol->count = number;
    return true;
}

static bool add_numbered(struct parser *parser, const struct special *special)
{
    size_t length = strlen(special->name);
    for (uint32_t i = 0; i < special->count; i++) {
        char *name = arena_alloc(parser->reader->scratch, length + 3);
        if (!name)
            return false;
        memcpy(name, special->name, length);
        if (i >= 10)
            name[length++] = (char)('0' + i / 10);
        name[length] = (char)('0' + i % 10);
        if (!add_special(parser, special, (struct name){name, (uint32_t)length + 1}, i))
            return false;
        length = strlen(special->name);
    }
    return true;
}

bool symbol_start(struct parser *parser)
{
    struct symbols *symbols = &parser->symbols;
    symbols->buckets = calloc(FIRST_BUCKETS, sizeof *symbols->buckets);
    if (!symbols->buckets)
        return parse_no_memory(parser->reader);
    symbols->bucket_count = FIRST_BUCKETS;
    for (size_t i = 0; i < sizeof specials / sizeof *specials; i++) {
        struct name name = {specials[i].name, (uint32_t)strlen(specials[i].name)};
        bool added = specials[i].count > 0 ? add_numbered(parser, &specials[i])
                                           : add_special(parser, &specials[i], name, 0);
        if (!added)
            return false;
    }
    return true;
}

void symbol_stop(struct parser *parser)
{
    free(parser->symbols.buckets);
    parser->symbols.buckets = NULL;
}
