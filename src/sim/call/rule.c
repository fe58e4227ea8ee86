/* SPDX-License-Identifier: MIT */
#include "call/call.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <strings.h>

/* Digits and nothing else in front of *end. */
static bool digits(const char *text, uint64_t *value, char **end)
{
    if (*text < '0' || *text > '9')
        return false;
    errno = 0;
    *value = strtoull(text, end, 10);
    return errno == 0;
}

static bool whole(const char *text, uint64_t most, uint64_t *value)
{
    char *end;
    return digits(text, value, &end) && !*end && *value <= most;
}

/* A code by number, or by name with or without the part that all names of errors have. */
static bool code_of(const struct sim_rule_family *family, const char *text, int *code)
{
    uint64_t value;
    size_t length = strlen(family->error_prefix);
    if (whole(text, INT32_MAX, &value)) {
        *code = (int)value;
        return true;
    }
    for (size_t i = 0; i < *family->error_count; i++) {
        const char *name = family->error_strings + family->errors[i].name;
        if (strcmp(name, text) == 0 || (strncmp(name, family->error_prefix, length) == 0 &&
                                        strcmp(name + length, text) == 0)) {
            *code = (int)family->errors[i].code;
            return true;
        }
    }
    return false;
}

static bool probability_of(const char *text, double *value)
{
    char *end;
    *value = strtod(text, &end);
    return end != text && !*end && *value >= 0 && *value <= 1;
}

/* splitmix64: seeds that are near each other begin sequences that are not. */
static uint64_t mixed(uint64_t seed)
{
    seed += UINT64_C(0x9e3779b97f4a7c15);
    seed = (seed ^ seed >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    seed = (seed ^ seed >> 27) * UINT64_C(0x94d049bb133111eb);
    seed ^= seed >> 31;
    return seed ? seed : 1;
}

struct option {
    unsigned kinds; /* of rules that have it: a bit each */
    const char *name;
    size_t place;         /* of a number in the rule; 0: it is none */
    uint64_t least, most; /* that the number can be */
    const char *range;
};

/* NULL: rules of this kind do not have it. */
static const struct option *option_of(const struct rule *rule, const char *name)
{
    enum { CALL = 1 << RULE_CALL, LOST = 1 << RULE_LOST, MEMORY = 1 << RULE_MEMORY };
    enum { LATE = 1 << RULE_LATE, REORDER = 1 << RULE_REORDER };
#define NUMBER(member, least, most) offsetof(struct rule, member), least, most
#define NONE 0, 0, 0
    static const struct option options[] = {
        {CALL | LOST, "error", NONE, "error is a code from 1 on, or a name such as OUT_OF_MEMORY"},
        {CALL | LOST, "call", NUMBER(call, 1, INT64_MAX), "call is a whole number from 1 on"},
        {CALL | LATE | REORDER, "from", NUMBER(from, 1, INT64_MAX),
         "from is a whole number from 1 on"},
        {REORDER, "before", NUMBER(before, 1, INT64_MAX), "before is a whole number from 1 on"},
        {LATE, "streams", NUMBER(last, 1, 1), "streams is 1"},
        {REORDER, "last", NUMBER(last, 1, 63), "last is a whole number from 1 to 63"},
        {CALL, "every", NUMBER(every, 1, INT64_MAX), "every is a whole number from 1 on"},
        {CALL, "probability", NONE, "probability is a number from 0 to 1"},
        {CALL, "seed", NUMBER(state, 0, INT64_MAX), "seed is a whole number from 0 on"},
        {CALL | LOST, "device", NUMBER(device, 0, 63), "device is a whole number from 0 to 63"},
        {CALL, "slow", NUMBER(slow, 1, 3600000), "slow is a time of 1 to 3600000 milliseconds"},
        {CALL, "after", NONE, "after has no value here"},
        {MEMORY, "after", NONE, "after is a size such as 4096, 16M or 8G"},
    };
    _Static_assert(SIM_MAX_DEVICES == 64, "the row of devices");
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (options[i].kinds >> rule->kind & 1 && strcmp(options[i].name, name) == 0)
            return &options[i];
    return NULL;
}

/* Whether an option that the rule takes has such a value. */
static bool set(const struct sim_rule_family *family, struct rule *rule,
                const struct option *option, const char *value)
{
    uint64_t number;
    if (option->place) {
        if (!whole(value, option->most, &number) || number < option->least)
            return false;
        memcpy((char *)rule + option->place, &number, sizeof number);
        return true;
    }
    if (strcmp(option->name, "error") == 0)
        return code_of(family, value, &rule->error) && rule->error != 0;
    if (strcmp(option->name, "probability") == 0)
        return probability_of(value, &rule->probability);
    return rule->kind == RULE_MEMORY ? sim_config_bytes(value, &rule->bytes)
                                     : (rule->after = !*value);
}

static bool is_symbol(const struct sim_rule_family *family, const char *name)
{
    char text[SIM_RULE_SYMBOL];
    for (size_t i = 0; i < *family->count; i++)
        if (strcmp(family->symbol(i, text), name) == 0)
            return true;
    return false;
}

static bool known(const struct sim_rule_family *family, const char *name)
{
    char text[SIM_RULE_SYMBOL];
    size_t length = strlen(name);
    for (size_t i = 0; i < *family->count; i++)
        if (family->name_length(i) == length && strncmp(family->symbol(i, text), name, length) == 0)
            return true;
    return strcmp(name, family->all) == 0 || is_symbol(family, name);
}

/* Messages about the table's member of a name's first ABI call it NAME_v1, and its symbol is NAME.
 * False: no such name. */
static bool is_first_abi(const struct sim_rule_family *family, char *name)
{
    size_t length = strlen(name);
    if (length < 4 || strcmp(name + length - 3, "_v1") != 0 || is_symbol(family, name))
        return false;
    name[length - 3] = '\0';
    if (is_symbol(family, name))
        return true;
    name[length - 3] = '_';
    return false;
}

unsigned sim_rule_distance(const char *one, const char *other)
{
    unsigned row[128];
    size_t width = strlen(other);
    if (width >= sizeof row / sizeof *row || strlen(one) >= sizeof row / sizeof *row)
        return UINT_MAX;
    for (unsigned i = 0; i <= width; i++)
        row[i] = i;
    for (unsigned y = 1; *one; one++, y++) {
        unsigned corner = row[0];
        row[0] = y;
        for (size_t x = 1; x <= width; x++) {
            unsigned changed =
                corner + (tolower((unsigned char)*one) != tolower((unsigned char)other[x - 1]));
            corner = row[x];
            unsigned shorter = row[x - 1] < row[x] ? row[x - 1] : row[x];
            row[x] = changed < shorter + 1 ? changed : shorter + 1;
        }
    }
    return row[width];
}

/* The entry's name, or exported symbol, that is most like this one; false: none is. */
static bool similar(const struct sim_rule_family *family, const char *name, bool symbols,
                    char found[SIM_RULE_SYMBOL])
{
    unsigned least = (unsigned)strlen(name) / 3 + 1, before = least;
    for (size_t i = 0; i < *family->count; i++) {
        char text[SIM_RULE_SYMBOL], own[SIM_RULE_SYMBOL];
        snprintf(own, sizeof own, "%s", family->symbol(i, text));
        if (!symbols)
            own[family->name_length(i)] = '\0';
        unsigned far = sim_rule_distance(name, own);
        if (far < least) {
            least = far;
            strcpy(found, own);
        }
    }
    return least < before;
}

/* How far names of errors are apart, whatever lines are under them; 0 for the beginning of one. */
static unsigned code_distance(const char *one, const char *other)
{
    char bare[2][SIM_RULE_SYMBOL];
    const char *names[2] = {one, other};
    for (int i = 0; i < 2; i++) {
        size_t length = 0;
        for (const char *c = names[i]; *c && length + 1 < sizeof bare[i]; c++)
            if (*c != '_')
                bare[i][length++] = *c;
        bare[i][length] = '\0';
    }
    bool begins = strlen(bare[0]) > 4 && strncasecmp(bare[0], bare[1], strlen(bare[0])) == 0;
    return begins ? 0 : sim_rule_distance(bare[0], bare[1]);
}

/* The name of an error that is most like this one, with the prefix only if this one has it. */
static const char *similar_code(const struct sim_rule_family *family, const char *name)
{
    const size_t length = strlen(family->error_prefix);
    const bool whole_name = strncmp(name, family->error_prefix, length) == 0;
    unsigned least = (unsigned)strlen(name) / 3 + 1;
    const char *found = NULL;
    for (size_t i = 0; i < *family->error_count; i++) {
        const char *own = family->error_strings + family->errors[i].name;
        if (!whole_name && strncmp(own, family->error_prefix, length) == 0)
            own += length;
        unsigned far = code_distance(name, own);
        if (far < least) {
            least = far;
            found = own;
        }
    }
    return found;
}

/* What a kind of rule takes behind its colon. */
static const char *options_of(const struct rule *rule)
{
    switch (rule->kind) {
    case RULE_CALL:
        return "it takes error=CODE, call=N, from=N, every=N, probability=P, seed=S, device=D, "
               "slow=MS and after";
    case RULE_MEMORY:
        return "it takes after=BYTES";
    case RULE_LOST:
        return "it takes device=D, call=N and error=CODE";
    case RULE_LATE:
        return "it takes from=N and streams=1";
    case RULE_REORDER:
        return "it takes from=N, before=N and last=N";
    default:
        return "it takes nothing";
    }
}

/* The part before the colon: which kind of rule. NULL, or what is wrong with it. */
static const char *head(const struct sim_rule_family *family, struct rule *rule, char *name,
                        char *options)
{
    if (family->driver && strcmp(name, "out-of-memory") == 0) {
        rule->kind = RULE_MEMORY;
    } else if (strcmp(name, "device-lost") == 0) {
        rule->kind = RULE_LOST;
        rule->device = 0;
        rule->error = CUDA_ERROR_UNKNOWN;
    } else if (family->driver && strcmp(name, "wrong-abi") == 0) {
        rule->kind = RULE_WRONG_ABI;
    } else if (family->driver && strcmp(name, "late") == 0) {
        rule->kind = RULE_LATE;
    } else if (family->driver && strcmp(name, "early") == 0) {
        rule->kind = RULE_EARLY;
        rule->from = UINT64_MAX;
    } else if (family->driver && strcmp(name, "reorder") == 0) {
        rule->kind = RULE_REORDER;
    } else if (strcmp(name, "missing") == 0) {
        rule->kind = RULE_MISSING;
        name = options;
    }
    rule->exact = is_first_abi(family, name);
    if (rule->kind == RULE_CALL && !known(family, name))
        return "no entry of that name";
    if (rule->kind == RULE_MISSING && !is_symbol(family, name))
        return "no exported symbol of that name";
    if (strlen(name) >= sizeof rule->name)
        return "too long";
    strcpy(rule->name, name);
    return NULL;
}

/* What is wrong with the rule as a whole; NULL: nothing. */
static const char *lacks(const struct rule *rule, bool after)
{
    if (rule->kind == RULE_MEMORY && !after)
        return "out-of-memory needs after=BYTES";
    if (rule->kind == RULE_CALL && rule->after && rule->error == 0)
        return "after needs error=CODE";
    return NULL;
}

static bool refuse(const char *text, const char *why, char *error, size_t size)
{
    snprintf(error, size, "\"%.200s\": %s", text, why);
    return false;
}

/* With what may have been meant. */
static bool refuse_name(const struct sim_rule_family *family, const char *text, const char *why,
                        const char *name, bool symbols, char *error, size_t size)
{
    char more[300];
    char near[SIM_RULE_SYMBOL];
    bool found = name && similar(family, name, symbols, near);
    snprintf(more, sizeof more, "%s; %s%s%s", why, found ? "did you mean " : "",
             found ? near : family->names, found ? "?" : "");
    return refuse(text, more, error, size);
}

bool sim_rule_entry(const struct sim_rule_family *family, const char *name, char *error,
                    size_t size)
{
    struct sim_rule_family entries = *family;
    entries.names = "names are those of cuda.h";
    return (known(family, name) && strcmp(name, family->all) != 0) ||
           refuse_name(&entries, name, "no entry of that name", name, false, error, size);
}

bool sim_rule_parse(const struct sim_rule_family *family, const char *text, struct rule *rule,
                    char *error, size_t size)
{
    char copy[256], *rest = NULL;
    bool said = false, after = false; /* error= and after= were given */
    *rule = (struct rule){.error = 0, .probability = 1, .device = -1};
    if (strlen(text) >= sizeof copy)
        return refuse(text, "too long", error, size);
    strcpy(copy, text);
    char *options = strchr(copy, ':');
    if (options)
        *options++ = '\0';
    char none[1] = "";
    const char *wrong = head(family, rule, copy, options ? options : none);
    if (wrong)
        return refuse_name(family, text, wrong, rule->kind == RULE_MISSING ? options : copy,
                           rule->kind == RULE_MISSING, error, size);
    strcpy(rule->text, text);
    if (rule->kind == RULE_MISSING)
        return true;
    for (char *name = options ? strtok_r(options, ",", &rest) : NULL; name;
         name = strtok_r(NULL, ",", &rest)) {
        char *value = strchr(name, '='), why[400];
        if (value)
            *value++ = '\0';
        said |= strcmp(name, "error") == 0;
        after |= strcmp(name, "after") == 0;
        const struct option *option = option_of(rule, name);
        if (!option || !set(family, rule, option, value ? value : "")) {
            const char *near =
                option && value && strcmp(name, "error") == 0 ? similar_code(family, value) : NULL;
            if (near) {
                snprintf(why, sizeof why, "no error is called %s; did you mean %s?", value, near);
                return refuse(text, why, error, size);
            }
            snprintf(why, sizeof why, "cannot use %s%s%s; %s", name, value ? "=" : "",
                     value ? value : "", option ? option->range : options_of(rule));
            return refuse(text, why, error, size);
        }
    }
    rule->state = mixed(rule->state); /* it was the seed */
    if (rule->kind == RULE_CALL && !said && !rule->slow)
        rule->error = CUDA_ERROR_UNKNOWN;
    wrong = lacks(rule, after);
    return wrong ? refuse(text, wrong, error, size) : true;
}

/* xorshift64*: the same sequence of decisions for the same seed, on every machine. */
static double random_of(struct rule *rule)
{
    rule->state ^= rule->state >> 12;
    rule->state ^= rule->state << 25;
    rule->state ^= rule->state >> 27;
    return (double)(rule->state * UINT64_C(2685821657736338717) >> 11) / 9007199254740992.0;
}

bool sim_rule_names(const struct rule *rule, const char *symbol, size_t name_length)
{
    return (!rule->exact && strlen(rule->name) == name_length &&
            strncmp(rule->name, symbol, name_length) == 0) ||
           strcmp(rule->name, symbol) == 0;
}

bool sim_rule_count(struct rule *rule)
{
    rule->seen++;
    if ((rule->call && rule->seen != rule->call) || rule->seen < rule->from ||
        (rule->every && rule->seen % rule->every != 0))
        return false;
    return rule->probability >= 1 || random_of(rule) < rule->probability;
}
