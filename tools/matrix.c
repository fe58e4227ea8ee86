/* SPDX-License-Identifier: MIT */
/*
 * `cushim matrix`: runs a program under each simulated release, and each real driver given.
 */
#include "matrix_list.h"

#include "command.h"
#include "names.h"
#include "output.h"
#include "sim_check.h"
#include "sim_library.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

static struct options {
    const char *cuda, *works; /* NULL: all; none */
    struct option_list drivers, faults, survived;
    const char *junit, *markdown, *profile, *devices, *memory, *most;
    bool gate, idle, needs_driver, fault_each, quiet, json, github;
    int calls;   /* of an entry that are made to fail, each in a run */
    int timeout; /* seconds */
    struct matrix_plan plan;
} given = {.timeout = 60, .plan = {.degrade = -1}};

static const struct option_row option_rows[] = {
    {.name = "cuda",
     .text = &given.cuda,
     .value = "LIST",
     .values = VALUES_SIMULATED,
     .doc = "Simulated CUDA releases, such as 11.2,12.4 or 11.4-12.4 or 11.4+, or none (default: "
            "all there are)"},
    {.name = "drivers",
     .list = &given.drivers,
     .commas = true,
     .value = "LIST",
     .values = VALUES_DRIVERS,
     .doc = "Libraries of real drivers, or branches and versions of drivers (535), whose releases "
            "are simulated; --cuda none leaves out all others"},
    {.name = "gate",
     .flag = &given.gate,
     .doc =
         "All that finds mistakes, for CI: --strict --degrade 77 --check=race,init,sync "
         "--fault wrong-abi --fault-each=9, a run without a driver, one without a device, one with "
         "a single device if --devices has more, one with --fault late and one with --fault "
         "reorder; what was not released behind a call that was made to fail counts only if "
         "--check is given too"},
    {.name = "idle",
     .flag = &given.idle,
     .doc = "The program need not launch, copy or fill: without this --gate fails for it"},
    {.name = "needs-driver",
     .flag = &given.needs_driver,
     .doc = "The program is for machines with a driver alone: that it is linked to libcuda, and "
            "does not start without one, is no failure"},
    {.name = "works",
     .text = &given.works,
     .value = "LIST",
     .values = VALUES_SIMULATED,
     .doc = "Releases, as of --cuda, under which it must pass: to degrade there is a failure"},
    {.name = "devices",
     .text = &given.devices,
     .value = "N",
     .doc = "How many simulated devices, 0 to 64 (default: 1)"},
    {.name = "memory",
     .text = &given.memory,
     .value = "SIZE",
     .doc = "Memory of each simulated device, such as 8G, as for 'cushim sim'"},
    {.name = "profile",
     .text = &given.profile,
     .value = "NAME",
     .values = VALUES_PROFILES,
     .doc = "Which simulated device, under the releases that know it and those of --cuda (default: "
            "ampere, or the newest that the version knows)"},
    {.name = "fault",
     .list = &given.faults,
     .value = "RULE",
     .values = VALUES_FAULTS,
     .doc = "Inject a fault under each simulated driver, as for 'cushim sim'; may be repeated"},
    {.name = "fault-each",
     .flag = &given.fault_each,
     .text = &given.most,
     .value = "N",
     .doc = "Run it under the newest and the oldest release that it passes once more for each call "
            "that fails: the first (or each of the first N) of each entry that it calls there, but "
            "for cuInit (--devices 0 is that) and those that only ask, release or set NULL; with "
            "--strict a run fails if the program then calls on as if nothing had failed, or ends "
            "with 0 and has not printed the error"},
    {.name = "survives",
     .list = &given.survived,
     .commas = true,
     .value = "LIST",
     .doc =
         "Entries that may fail, or that the driver may lack, and the program still ends with 0: "
         "cuMemAllocAsync in each call, cuMemAllocAsync@FILE:LINE in the one of a line, as the row "
         "has it; FILE is the end of the path"},
    {.name = "falls-back",
     .flag = &given.plan.falls_back,
     .doc = "The program does without the GPU if a call fails: in runs of --fault-each and --gate "
            "any exit code but 0 and that of --degrade is a failure"},
    {.name = "check",
     .flag = &given.plan.check,
     .text = &given.plan.checks,
     .value = "WHAT",
     .doc =
         "Fail under a simulated driver, and in runs that degrade, for what 'cushim sim --check' "
         "finds: something was not released; with race, init or sync, faults of kernels; in "
         "runs that end with 0 also a rule that never fired"},
    {.name = "degrade",
     .number = &given.plan.degrade,
     .low = 1,
     .high = 125,
     .value = "CODE",
     .doc = "Exit code by which the program says that it does without the driver, or a part of it; "
            "it counts as success"},
    {.name = "quiet", .flag = &given.quiet, .doc = "Print only the runs that fail the command"},
    {.name = "strict",
     .flag = &given.plan.strict,
     .doc = "Exit 1 for runs that are unused or unknown, too; one that ends with 0 fails if cushim "
            "answered a call of what the driver lacks, or a fault made a call fail"},
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
    {.name = "github",
     .flag = &given.github,
     .doc = "Print an annotation of a GitHub workflow for each cause by which rows fail"},
    COMMAND_OPTION_JSON(given.json),
    {0},
};

static enum output_style end_style(enum matrix_end end)
{
    return end <= MATRIX_NOTICES ? OUTPUT_GOOD : end <= MATRIX_UNUSED ? OUTPUT_WARNING : OUTPUT_BAD;
}

/* Of a terminal; logs are read in lines of a hundred characters, too. */
static size_t line_width(void)
{
    struct winsize size = {.ws_col = 0};

    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 100;
}

/* Calls fail in turn in runs of releases that pass. */
static bool lacks_faults(const struct matrix_list *list)
{
    bool lacks = given.fault_each;

    for (size_t i = 0; i < list->count; i++)
        lacks &= !matrix_is_release(&list->item[i]) || list->item[i].end != MATRIX_PASSES;
    return lacks;
}

static void print_text(const struct matrix_list *list, const char *note)
{
    struct output_table table = {.columns = 3, .fold = line_width()};
    char row[MATRIX_WORDS_SIZE], reason[MATRIX_REASON_SIZE];
    const size_t width = table.fold;

    for (size_t i = 0, same; i < list->count; i += same) {
        const struct matrix_case *one = &list->item[i];
        same = matrix_row(one, list->count - i, row);
        if (given.quiet && !one->bad)
            continue;
        output_table_add(&table, OUTPUT_PLAIN, row);
        output_table_add(&table, end_style(one->end), matrix_end_name(one->end));
        matrix_why(list->item, i, same, reason);
        for (char *line = reason, *next; line; line = next) {
            next = strchr(line, '\n');
            if (next)
                *next++ = '\0';
            for (size_t column = 0; line > reason && column < 2; column++)
                output_table_add(&table, OUTPUT_PLAIN, "");
            output_table_add(&table, one->bad ? OUTPUT_PLAIN : OUTPUT_DIM, line);
        }
    }
    output_table_print(&table, "");
    matrix_totals(stdout, list->item, list->count);
    puts(lacks_faults(list) ? " (no call was made to fail, since it passes under no release)" : "");
    matrix_cures(list->item, list->count, width);
    for (int lacked = 0; lacked < 2; lacked++) {
        char advice[sizeof reason + 256];
        if (!matrix_survivable(list->item, list->count, lacked, reason))
            continue;
        snprintf(advice, sizeof advice, "%s--survives %s%s",
                 lacked ? MATRIX_WITHOUT : MATRIX_TELL MATRIX_GOES_ON, reason,
                 lacked ? "" : matrix_left(list->item, list->count));
        output_folded(advice, width);
    }
    if (note[0] != '\0')
        output_folded(note, width);
}

static void print_json(const struct matrix_list *list, const char *note)
{
    json_t *root = json_object(), *runs = json_array();
    char reason[MATRIX_REASON_SIZE];

    for (size_t i = 0; i < list->count; i++) {
        const struct matrix_case *one = &list->item[i];
        const char *why = matrix_reason(one, 1, reason);
        json_t *object = json_object();
        output_json_set(object, "name", output_json_text(one->name));
        output_json_set(object, "cuda", one->cuda[0] ? json_string(one->cuda) : json_null());
        output_json_set(object, "driver", output_json_text(one->driver));
        output_json_set(object, "fault", one->fault[0] ? json_string(one->fault) : json_null());
        output_json_set(object, "fired", one->fired[0] ? json_string(one->fired) : json_null());
        output_json_set(object, "went_on",
                        one->went_on[0] ? json_string(one->went_on) : json_null());
        output_json_set(object, "result", json_string(matrix_end_name(one->end)));
        output_json_set(object, "why", why[0] ? output_json_text(why) : json_null());
        output_json_set(object, "code", json_integer(one->code));
        output_json_set(object, "seconds", json_real(one->seconds));
        output_json_set(object, "calls", one->calls < 0 ? json_null() : json_integer(one->calls));
        output_json_set(object, "call", one->call[0] ? output_json_text(one->call) : json_null());
        output_json_set(object, "place",
                        one->place[0] ? output_json_text(one->place) : json_null());
        output_json_set(object, "output", output_json_text(one->output));
        output_json_set(object, "errors", output_json_text(one->errors));
        output_json_append(runs, object);
    }
    output_json_set(root, "runs", runs);
    output_json_set(root, "note", note[0] != '\0' ? json_string(note) : json_null());
    output_json_print(root);
}

/* Whether a report can be written there: told before the runs, which take long. What is there stays
 * until then. */
static bool can_write(const char *path)
{
    struct stat state;
    int made = path ? open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666) : -1;
    bool good = !path || made >= 0;

    if (made >= 0) {
        close(made);
        unlink(path);
    } else if (!good && errno == EEXIST) {
        good = access(path, W_OK) == 0 || errno == ENOENT; /* a link to what is not there yet */
        if (good && stat(path, &state) == 0 && S_ISDIR(state.st_mode)) {
            errno = EISDIR;
            good = false;
        }
    }
    if (!good)
        fprintf(stderr, "cushim matrix: %s: %s\n", path, strerror(errno));
    return good;
}

static bool write_file(const char *path,
                       void (*write)(FILE *file, const struct matrix_case *cases, size_t count,
                                     const char *note),
                       const struct matrix_list *list, const char *note)
{
    FILE *file;
    bool good;

    if (!path)
        return true;
    file = fopen(path, "we");
    if (file)
        write(file, list->item, list->count, note);
    good = file && !ferror(file);
    if (file)
        good = fclose(file) == 0 && good;
    if (!good)
        fprintf(stderr, "cushim matrix: %s: %s\n", path, strerror(errno));
    return good;
}

static int run_all(struct options *options, struct matrix_list *list, struct matrix_used *used)
{
    const size_t count = list->count;
    bool good = matrix_run(&options->plan, list->item, 0, count, used);

    if (good && options->fault_each)
        matrix_list_faults(list, used, options->calls, options->gate);
    if (good && list->count > count)
        good = matrix_run(&options->plan, list->item, count, list->count, NULL);
    for (size_t i = count; good && i < list->count; i++)
        matrix_order(&options->plan, &list->item[i]);
    if (good)
        matrix_order_chance(&options->plan, list->item, list->count);
    if (good)
        matrix_order_beside(&options->plan, list->item, list->count);
    matrix_list_tried(list);
    return good ? COMMAND_OK : COMMAND_SYSTEM;
}

static bool is_bad(const struct matrix_case *one, bool strict, bool spared)
{
    if (one->end == MATRIX_UNUSED && spared && !one->must && matrix_is_release(one))
        return false;
    if (one->end == MATRIX_UNUSED || one->end == MATRIX_UNKNOWN)
        return strict || one->must;
    return one->end > MATRIX_UNUSED && !(given.needs_driver && matrix_is_linked(one));
}

/* Under a release under which it need not work, it may end with any code of its own, and do without
 * the GPU if it tells the error. That it calls no driver there is no failure if it does elsewhere:
 * it may have looked for a symbol. */
static bool may_refuse(const struct matrix_case *one)
{
    return one->end == MATRIX_FAILS && matrix_is_release(one) && (one->code != 0 || one->named) &&
           (one->kernel[0] == '\0' || one->refused);
}

/* The exit code that a run without a GPU which fails may have; 0: that is no cure. */
static int advice(const struct matrix_case *one, int degrade)
{
    bool without = (one->devices && atoi(one->devices) == 0) || matrix_is_without(one);
    bool wrong = (one->end == MATRIX_FAILS && one->code != 0) || one->end == MATRIX_CRASHES;

    return one->bad && without && wrong && !one->spoiled && !one->beside && degrade > 0 ? degrade
                                                                                        : 0;
}

/* What the runs are together is known: whether each is bad. Returns whether one is. */
static bool judge_all(const struct options *options, struct matrix_list *list)
{
    size_t with = 0, idle = 0; /* runs with a driver */
    bool bad = false;

    for (size_t i = 0; i < list->count; i++) {
        with += !matrix_is_without(&list->item[i]);
        idle += list->item[i].calls == 0;
    }
    bool used = with == 0 || idle < with;
    for (size_t i = 0; i < list->count; i++) {
        struct matrix_case *one = &list->item[i];
        if (!used && (one->end == MATRIX_DEGRADES || one->end == MATRIX_PASSES))
            one->end = MATRIX_UNUSED; /* it has not met the newest driver either */
        if (options->works && !one->must && may_refuse(one)) {
            bool counts = one->code == COMMAND_CHECK || !options->plan.exits;
            one->spoiled = one->check[0] != '\0' && one->code != COMMAND_CHECK;
            one->end = one->check[0] != '\0' && counts ? MATRIX_FAILS : MATRIX_DEGRADES;
        }
        one->must &= one->end != MATRIX_FAILS; /* for its own reason */
        if (one->must && (one->end == MATRIX_DEGRADES || one->end == MATRIX_NOTICES))
            one->end = MATRIX_FAILS;
        one->bad = is_bad(one, options->plan.strict, options->works && used);
        one->advised = advice(one, options->plan.degrade);
        bad |= one->bad;
    }
    matrix_list_sort(list);
    matrix_gather(list->item, list->count);
    matrix_fold(list->item, list->count);
    return bad;
}

static int report(const struct options *options, struct matrix_list *list)
{
    bool bad = judge_all(options, list), lacks = false, written;
    char note[MATRIX_WORDS_SIZE] = "";

    for (size_t i = 0; i < list->count; i++)
        lacks |= list->item[i].lacks;
    if (options->gate)
        matrix_note(list->item, list->count, options->idle, note);
    if (note[0] == '\0')
        matrix_note_order(list->item, list->count, note);
    written = write_file(options->junit, matrix_junit, list, note);
    written = write_file(options->markdown, matrix_markdown, list, note) && written;
    if (options->github)
        matrix_github(options->json ? stderr : stdout, list->item, list->count, note);
    if (options->json)
        print_json(list, note);
    else
        print_text(list, note);
    if (!written || lacks)
        return COMMAND_SYSTEM;
    return bad || note[0] != '\0' ? COMMAND_FAILED : COMMAND_OK;
}

/* Of an option that may have a value, which is no word of its own: "--check race -- program". */
static const char *value_hint(void)
{
    bool check = given.plan.check && !given.plan.checks, each = given.fault_each && !given.most;

    return check || each ? "; --check and --fault-each take a value behind '='" : "";
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
        fprintf(stderr, "cushim matrix: %s: %s%s\n", word,
                strchr(word, '/') ? strerror(errno) : "no such program in PATH", value_hint());
    return found;
}

/* Each run is a `cushim sim`, which takes these; but rules and checks are the runs' own. */
static void take_environment(void)
{
    const struct {
        const char *variable, *option;
    } own[] = {{"CUSHIM_SIM_FAULT", "--fault RULE"}, {"CUSHIM_SIM_CHECK", "--check=WHAT"}};

    given.devices = sim_setting(given.devices, "CUSHIM_SIM_DEVICES");
    given.memory = sim_setting(given.memory, "CUSHIM_SIM_MEMORY");
    given.profile = sim_setting(given.profile, "CUSHIM_SIM_PROFILE");
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
        if (sim_setting(NULL, own[i].variable))
            fprintf(stderr, "cushim matrix: %s is not read: give %s\n", own[i].variable,
                    own[i].option);
        unsetenv(own[i].variable);
    }
}

/* Once, before each run refuses the same. */
static bool settings_good(void)
{
    if (given.plan.falls_back && !given.fault_each) {
        fputs("cushim matrix: --falls-back is about calls that fail: add --fault-each or --gate\n",
              stderr);
        return false;
    }
    for (size_t i = 0; i < given.faults.count; i++) {
        if (!sim_faults_good("matrix", false, given.faults.item[i]))
            return false;
    }
    for (size_t i = 0; i < given.survived.count; i++) {
        if (!matrix_survives_good(given.survived.item[i]))
            return false;
    }
    return sim_settings_good("matrix", NULL, given.devices, given.profile, given.memory,
                             sim_setting(NULL, "CUSHIM_SIM_WORKERS"),
                             sim_setting(NULL, "CUSHIM_SIM_TIME_LIMIT_MS"),
                             sim_setting(NULL, "CUSHIM_SIM_GRAIN"), given.plan.checks);
}

/* What --gate stands for; options of one's own go before. */
static void open_gate(void)
{
    struct option_list *faults = &given.faults;

    given.plan.strict = given.fault_each = true;
    given.plan.exits = !given.plan.check;
    given.plan.check = true;
    if (!given.plan.checks)
        given.plan.checks = "race,init,sync";
    if (!given.most)
        given.most = "9";
    if (given.plan.degrade < 0)
        given.plan.degrade = 77;
    faults->item = realloc(faults->item, (faults->count + 1) * sizeof *faults->item);
    if (!faults->item)
        output_no_memory();
    faults->item[faults->count++] = "wrong-abi";
}

static int list_runs(struct matrix_list *list)
{
    int result = matrix_list_releases(list, given.cuda, given.profile);

    if (result == COMMAND_OK)
        result = matrix_list_drivers(list, &given.drivers);
    if (result == COMMAND_OK && given.works)
        result = matrix_list_works(list, given.works);
    if (result != COMMAND_OK)
        return result;
    if (given.fault_each && list->count > 0 && list->item[matrix_list_newest(list)].driver) {
        fputs("cushim matrix: --fault-each takes a simulated release: leave out --cuda none\n",
              stderr);
        return COMMAND_USAGE;
    }
    if (list->count == 0) {
        fputs("cushim matrix: no driver to run it under\n", stderr);
        return COMMAND_NO_DRIVER;
    }
    return given.gate && !matrix_list_without(list, given.devices) ? COMMAND_INPUT : COMMAND_OK;
}

static int run_program(struct matrix_list *list, const char *program)
{
    size_t newest = matrix_list_newest(list);
    struct matrix_used *used = calloc(list->count, sizeof *used);
    int result;

    if (!used)
        output_no_memory();
    matrix_missing_read(program);
    result = run_all(&given, list, used);
    if (result == COMMAND_OK) {
        matrix_survives_tell(&given.survived, list->item, list->count);
        matrix_missing(list->item, list->count, &used[newest], newest);
        matrix_place(list->item, list->count);
        result = report(&given, list);
    }
    free(used);
    return result;
}

static int run(const char *title, char **words)
{
    char *program = NULL;
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    struct matrix_list list = {0};
    int result;

    (void)title;
    take_environment();
    if (given.gate)
        open_gate();
    given.calls = given.most ? atoi(given.most) : 1;
    if (given.calls < 1 || given.calls > MATRIX_FAULTS ||
        (given.most && given.most[strspn(given.most, "0123456789")] != 0))
        options_refuse("--fault-each: '%s' is no number from 1 to %d", given.most, MATRIX_FAULTS);
    if (given.plan.jobs == 0)
        given.plan.jobs = processors > 0 && processors < MATRIX_JOBS ? (int)processors : 1;
    given.plan.timeout = given.timeout;
    given.plan.survived = &given.survived;
    given.plan.faults = given.faults.item;
    given.plan.fault_count = (int)given.faults.count;
    given.plan.program = words;
    given.plan.profile = given.profile;
    given.plan.devices = given.devices;
    given.plan.memory = given.memory;
    given.plan.quiet = given.quiet;

    if (!settings_good())
        return COMMAND_USAGE;
    result = list_runs(&list);
    if (result == COMMAND_OK && !(program = find_program(words[0])))
        result = COMMAND_INPUT;
    if (result == COMMAND_OK && (!can_write(given.junit) || !can_write(given.markdown)))
        result = COMMAND_SYSTEM;
    if (result == COMMAND_OK)
        result = run_program(&list, program);
    free(program);
    for (size_t i = 0; i < list.count; i++)
        matrix_place_free(&list.item[i]);
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
