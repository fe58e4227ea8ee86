/* SPDX-License-Identifier: MIT */
/* The tables of modifiers and forms, made ready on first use, and the choice of a form by the
 * modifiers that an instruction has. */

#include "ptx/read/check.h"

static const struct modifier modifiers[] = {
    {"", FIELD(op), 0, 0, 0}, /* MODIFIER_UNKNOWN */
#define MOD(text, field, value, version, target) {text, FIELD(field), value, version, target},
#include "ptx/read/opcodes_modifiers.def"
};
enum { MODIFIER_COUNT = sizeof modifiers / sizeof *modifiers };
_Static_assert(MODIFIER_COUNT <= 64 * MODIFIER_WORDS, "MODIFIER_WORDS is too small");

static const struct form forms[] = {
#define FORM(op, mnemonic, modifiers, operands, version, target)                                   \
    {mnemonic, modifiers, operands, NULL, IR_##op, version, target},
#define LACK(mnemonic, modifiers, reason) {mnemonic, modifiers, "", reason, IR_OP_COUNT, 0, 0},
#include "ptx/read/opcodes_forms.def"
#include "ptx/read/opcodes_forms_matrix.def"
#undef FORM
#undef LACK
};
enum { FORM_COUNT = sizeof forms / sizeof *forms, SLOTS = 1024 };
_Static_assert(FORM_COUNT < SLOTS && MODIFIER_COUNT < SLOTS / 2, "SLOTS is too small");

struct dictionary {
    uint16_t modifiers[SLOTS];  /* by hash; 0: free */
    uint16_t mnemonics[SLOTS];  /* index of the first form plus one; 0: free */
    uint16_t first[FORM_COUNT]; /* of each form, the first one of its mnemonic */
    bool lacking[FORM_COUNT];   /* of a first form: one of the mnemonic's has a reason */
    struct form_compiled *compiled[FORM_COUNT];
};

static bool same_text(const char *known, const char *text, uint32_t length)
{
    return strncmp(known, text, length) == 0 && known[length] == '\0';
}

const struct modifier *form_modifier(uint16_t index)
{
    return &modifiers[index];
}

uint16_t form_modifier_find(const struct reader *reader, const char *text, uint32_t length)
{
    const struct dictionary *dictionary = reader->dictionary;
    uint32_t at = parse_hash(text, length) % SLOTS;
    for (; dictionary->modifiers[at] != 0; at = (at + 1) % SLOTS)
        if (same_text(modifiers[dictionary->modifiers[at]].text, text, length))
            return dictionary->modifiers[at];
    return MODIFIER_UNKNOWN;
}

/* Index of the mnemonic's first form; NO_INDEX: not an instruction. */
static int find_mnemonic(const struct dictionary *dictionary, struct name name)
{
    uint32_t at = parse_hash(name.text, name.length) % SLOTS;
    for (; dictionary->mnemonics[at] != 0; at = (at + 1) % SLOTS)
        if (same_text(forms[dictionary->mnemonics[at] - 1].mnemonic, name.text, name.length))
            return dictionary->mnemonics[at] - 1;
    return NO_INDEX;
}

/* Has the form this mnemonic, whose first form is `first`? */
static bool has_mnemonic(const struct dictionary *dictionary, int index, int first)
{
    return index < FORM_COUNT && dictionary->first[index] == first;
}

bool form_dictionary(struct reader *reader)
{
    struct dictionary *dictionary = arena_alloc(reader->scratch, sizeof *dictionary);
    if (!dictionary)
        return false;
    reader->dictionary = dictionary;
    for (uint16_t i = 1; i < MODIFIER_COUNT; i++) {
        uint32_t at = parse_hash(modifiers[i].text, (uint32_t)strlen(modifiers[i].text)) % SLOTS;
        while (dictionary->modifiers[at] != 0)
            at = (at + 1) % SLOTS;
        dictionary->modifiers[at] = i;
    }
    for (uint16_t i = 0; i < FORM_COUNT; i++) {
        bool more = i > 0 && strcmp(forms[i].mnemonic, forms[i - 1].mnemonic) == 0;
        dictionary->first[i] = more ? dictionary->first[i - 1] : i;
        if (forms[i].reason)
            dictionary->lacking[dictionary->first[i]] = true;
        if (more)
            continue;
        uint32_t length = (uint32_t)strlen(forms[i].mnemonic);
        uint32_t at = parse_hash(forms[i].mnemonic, length) % SLOTS;
        while (dictionary->mnemonics[at] != 0)
            at = (at + 1) % SLOTS;
        dictionary->mnemonics[at] = (uint16_t)(i + 1);
    }
    return true;
}

/* --- From text to form_compiled. The tables are ours, so a mistake in one is an assertion of the
 * tests (every form is compiled there), not a message to users. --- */
static uint8_t type_named(const struct reader *reader, const char *text, uint32_t length)
{
    uint16_t index = form_modifier_find(reader, text, length);
    return modifiers[index].field == FIELD(types) ? modifiers[index].value : IR_NONE;
}

static void compile_group(const struct reader *reader, const char *text, uint32_t length,
                          struct form_group *group)
{
    if (length == 1 && *text == '*') {
        group->any = group->optional = true;
        return;
    }
    if (text[length - 1] == '?') {
        group->optional = true;
        length--;
    }
    while (length > 0) {
        const char *bar = memchr(text, '|', length);
        uint32_t part = bar ? (uint32_t)(bar - text) : length;
        uint16_t index = form_modifier_find(reader, text, part);
        group->bits[index / 64] |= UINT64_C(1) << index % 64;
        group->is_type |= modifiers[index].field == FIELD(types);
        uint32_t used = bar ? part + 1 : part;
        text += used;
        length -= used;
    }
}

static void compile_spec(const struct reader *reader, const char *text, uint32_t length,
                         struct spec *spec)
{
    if (*text == '|') {
        spec->joined = true;
        text++;
        length--;
    }
    spec->role = *text++;
    length--;
    if (spec->role == 'f' || spec->role == 'F') { /* one digit: the registers */
        spec->count = (uint8_t)(*text++ - '0');
        length--;
    }
    for (; length > 0 && (text[length - 1] == '?' || text[length - 1] == '~'); length--) {
        spec->optional |= text[length - 1] == '?';
        spec->relaxed |= text[length - 1] == '~';
    }
    if (length == 1 && *text >= '0' && *text <= '3')
        spec->type = (uint8_t)(SPEC_TYPE0 + *text - '0');
    else if (length == 1 && *text == 'W')
        spec->type = SPEC_WIDE;
    else if (length > 0)
        spec->type = type_named(reader, text, length);
}

static const struct form_compiled *compile(const struct reader *reader, int index)
{
    struct dictionary *dictionary = reader->dictionary;
    if (dictionary->compiled[index])
        return dictionary->compiled[index];
    struct form_compiled *compiled = arena_alloc(reader->scratch, sizeof *compiled);
    if (!compiled)
        return NULL;
    compiled->form = &forms[index];
    for (const char *at = forms[index].modifiers; *at != '\0';) {
        uint32_t length = (uint32_t)strcspn(at, " ");
        if (*at == '>')
            compiled->leading = compiled->group_count;
        else if (length > 0 && compiled->group_count < MAX_GROUPS)
            compile_group(reader, at, length, &compiled->groups[compiled->group_count++]);
        at += length;
        at += strspn(at, " ");
    }
    for (const char *at = forms[index].operands; *at != '\0';) {
        uint32_t length = (uint32_t)strcspn(at, " ");
        if (length > 0 && compiled->spec_count < MAX_SPECS)
            compile_spec(reader, at, length, &compiled->specs[compiled->spec_count++]);
        at += length;
        at += strspn(at, " ");
    }
    for (uint32_t g = 0; g < compiled->group_count; g++) {
        compiled->any |= compiled->groups[g].any;
        for (uint32_t w = 0; w < MODIFIER_WORDS; w++)
            compiled->bits[w] |= compiled->groups[g].bits[w];
    }
    dictionary->compiled[index] = compiled;
    return compiled;
}

/* --- Choosing --- */
static bool in_group(const struct form_group *group, uint16_t modifier)
{
    return (group->bits[modifier / 64] >> modifier % 64 & 1) != 0;
}

/* How many modifiers are words of the name? They come first, and in order; NO_INDEX: not so. */
static int leading(const struct form_compiled *compiled, const struct reading *reading)
{
    uint32_t m = 0;
    for (uint32_t g = 0; g < compiled->leading; g++) {
        const struct form_group *group = &compiled->groups[g];
        if (m < reading->modifier_count && in_group(group, reading->modifiers[m]))
            m++;
        else if (!group->optional)
            return NO_INDEX;
    }
    return (int)m;
}

/* Does the form take these modifiers? Those of `ignored` fields are passed over on both sides. */
static bool takes(const struct form_compiled *compiled, const struct reading *reading,
                  uint64_t ignored)
{
    uint32_t used = 0;
    bool any = compiled->any;
    int first = leading(compiled, reading);
    if (first == NO_INDEX)
        return false;
    for (uint32_t m = 0; m < reading->modifier_count && !any && ignored == 0; m++) {
        uint16_t modifier = reading->modifiers[m];
        if ((compiled->bits[modifier / 64] >> modifier % 64 & 1) == 0)
            return false;
    }
    for (uint32_t m = 0; m < reading->modifier_count; m++) {
        uint16_t modifier = reading->modifiers[m];
        bool is_type = modifiers[modifier].field == FIELD(types);
        if ((ignored >> modifiers[modifier].field & 1) != 0)
            continue;
        uint32_t g = (int)m < first ? 0 : compiled->leading;
        for (; g < compiled->group_count; g++) {
            const struct form_group *group = &compiled->groups[g];
            if ((used >> g & 1) != 0 || group->any)
                continue;
            if (modifier != MODIFIER_UNKNOWN && in_group(group, modifier))
                break;
            if (is_type && group->is_type && !any)
                return false;
        }
        if (g < compiled->group_count)
            used |= UINT32_C(1) << g;
        else if (!any)
            return false;
    }
    for (uint32_t g = 0; g < compiled->group_count; g++) {
        const struct form_group *group = &compiled->groups[g];
        if ((used >> g & 1) != 0 || group->optional)
            continue;
        bool passed = false;
        for (uint16_t m = 1; ignored != 0 && m < MODIFIER_COUNT && !passed; m++)
            passed = in_group(group, m) && (ignored >> modifiers[m].field & 1) != 0;
        if (!passed)
            return false;
    }
    return true;
}

const struct form_compiled *form_next(struct parser *parser, const struct reading *reading, int *at,
                                      uint64_t ignored)
{
    const struct reader *reader = parser->reader;
    int index = *at == NO_INDEX ? reading->first_form : *at + 1;
    for (; has_mnemonic(reader->dictionary, index, reading->first_form); index++) {
        const struct form_compiled *compiled = compile(reader, index);
        if (!compiled) {
            parse_no_memory(parser->reader);
            return NULL;
        }
        if (takes(compiled, reading, ignored)) {
            *at = index;
            return compiled;
        }
    }
    return NULL;
}

bool form_find(const struct parser *parser, struct reading *reading)
{
    reading->first_form = find_mnemonic(parser->reader->dictionary, reading->mnemonic);
    return reading->first_form != NO_INDEX;
}

const char *form_lacking(struct parser *parser, const struct reading *reading)
{
    struct dictionary *dictionary = parser->reader->dictionary;
    int first = reading->first_form;
    if (!dictionary->lacking[first])
        return NULL;
    for (int index = first; has_mnemonic(dictionary, index, first); index++) {
        if (!forms[index].reason)
            continue;
        const struct form_compiled *compiled = compile(parser->reader, index);
        if (compiled && takes(compiled, reading, 0))
            return forms[index].reason;
    }
    return NULL;
}

/* Does any form of this mnemonic know the modifier? */
bool form_knows(struct parser *parser, const struct reading *reading, uint16_t modifier)
{
    struct dictionary *dictionary = parser->reader->dictionary;
    int first = reading->first_form;
    for (int index = first; has_mnemonic(dictionary, index, first); index++) {
        const struct form_compiled *compiled = compile(parser->reader, index);
        for (uint32_t g = 0; compiled && g < compiled->group_count; g++)
            if (in_group(&compiled->groups[g], modifier))
                return true;
    }
    return false;
}

/* For the tests of the tables: a modifier or a type that no table has. */
bool form_table_is_sound(struct reader *reader)
{
    for (int i = 0; i < FORM_COUNT; i++) {
        const struct form_compiled *compiled = compile(reader, i);
        if (!compiled)
            return false;
        for (uint32_t g = 0; g < compiled->group_count; g++)
            if ((compiled->groups[g].bits[0] & 1) != 0)
                return false;
    }
    return true;
}
