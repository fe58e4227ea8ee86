/* SPDX-License-Identifier: MIT */
/*
 * `cushim matrix`: runs a program under each simulated release, and each real driver given.
 */
#include "matrix.h"

#include "command.h"
#include "facts.h"
#include "names.h"
#include "output.h"
#include "sim_library.h"

#include <cushim/compat.h>

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_VERSIONS = 256 };

static struct options {
    const char *cuda; /* NULL: all */
    struct option_list drivers, faults;
    const char *junit, *markdown, *profile, *devices;
    bool missing_each, strict, json;
    int timeout; /* seconds */
    struct matrix_plan plan;
} given = {.timeout = 60, .plan = {.degrade = -1}};

struct list {
    struct matrix_case *item;
    size_t count;
};

static const struct option_row option_rows[] = {
    {.name = "cuda",
     .text = &given.cuda,
     .value = "LIST",
     .values = VALUES_SIMULATED,
     .doc = "Simulated CUDA releases, such as 11.2,12.4, or none (default: all there are)"},
    {.name = "drivers",
     .list = &given.drivers,
     .commas = true,
     .value = "LIST",
     .values = VALUES_DRIVERS,
     .doc = "Libraries of real drivers, or branches and versions of drivers (535), whose releases "
            "are simulated; --cuda none leaves out all others"},
    {.name = "devices",
     .text = &given.devices,
     .value = "N",
     .doc = "How many simulated devices, 0 to 64 (default: 1)"},
    {.name = "profile",
     .text = &given.profile,
     .value = "NAME",
     .values = VALUES_PROFILES,
     .doc = "Which simulated device (default: ampere, or the newest that the version knows)"},
    {.name = "fault",
     .list = &given.faults,
     .value = "RULE",
     .values = VALUES_FAULTS,
     .doc = "Inject a fault under each simulated driver, as for 'cushim sim'; may be repeated"},
    {.name = "check",
     .flag = &given.plan.check,
     .text = &given.plan.checks,
     .value = "WHAT",
     .doc = "Fail under a simulated driver also for what 'cushim sim --check' finds: something was "
            "not released, a rule never fired; with race, init or sync, faults of kernels"},
    {.name = "missing-each",
     .flag = &given.missing_each,
     .doc = "Run it under the newest release as well, each time without one of the entries that it "
            "uses there"},
    {.name = "degrade",
     .number = &given.plan.degrade,
     .low = 1,
     .high = 125,
     .value = "CODE",
     .doc = "Exit code by which the program says that it does without the driver, or a part of it; "
            "it counts as success"},
    {.name = "strict",
     .flag = &given.strict,
     .doc = "Exit 1 for a program that called nothing of a simulated driver, too"},
    {.name = "timeout",
     .number = &given.timeout,
     .low = 1,
     .high = 86400,
     .value = "SECONDS",
     .doc = "End it after so long (default: 60)"},
    {.name = "jobs",
     .number = &given.plan.jobs,
     .low = 1,
     .high = MATRIX_JOBS,
     .value = "N",
     .doc = "Run so many at a time (default: one for each processor)"},
    {.name = "junit",
     .text = &given.junit,
     .value = "FILE",
     .values = VALUES_FILES,
     .doc = "Write JUnit XML"},
    {.name = "markdown",
     .text = &given.markdown,
     .value = "FILE",
     .values = VALUES_FILES,
     .doc = "Write a table of Markdown"},
    COMMAND_OPTION_JSON(given.json),
    {0},
};

static struct matrix_case *add(struct list *list)
{
    struct matrix_case *item = realloc(list->item, (list->count + 1) * sizeof *item);

    if (!item)
        output_no_memory();
    list->item = item;
    item += list->count++;
    memset(item, 0, sizeof *item);
    return item;
}

static void add_release(struct list *list, int release)
{
    struct matrix_case *one = add(list);
    char version[VERSION_TEXT_SIZE];

    snprintf(one->cuda, sizeof one->cuda, "%s", version_text(version, release));
    snprintf(one->name, sizeof one->name, "CUDA %s", one->cuda);
}

/* "; near it are 9.1 and 10.0" */
static const char *neighbours(char text[64], const int *versions, int count, int release)
{
    char version[VERSION_TEXT_SIZE], later[VERSION_TEXT_SIZE];

    text[0] = '\0';
    for (int i = 1; i < count; i++) {
        if (versions[i - 1] < release && release < versions[i])
            snprintf(text, 64, "near it are %s and %s; ", version_text(version, versions[i - 1]),
                     version_text(later, versions[i]));
    }
    return text;
}

/* One release; false after saying why there is none. */
static bool add_word(struct list *list, const char *word, const int *versions, int count)
{
    int release = version_parse(word);
    char near[64];

    for (int i = 0; i < count; i++) {
        if (versions[i] != release)
            continue;
        add_release(list, release);
        return true;
    }
    if (strcmp(word, "none") == 0)
        fputs("cushim matrix: --cuda: 'none' stands alone, and simulates no release; run the "
              "program by itself with CUSHIM_LIBCUDA= to see it without a driver\n",
              stderr);
    else
        fprintf(stderr,
                "cushim matrix: --cuda: no simulated CUDA '%s'; %s'cushim sim --list' shows all\n",
                word, neighbours(near, versions, count, release));
    return false;
}

/* The releases asked for, newest first: --missing-each takes what the first run used. */
static int add_releases(struct list *list, const char *asked)
{
    int versions[MOST_VERSIONS], count = sim_versions(versions, MOST_VERSIONS);
    char *words, *rest = NULL;
    int result = COMMAND_OK;

    if (asked && strcmp(asked, "none") == 0)
        return COMMAND_OK;
    if (!asked) {
        for (int i = count; i-- > 0;)
            add_release(list, versions[i]);
        return COMMAND_OK;
    }
    words = strdup(asked);
    if (!words)
        output_no_memory();
    for (char *word = strtok_r(words, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
        if (!add_word(list, word, versions, count))
            result = COMMAND_USAGE;
    }
    free(words);
    return result;
}

/* A driver that is simulated, by its branch or version. */
static bool add_branch(struct list *list, const char *word, const char *version)
{
    int versions[MOST_VERSIONS], count = sim_versions(versions, MOST_VERSIONS);
    int release = facts_driver_release(version);
    char text[VERSION_TEXT_SIZE];

    for (int i = 0; i < count; i++) {
        if (versions[i] != release)
            continue;
        add_release(list, release);
        struct matrix_case *one = &list->item[list->count - 1];
        snprintf(one->name, sizeof one->name, "driver %s, CUDA %s", word,
                 version_text(text, release));
        return true;
    }
    fprintf(stderr, "cushim matrix: --drivers: the release of driver %s is not simulated\n", word);
    return false;
}

static int add_drivers(struct list *list, const struct option_list *paths)
{
    for (size_t i = 0; i < paths->count; i++) {
        const char *path = paths->item[i];
        char version[FACTS_DRIVER_SIZE];
        if (facts_driver_version(path, version)) {
            if (!add_branch(list, path, version))
                return COMMAND_USAGE;
            continue;
        }
        char *real = realpath(path, NULL);
        struct matrix_case *one;
        if (!real) {
            fprintf(stderr, "cushim matrix: --drivers: %s: %s\n", path, strerror(errno));
            return COMMAND_INPUT;
        }
        one = add(list);
        one->driver = real;
        snprintf(one->name, sizeof one->name, "driver %s", path);
    }
    return COMMAND_OK;
}

/* Called for each line of the first run's log. */
static void note_used(void *user, const char *symbol)
{
    struct list *list = user;
    struct matrix_case *one;

    for (size_t i = 0; i < list->count; i++) {
        if (strcmp(list->item[i].missing, symbol) == 0)
            return;
    }
    one = add(list);
    snprintf(one->missing, sizeof one->missing, "%s", symbol);
}

/* The case of the newest simulated release. */
static size_t newest_of(const struct list *list)
{
    size_t newest = 0;

    for (size_t i = 1; i < list->count; i++) {
        if (version_parse(list->item[i].cuda) > version_parse(list->item[newest].cuda))
            newest = i;
    }
    return newest;
}

/* What is only known after a run under that release: each entry that it used, taken away. */
static void add_missing(struct list *list, size_t newest, const struct list *used)
{
    char cuda[sizeof list->item->cuda];

    memcpy(cuda, list->item[newest].cuda, sizeof cuda);
    for (size_t i = 0; i < used->count; i++) {
        struct matrix_case *one = add(list);
        memcpy(one->cuda, cuda, sizeof cuda);
        memcpy(one->missing, used->item[i].missing, sizeof one->missing);
        snprintf(one->name, sizeof one->name, "CUDA %s without %s", cuda, one->missing);
    }
}

static enum output_style end_style(enum matrix_end end)
{
    return end == MATRIX_PASSES ? OUTPUT_GOOD : end <= MATRIX_UNUSED ? OUTPUT_WARNING : OUTPUT_BAD;
}

static void print_text(const struct list *list)
{
    struct output_table table = {.columns = 5};
    size_t counts[MATRIX_NOT_RUN + 1] = {0};
    char words[MATRIX_NAME_SIZE];

    for (size_t i = 0; i < list->count; i++) {
        const struct matrix_case *one = &list->item[i];
        output_table_add(&table, OUTPUT_PLAIN, one->name);
        output_table_add(&table, end_style(one->end), matrix_end_name(one->end));
        output_table_add(&table, OUTPUT_DIM,
                         one->end == MATRIX_PASSES ? "" : matrix_words(one, words));
        output_table_add(&table, OUTPUT_DIM, matrix_call(one));
        output_table_add(&table, OUTPUT_DIM, matrix_last_words(one, words));
        counts[one->end]++;
    }
    output_table_print(&table, "");
    printf("%zu runs:", list->count);
    for (int end = 0; end <= MATRIX_NOT_RUN; end++) {
        if (counts[end] > 0)
            printf(" %zu %s", counts[end], matrix_end_name((enum matrix_end)end));
    }
    putchar('\n');
}

static void print_json(const struct list *list)
{
    json_t *root = json_object(), *runs = json_array();

    for (size_t i = 0; i < list->count; i++) {
        const struct matrix_case *one = &list->item[i];
        json_t *object = json_object();
        output_json_set(object, "name", output_json_text(one->name));
        output_json_set(object, "cuda", one->cuda[0] ? json_string(one->cuda) : json_null());
        output_json_set(object, "driver", output_json_text(one->driver));
        output_json_set(object, "missing",
                        one->missing[0] ? json_string(one->missing) : json_null());
        output_json_set(object, "result", json_string(matrix_end_name(one->end)));
        output_json_set(object, "code", json_integer(one->code));
        output_json_set(object, "seconds", json_real(one->seconds));
        output_json_set(object, "calls", one->calls < 0 ? json_null() : json_integer(one->calls));
        output_json_set(object, "call", one->call[0] ? output_json_text(one->call) : json_null());
        output_json_set(object, "output", output_json_text(one->output));
        output_json_set(object, "errors", output_json_text(one->errors));
        output_json_append(runs, object);
    }
    output_json_set(root, "runs", runs);
    output_json_print(root);
}

static bool write_file(const char *path,
                       void (*write)(FILE *file, const struct matrix_case *cases, size_t count),
                       const struct list *list)
{
    FILE *file;
    bool good;

    if (!path)
        return true;
    file = fopen(path, "we");
    if (file)
        write(file, list->item, list->count);
    good = file && !ferror(file);
    if (file)
        good = fclose(file) == 0 && good;
    if (!good)
        fprintf(stderr, "cushim matrix: %s: %s\n", path, strerror(errno));
    return good;
}

static int run_all(struct options *options, struct list *list)
{
    struct list used = {0};
    size_t before = list->count;
    bool good;

    options->plan.watched = newest_of(list);
    good = matrix_run(&options->plan, list->item, list->count,
                      options->missing_each ? note_used : NULL, &used);

    if (good && options->missing_each) {
        add_missing(list, options->plan.watched, &used);
        good = used.count == 0 ||
               matrix_run(&options->plan, list->item + before, list->count - before, NULL, NULL);
    }
    free(used.item);
    return good ? COMMAND_OK : COMMAND_SYSTEM;
}

static int report(const struct options *options, const struct list *list)
{
    bool written, bad = false, lacks = false;

    for (size_t i = 0; i < list->count; i++) {
        struct matrix_case *one = &list->item[i];
        one->bad = one->end > MATRIX_UNUSED || (options->strict && one->end == MATRIX_UNUSED);
        bad |= one->bad;
        lacks |= one->lacks;
    }
    written = write_file(options->junit, matrix_junit, list);
    written = write_file(options->markdown, matrix_markdown, list) && written;
    if (options->json)
        print_json(list);
    else
        print_text(list);
    if (!written || lacks)
        return COMMAND_SYSTEM;
    return bad ? COMMAND_FAILED : COMMAND_OK;
}

/* The file that a word starts, from malloc; NULL after saying why there is none. */
static char *find_program(const char *word)
{
    const char *search = secure_getenv("PATH");
    char path[PATH_MAX];
    char *found = strchr(word, '/') && access(word, X_OK) == 0 ? realpath(word, NULL) : NULL;

    while (!found && !strchr(word, '/') && search && *search != '\0') {
        size_t length = strcspn(search, ":");
        snprintf(path, sizeof path, "%.*s/%s", (int)length, length > 0 ? search : ".", word);
        if (access(path, X_OK) == 0)
            found = realpath(path, NULL);
        search += length + (search[length] == ':');
    }
    if (!found)
        fprintf(stderr, "cushim matrix: %s: %s\n", word,
                strchr(word, '/') ? strerror(errno) : "no such program in PATH");
    return found;
}

/* Once, before each run refuses the same. */
static bool settings_good(void)
{
    for (size_t i = 0; i < given.faults.count; i++) {
        if (!sim_faults_good(given.faults.item[i]))
            return false;
    }
    return sim_settings_good(NULL, given.devices, given.profile, NULL, NULL, NULL, NULL,
                             given.plan.checks);
}

static int run(const char *title, char **words)
{
    char *program = NULL;
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    struct list list = {0};
    int result;

    (void)title;
    if (given.plan.jobs == 0)
        given.plan.jobs = processors > 0 && processors < MATRIX_JOBS ? (int)processors : 1;
    given.plan.timeout = given.timeout;
    given.plan.faults = given.faults.item;
    given.plan.fault_count = (int)given.faults.count;
    given.plan.program = words;
    given.plan.profile = given.profile;
    given.plan.devices = given.devices;

    if (!settings_good())
        return COMMAND_USAGE;
    result = add_releases(&list, given.cuda);
    if (result == COMMAND_OK && given.missing_each && list.count == 0) {
        fputs("cushim matrix: --missing-each takes a simulated release\n", stderr);
        result = COMMAND_USAGE;
    }
    if (result == COMMAND_OK)
        result = add_drivers(&list, &given.drivers);
    if (result == COMMAND_OK && list.count == 0) {
        fputs("cushim matrix: no driver to run it under\n", stderr);
        result = COMMAND_NO_DRIVER;
    }
    if (result == COMMAND_OK && !(program = find_program(words[0])))
        result = COMMAND_INPUT;
    if (result == COMMAND_OK)
        result = run_all(&given, &list);
    if (result == COMMAND_OK) {
        matrix_missing(program, list.item, list.count);
        result = report(&given, &list);
    }
    free(program);
    for (size_t i = 0; i < list.count; i++)
        free(list.item[i].driver);
    free(list.item);
    return result;
}

const struct command command_matrix = {
    .name = "matrix",
    .summary = "run a program under many drivers, simulated and real",
    .synopsis = "PROGRAM [ARGUMENT...]",
    .doc = "Run a program under each simulated CUDA release and each real driver given, and report "
           "under which it passes, degrades, fails, crashes or hangs, with the first call that "
           "failed. Exits with 0 if it passes or degrades under all, or makes no call.",
    .options = option_rows,
    .least = 1,
    .most = ANY_NUMBER_OF_WORDS,
    .wanted = "no program given",
    .program = true,
    .run = run,
};
