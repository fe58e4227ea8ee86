/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The verdicts on files: a table of drivers and GPUs for each, and one for all together.
 */
#ifndef CUSHIM_TOOLS_SCAN_TABLE_H
#define CUSHIM_TOOLS_SCAN_TABLE_H

#include "scan_report.h"
#include "verdict.h"

#include <jansson.h>

struct scan_row {
    char *name;
    char *kind;   /* the name without the toolkit's number: alternatives have the same */
    size_t wheel; /* length of the wheel's name in it; 0: none */
    bool code;    /* it has device code */
    bool alone;   /* a cubin, or PTX: which of several a program loads is not known */
    bool ptx;     /* it is PTX */
    bool archive; /* in a wheel: what a program takes of it is linked into the program */
    bool runtime; /* a module of Python's with the runtime in it, and without device code */
    bool *driver; /* for each cell: a module of Python's that binds this driver, no runtime */
    struct verdict *cell;
};

/** All zero with `options` set is an empty one. */
struct scan_table {
    const struct scan_options *options;
    struct scan_row *row;
    size_t count;
};

/** Judge a file; the cells are the table's. NULL if neither a driver nor a GPU was asked for. */
const struct verdict *scan_table_add(struct scan_table *table, const struct scan_file *file);

/**
 * The verdicts on all files together: each the worst one. Of files that are one library for several
 * toolkits, a program takes one, so that the best of these counts. Where another file of the same
 * wheel has code that runs, it is not certain that the program fails, nor where a module of
 * Python's is refused by the runtime in it, and another one binds the driver.
 *
 * @param file  for each cell the name of the file that decides; to be freed, as the cells
 */
struct verdict *scan_table_all(const struct scan_table *table, const char ***file);

/** How many drivers times GPUs. */
size_t scan_table_cells(const struct scan_options *options);

/** A cell's driver: "driver 535, CUDA 12.2". */
const char *scan_table_driver(const struct scan_options *options, size_t cell);

/** A cell's GPU: "9.0 H100". */
const char *scan_table_gpu(char *text, size_t size, const struct scan_options *options,
                           size_t cell);

/** Both: "driver 535, CUDA 12.2, GPU 9.0 H100". */
const char *scan_table_place(char *text, size_t size, const struct scan_options *options,
                             size_t cell);

/** Print the table, and with --explain the reasons. */
void scan_table_print(const struct scan_options *options, const struct verdict *cell);

/** @param file  as from scan_table_all; NULL: none */
json_t *scan_table_json(const struct scan_options *options, const struct verdict *cell,
                        const char *const *file);

void scan_table_free(struct scan_table *table);

#endif
