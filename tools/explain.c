/* SPDX-License-Identifier: MIT */
/*
 * `cushim explain`: what an error means, who causes it, and what to check.
 */
#include "causes.h"
#include "command.h"
#include "known.h"
#include "output.h"
#include "sentences.h"

#include <cushim/cushim.h>

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
    TEXT_SIZE = 4096,
    LAST_CODE = 999,
    LEAST_ALONE = 100,
    NO_CODE = -1,
    MOST_FOUND = 16,
    NAME_SIZE = 80,
    MOST_CHANGES = 2,
    WIDTH = 100
};

static bool json;

static const struct option_row option_rows[] = {
    COMMAND_OPTION_JSON(json),
    {0},
};

/* What is known of a code. */
struct known {
    int code;
    const char *name, *text;
    const struct causes_row *causes; /* NULL: none */
};

static const struct causes_row *causes_of(int code)
{
    for (size_t i = 0; i < causes_count; i++) {
        if (causes_rows[i].code == code)
            return &causes_rows[i];
    }
    return NULL;
}

static bool find_code(int code, struct known *known)
{
    *known = (struct known){.code = code,
                            .name = cushim_error_name((CUresult)code),
                            .text = cushim_error_string((CUresult)code),
                            .causes = causes_of(code)};
    if (!known->name && known->causes) { /* the runtime's alone */
        known->name = known->causes->name;
        known->text = known->causes->text;
    }
    return known->name;
}

/* Whether a word of the text is this name; "CUDA_ERROR_" may be left out where it is the text. */
static bool has_name(const char *text, const char *name)
{
    static const char prefix[] = "CUDA_ERROR_";
    size_t length = strlen(name);

    if (strcasecmp(text, name) == 0 || (strncmp(name, prefix, sizeof prefix - 1) == 0 &&
                                        strcasecmp(text, name + sizeof prefix - 1) == 0))
        return true;
    for (const char *at = text; (at = strcasestr(at, name)); at++) {
        char before = at > text ? at[-1] : ' ', after = at[length];
        if (!isalnum((unsigned char)before) && before != '_' && !isalnum((unsigned char)after) &&
            after != '_')
            return true;
    }
    return false;
}

static bool has_phrase(const char *text, const struct causes_row *row)
{
    for (size_t i = 0; i < CAUSES_PHRASES && row->phrase[i]; i++) {
        if (strcasestr(text, row->phrase[i]))
            return true;
    }
    return false;
}

/* Words of other programs, whose codes are others. */
static bool is_foreign(const char *text)
{
    static const char *const words[] = {"nvrtc: ", "killed process", "http status"};

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strcasestr(text, words[i]))
            return true;
    }
    return strcasestr(text, "nvidia-container") ||
           (strcasestr(text, "nvml") && !strcasestr(text, "cuda"));
}

/* Small numbers are everybody's: the exit codes of programs, the system's errors. */
static bool is_about_cuda(const char *text)
{
    static const char *const words[] = {"cuda", "gpu", "driver", "nvidia", "CUresult"};

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strcasestr(text, words[i]))
            return true;
    }
    for (const char *at = text; (at = strstr(at, "cu")); at++) {
        if (isupper((unsigned char)at[2]))
            return true;
    }
    return false;
}

static bool is_letter(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

struct word {
    const char *at;
    size_t length; /* 0: there is none */
};

/* Whether a word is one of a list, which NULL ends. */
static bool is_one(struct word word, const char *const *list)
{
    for (; *list; list++) {
        if (strlen(*list) == word.length && strncasecmp(word.at, *list, word.length) == 0)
            return true;
    }
    return false;
}

/* "3 errors", "2 GB", "12.4", "17:5", "35x": a count, a version, a place, a part of a word. */
static bool is_counted(const char *end)
{
    static const char *const counted[] = {"error", "file", "line", "test", "time", "byte",
                                          "of",    "exit", "kb",   "mb",   "gb",   "kib",
                                          "mib",   "gib",  "ms",   "us",   "s",    NULL};
    struct word word = {.at = end + strspn(end, " ")};

    while (isalpha((unsigned char)word.at[word.length]))
        word.length++;
    if (is_letter(*end) || *end == '%' ||
        (*end && strchr(".,:/-", *end) && isdigit((unsigned char)end[1])))
        return true;
    return is_one(word, counted) || (word.length > 3 && word.at[word.length - 1] == 's');
}

/* The word before a place of a line. What stands in parentheses is left out: a call's arguments. */
static struct word word_before(const char *text, const char *at)
{
    size_t depth = 0;

    for (; at > text && (depth > 0 || !is_letter(at[-1])); at--) {
        depth += at[-1] == ')';
        depth -= at[-1] == '(' && depth > 0;
        if (at[-1] == '\n' || at[-1] == ';')
            return (struct word){0};
    }
    const char *end = at;
    while (at > text && is_letter(at[-1]))
        at--;
    return (struct word){at, (size_t)(end - at)};
}

/* The same, without "with" and the like. */
static struct word saying_before(const char *text, const char *at)
{
    static const char *const skipped[] = {"with", "is", "was", "value", NULL};
    struct word word = word_before(text, at);

    while (word.length > 0 && is_one(word, skipped))
        word = word_before(text, word.at);
    return word;
}

/* "error", and a word that ends with it: cudaError, CUDA_ERROR. */
static bool is_named_error(struct word word)
{
    static const char *const ends[] = {"error", "error_t", "code", "status", "result"};

    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        size_t length = strlen(ends[i]);
        if (word.length < length)
            continue;
        const char *end = word.at + word.length - length;
        if (strncasecmp(end, ends[i], length) == 0 &&
            (word.length == length || !islower((unsigned char)end[-1]) ||
             isupper((unsigned char)*end)))
            return true;
    }
    return false;
}

/* Whether what stands before a number says that it is an error's: "failed with", "cuInit ->". */
static bool is_said_before(const char *text, const char *digits)
{
    static const char *const says[] = {"rc",       "failed",  "fails", "failure",
                                       "returned", "returns", NULL};
    const bool part = digits > text && digits[-1] == '_',
               given = digits > text && digits[-1] == '(';
    struct word word = saying_before(text, digits);

    while (part && word.length > 0 && word.at[word.length - 1] == '_')
        word.length--; /* CUDA_ERROR_222 */
    if (word.length == 0)
        return false;
    if (is_named_error(word) || is_one(word, says)) {
        struct word before = saying_before(text, word.at);
        return strncasecmp(word.at, "exit", 4) != 0 &&
               (before.length == 0 || strncasecmp(before.at, "exit", 4) != 0);
    }
    if (word.length == 4 && strncasecmp(word.at, "cuda", 4) == 0) /* CUDA 12 is a release */
        return !part && strtol(digits, NULL, 10) >= LEAST_ALONE;
    return !part && !given && strncmp(word.at, "cu", 2) == 0 &&
           (isupper((unsigned char)word.at[2]) || strncmp(word.at, "cuda", 4) == 0);
}

/* "[804] Call to cuInit results in" */
static bool is_numbas(const char *digits, size_t length)
{
    return strncmp(digits + length, "] Call to cu", strlen("] Call to cu")) == 0;
}

/* The first number that is an error's. */
static int number_in(const char *text)
{
    struct known known;

    for (const char *at = text; *at;) {
        size_t length = strspn(at, "0123456789");
        char before = at > text ? at[-1] : ' ';
        long number = strtol(at, NULL, 10);
        if (length > 0 && length <= 3 && !isalnum((unsigned char)before) &&
            !strchr("-./", before) && (number >= LEAST_ALONE || is_about_cuda(text)) &&
            !is_counted(at + length) && (is_said_before(text, at) || is_numbas(at, length)) &&
            find_code((int)number, &known))
            return (int)number;
        at += length > 0 ? length : 1;
    }
    return NO_CODE;
}

/* The codes of a text that is nothing but numbers; how many. */
static size_t find_numbers(const char *text, struct known found[MOST_FOUND])
{
    size_t count = 0;

    while (*text && count < MOST_FOUND) {
        char *end;
        long number = strtol(text, &end, 10);
        if (end == text || number < 0 || number > LAST_CODE || (*end && !strchr(", ", *end)) ||
            !find_code((int)number, &found[count++]))
            return 0;
        text = end + strspn(end, ", ");
    }
    return count;
}

/* What a text is about, the surest first; how many. */
static size_t find(const char *text, struct known found[MOST_FOUND])
{
    size_t count = find_numbers(text, found);
    const bool foreign = is_foreign(text);
    int number = foreign ? NO_CODE : number_in(text);

    if (count > 0)
        return count;
    for (int code = 0; code <= LAST_CODE && count < MOST_FOUND; code++) {
        struct known *one = &found[count];
        if (find_code(code, one) &&
            (has_name(text, one->name) || (one->causes && has_name(text, one->causes->runtime))))
            count++;
    }
    for (size_t i = 0; i < causes_count && count == 0 && !foreign; i++) {
        if (has_phrase(text, &causes_rows[i]))
            count += find_code(causes_rows[i].code, &found[count]);
    }
    if (count == 0 && number != NO_CODE)
        count += find_code(number, &found[0]);
    return count;
}

static void put_field(const char *name, enum output_style style, const char *text)
{
    output_field_folded(name, style, text, WIDTH);
}

static void print_known(const struct known *known)
{
    char text[TEXT_SIZE];

    snprintf(text, sizeof text, "%d %s", known->code, known->name);
    output_text(OUTPUT_TITLE, text);
    if (known->causes && strcmp(known->causes->runtime, known->name) != 0)
        printf(", of the runtime %s", known->causes->runtime);
    putchar('\n');
    put_field("means", OUTPUT_PLAIN, known->text);
    if (!known->causes)
        return;
    put_field("caused by", OUTPUT_PLAIN, known->causes->who);
    for (size_t i = 0; i < CAUSES_MOST && known->causes->cause[i].cause; i++) {
        put_field("cause", OUTPUT_PLAIN, known->causes->cause[i].cause);
        put_field("  check", OUTPUT_GOOD, known->causes->cause[i].check);
    }
}

static json_t *known_json(const struct known *known)
{
    json_t *object = json_object(), *causes = json_array();

    output_json_set(object, "code", json_integer(known->code));
    output_json_set(object, "name", json_string(known->name));
    output_json_set(object, "runtime",
                    output_json_text(known->causes ? known->causes->runtime : NULL));
    output_json_set(object, "means", json_string(known->text));
    output_json_set(object, "who", output_json_text(known->causes ? known->causes->who : NULL));
    for (size_t i = 0; known->causes && i < CAUSES_MOST && known->causes->cause[i].cause; i++) {
        json_t *cause = json_object();
        output_json_set(cause, "cause", json_string(known->causes->cause[i].cause));
        output_json_set(cause, "check", json_string(known->causes->cause[i].check));
        output_json_append(causes, cause);
    }
    output_json_set(object, "causes", causes);
    return object;
}

static json_t *sentence_json(const struct sentences_row *row)
{
    json_t *object = json_object();

    output_json_set(object, "text", json_string(row->sentence));
    output_json_set(object, "cure", json_string(row->cure));
    return object;
}

/* Whether a sentence is no more than words by which a code was found, or that another program's
 * message has. */
static bool is_said(const struct sentences_row *row, const char *text, const struct known found[],
                    size_t count)
{
    for (size_t i = 0; i < causes_count; i++) {
        const struct causes_row *causes = &causes_rows[i];
        bool meant = is_foreign(text);
        for (size_t k = 0; k < count; k++)
            meant |= found[k].causes == causes;
        for (size_t k = 0; meant && k < CAUSES_PHRASES && causes->phrase[k]; k++) {
            if (strcasestr(text, causes->phrase[k]) &&
                sentences_within(causes->phrase[k], row->sentence))
                return true;
        }
    }
    return false;
}

/* The sentence that cushim prints, with its cure; without one and without a code, those that the
 * text is a part of. How many. */
static size_t print_sentences(const char *text, const struct known found[], size_t codes,
                              json_t *root)
{
    const struct sentences_row *row = sentences_find(text), *near[SENTENCES_NEAR];
    row = row && is_said(row, text, found, codes) ? NULL : row;
    near[0] = row;
    size_t count = row ? 1 : codes == 0 ? sentences_near(text, near) : 0;
    json_t *parts = root ? json_array() : NULL;

    for (size_t i = 0; i < count; i++) {
        if (root && !row)
            output_json_append(parts, sentence_json(near[i]));
        if (root)
            continue;
        output_text(OUTPUT_TITLE, near[i]->sentence);
        putchar('\n');
        put_field("cure", OUTPUT_GOOD, near[i]->cure);
    }
    if (root) {
        output_json_set(root, "sentence", row ? sentence_json(row) : json_null());
        output_json_set(root, "near", parts);
    }
    return count;
}

/* Takes a name if it is nearer to the word than what was found before. */
static void take_nearer(const char *word, const char *name, size_t skipped, const char **near,
                        size_t *least)
{
    size_t changes = known_distance(word, name + skipped);

    if (changes < *least) {
        *least = changes;
        *near = name;
    }
}

/* The nearest name or words of an error, which a word may have meant; NULL: none is near. */
static const char *nearest(const char *word)
{
    static const char prefix[] = "CUDA_ERROR_";
    const char *near = NULL;
    size_t least = MOST_CHANGES + 1;

    if (strlen(word) >= NAME_SIZE)
        return NULL;
    for (int code = 1; code <= LAST_CODE; code++) {
        const char *name = cushim_error_name((CUresult)code);
        if (!name || strlen(name) >= NAME_SIZE)
            continue;
        take_nearer(word, name, 0, &near, &least);
        take_nearer(word, name, sizeof prefix - 1, &near, &least);
    }
    for (size_t i = 0; i < causes_count; i++) {
        take_nearer(word, causes_rows[i].runtime, 0, &near, &least);
        for (size_t k = 0; k < CAUSES_PHRASES && causes_rows[i].phrase[k]; k++)
            take_nearer(word, causes_rows[i].phrase[k], 0, &near, &least);
    }
    return near;
}

static void tell_unknown(const char *title, const char *text)
{
    size_t index = known_symbol(text);
    const char *near = nearest(text);

    if (index == KNOWN_NONE)
        index = known_newest(text, CUSHIM_STREAM_LEGACY, INT_MAX);
    if (is_foreign(text))
        fprintf(
            stderr,
            "%s: these are words of another program, whose errors are not the driver's, and they "
            "are not known\n",
            title);
    else if (index != KNOWN_NONE)
        fprintf(stderr,
                "%s: %s is an entry of the driver: give the error that it returned, or see "
                "'cushim symbols --name %s'\n",
                title, text, text);
    else if (near)
        fprintf(stderr, "%s: no error is known by this text; did you mean %s?\n", title, near);
    else
        fprintf(stderr,
                "%s: no error is known by this text; give its number or its name, or see what '%s' "
                "lists\n",
                title, title);
}

static int explain(const char *title, const char *text)
{
    static struct known found[MOST_FOUND];
    size_t count = find(text, found);
    json_t *root = json ? json_object() : NULL, *errors = json ? json_array() : NULL;

    for (size_t i = 0; i < count; i++) {
        if (json)
            output_json_append(errors, known_json(&found[i]));
        else
            print_known(&found[i]);
    }
    if (json)
        output_json_set(root, "errors", errors);
    size_t sentences = print_sentences(text, found, count, root);
    if (json)
        output_json_print(root);
    if (count > 0 || sentences > 0)
        return COMMAND_OK;
    tell_unknown(title, text);
    return COMMAND_FAILED;
}

static void list_all(void)
{
    struct output_table table = {.columns = 3};
    json_t *root = json ? json_object() : NULL, *errors = json ? json_array() : NULL;

    for (int code = 1; code <= LAST_CODE; code++) {
        struct known known;
        char number[16];
        if (!find_code(code, &known))
            continue;
        if (json) {
            output_json_append(errors, known_json(&known));
            continue;
        }
        snprintf(number, sizeof number, "%d", code);
        output_table_add(&table, OUTPUT_PLAIN, number);
        output_table_add(&table, known.causes ? OUTPUT_TITLE : OUTPUT_PLAIN, known.name);
        output_table_add(&table, OUTPUT_DIM, known.text);
    }
    if (json) {
        output_json_set(root, "errors", errors);
        output_json_print(root);
    } else {
        output_table_print(&table, "");
    }
}

/* A pasted line may be folded: a space in place of each break and what it is indented by. */
static void unfold(char *text)
{
    char *to = text;

    for (const char *at = text; *at;) {
        size_t spaces = strspn(at, " \t\r\n");
        bool folded = strcspn(at, "\n") < spaces;
        if (folded)
            *to++ = ' ';
        for (size_t i = folded ? spaces : 0; i < (spaces ? spaces : 1); i++)
            *to++ = at[i];
        at += spaces ? spaces : 1;
    }
    *to = '\0';
}

/* A row of `cushim matrix` and a kernel's fault name the cause first: what follows came of it.
 * Returns where it begins. */
static const char *leave_cause(char *text)
{
    static const char *const after[] = {"; every later call for this device fails",
                                        "; the checks of kernels found"};
    static const char *const causes[] = {"nothing orders them",         "was waited for too late",
                                         "was not waited for",          "the host changed what",
                                         ", the program went on with ", "exit code 0 though "};
    char *first = NULL;

    for (size_t i = 0; i < sizeof causes / sizeof causes[0]; i++) {
        char *at = strstr(text, causes[i]);
        first = at && (!first || at < first) ? at : first;
    }
    char *kernel = strstr(text, "', block (") ? strstr(text, "kernel '") : NULL;
    char *end = first ? strstr(first, "; ") : NULL;
    for (size_t i = 0; i < sizeof after / sizeof after[0] && !end && kernel; i++)
        end = strstr(kernel, after[i]);
    if (end)
        *end = '\0';
    return kernel && !first ? kernel : text;
}

static int run(const char *title, char **words)
{
    static char text[TEXT_SIZE];
    size_t length = 0;

    if (!words[0]) {
        list_all();
        return COMMAND_OK;
    }
    for (size_t i = 0; words[i] && length < sizeof text; i++)
        length += (size_t)snprintf(text + length, sizeof text - length, "%s%s", i > 0 ? " " : "",
                                   words[i]);
    unfold(text);
    return explain(title, leave_cause(text));
}

const struct command command_explain = {
    .name = "explain",
    .summary = "what an error means, who causes it, and what to check",
    .synopsis = "[CODE|NAME|MESSAGE...]",
    .doc = "Explain an error of CUDA by its number, its name in the driver or the runtime, or a "
           "message in which one of them or known words stand, or a sentence that cushim printed. "
           "Without words, list all errors.",
    .options = option_rows,
    .most = ANY_NUMBER_OF_WORDS,
    .values = VALUES_ERRORS,
    .run = run,
};
