/* SPDX-License-Identifier: MIT */
/*
 * `cushim scan`: what programs need of the CUDA driver, and on which GPUs their code runs.
 */
#include "command.h"
#include "facts_file.h"
#include "mapped.h"
#include "output.h"
#include "scan_code.h"
#include "scan_output.h"
#include "scan_python.h"
#include "scan_report.h"
#include "scan_sources.h"
#include "scan_table.h"
#include "scan_text.h"

#include <errno.h>
#include <fts.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_CAPABILITIES = 16, MOST_SUFFIXES = 16, SUFFIX_SIZE = 12 };

static struct options {
    struct option_list drivers, gpus, defines;
    struct scan_options report;
    const char *junit, *markdown, *sarif;
    bool json, github, summary, dropin;
} given;

/* A run over all files. */
struct run {
    const struct options *options;
    const char *command;
    struct scan_file all;
    struct scan_table table;
    json_t *files, *python, *problems; /* NULL: text */
    struct scan_sources sources;
    size_t source_count; /* that have a call */
    struct scan_findings findings;
    size_t other_count; /* of files that are neither program nor source */
    char others[MOST_SUFFIXES][SUFFIX_SIZE];
    size_t python_count; /* of files of Python text that name the driver */
    size_t count;        /* of programs that use the driver, or have device code */
    bool blind;          /* a verdict is unknown since the file of a program shows no guard */
    bool failed;
    bool unwritten;   /* a file that was asked for */
    const char *path; /* that is read */
    bool named;       /* the file that is read was, on the command line */
};

static const struct option_row option_rows[] = {
    {.name = "drivers",
     .list = &given.drivers,
     .commas = true,
     .value = "LIST",
     .values = VALUES_DRIVERS,
     .doc = "Judge with these drivers: branches (535), versions (550.163.01), CUDA releases (12.4) "
            "or paths of libraries; exit 1 for what certainly fails"},
    {.name = "gpus",
     .list = &given.gpus,
     .commas = true,
     .value = "LIST",
     .values = VALUES_GPUS,
     .doc = "Judge on these GPUs: compute capabilities (9.0), architectures (maxwell) or names "
            "(H100); exit 1 for what certainly fails"},
    {.name = "define",
     .list = &given.defines,
     .value = "NAME=VALUE",
     .doc = "Read sources as the compiler does with -D: the release CUSHIM_CUDA_VERSION, and "
            "names of releases in cushim_require"},
    {.name = "dropin",
     .flag = &given.dropin,
     .doc = "Take the names of entries in sources for calls, as those of cushim's drop-in are"},
    FACTS_OPTION,
    {.name = "explain", .flag = &given.report.explain, .doc = "Give each verdict's reason and fix"},
    {.name = "strict", .flag = &given.report.strict, .doc = "Exit 1 for what is not known, too"},
    {.name = "entries", .flag = &given.report.entries, .doc = "List each entry"},
    {.name = "summary",
     .flag = &given.summary,
     .doc = "Print all files together alone; of sources also each call without guard"},
    {.name = "junit",
     .text = &given.junit,
     .value = "FILE",
     .values = VALUES_FILES,
     .doc = "Write the verdicts as JUnit's XML, too"},
    {.name = "markdown",
     .text = &given.markdown,
     .value = "FILE",
     .values = VALUES_FILES,
     .doc = "Write them as a Markdown table, too"},
    {.name = "sarif",
     .text = &given.sarif,
     .value = "FILE",
     .values = VALUES_FILES,
     .doc = "Write them as SARIF 2.1.0, too"},
    {.name = "github",
     .flag = &given.github,
     .doc = "Print them as annotations of a GitHub workflow, too"},
    COMMAND_OPTION_JSON(given.json),
    {0},
};

static bool is_of_interest(const struct scan_file *file)
{
    if (file->links || file->cushim || file->code_count > 0 || file->unknown_count > 0 ||
        file->runtime.release > 0 || file->runtime.inside || file->unread > 0)
        return true;
    for (size_t i = 0; i < CUSHIM_ENTRY_COUNT; i++) {
        if (file->how[i] != 0)
            return true;
    }
    return false;
}

/* Sources may show that a call of what the driver lacks is behind a guard. */
static bool is_blind(const struct run *run, const struct verdict *verdicts)
{
    for (size_t i = 0; verdicts && i < scan_table_cells(&run->options->report); i++) {
        if (strcmp(verdicts[i].rule, "through-cushim") == 0 ||
            strcmp(verdicts[i].rule, "object-entry") == 0)
            return true;
    }
    return false;
}

static void visit(void *user, struct scan_file *file)
{
    struct run *run = user;

    if (!is_of_interest(file)) {
        if (run->named && !run->files && strcmp(file->name, run->path) == 0)
            printf("%s: %s: %s\n", file->name, file->format,
                   file->table ? "uses cushim's table, whose calls a file does not show; give its "
                                 "sources to scan"
                               : "nothing of the CUDA driver");
        return;
    }
    run->count++;
    scan_code_sort(file);
    scan_file_merge(&run->all, file);
    const struct verdict *verdicts = scan_table_add(&run->table, file);
    run->blind |= is_blind(run, verdicts);
    if (run->files)
        output_json_append(run->files, scan_json(file, &run->options->report, verdicts));
    else if (!run->options->summary)
        scan_print(file, &run->options->report, verdicts);
}

/* What was not read, and why. Names in wheels are anybody's: control characters become '?'. */
static void tell(const struct run *run, const char *path, const char *problem)
{
    if (run->problems) {
        json_t *object = json_object();
        output_json_set(object, "file", output_json_text(path));
        output_json_set(object, "problem", output_json_text(problem));
        output_json_append(run->problems, object);
        return;
    }
    fflush(stdout);
    fprintf(stderr, "%s: ", run->command);
    for (const char *c = path; *c != '\0'; c++)
        fputc((unsigned char)*c < ' ' || *c == '\x7f' ? '?' : *c, stderr);
    fprintf(stderr, ": %s\n", problem);
}

static void complain(struct run *run, const char *path, const char *problem)
{
    run->failed = true;
    tell(run, path, problem);
}

/* A file in a folder may be of any kind, and a damaged one is passed over; one that was named
 * should be a program. */
static void skip(void *user, const char *path, const char *problem)
{
    struct run *run = user;

    run->failed |= run->named;
    tell(run, path, problem);
}

/* Python text that names the driver. It is not read, and without a word its wheel looks harmless.
 */
static void note_python(void *user, const char *path)
{
    struct run *run = user;

    run->python_count++;
    if (run->python)
        output_json_append(run->python, output_json_text(path));
}

/* In a folder, a source without a call is passed over. */
static void scan_text(struct run *run, const char *path, const struct mapped *mapped)
{
    bool own = scan_text_is_own(mapped->data, mapped->size);

    if (scan_text_is_wide(mapped->data, mapped->size)) {
        const char *problem = "UTF-16, which is not read: convert it to UTF-8";
        skip(run, path, problem);
        return;
    }
    const struct scan_source_text text = {mapped->data, own ? 0 : mapped->size, run->sources.count,
                                          scan_text_is_header(path)};
    struct scan_source source =
        scan_source_read(&text, &run->options->defines, &run->sources.shared);
    source.own = own;
    source.named = run->named && !own;
    if (own && run->named && !run->files)
        printf("%s: cushim's own\n", path);
    scan_sources_add(&run->sources, &source, path);
}

static void judge_sources(struct run *run)
{
    scan_sources_share(&run->sources, &run->options->defines);
    scan_sources_judge(&run->sources);
    for (size_t i = 0; i < run->sources.count; i++) {
        const struct scan_source *source = &run->sources.item[i];
        run->source_count += scan_sources_uses(source);
        if (source->count == 0 && source->named && !run->files)
            printf("%s: no call through cushim's table%s\n", source->name,
                   source->includes_cushim ? "; its helpers and owners need no guard" : "");
    }
}

/* A file in a folder that is neither a program nor a source: its suffix may be one of a source that
 * this command does not know. */
static void note_other(struct run *run, const char *path)
{
    const char *name = strrchr(path, '/'), *suffix = strrchr(name ? name : path, '.');

    run->other_count++;
    for (size_t i = 0; suffix && strlen(suffix) < SUFFIX_SIZE && i < MOST_SUFFIXES; i++) {
        if (strcmp(run->others[i], suffix) == 0)
            return;
        if (run->others[i][0] != '\0')
            continue;
        strcpy(run->others[i], suffix);
        return;
    }
}

static int compare_suffixes(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* Of a folder of programs nobody asks it. */
static void print_others(struct run *run)
{
    size_t count = 0;

    if (run->other_count == 0 || run->source_count == 0)
        return;
    printf("not read: %zu file%s that %s neither program nor C or C++ source", run->other_count,
           output_plural(run->other_count), run->other_count == 1 ? "is" : "are");
    while (count < MOST_SUFFIXES && run->others[count][0] != '\0')
        count++;
    qsort(run->others, count, SUFFIX_SIZE, compare_suffixes);
    for (size_t i = 0; i < count; i++)
        printf("%s%s", i == 0 ? ": " : ", ", run->others[i]);
    printf("\n");
}

static void scan_path(struct run *run, const char *path, const char *file, bool named)
{
    const struct scan_sink sink = {run, visit, skip, note_python, false};
    struct mapped mapped;
    const char *problem = "";

    run->named = named;
    run->path = path;
    if (!mapped_open(&mapped, file, &problem)) {
        complain(run, path, problem);
        return;
    }
    if (scan_text_is_source(path)) {
        scan_text(run, path, &mapped);
        mapped_close(&mapped);
        return;
    }
    enum scan_result result = scan_bytes(path, mapped.data, mapped.size, &sink, &problem);
    if (result == SCAN_OTHER && scan_python_is(path) && scan_python_names(mapped.data, mapped.size))
        note_python(run, path);
    else if (result == SCAN_OTHER && !named)
        note_other(run, path);
    if (result == SCAN_DAMAGED || (result == SCAN_OTHER && named))
        skip(run, path, problem);
    mapped_close(&mapped);
}

static int by_name(const FTSENT **a, const FTSENT **b)
{
    return strcmp((*a)->fts_name, (*b)->fts_name);
}

/* Links are followed where they were named, and not within a folder: so none leads in a circle. */
static void walk(struct run *run, char *path)
{
    char *paths[] = {path, NULL};
    FTS *tree = fts_open(paths, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR, by_name);
    FTSENT *entry;

    if (!tree)
        output_no_memory();
    while ((entry = fts_read(tree))) {
        bool named = entry->fts_level == FTS_ROOTLEVEL;
        switch (entry->fts_info) {
        case FTS_F:
            scan_path(run, entry->fts_path, entry->fts_accpath, named);
            break;
        case FTS_DNR:
        case FTS_ERR:
        case FTS_NS:
            complain(run, entry->fts_path, strerror(entry->fts_errno));
            break;
        case FTS_DC:
            complain(run, entry->fts_path, "a folder within itself");
            break;
        case FTS_SLNONE:
            complain(run, entry->fts_path, "a link that leads nowhere");
            break;
        case FTS_DEFAULT:
            if (named)
                complain(run, entry->fts_path, "not a regular file");
            break;
        default: /* folders, and links within them */
            break;
        }
    }
    fts_close(tree);
}

static bool write_file(const char *path, scan_writer *write, const struct scan_outcome *outcome)
{
    FILE *file = path ? fopen(path, "we") : NULL;
    bool good;

    if (!path)
        return true;
    if (file)
        write(file, outcome);
    good = file && !ferror(file);
    if (file)
        good = fclose(file) == 0 && good;
    if (!good)
        fprintf(stderr, "cushim scan: %s: %s\n", path, strerror(errno));
    return good;
}

static bool write_files(const struct options *options, const struct scan_outcome *outcome)
{
    bool good = write_file(options->junit, scan_output_junit, outcome);

    good = write_file(options->markdown, scan_output_markdown, outcome) && good;
    good = write_file(options->sarif, scan_output_sarif, outcome) && good;
    if (options->github)
        scan_output_github(options->json ? stderr : stdout, outcome);
    return good;
}

/* The worst verdict on all files together. */
static enum verdict_answer finish(struct run *run)
{
    const struct scan_options *options = &run->options->report;
    bool nothing = run->count == 0 && run->source_count == 0;
    enum verdict_answer worst = nothing ? VERDICT_UNKNOWN : VERDICT_RUNS;
    struct verdict *verdicts = NULL;
    const char **deciding = NULL;
    char name[64];

    if (!run->files)
        scan_sources_print(&run->sources);
    snprintf(name, sizeof name, "all %zu file%s", run->count, output_plural(run->count));
    snprintf(run->all.format, sizeof run->all.format, "together");
    run->all.name = name;
    scan_code_sort(&run->all);
    run->all.runtime = (struct scan_runtime){0}; /* each has its own */
    if (options->driver_count + options->gpu_count > 0 && (run->count > 0 || nothing))
        verdicts = scan_table_all(&run->table, &deciding);
    for (size_t i = 0; verdicts && i < scan_table_cells(options); i++)
        worst = verdicts[i].answer > worst ? verdicts[i].answer : worst;
    if (run->files) {
        json_t *root = json_object();
        output_json_set(root, "drivers", scan_drivers_json(options));
        output_json_set(root, "gpus", scan_gpus_json(options));
        output_json_set(root, "files", run->files);
        output_json_set(root, "all", scan_json(&run->all, options, NULL));
        output_json_set(root, "verdicts", scan_table_json(options, verdicts, deciding));
        output_json_set(root, "sources", scan_output_sources(&run->sources));
        output_json_set(root, "python", run->python);
        output_json_set(root, "other", json_integer((json_int_t)run->other_count));
        output_json_set(root, "problems", run->problems);
        output_json_print(root);
    } else if (run->count > 1 || (run->count == 1 && run->options->summary)) {
        scan_print(&run->all, options, verdicts);
    } else if (nothing && !run->failed) {
        printf("nothing found that uses the CUDA driver%s%s\n",
               verdicts ? ": unknown, by the rule nothing-found" : "",
               run->sources.dropped ? "; add --dropin, if it is linked with cushim's drop-in" : "");
    }
    if (!run->files && run->blind && run->source_count > 0)
        puts("programs and objects show no guards: to judge by those of the sources, scan the "
             "sources alone");
    if (!run->files)
        print_others(run);
    if (!run->files && run->python_count > 0)
        printf("not read: Python text that names the driver, in %zu file%s\n", run->python_count,
               output_plural(run->python_count));
    struct scan_outcome outcome = {options,
                                   &run->sources,
                                   &run->findings,
                                   verdicts ? scan_table_cells(options) : 0,
                                   verdicts,
                                   deciding,
                                   run->options->report.strict};
    run->unwritten = !write_files(run->options, &outcome);
    run->all.name = NULL;
    scan_file_free(&run->all);
    scan_table_free(&run->table);
    free(verdicts);
    free(deciding);
    return worst;
}

static struct subject *drivers;
static struct scan_gpu_asked *gpus;

static int read_drivers(const struct option_list *list, struct scan_options *to, const char *title)
{
    int result = COMMAND_OK;

    drivers = calloc(list->count + 1, sizeof *drivers);
    if (!drivers)
        output_no_memory();
    to->drivers = drivers;
    for (size_t i = 0; i < list->count && result == COMMAND_OK; i++)
        result = subject_read(&drivers[to->driver_count++], list->item[i], title);
    return result;
}

static void read_gpus(const struct option_list *list, struct scan_options *to)
{
    gpus = calloc(list->count * MOST_CAPABILITIES + 1, sizeof *gpus);
    if (!gpus)
        output_no_memory();
    to->gpus = gpus;
    for (size_t i = 0; i < list->count; i++) {
        int found[MOST_CAPABILITIES];
        size_t count = facts_capabilities(list->item[i], found, MOST_CAPABILITIES);
        if (count == 0)
            options_refuse("--gpus: '%s' is no compute capability such as 9.0, no architecture and "
                           "no GPU that is known",
                           list->item[i]);
        for (size_t k = 0; k < count; k++)
            gpus[to->gpu_count++] = (struct scan_gpu_asked){list->item[i], found[k]};
    }
}

static void forget(struct scan_options *options)
{
    for (size_t i = 0; i < options->driver_count; i++)
        subject_release(&drivers[i]);
    free(drivers);
    free(gpus);
}

/* The library does not compile for other releases. */
static void check_defines(const struct option_list *defines)
{
    static const char level[] = "CUSHIM_CUDA_VERSION=";

    for (size_t i = 0; i < defines->count; i++) {
        const char *value = strchr(defines->item[i], '=');
        char *end = NULL;
        long number = value && value > defines->item[i] ? strtol(value + 1, &end, 10) : 0;
        if (number <= 0 || number > INT_MAX || *end != '\0')
            options_refuse("--define: '%s' is no NAME=VALUE with a release such as 12040",
                           defines->item[i]);
        if (strncmp(defines->item[i], level, sizeof level - 1) == 0 &&
            (number < 11000 || number > CUSHIM_REGISTRY_VERSION))
            options_refuse("--define: %s: cushim compiles for 11000 to %d", defines->item[i],
                           CUSHIM_REGISTRY_VERSION);
    }
}

/* The text goes to standard output. */
static void check_outputs(void)
{
    const char *const files[] = {given.junit, given.markdown, given.sarif};

    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        if (files[i] && strcmp(files[i], "-") == 0)
            options_refuse("--junit, --markdown, --sarif: '-' is no name of a file");
    }
}

static int run_scan(const char *title, char **words)
{
    static struct run run;
    enum verdict_answer worst;
    bool found;
    int result;

    if ((given.junit || given.markdown || given.sarif || given.github) &&
        given.drivers.count + given.gpus.count == 0)
        options_refuse("--junit, --markdown, --sarif and --github are of verdicts: give --drivers "
                       "or --gpus");
    check_outputs();
    check_defines(&given.defines);
    read_gpus(&given.gpus, &given.report);
    result = read_drivers(&given.drivers, &given.report, title);
    if (result != COMMAND_OK) {
        forget(&given.report);
        return result;
    }
    run = (struct run){.options = &given,
                       .sources = {.dropin = given.dropin, .summary = given.summary},
                       .command = title,
                       .table = {.options = &given.report}};
    for (size_t i = 0; i < given.report.driver_count; i++) {
        int release = given.report.drivers[i].release;
        int *oldest = &run.sources.oldest;
        *oldest = *oldest == 0 || release < *oldest ? release : *oldest;
    }
    if (given.json) {
        run.files = json_array();
        run.python = json_array();
        run.problems = json_array();
    }
    for (size_t i = 0; words[i]; i++)
        walk(&run, words[i]);
    judge_sources(&run);
    run.findings = scan_sources_find(&run.sources);
    worst = finish(&run);
    found = scan_sources_fail(&run.findings, given.report.strict);
    scan_sources_forget(&run.findings);
    scan_sources_free(&run.sources);
    forget(&given.report);
    if (run.unwritten)
        return COMMAND_SYSTEM;
    if (run.failed)
        return COMMAND_INPUT;
    return found || worst == VERDICT_FAILS || (given.report.strict && worst == VERDICT_UNKNOWN)
               ? COMMAND_FAILED
               : COMMAND_OK;
}

const struct command command_scan = {
    .name = "scan",
    .summary = "what programs need of the driver, and of a GPU",
    .synopsis = "FILE|FOLDER...",
    .doc =
        "Report what programs, libraries, objects, Python extension modules, wheels, fatbins, "
        "cubins and PTX need of the CUDA driver: the entries, the oldest driver that has them, and "
        "the GPUs that their device code runs on. Nothing of them is executed. Of C and C++ "
        "sources it lists the calls through cushim's table; with --drivers it exits 1 for a call "
        "of a newer entry than the oldest driver has, unless a guard such as CUSHIM_HAS or "
        "cushim_require is before it; a guard that is not understood is unknown. It reads macros, "
        "and no names made by ##. Plain names mean those of CUDA 12.0, or of the file's or "
        "--define's CUSHIM_CUDA_VERSION.",
    .notes = "How an entry was found:\n"
             "  linked     the program is linked to it, and does not start without it\n"
             "  called     the program is linked to it, and starts without it: it is looked\n"
             "             up at the first call, which ends the program if it is not there\n"
             "  named      its symbol is, or ends, a string of the program: dlsym, likely\n"
             "  asked      the same, and the program likely asks cuGetProcAddress, which\n"
             "             gives any ABI or none; or it uses cushim, which does without\n"
             "  runtime    the CUDA runtime in it looks it up, and does without it\n"
             "  mentioned  a string of a file that does not name the driver's library\n\n",
    .options = option_rows,
    .least = 1,
    .most = ANY_NUMBER_OF_WORDS,
    .wanted = "no file or folder given",
    .values = VALUES_FILES,
    .run = run_scan,
};
