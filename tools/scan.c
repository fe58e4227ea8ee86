/* SPDX-License-Identifier: MIT */
/*
 * `cushim scan`: what programs need of the CUDA driver, and on which GPUs their code runs.
 */
#include "command.h"
#include "mapped.h"
#include "output.h"
#include "scan_report.h"

#include <fts.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct options {
    const char *against; /* NULL: none */
    const char *gpu;
    struct scan_options report;
    bool json;
} given;

/* A run over all files. */
struct run {
    const struct options *options;
    const char *command;
    struct scan_file all;
    json_t *files, *problems; /* NULL: text */
    size_t count;             /* of programs that use the driver, or have device code */
    bool missing, failed;
    const char *path; /* that is read */
    bool named;       /* the file that is read was, on the command line */
};

static struct subject against;

/* "9.0" or "sm_90" is 90; 0 for anything else. */
static int parse_gpu(const char *text)
{
    int value = 0, digits = 0, points = 0;

    if (strncmp(text, "sm_", 3) == 0)
        text += 3;
    for (; *text != '\0'; text++) {
        if (*text == '.' && digits > 0 && points++ == 0 && strlen(text) == 2)
            continue;
        if (*text < '0' || *text > '9' || digits++ == 3)
            return 0;
        value = 10 * value + (*text - '0');
    }
    return digits >= 2 ? value : 0;
}

static const struct option_row option_rows[] = {
    {.name = "against",
     .text = &given.against,
     .value = "X.Y|DRIVER",
     .values = VALUES_DRIVERS,
     .doc = "Exit 1 if an entry is missing in this CUDA release, this Linux driver's version, or "
            "the driver's library at this path"},
    {.name = "gpu",
     .text = &given.gpu,
     .value = "CC",
     .values = VALUES_GPUS,
     .doc = "Exit 1 if device code does not run on this compute capability, such as 9.0"},
    {.name = "entries", .flag = &given.report.entries, .doc = "List each entry"},
    COMMAND_OPTION_JSON(given.json),
    {0},
};

static bool is_of_interest(const struct scan_file *file)
{
    if (file->links || file->code_count > 0 || file->unknown_count > 0)
        return true;
    for (size_t i = 0; i < CUSHIM_ENTRY_COUNT; i++) {
        if (file->how[i] != 0)
            return true;
    }
    return false;
}

static void visit(void *user, struct scan_file *file)
{
    struct run *run = user;

    if (!is_of_interest(file)) {
        if (run->named && !run->files && strcmp(file->name, run->path) == 0)
            printf("%s: %s: nothing of the CUDA driver\n", file->name, file->format);
        return;
    }
    run->count++;
    run->missing |= scan_missing(file, &run->options->report);
    scan_file_merge(&run->all, file);
    if (run->files)
        output_json_append(run->files, scan_json(file, &run->options->report));
    else
        scan_print(file, &run->options->report);
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

static void scan_path(struct run *run, const char *path, const char *file, bool named)
{
    const struct scan_sink sink = {run, visit, skip};
    struct mapped mapped;
    const char *problem = "";

    run->named = named;
    run->path = path;
    if (!mapped_open(&mapped, file, &problem)) {
        complain(run, path, problem);
        return;
    }
    enum scan_result result = scan_bytes(path, mapped.data, mapped.size, &sink, &problem);
    if (result == SCAN_DAMAGED || (result == SCAN_OTHER && named))
        skip(run, path, problem);
    mapped_close(&mapped);
}

/* Links are followed where they were named, and not within a folder: so none leads in a circle. */
static void walk(struct run *run, char **paths)
{
    FTS *tree = fts_open(paths, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR, NULL);
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

static void finish(struct run *run)
{
    char name[64];

    snprintf(name, sizeof name, "all %zu files", run->count);
    snprintf(run->all.format, sizeof run->all.format, "together");
    run->all.name = name;
    if (run->files) {
        json_t *root = json_object();
        output_json_set(root, "against",
                        run->options->report.against ? output_json_text(against.text)
                                                     : json_null());
        output_json_set(root, "files", run->files);
        output_json_set(root, "all", scan_json(&run->all, &run->options->report));
        output_json_set(root, "problems", run->problems);
        output_json_print(root);
    } else if (run->count > 1) {
        scan_print(&run->all, &run->options->report);
    } else if (run->count == 0 && !run->failed) {
        puts("nothing found that uses the CUDA driver");
    }
    run->all.name = NULL;
    scan_file_free(&run->all);
}

static int run_scan(const char *title, char **words)
{
    static struct run run;
    int result;

    if (given.gpu) {
        given.report.gpu = parse_gpu(given.gpu);
        if (given.report.gpu == 0)
            options_refuse("--gpu: '%s' is no compute capability such as 9.0", given.gpu);
    }
    if (given.against) {
        result = subject_read(&against, given.against, title);
        if (result != COMMAND_OK)
            return result;
        given.report.against = &against;
    }
    run = (struct run){.options = &given, .command = title};
    if (given.json) {
        run.files = json_array();
        run.problems = json_array();
    }
    walk(&run, words);
    finish(&run);
    subject_release(&against);
    return run.failed ? COMMAND_INPUT : run.missing ? COMMAND_FAILED : COMMAND_OK;
}

const struct command command_scan = {
    .name = "scan",
    .summary = "what programs need of the driver, and of a GPU",
    .synopsis = "FILE|FOLDER...",
    .doc = "Report what programs, libraries, objects, Python extension modules, wheels and fatbins "
           "need of the CUDA driver: the entries, the oldest driver that has them, and the GPUs "
           "that their device code runs on. Nothing of them is executed.",
    .notes = "How an entry was found:\n"
             "  linked     the program is linked to it, and does not start without it\n"
             "  named      its symbol is a string of the program, which likely calls dlsym\n"
             "  asked      the same, and the program likely asks cuGetProcAddress, which\n"
             "             gives any ABI or none; or cushim is in it, which does without\n"
             "  runtime    the CUDA runtime in it looks it up, and does without it\n"
             "  mentioned  a string of a file that does not name the driver's library, or\n"
             "             the end of a longer string\n\n",
    .options = option_rows,
    .least = 1,
    .most = ANY_NUMBER_OF_WORDS,
    .wanted = "no file or folder given",
    .values = VALUES_FILES,
    .run = run_scan,
};
