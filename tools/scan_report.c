/* SPDX-License-Identifier: MIT */
#include "scan_report.h"

#include "known.h"
#include "names.h"
#include "output.h"
#include "scan_gpu.h"

#include <stdio.h>
#include <string.h>

enum { TEXT_SIZE = 1024, FORCING_SHOWN = 6 };

enum way { WAY_NONE, WAY_LINKED, WAY_NAMED, WAY_ASKED, WAY_RUNTIME, WAY_MENTIONED };

/* What an entry takes of a driver. */
struct need {
    enum way way;
    int since;
};

static const char *const way_names[] = {"", "linked", "named", "asked", "runtime", "mentioned"};

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

static bool subject_has(const struct subject *subject, size_t index, enum way way)
{
    struct cushim_entry entry = known_entry(index);

    return subject->has[index] ||
           (way == WAY_ASKED && subject_newest(subject, entry.name, entry.stream) != KNOWN_NONE);
}

static bool lacks(const struct scan_file *file, const struct scan_options *options, size_t index,
                  enum way *way)
{
    *way = need_of(file, index).way;
    return options->against && *way != WAY_NONE && !subject_has(options->against, index, *way);
}

static struct gpu_verdict verdict(const struct scan_file *file, const struct scan_options *options,
                                  int capability)
{
    return scan_gpu(file, capability, options->against ? options->against->release : 0);
}

bool scan_missing(const struct scan_file *file, const struct scan_options *options)
{
    enum way way;

    for (size_t i = 0; i < CUSHIM_ENTRY_COUNT; i++) {
        if (lacks(file, options, i, &way) && way < WAY_ASKED)
            return true;
    }
    if (options->against && file->unknown_count > 0)
        return true;
    return options->gpu > 0 && file->code_count > 0 &&
           verdict(file, options, options->gpu).answer > GPU_COMPILED;
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

static void print_missing(const struct scan_file *file, const struct scan_options *options)
{
    char text[TEXT_SIZE];
    size_t count = 0;
    enum way way;

    for (size_t i = 0; i < CUSHIM_ENTRY_COUNT; i++) {
        struct cushim_entry entry = known_entry(i);
        char version[VERSION_TEXT_SIZE];
        if (!lacks(file, options, i, &way))
            continue;
        snprintf(text, sizeof text, "%s (CUDA %s, %s)", entry.symbol,
                 version_text(version, need_of(file, i).since), way_names[way]);
        output_field(count++ == 0 ? "missing" : "", way < WAY_ASKED ? OUTPUT_BAD : OUTPUT_WARNING,
                     text);
    }
    if (options->against && count == 0)
        output_field("missing", OUTPUT_GOOD, "no entry");
}

static void print_unknown(const struct scan_file *file)
{
    for (size_t i = 0; i < file->unknown_count; i++)
        output_field(i == 0 ? "not known" : "", OUTPUT_WARNING, file->unknown[i]);
}

/* One kind of code of a fatbin: " 9.0a (CUDA 12.x)", " 9.0 (PTX 8.4)". */
static void tell_codes(char text[TEXT_SIZE], const struct fatbin *fatbin, enum fatbin_kind kind)
{
    for (size_t i = 0; i < fatbin->count; i++) {
        const struct fatbin_code *code = &fatbin->code[i];
        char one[64], version[24] = "";
        char variant[2] = {code->variant, '\0'};
        if (code->kind != kind)
            continue;
        if (kind == FATBIN_PTX && code->ptx_version > 0)
            snprintf(version, sizeof version, " (PTX %d.%d)", code->ptx_version / 10,
                     code->ptx_version % 10);
        else if (code->toolkit > 0)
            snprintf(version, sizeof version, " (CUDA %d.x)", code->toolkit / 1000);
        snprintf(one, sizeof one, " %d.%d%s%s", code->architecture / 10, code->architecture % 10,
                 variant, version);
        append(text, one);
    }
}

static void print_code(const struct scan_file *file)
{
    for (size_t i = 0; i < file->code_count; i++) {
        const struct scan_code *code = &file->code[i];
        char machine[TEXT_SIZE] = "", ptx[TEXT_SIZE] = "", text[2 * TEXT_SIZE + 128];
        tell_codes(machine, &code->fatbin, FATBIN_CUBIN);
        tell_codes(ptx, &code->fatbin, FATBIN_PTX);
        snprintf(text, sizeof text, "%zu with machine code for%s; PTX for%s%s%s", code->times,
                 machine[0] != '\0' ? machine : " none", ptx[0] != '\0' ? ptx : " none",
                 code->fatbin.cut ? " and more" : "", code->fatbin.damaged ? "; damaged" : "");
        output_field(i == 0 ? "fatbins" : "", code->fatbin.damaged ? OUTPUT_WARNING : OUTPUT_PLAIN,
                     text);
    }
}

static void print_gpu(const struct scan_file *file, const struct scan_options *options,
                      int capability, struct output_table *table)
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
    struct gpu_verdict found = verdict(file, options, capability);
    char gpu[24], version[VERSION_TEXT_SIZE], from[64] = "";

    snprintf(gpu, sizeof gpu, "%d.%d", capability / 10, capability % 10);
    if (found.from > 0)
        snprintf(from, sizeof from, "drivers from CUDA %s on", version_text(version, found.from));
    output_table_add(table, OUTPUT_PLAIN, gpu);
    output_table_add(table, styles[found.answer], words[found.answer]);
    output_table_add(table, OUTPUT_DIM, found.partly ? "not all fatbins alike" : "");
    output_table_add(table, OUTPUT_DIM, from);
}

static void print_gpus(const struct scan_file *file, const struct scan_options *options)
{
    struct output_table table = {.columns = 4};

    if (file->code_count == 0)
        return;
    puts("  GPUs, by compute capability");
    if (options->gpu > 0) {
        print_gpu(file, options, options->gpu, &table);
    } else {
        for (int gpu = 49; (gpu = scan_gpu_next(gpu)) != 0;)
            print_gpu(file, options, gpu, &table);
    }
    output_table_print(&table, "    ");
}

void scan_print(const struct scan_file *file, const struct scan_options *options)
{
    output_text(OUTPUT_TITLE, file->name);
    printf(": %s%s%s\n", file->format, file->links ? ", linked to the driver" : "",
           file->loads ? ", names the driver's library" : "");
    print_way(file, WAY_LINKED, "entries that it must have");
    print_way(file, WAY_NAMED, "named as symbols, likely looked up");
    print_way(file, WAY_ASKED, "named and likely asked of cuGetProcAddress or cushim, in any ABI");
    print_way(file, WAY_RUNTIME, "named by the CUDA runtime in it, which does without later ones");
    print_way(file, WAY_MENTIONED, "mentioned, as in error messages");
    print_unknown(file);
    if (options->entries)
        print_entries(file);
    print_missing(file, options);
    print_code(file);
    print_gpus(file, options);
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

static json_t *missing_json(const struct scan_file *file, const struct scan_options *options)
{
    json_t *array = json_array();
    enum way way;

    for (size_t i = 0; i < CUSHIM_ENTRY_COUNT; i++) {
        if (lacks(file, options, i, &way))
            output_json_append(array, json_string(known_entry(i).symbol));
    }
    return array;
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
        output_json_set(object, "machine_code", machine);
        output_json_set(object, "cubins", cubins);
        output_json_set(object, "ptx", ptx);
        output_json_set(object, "damaged", json_boolean(fatbin->damaged));
        output_json_append(array, object);
    }
    return array;
}

static void gpu_json(json_t *array, const struct scan_file *file,
                     const struct scan_options *options, int capability)
{
    struct gpu_verdict found = verdict(file, options, capability);
    json_t *object = json_object();

    output_json_set(object, "capability", json_integer(capability));
    output_json_set(object, "answer", json_string(scan_gpu_name(found.answer)));
    output_json_set(object, "partly", json_boolean(found.partly));
    output_json_set(object, "from", found.from > 0 ? json_integer(found.from) : json_null());
    output_json_append(array, object);
}

json_t *scan_json(const struct scan_file *file, const struct scan_options *options)
{
    json_t *object = json_object(), *unknown = json_array(), *gpus = json_array();

    for (size_t i = 0; i < file->unknown_count; i++)
        output_json_append(unknown, output_json_text(file->unknown[i]));
    if (file->code_count > 0 && options->gpu > 0) {
        gpu_json(gpus, file, options, options->gpu);
    } else if (file->code_count > 0) {
        for (int gpu = 49; (gpu = scan_gpu_next(gpu)) != 0;)
            gpu_json(gpus, file, options, gpu);
    }
    output_json_set(object, "file", output_json_text(file->name));
    output_json_set(object, "format", json_string(file->format));
    output_json_set(object, "links", json_boolean(file->links));
    output_json_set(object, "loads", json_boolean(file->loads));
    output_json_set(object, "entries", entries_json(file));
    output_json_set(object, "unknown", unknown);
    output_json_set(object, "oldest", oldest_json(file));
    output_json_set(object, "missing",
                    options->against ? missing_json(file, options) : json_null());
    output_json_set(object, "code", code_json(file));
    output_json_set(object, "gpus", gpus);
    return object;
}
