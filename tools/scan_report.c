/* SPDX-License-Identifier: MIT */
#include "scan_report.h"

#include "facts.h"
#include "known.h"
#include "names.h"
#include "output.h"
#include "scan_code.h"
#include "scan_gpu.h"
#include "scan_table.h"

#include <cushim/compat.h>

#include <stdio.h>
#include <string.h>

enum { TEXT_SIZE = 1024, FORCING_SHOWN = 6 };

enum way {
    WAY_NONE,
    WAY_LINKED,
    WAY_CALLED,
    WAY_WEAK,
    WAY_NAMED,
    WAY_ASKED,
    WAY_RUNTIME,
    WAY_MENTIONED
};

/* What an entry takes of a driver. */
struct need {
    enum way way;
    int since;
};

static const char *const way_names[] = {"",      "linked", "called",  "weak",
                                        "named", "asked",  "runtime", "mentioned"};

/* The release of a name's first ABI. */
static int first_release(const struct cushim_entry *entry)
{
    struct cushim_entry other;
    int since = entry->since;

    for (size_t i = 0; cushim_entry_at(i, &other); i++) {
        if (other.since < since && other.stream == entry->stream &&
            strcmp(other.name, entry->name) == 0)
            since = other.since;
    }
    return since;
}

static struct need need_of(const struct scan_file *file, size_t index)
{
    struct cushim_entry entry = known_entry(index);

    if (file->how[index] & SCAN_LINKED)
        return (struct need){WAY_LINKED, entry.since};
    if (file->how[index] & SCAN_CALLED)
        return (struct need){WAY_CALLED, entry.since};
    if (file->how[index] & SCAN_WEAK)
        return (struct need){WAY_WEAK, entry.since};
    if (file->how[index] & SCAN_NAMED)
        return (struct need){WAY_NAMED, entry.since};
    if (file->how[index] & SCAN_ASKED)
        return (struct need){WAY_ASKED, first_release(&entry)};
    if (file->how[index] & SCAN_RUNTIME)
        return (struct need){WAY_RUNTIME, entry.since};
    if (file->how[index] & SCAN_MENTIONED)
        return (struct need){WAY_MENTIONED, entry.since};
    return (struct need){WAY_NONE, 0};
}

/* The newest release that an entry found in one of these ways forces; 0 without any. */
static int oldest_driver(const struct scan_file *file, enum way way, size_t *count)
{
    int release = 0;

    *count = 0;
    for (size_t i = 0; i < CUSHIM_ENTRY_COUNT; i++) {
        struct need need = need_of(file, i);
        if (need.way != way)
            continue;
        (*count)++;
        if (need.since > release)
            release = need.since;
    }
    return release;
}

/* What a way means for a driver: "required", "called", "optional" or "mentioned". */
static const char *need_word(const struct scan_file *file, size_t index)
{
    if (verdict_requires(file, index))
        return "required";
    if (verdict_calls(file, index))
        return way_names[WAY_CALLED];
    return need_of(file, index).way == WAY_MENTIONED ? way_names[WAY_MENTIONED] : "optional";
}

/* ---- text */

static void append(char text[TEXT_SIZE], const char *words)
{
    size_t length = strlen(text);

    snprintf(text + length, TEXT_SIZE - length, "%s", words);
}

/* The entries that force a release: "cuMemAllocAsync, cuMemFreeAsync and 3 more". */
static void forcing(char text[TEXT_SIZE], const struct scan_file *file, enum way way, int release)
{
    size_t count = 0;
    char more[48];

    for (size_t i = 0; i < CUSHIM_ENTRY_COUNT; i++) {
        struct need need = need_of(file, i);
        if (need.way != way || need.since != release)
            continue;
        if (count++ >= FORCING_SHOWN)
            continue;
        if (count > 1)
            append(text, ", ");
        append(text, known_entry(i).symbol);
    }
    if (count > FORCING_SHOWN) {
        snprintf(more, sizeof more, " and %zu more", count - FORCING_SHOWN);
        append(text, more);
    }
}

static void print_way(const struct scan_file *file, enum way way, const char *words)
{
    char text[TEXT_SIZE] = "", version[VERSION_TEXT_SIZE];
    size_t count;
    int release = oldest_driver(file, way, &count);

    if (count == 0)
        return;
    snprintf(text, sizeof text, "%zu %s, from CUDA %s on: ", count, words,
             version_text(version, release));
    forcing(text, file, way, release);
    output_field(way_names[way], OUTPUT_PLAIN, text);
}

/* Cushim has names in the file, too, of what it does without: none tells of a driver. */
static void print_own_names(const struct scan_file *file)
{
    char text[TEXT_SIZE];
    size_t count;

    oldest_driver(file, WAY_ASKED, &count);
    if (count == 0)
        return;
    snprintf(text, sizeof text, "%zu named, by the program or by cushim in it: it starts without",
             count);
    output_field(way_names[WAY_ASKED], OUTPUT_PLAIN, text);
}

static void print_entries(const struct scan_file *file)
{
    struct output_table table = {.columns = 3};

    for (size_t i = 0; i < CUSHIM_ENTRY_COUNT; i++) {
        struct need need = need_of(file, i);
        char version[VERSION_TEXT_SIZE];
        if (need.way == WAY_NONE)
            continue;
        output_table_add(&table, OUTPUT_PLAIN, known_entry(i).symbol);
        output_table_add(&table, OUTPUT_PLAIN, version_text(version, need.since));
        output_table_add(&table, OUTPUT_DIM, way_names[need.way]);
    }
    output_table_print(&table, "    ");
}

/* The entries that a driver lacks: all that are required, and the first of the others. */
static void print_missing(const struct scan_file *file, const struct subject *driver)
{
    char text[TEXT_SIZE], version[VERSION_TEXT_SIZE];
    size_t count = 0, optional = 0;

    for (size_t i = 0; i < CUSHIM_ENTRY_COUNT; i++) {
        bool required = verdict_requires(file, i);
        bool other =
            verdict_calls(file, i) || verdict_may_need(file, i) || verdict_may_use(file, i);
        if ((!required && !other) || verdict_driver_has(file, driver, i))
            continue;
        if (!required && optional++ >= FORCING_SHOWN)
            continue;
        snprintf(text, sizeof text, "%s (CUDA %s, %s), in %s", known_entry(i).symbol,
                 version_text(version, need_of(file, i).since), way_names[need_of(file, i).way],
                 driver->text);
        output_field(count++ == 0 ? "missing" : "", required ? OUTPUT_BAD : OUTPUT_WARNING, text);
    }
    if (optional > FORCING_SHOWN) {
        snprintf(text, sizeof text, "and %zu more that it is not linked to",
                 optional - FORCING_SHOWN);
        output_field("", OUTPUT_WARNING, text);
    }
}

static void print_cushim(const struct scan_file *file)
{
    char text[TEXT_SIZE], run[VERDICT_TEXT_SIZE];

    if (!file->cushim)
        return;
    verdict_run(run, file);
    snprintf(text, sizeof text,
             "uses the driver through cushim (%s): needs no entry to start; which it calls cannot "
             "be seen: its sources tell, and '%s'",
             file->cushim_library[0] ? file->cushim_library : "in the file", run);
    output_field("cushim", OUTPUT_PLAIN, text);
}

/* The CUDA runtime, and the driver that it takes. */
static void print_runtime(const struct scan_file *file)
{
    const struct scan_runtime *runtime = &file->runtime;
    const char *floor = NULL, *windows = NULL;
    char text[TEXT_SIZE], version[VERSION_TEXT_SIZE];

    if (runtime->release == 0)
        return;
    bool known = facts_family_floor(runtime->release / 1000, &floor, &windows);
    if (known && (windows || !file->windows))
        snprintf(text, sizeof text, "%s, of CUDA %s or a later %d.x: takes %s driver %s or later",
                 runtime->library[0] ? runtime->library : "in the file",
                 version_text(version, runtime->release), runtime->release / 1000,
                 file->windows ? "Windows" : "Linux", file->windows ? windows : floor);
    else
        snprintf(text, sizeof text, "%s, of CUDA %s: takes a driver of it or later",
                 runtime->library[0] ? runtime->library : "in the file",
                 version_text(version, runtime->release));
    output_field("CUDA runtime", OUTPUT_PLAIN, text);
}

static void print_old(const struct scan_file *file)
{
    char text[TEXT_SIZE], version[VERSION_TEXT_SIZE];
    size_t count = 0;

    for (size_t i = 0; i < CUSHIM_ENTRY_COUNT && count < FORCING_SHOWN; i++) {
        size_t later = verdict_later_abi(file, i, 0);
        if (later == KNOWN_NONE)
            continue;
        snprintf(text, sizeof text, "%s is the ABI of CUDA %s; later headers mean %s by it",
                 known_entry(i).symbol, version_text(version, known_entry(i).since),
                 known_entry(later).symbol);
        output_field(count++ == 0 ? "old ABI" : "", OUTPUT_WARNING, text);
    }
}

static void print_unknown(const struct scan_file *file)
{
    for (size_t i = 0; i < file->unknown_count; i++)
        output_field(i == 0 ? "not known" : "", OUTPUT_WARNING, file->unknown[i]);
}

static void print_gpu(const struct scan_file *file, int capability, struct output_table *table)
{
    static const enum output_style styles[] = {OUTPUT_GOOD, OUTPUT_GOOD, OUTPUT_BAD,
                                               OUTPUT_BAD,  OUTPUT_BAD,  OUTPUT_WARNING};
    static const char *const words[] = {
        "machine code",
        "compiled by the driver",
        "error 222: the PTX is newer than the driver",
        "machine code of a later family of toolkits than the driver's",
        "error 209: no code for this GPU",
        "the driver is older than this GPU"};
    struct gpu_verdict found = scan_gpu(file, capability, 0);
    const struct facts_architecture *known = facts_architecture(capability);
    char gpu[24], version[VERSION_TEXT_SIZE], from[64] = "", to[32] = "";

    if (found.judged == 0)
        return;
    snprintf(gpu, sizeof gpu, "%d.%d", capability / 10, capability % 10);
    if (found.from > 0)
        snprintf(from, sizeof from, "drivers from CUDA %s on", version_text(version, found.from));
    if (known && known->last > 0 && found.running > 0)
        snprintf(to, sizeof to, "up to branch %d", known->last);
    output_table_add(table, OUTPUT_PLAIN, gpu);
    output_table_add(table, OUTPUT_DIM, known ? known->name : "");
    output_table_add(table, styles[found.answer],
                     strcmp(scan_gpu_name(file, found.answer), "218") == 0
                         ? "error 218: PTX for another GPU"
                         : words[found.answer]);
    output_table_add(table, OUTPUT_DIM, found.partly ? "not all fatbins alike" : "");
    output_table_add(table, OUTPUT_DIM, from);
    output_table_add(table, OUTPUT_DIM, to);
}

static void print_gpus(const struct scan_file *file)
{
    struct output_table table = {.columns = 6};

    for (int gpu = 49; (gpu = scan_gpu_next(gpu)) != 0;)
        print_gpu(file, gpu, &table);
    if (table.cells == 0)
        return;
    puts("  GPUs, by compute capability");
    output_table_print(&table, "    ");
}

void scan_print(const struct scan_file *file, const struct scan_options *options,
                const struct verdict *verdicts)
{
    output_text(OUTPUT_TITLE, file->name);
    printf(": %s%s%s\n", file->format, file->links ? ", linked to the driver" : "",
           file->loads ? ", names the driver's library" : "");
    print_cushim(file);
    print_way(file, WAY_LINKED,
              file->object ? "entries that it calls" : "entries that it must have");
    print_way(file, WAY_CALLED, "linked to, and looked up at the first call");
    print_way(file, WAY_WEAK, "linked weakly: it starts without them");
    print_way(file, WAY_NAMED, "named as symbols, likely looked up");
    if (file->cushim && !file->cushim_library[0])
        print_own_names(file);
    else
        print_way(file, WAY_ASKED,
                  file->cushim ? "named, of those that it may ask of cushim in any ABI"
                               : "named and likely asked of cuGetProcAddress, in any ABI");
    print_way(file, WAY_RUNTIME, "named by the CUDA runtime in it, which does without later ones");
    print_way(file, WAY_MENTIONED, "mentioned, as in error messages");
    print_old(file);
    print_unknown(file);
    if (options->entries)
        print_entries(file);
    for (size_t i = 0; i < options->driver_count; i++)
        print_missing(file, &options->drivers[i]);
    print_runtime(file);
    scan_code_print(file);
    if (verdicts)
        scan_table_print(options, verdicts);
    else
        print_gpus(file);
}

/* ---- JSON */

static json_t *entries_json(const struct scan_file *file)
{
    json_t *array = json_array();

    for (size_t i = 0; i < CUSHIM_ENTRY_COUNT; i++) {
        struct need need = need_of(file, i);
        json_t *object;
        if (need.way == WAY_NONE)
            continue;
        object = json_object();
        output_json_set(object, "symbol", json_string(known_entry(i).symbol));
        output_json_set(object, "since", json_integer(need.since));
        output_json_set(object, "how", json_string(way_names[need.way]));
        output_json_set(object, "need", json_string(need_word(file, i)));
        output_json_append(array, object);
    }
    return array;
}

static json_t *oldest_json(const struct scan_file *file)
{
    json_t *object = json_object();

    for (enum way way = WAY_LINKED; way <= WAY_MENTIONED; way++) {
        size_t count;
        int release = oldest_driver(file, way, &count);
        output_json_set(object, way_names[way], count > 0 ? json_integer(release) : json_null());
    }
    return object;
}

static json_t *lacking_json(const struct scan_file *file, const struct subject *driver,
                            bool (*wanted)(const struct scan_file *file, size_t index))
{
    json_t *array = json_array();

    for (size_t i = 0; i < CUSHIM_ENTRY_COUNT; i++) {
        if (wanted(file, i) && !verdict_driver_has(file, driver, i))
            output_json_append(array, json_string(known_entry(i).symbol));
    }
    return array;
}

static json_t *missing_json(const struct scan_file *file, const struct scan_options *options)
{
    json_t *array = json_array();

    for (size_t i = 0; i < options->driver_count; i++) {
        json_t *object = json_object();
        output_json_set(object, "driver", output_json_text(options->drivers[i].text));
        output_json_set(object, "required",
                        lacking_json(file, &options->drivers[i], verdict_requires));
        output_json_set(object, "called", lacking_json(file, &options->drivers[i], verdict_calls));
        output_json_set(object, "named",
                        lacking_json(file, &options->drivers[i], verdict_may_need));
        output_json_set(object, "optional",
                        lacking_json(file, &options->drivers[i], verdict_may_use));
        output_json_append(array, object);
    }
    return array;
}

static json_t *runtime_json(const struct scan_runtime *runtime)
{
    const char *floor = NULL;
    json_t *object;

    if (runtime->release == 0)
        return json_null();
    facts_family_floor(runtime->release / 1000, &floor, NULL);
    object = json_object();
    output_json_set(object, "library",
                    runtime->library[0] ? output_json_text(runtime->library) : json_null());
    output_json_set(object, "release", json_integer(runtime->release));
    output_json_set(object, "floor", output_json_text(floor));
    return object;
}

static json_t *code_json(const struct scan_file *file)
{
    json_t *array = json_array();

    for (size_t i = 0; i < file->code_count; i++) {
        const struct fatbin *fatbin = &file->code[i].fatbin;
        json_t *object = json_object(), *machine = json_array(), *cubins = json_array(),
               *ptx = json_array();
        for (size_t k = 0; k < fatbin->count; k++) {
            const struct fatbin_code *code = &fatbin->code[k];
            char variant[2] = {code->variant, '\0'};
            json_t *one;
            if (code->kind == FATBIN_OTHER)
                continue;
            one = json_object();
            output_json_set(one, "capability", json_integer(code->architecture));
            output_json_set(one, "variant", json_string(variant));
            if (code->kind == FATBIN_CUBIN) {
                output_json_append(machine, json_integer(code->architecture));
                output_json_set(one, "toolkit",
                                code->toolkit > 0 ? json_integer(code->toolkit) : json_null());
                output_json_append(cubins, one);
                continue;
            }
            output_json_set(one, "version", json_integer(code->ptx_version));
            output_json_append(ptx, one);
        }
        output_json_set(object, "times", json_integer((json_int_t)file->code[i].times));
        output_json_set(object, "text", json_boolean(file->code[i].text));
        output_json_set(object, "machine_code", machine);
        output_json_set(object, "cubins", cubins);
        output_json_set(object, "ptx", ptx);
        output_json_set(object, "damaged", json_boolean(fatbin->damaged));
        output_json_append(array, object);
    }
    return array;
}

static void gpu_json(json_t *array, const struct scan_file *file, int capability)
{
    struct gpu_verdict found = scan_gpu(file, capability, 0);
    const struct facts_architecture *known = facts_architecture(capability);
    json_t *object;

    if (found.judged == 0)
        return;
    object = json_object();
    output_json_set(object, "capability", json_integer(capability));
    output_json_set(object, "answer", json_string(scan_gpu_name(file, found.answer)));
    output_json_set(object, "partly", json_boolean(found.partly));
    output_json_set(object, "from", found.from > 0 ? json_integer(found.from) : json_null());
    output_json_set(object, "last_branch",
                    known && known->last > 0 ? json_integer(known->last) : json_null());
    output_json_append(array, object);
}

json_t *scan_json(const struct scan_file *file, const struct scan_options *options,
                  const struct verdict *verdicts)
{
    json_t *object = json_object(), *unknown = json_array(), *gpus = json_array();

    for (size_t i = 0; i < file->unknown_count; i++)
        output_json_append(unknown, output_json_text(file->unknown[i]));
    for (int gpu = 49; (gpu = scan_gpu_next(gpu)) != 0;)
        gpu_json(gpus, file, gpu);
    output_json_set(object, "file", output_json_text(file->name));
    output_json_set(object, "format", json_string(file->format));
    output_json_set(object, "links", json_boolean(file->links));
    output_json_set(object, "loads", json_boolean(file->loads));
    output_json_set(object, "cushim",
                    !file->cushim             ? json_null()
                    : file->cushim_library[0] ? output_json_text(file->cushim_library)
                                              : json_string("inside"));
    output_json_set(object, "entries", entries_json(file));
    output_json_set(object, "unknown", unknown);
    output_json_set(object, "oldest", oldest_json(file));
    output_json_set(object, "missing", missing_json(file, options));
    output_json_set(object, "runtime", runtime_json(&file->runtime));
    output_json_set(object, "code", code_json(file));
    output_json_set(object, "gpus", gpus);
    output_json_set(object, "verdicts", scan_table_json(options, verdicts, NULL));
    return object;
}

json_t *scan_drivers_json(const struct scan_options *options)
{
    json_t *array = json_array();

    for (size_t i = 0; i < options->driver_count; i++) {
        const struct subject *driver = &options->drivers[i];
        json_t *object = json_object();
        output_json_set(object, "driver", output_json_text(driver->text));
        output_json_set(object, "release", json_integer(driver->release));
        output_json_set(object, "branch",
                        driver->branch > 0 ? json_integer(driver->branch) : json_null());
        output_json_append(array, object);
    }
    return array;
}

json_t *scan_gpus_json(const struct scan_options *options)
{
    json_t *array = json_array();

    for (size_t i = 0; i < options->gpu_count; i++) {
        json_t *object = json_object();
        output_json_set(object, "gpu", output_json_text(options->gpus[i].word));
        output_json_set(object, "capability", json_integer(options->gpus[i].capability));
        output_json_append(array, object);
    }
    return array;
}
