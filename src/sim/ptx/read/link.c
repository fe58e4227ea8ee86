/* SPDX-License-Identifier: MIT */
/* Several sources become one module: extern names meet their definitions, weak ones give way, and
 * what nothing uses or defines is dropped. */
#include "ptx/read/read.h"

/* One kind of symbol: variables or functions. */
struct linking {
    struct reader *reader;
    uint32_t count;
    uint32_t *map;   /* old index to the one that stands for it, later to its new index */
    uint32_t *slots; /* names by hash: index plus one; 0: free */
    uint32_t slot_count;
    bool *used;
    bool functions;
};

static void *table_of(const struct linking *linking, size_t count, size_t size)
{
    void *made = arena_alloc(linking->reader->scratch, (count + 1) * size);
    if (!made)
        parse_no_memory(linking->reader);
    return made;
}

static struct ir_variable *variable_at(const struct linking *linking, uint32_t index)
{
    return &linking->reader->module->variables[index];
}

static struct ir_function *function_at(const struct linking *linking, uint32_t index)
{
    return &linking->reader->module->functions[index];
}

static const char *name_at(const struct linking *linking, uint32_t index)
{
    return linking->functions ? function_at(linking, index)->name
                              : variable_at(linking, index)->name;
}

static uint32_t hash_at(const struct linking *linking, uint32_t index)
{
    const char *name = name_at(linking, index);

    return parse_hash(name, (uint32_t)strlen(name));
}

static uint8_t linkage_at(const struct linking *linking, uint32_t index)
{
    return linking->functions ? function_at(linking, index)->linkage
                              : variable_at(linking, index)->linkage;
}

static bool defined(const struct linking *linking, uint32_t index)
{
    return linking->functions ? function_at(linking, index)->body
                              : variable_at(linking, index)->linkage != IR_EXTERN;
}

static void fail(struct reader *reader, enum ptx_status status)
{
    reader->error_count++;
    reader->status = status;
    reader->failed = true;
}

static void report(const struct linking *linking, enum ptx_status status, const char *what,
                   const char *name)
{
    struct reader *reader = linking->reader;
    if (reader->errors && reader->error_count < 1000)
        ptx_text_add(reader->errors, "ptxas fatal   : %s %s '%s'\n", what,
                     linking->functions ? "function" : "variable", name);
    fail(reader, status);
}

static bool alike(const struct linking *linking, uint32_t left, uint32_t right)
{
    if (linking->functions)
        return parse_function_same(function_at(linking, left), function_at(linking, right));
    const struct ir_variable *a = variable_at(linking, left), *b = variable_at(linking, right);
    return a->space == b->space && (a->size == b->size || a->unsized || b->unsized ||
                                    (a->linkage == IR_COMMON && b->linkage == IR_COMMON));
}

/* Of two symbols of one name, the one that stands for both. */
static uint32_t stronger(const struct linking *linking, uint32_t left, uint32_t right)
{
    if (!alike(linking, left, right)) {
        report(linking, PTX_DUPLICATE, "Declarations do not match of", name_at(linking, left));
        return left;
    }
    if (!defined(linking, left) || !defined(linking, right))
        return defined(linking, right) ? right : left;
    uint8_t a = linkage_at(linking, left), b = linkage_at(linking, right);
    if (a == IR_VISIBLE && b == IR_VISIBLE)
        report(linking, PTX_DUPLICATE, "Multiple definitions of", name_at(linking, left));
    if (a == IR_COMMON && b == IR_COMMON)
        return variable_at(linking, right)->size > variable_at(linking, left)->size ? right : left;
    return b == IR_VISIBLE || (a == IR_WEAK && b == IR_COMMON) ? right : left;
}

/* Every symbol that other sources see finds the one that stands for its name. */
static void unite(struct linking *linking)
{
    uint32_t mask = linking->slot_count - 1;
    for (uint32_t i = 0; i < linking->count; i++) {
        linking->map[i] = i;
        if (linkage_at(linking, i) == IR_STATIC)
            continue;
        uint32_t at = hash_at(linking, i) & mask;
        while (linking->slots[at] != 0 &&
               strcmp(name_at(linking, linking->slots[at] - 1), name_at(linking, i)) != 0)
            at = (at + 1) & mask;
        if (linking->slots[at] == 0)
            linking->slots[at] = i + 1;
        else
            linking->slots[at] = stronger(linking, linking->slots[at] - 1, i) + 1;
    }
    for (uint32_t i = 0; i < linking->count; i++) {
        if (linkage_at(linking, i) == IR_STATIC)
            continue;
        uint32_t at = hash_at(linking, i) & mask;
        while (strcmp(name_at(linking, linking->slots[at] - 1), name_at(linking, i)) != 0)
            at = (at + 1) & mask;
        linking->map[i] = linking->slots[at] - 1;
    }
}

/* An alias has no body, and what it stands for has one, so that one step is enough. */
static void follow_aliases(struct linking *linking)
{
    const struct list *aliases = &linking->reader->aliases;
    if (!linking->functions || aliases->count == 0)
        return;
    uint32_t *step = table_of(linking, linking->count, sizeof *step);
    if (!step)
        return;
    for (uint32_t i = 0; i < linking->count; i++)
        step[i] = i;
    for (uint32_t a = 0; a < aliases->count; a++) {
        const struct alias *alias = (const struct alias *)aliases->data + a;
        step[alias->from] = linking->map[alias->to];
    }
    for (uint32_t i = 0; i < linking->count; i++)
        linking->map[i] = step[linking->map[i]];
}

static bool is_built_in(const struct linking *linking, uint32_t index)
{
    return linking->functions && opcodes_builtin(name_at(linking, index));
}

/* As on an H100, a declaration with a size defines a variable of zeros if nothing else does. A
 * linker takes only declarations of references so. */
static void define_declared(const struct linking *linking)
{
    bool linker = linking->reader->inputs.count > 0;
    for (uint32_t i = 0; i < linking->count && !linking->functions; i++) {
        struct ir_variable *variable = variable_at(linking, i);
        if (linking->map[i] != i || defined(linking, i) || variable->unsized ||
            (linker && !ir_is_reference(variable)))
            continue;
        variable->linkage = IR_VISIBLE;
        if (linking->reader->info && !linker)
            ptx_text_add(linking->reader->info,
                         "ptxas warning : Unresolved extern variable '%s' in whole program "
                         "compilation, ignoring extern qualifier\n",
                         variable->name);
    }
}

/* Whether the symbol that stands for its name has no definition, and needs one where it is used. */
static bool is_missing(const struct linking *linking, uint32_t index)
{
    bool dynamic = !linking->functions && variable_at(linking, index)->space == PTX_SPACE_SHARED &&
                   variable_at(linking, index)->unsized;
    return !defined(linking, index) && !dynamic && !is_built_in(linking, index);
}

static void report_undefined(const struct linking *linking, const char *name, const char *input)
{
    struct reader *reader = linking->reader;
    if (reader->errors && reader->error_count < 1000)
        ptx_text_add(reader->errors, "error   : Undefined reference to '%s' in '%s'\n", name,
                     input);
    fail(reader, PTX_UNRESOLVED);
}

/* What is used and has no definition: once, or by a linker for each input that uses it, or declares
 * it as a variable. */
static void report_missing(const struct linking *linking, const struct link_entry *entries)
{
    const char *const *inputs = linking->reader->inputs.data;
    for (uint32_t i = 0; i < linking->count; i++) {
        if (!is_missing(linking, linking->map[i]))
            continue;
        if (inputs && (entries[i].used || !linking->functions))
            report_undefined(linking, name_at(linking, i), inputs[entries[i].source]);
        else if (!inputs && linking->map[i] == i && linking->used[i])
            report(linking, PTX_UNRESOLVED, "Unresolved extern", name_at(linking, i));
    }
}

/* What is kept gets its new place. */
static uint32_t compact(struct linking *linking)
{
    const struct list *links =
        linking->functions ? &linking->reader->function_links : &linking->reader->variable_links;
    const struct link_entry *entries = links->data;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < linking->count; i++)
        linking->used[linking->map[i]] |= entries[i].used;
    report_missing(linking, entries);
    uint32_t *places = table_of(linking, linking->count, sizeof *places);
    if (!places)
        return 0;
    for (uint32_t i = 0; i < linking->count; i++) {
        if (linking->map[i] != i || (!defined(linking, i) && !linking->used[i]))
            continue;
        places[i] = kept;
        if (linking->functions)
            *function_at(linking, kept) = *function_at(linking, i);
        else
            *variable_at(linking, kept) = *variable_at(linking, i);
        kept++;
    }
    for (uint32_t i = 0; i < linking->count; i++)
        linking->map[i] = places[linking->map[i]];
    return kept;
}

static void link_symbols(struct linking *linking)
{
    linking->slot_count = 64;
    while (linking->slot_count < 2 * linking->count)
        linking->slot_count *= 2;
    linking->map = table_of(linking, linking->count, sizeof *linking->map);
    linking->used = table_of(linking, linking->count, sizeof *linking->used);
    linking->slots = table_of(linking, linking->slot_count, sizeof *linking->slots);
    if (!linking->map || !linking->used || !linking->slots)
        return;
    unite(linking);
    follow_aliases(linking);
    define_declared(linking);
    uint32_t kept = compact(linking);
    if (linking->functions)
        linking->reader->module->function_count = kept;
    else
        linking->reader->module->variable_count = kept;
}

/* --- New indices everywhere --- */
static void renumber_operand(struct ir_operand *operand, const uint32_t *variables,
                             const uint32_t *functions)
{
    if (operand->kind == IR_OPERAND_VARIABLE)
        operand->index = variables[operand->index];
    else if (operand->kind == IR_OPERAND_FUNCTION)
        operand->index = functions[operand->index];
    for (unsigned i = 0; i < operand->count && operand->parts; i++)
        renumber_operand(&operand->parts[i], variables, functions); /* at most two deep */
}

static void renumber(struct ir_module *module, const uint32_t *variables, const uint32_t *functions)
{
    for (uint32_t v = 0; v < module->variable_count; v++) {
        struct ir_variable *variable = &module->variables[v];
        for (uint32_t r = 0; r < variable->relocation_count; r++) {
            struct ir_relocation *relocation = &variable->relocations[r];
            const uint32_t *map = relocation->function ? functions : variables;
            relocation->index = map[relocation->index];
        }
    }
    for (uint32_t f = 0; f < module->function_count; f++) {
        struct ir_function *function = &module->functions[f];
        for (uint32_t i = 0; i < function->insn_count; i++)
            for (unsigned o = 0; o < function->insns[i].count; o++)
                renumber_operand(&function->insns[i].operands[o], variables, functions);
        for (uint32_t t = 0; t < function->table_count; t++) {
            struct ir_table *table = &function->tables[t];
            for (uint32_t i = 0; table->functions && i < table->count; i++)
                table->indices[i] = functions[table->indices[i]];
        }
    }
}

void link_sources(struct reader *reader)
{
    struct linking variables = {.reader = reader, .count = reader->module->variable_count};
    struct linking functions = {
        .reader = reader, .count = reader->module->function_count, .functions = true};
    link_symbols(&variables);
    link_symbols(&functions);
    if (!reader->failed && !reader->no_memory)
        renumber(reader->module, variables.map, functions.map);
}
