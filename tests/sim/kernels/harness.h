/* SPDX-License-Identifier: MIT */
/* What the parts of sim-kernels share. */
#ifndef SIM_KERNELS_HARNESS_H
#define SIM_KERNELS_HARNESS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cushim/cuda.h>
#include <cushim/launch.h>

/* What an input is made of; fill.c says how. */
enum fill {
    FILL_WORDS,
    FILL_WIDES,
    FILL_FLOATS,
    FILL_DOUBLES,
    FILL_MIXED,
    FILL_HALVES,
    FILL_BRAINS,
    FILL_MODERATE,
    FILL_COORDINATES
};

enum kind { PLAIN, COOPERATIVE, PRINT, TEXTURES, SURFACES, FAIL };

/* How near one section of the output must be. The list ends with an element without `form`. */
enum form { FORM_END, FORM_FLOAT, FORM_DOUBLE, FORM_HALF, FORM_HALF2, FORM_BRAIN, FORM_BRAIN2 };
enum measure { ABSOLUTE, RELATIVE, ULPS, LOGARITHM, RECORDED };

struct bound {
    enum form form;
    enum measure measure; /* RECORDED: absolute, from the recorded value */
    double limit;         /* in the measure's unit */
    double (*exact)(double a, double b);
    unsigned row;  /* of the input that `a` is in; `b` is in row 1 */
    double domain; /* the limit holds for |a| up to this; 0: for all */
};

struct kernel {
    const char *name;
    unsigned n;
    size_t grid[3], block[3], shared;
    unsigned sections;
    enum fill fill;
    enum kind kind;
    CUresult code;              /* of a kernel that is to FAIL */
    const struct bound *bounds; /* NULL: exact */
};

/* One run's result, in words or as text. */
struct result {
    uint32_t *words;
    size_t count;
};

/* Ends the program with a sentence where a call fails. */
#define CALL(call) check_call((call), #call, __FILE__, __LINE__)
void check_call(CUresult code, const char *call, const char *file, int line);

extern const struct cushim_api *cu;
extern const struct cushim_api *api;

const struct kernel *find_kernel(const char *name);
void *allocate(size_t bytes);

/* fill.c */
void fill_input(const struct kernel *kernel, uint32_t *words);
uint32_t next_random(uint32_t *state);
uint32_t seed_of(const char *name);
float half_value(uint16_t bits);

/* reference.c: whether a value of an approximate kernel is as near as it must be. */
extern const struct bound approx_f32[], approx_f64[], approx_half[], approx_brain[],
    texture_linear[];
unsigned compare_bounds(const struct kernel *kernel, const uint32_t *in, const uint32_t *expected,
                        const uint32_t *got);

/* objects.c: textures and surfaces, their handles into the input's last row. */
void make_objects(const struct kernel *kernel, uint32_t *words);
void destroy_objects(const struct kernel *kernel);

/* folder.c: the kernels of kernels/, which have parameters of their own. */
bool run_folder_kernel(const char *name, const char *path, struct result *result);

#endif
