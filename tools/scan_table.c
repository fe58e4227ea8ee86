/* SPDX-License-Identifier: MIT */
#include "scan_table.h"

#include "known.h"
#include "output.h"
#include "scan_gpu.h"
#include "scan_wheel.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORD_SIZE = 48, PLACE_SIZE = 640, LEAST_OF_BINDING = 100 };

static size_t row_count(const struct scan_options *options)
{
    return options->driver_count > 0 ? options->driver_count : 1;
}

static size_t column_count(const struct scan_options *options)
{
    return options->gpu_count > 0 ? options->gpu_count : 1;
}

size_t scan_table_cells(const struct scan_options *options)
{
    return row_count(options) * column_count(options);
}

static const struct subject *driver_at(const struct scan_options *options, size_t cell)
{
    return options->driver_count > 0 ? &options->drivers[cell / column_count(options)] : NULL;
}

static const struct scan_gpu_asked *gpu_at(const struct scan_options *options, size_t cell)
{
    return options->gpu_count > 0 ? &options->gpus[cell % column_count(options)] : NULL;
}

/* "lib/x_cuda118.so" and "lib/x_cuda12.so" are "lib/x_cuda#.so". */
static char *kind_of(const char *name)
{
    char *kind = scan_grow(NULL, strlen(name) + 1, 1), *to = kind;
    const char *base = strrchr(name, '/');
    bool number = false;

    base = base ? base : name;
    for (const char *c = name; *c != '\0'; c++) {
        if (number && (isdigit((unsigned char)*c) || (*c == '.' && isdigit((unsigned char)c[1]))))
            continue;
        number = c > base + 1 && ((c[-1] == 'c' && c[0] == 'u') ||
                                  (c > base + 3 && strncmp(c - 3, "cuda", 4) == 0));
        *to++ = *c;
        if (number && isdigit((unsigned char)c[1]))
            *to++ = '#';
    }
    *to = '\0';
    return kind;
}

/* "path/a.whl:lib/b.so" is of the wheel "path/a.whl". */
static size_t wheel_length(const char *name)
{
    const char *end = strstr(name, ".whl:");

    return end ? (size_t)(end - name) + strlen(".whl") : 0;
}

/* Whether a file is a binding of the driver, without the runtime: it loads it and looks much of it
 * up, or asks much of a cuGetProcAddress that this driver has. */
static bool is_driver_binding(const struct scan_file *file, const struct subject *driver)
{
    size_t named = 0, asked = 0;
    bool asks = file->asks;

    for (size_t i = 0; i < CUSHIM_ENTRY_COUNT; i++) {
        bool needed = (file->how[i] & (SCAN_LINKED | SCAN_CALLED | SCAN_NAMED)) != 0;
        named += needed;
        asked += (file->how[i] & SCAN_ASKED) != 0;
        if (needed && driver && !driver->has[i] &&
            strcmp(known_entry(i).name, "cuGetProcAddress") == 0)
            asks = false;
    }
    if (!file->python || file->runtime.inside || file->runtime.release > 0)
        return false;
    return ((file->loads || file->links) && named >= LEAST_OF_BINDING) ||
           (asks && asked >= LEAST_OF_BINDING);
}

const struct verdict *scan_table_add(struct scan_table *table, const struct scan_file *file)
{
    const struct scan_options *options = table->options;
    size_t count = scan_table_cells(options);
    struct verdict *cell;
    bool *driver;

    if (options->driver_count + options->gpu_count == 0)
        return NULL;
    cell = scan_grow(NULL, count, sizeof *cell);
    driver = scan_grow(NULL, count, sizeof *driver);
    for (size_t i = 0; i < count; i++) {
        const struct scan_gpu_asked *gpu = gpu_at(options, i);
        driver[i] = is_driver_binding(file, driver_at(options, i));
        cell[i] = verdict_of(file, driver_at(options, i), gpu ? gpu->capability : 0);
    }
    table->row = scan_grow(table->row, table->count, sizeof *table->row);
    char *name = strdup(file->name);
    if (!name)
        output_no_memory();
    table->row[table->count++] = (struct scan_row){.name = name,
                                                   .kind = kind_of(name),
                                                   .wheel = wheel_length(name),
                                                   .code = file->code_count > 0,
                                                   .ptx = strcmp(file->format, SCAN_PTX) == 0,
                                                   .driver = driver,
                                                   .cell = cell};
    struct scan_row *row = &table->row[table->count - 1];
    row->alone = row->ptx || strcmp(file->format, SCAN_CUBIN) == 0;
    row->archive = row->wheel > 0 && strncmp(file->format, "archive", 7) == 0;
    row->runtime = file->python && file->runtime.inside && !row->code;
    return cell;
}

/* Of a row and its alternatives the one that fares best; NULL if an earlier row stands for them. */
static const struct scan_row *best_of_kind(const struct scan_table *table, size_t row, size_t cell)
{
    const struct scan_row *best = &table->row[row];

    for (size_t i = 0; i < table->count; i++) {
        const struct scan_row *other = &table->row[i];
        if (strcmp(other->kind, best->kind) != 0 || i == row)
            continue;
        if (i < row)
            return NULL;
        if (other->cell[cell].answer < best->cell[cell].answer)
            best = other;
    }
    return best;
}

/* Whether another file of the same wheel has code that may run; of a cubin or PTX, any other file.
 * PTX stands in for these alone. */
static bool runs_beside(const struct scan_table *table, const struct scan_row *row, size_t cell)
{
    for (size_t i = 0; (row->wheel > 0 || row->alone) && i < table->count; i++) {
        const struct scan_row *other = &table->row[i];
        if (other->code && (row->alone || !other->ptx) && other->wheel == row->wheel &&
            strncmp(other->name, row->name, row->wheel) == 0 &&
            other->cell[cell].answer < VERDICT_FAILS)
            return true;
    }
    return false;
}

/* Whether nearly all device code of a row's wheel does not run there. */
static bool little_beside(const struct scan_table *table, const struct scan_row *row, size_t cell)
{
    size_t fatbins = 0, running = 0;

    for (size_t i = 0; i < table->count; i++) {
        const struct scan_row *other = &table->row[i];
        if (other->wheel != row->wheel || other->archive ||
            strncmp(other->name, row->name, row->wheel) != 0 ||
            best_of_kind(table, i, cell) != other)
            continue;
        fatbins += other->cell[cell].fatbins;
        running += other->cell[cell].running;
    }
    return scan_gpu_is_little(running, fatbins);
}

static bool is_refused(const struct scan_row *row, size_t cell)
{
    return strcmp(row->cell[cell].rule, "runtime-floor") == 0;
}

/* Whether only modules that have no kernel are refused by a runtime in them, and another module of
 * the wheel is a binding of the driver. */
static bool driver_beside(const struct scan_table *table, const struct scan_row *row, size_t cell)
{
    bool found = false;

    for (size_t i = 0; row->wheel > 0 && i < table->count; i++) {
        const struct scan_row *other = &table->row[i];
        if (other->wheel != row->wheel || strncmp(other->name, row->name, row->wheel) != 0)
            continue;
        if (is_refused(other, cell) && !other->runtime)
            return false;
        found |= other->driver[cell] && other->cell[cell].answer < VERDICT_FAILS;
    }
    return found;
}

static struct verdict some_files(struct verdict part, const char *reason)
{
    part.answer = VERDICT_LIMITS;
    part.code = 0;
    part.rule = "some-files";
    snprintf(part.reason, sizeof part.reason, "%s", reason);
    return part;
}

/* A row's verdict as a part of all. */
static struct verdict part_of(const struct scan_table *table, const struct scan_row *row,
                              size_t cell)
{
    struct verdict part = row->cell[cell];

    if (is_refused(row, cell) && driver_beside(table, row, cell))
        return some_files(part, "the runtime in this file returns 35; another module of the wheel "
                                "calls the driver without it");
    if (!verdict_is_of_code(&part) || !(row->archive || runs_beside(table, row, cell)))
        return part;
    if (!row->archive && little_beside(table, row, cell))
        return part;
    return some_files(part, "this file has no code that runs here, others have");
}

struct verdict *scan_table_all(const struct scan_table *table, const char ***file)
{
    size_t count = scan_table_cells(table->options);
    struct verdict *cell = scan_grow(NULL, count, sizeof *cell);

    struct verdict *part = scan_grow(NULL, table->count, sizeof *part);
    const char **name = scan_grow(NULL, table->count, sizeof *name);

    *file = scan_grow(NULL, count, sizeof **file);
    for (size_t i = 0; i < count; i++) {
        size_t parts = 0;
        cell[i] = (struct verdict){.answer = VERDICT_UNKNOWN, .rule = "nothing-found"};
        snprintf(cell[i].reason, sizeof cell[i].reason, "nothing found that uses the CUDA driver");
        (*file)[i] = NULL;
        for (size_t row = 0; row < table->count; row++) {
            const struct scan_row *best = best_of_kind(table, row, i);
            if (!best)
                continue;
            part[parts] = part_of(table, best, i);
            name[parts++] = best->name;
        }
        if (parts > 0)
            (*file)[i] = name[verdict_worst(part, parts, &cell[i])];
    }
    free(part);
    free(name);
    return cell;
}

/* "fails 35" */
static void cell_word(char word[WORD_SIZE], const struct verdict *verdict)
{
    if (verdict->code > 0)
        snprintf(word, WORD_SIZE, "%s %d", verdict_name(verdict->answer), verdict->code);
    else
        snprintf(word, WORD_SIZE, "%s", verdict_name(verdict->answer));
}

/* "9.0 H100" */
static void gpu_word(char word[WORD_SIZE], const struct scan_gpu_asked *gpu)
{
    char number[16];

    snprintf(number, sizeof number, "%d.%d", gpu->capability / 10, gpu->capability % 10);
    if (isdigit((unsigned char)gpu->word[0]) || strncmp(gpu->word, "sm_", 3) == 0)
        snprintf(word, WORD_SIZE, "%s", number);
    else
        snprintf(word, WORD_SIZE, "%s %s", number, gpu->word);
}

static const char *driver_word(const struct subject *driver)
{
    return driver ? driver->text : "any driver";
}

const char *scan_table_driver(const struct scan_options *options, size_t cell)
{
    return driver_word(driver_at(options, cell));
}

const char *scan_table_gpu(char *text, size_t size, const struct scan_options *options, size_t cell)
{
    char word[WORD_SIZE] = "any GPU";

    if (gpu_at(options, cell))
        gpu_word(word, gpu_at(options, cell));
    snprintf(text, size, "%s", word);
    return text;
}

const char *scan_table_place(char *text, size_t size, const struct scan_options *options,
                             size_t cell)
{
    char gpu[WORD_SIZE];

    snprintf(text, size, "%s, %s%s", scan_table_driver(options, cell),
             gpu_at(options, cell) ? "GPU " : "", scan_table_gpu(gpu, sizeof gpu, options, cell));
    return text;
}

/* Each reason once, with the first cell that has it. Why the command fails is always told. */
static void explain(const struct scan_options *options, const struct verdict *cell)
{
    size_t count = scan_table_cells(options);

    for (size_t i = 0; i < count; i++) {
        char word[WORD_SIZE], gpu[WORD_SIZE], place[PLACE_SIZE], more[32] = "";
        size_t same = 0, before = 0;
        bool red = cell[i].answer == VERDICT_FAILS ||
                   (options->strict && cell[i].answer == VERDICT_UNKNOWN);
        if (cell[i].answer == VERDICT_RUNS || (!options->explain && !red))
            continue;
        for (size_t k = 0; k < count; k++) {
            if (strcmp(cell[k].reason, cell[i].reason) != 0 ||
                strcmp(cell[k].fix, cell[i].fix) != 0)
                continue;
            same++;
            before += k < i;
        }
        if (before > 0)
            continue;
        cell_word(word, &cell[i]);
        if (gpu_at(options, i))
            gpu_word(gpu, gpu_at(options, i));
        if (same > 1)
            snprintf(more, sizeof more, " and %zu more", same - 1);
        snprintf(place, sizeof place, "%s%s%s%s", driver_word(driver_at(options, i)),
                 gpu_at(options, i) ? ", GPU " : "", gpu_at(options, i) ? gpu : "", more);
        printf("    %s: %s (rule %s)\n      ", word, place, cell[i].rule);
        output_text(OUTPUT_PLAIN, cell[i].reason);
        putchar('\n');
        if (cell[i].fix[0] != '\0') {
            fputs("      fix: ", stdout);
            output_text(OUTPUT_PLAIN, cell[i].fix);
            putchar('\n');
        }
    }
}

void scan_table_print(const struct scan_options *options, const struct verdict *cell)
{
    static const enum output_style styles[] = {OUTPUT_GOOD, OUTPUT_WARNING, OUTPUT_WARNING,
                                               OUTPUT_BAD};
    struct output_table table = {.columns = column_count(options) + 1};
    char word[WORD_SIZE];

    if (!cell)
        return;
    puts("  verdicts");
    output_table_add(&table, OUTPUT_DIM, "");
    for (size_t i = 0; i < column_count(options); i++) {
        snprintf(word, sizeof word, "any GPU");
        if (gpu_at(options, i))
            gpu_word(word, gpu_at(options, i));
        output_table_add(&table, OUTPUT_TITLE, word);
    }
    for (size_t i = 0; i < scan_table_cells(options); i++) {
        if (i % column_count(options) == 0)
            output_table_add(&table, OUTPUT_PLAIN, driver_word(driver_at(options, i)));
        cell_word(word, &cell[i]);
        output_table_add(&table, styles[cell[i].answer], word);
    }
    output_table_print(&table, "    ");
    explain(options, cell);
}

json_t *scan_table_json(const struct scan_options *options, const struct verdict *cell,
                        const char *const *file)
{
    json_t *array = json_array();

    for (size_t i = 0; cell && i < scan_table_cells(options); i++) {
        const struct subject *driver = driver_at(options, i);
        const struct scan_gpu_asked *gpu = gpu_at(options, i);
        json_t *object = json_object();
        output_json_set(object, "driver", output_json_text(driver ? driver->text : NULL));
        output_json_set(object, "release", driver ? json_integer(driver->release) : json_null());
        output_json_set(object, "gpu", output_json_text(gpu ? gpu->word : NULL));
        output_json_set(object, "capability", gpu ? json_integer(gpu->capability) : json_null());
        output_json_set(object, "verdict", json_string(verdict_name(cell[i].answer)));
        output_json_set(object, "code",
                        cell[i].code > 0 ? json_integer(cell[i].code) : json_null());
        output_json_set(object, "rule", json_string(cell[i].rule));
        output_json_set(object, "reason", output_json_text(cell[i].reason));
        output_json_set(object, "fix",
                        cell[i].fix[0] ? output_json_text(cell[i].fix) : json_null());
        if (file)
            output_json_set(object, "file", output_json_text(file[i]));
        output_json_append(array, object);
    }
    return array;
}

void scan_table_free(struct scan_table *table)
{
    for (size_t i = 0; i < table->count; i++) {
        free(table->row[i].name);
        free(table->row[i].kind);
        free(table->row[i].cell);
        free(table->row[i].driver);
    }
    free(table->row);
    *table = (struct scan_table){0};
}
