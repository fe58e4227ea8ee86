/* SPDX-License-Identifier: MIT */
/* Problems: what is in them, and what has to come out. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "matrix.h"

unsigned matrix_quads(const struct instruction *one)
{
    return one->k == 4 && one->a == F16 ? 4 : 1;
}

unsigned matrix_elements(const struct instruction *one)
{
    return (one->m * one->k + one->k * one->n + one->m * one->n) * matrix_quads(one);
}

static bool is_integer(const struct instruction *one)
{
    return one->d == S32;
}

/* A number that is the same for each place of a run, from 0 or -2 to 2. */
static double small(enum type type)
{
    const int number = rand() % 5;

    return type == B1 ? number % 2 : type == U8 || type == U4 ? number : number - 2;
}

static void fill_small(enum type type, uint64_t *elements, size_t count)
{
    for (size_t i = 0; i < count; i++)
        elements[i] = element_of(type, small(type));
}

static void fill_random(enum type type, uint64_t *elements, size_t count)
{
    for (size_t i = 0; i < count; i++)
        elements[i] = element_random(type);
}

void matrix_fill_one(const struct instruction *one, struct problem *problem, unsigned which)
{
    const unsigned quads = matrix_quads(one);
    const unsigned a = one->m * one->k * quads, b = one->k * one->n * quads;

    memset(problem, 0, sizeof *problem);
    if (which < a) {
        problem->a[which] = element_of(one->a, 1);
        fill_small(one->b, problem->b, b);
    } else if (which < a + b) {
        fill_small(one->a, problem->a, a);
        problem->b[which - a] = element_of(one->b, 1);
    } else {
        problem->c[which - a - b] = element_of(one->c, 1);
    }
}

void matrix_fill(const struct instruction *one, struct problem *problem, bool random)
{
    const unsigned quads = matrix_quads(one);

    memset(problem, 0, sizeof *problem);
    (random ? fill_random : fill_small)(one->a, problem->a, (size_t)one->m * one->k * quads);
    (random ? fill_random : fill_small)(one->b, problem->b, (size_t)one->k * one->n * quads);
    (random ? fill_random : fill_small)(one->c, problem->c, (size_t)one->m * one->n * quads);
    if (random && one->a == F64) /* integers of 20 bits, whose sums are exact in any order */
        for (size_t i = 0; i < sizeof problem->a / sizeof *problem->a; i++) {
            problem->a[i] = element_of(F64, (double)((int64_t)(problem->a[i] % 2000001) - 1000000));
            if (i < 256 * 8)
                problem->b[i] =
                    element_of(F64, (double)((int64_t)(problem->b[i] % 2000001) - 1000000));
            if (i < 256)
                problem->c[i] =
                    element_of(F64, (double)((int64_t)(problem->c[i] % 2000001) - 1000000));
        }
}

/* Integers: wrapped around, clamped, counted. */
static int64_t integer_at(const struct instruction *one, const struct problem *problem, unsigned i,
                          unsigned j)
{
    const bool differ = one->a == B1 && strstr(one->text, "xor");
    int64_t sum = (int64_t)element_value(one->c, problem->c[i * one->n + j]);

    for (unsigned l = 0; l < one->k; l++) {
        const int64_t a = (int64_t)element_value(one->a, problem->a[i * one->k + l]);
        const int64_t b = (int64_t)element_value(one->b, problem->b[l * one->n + j]);

        sum += differ ? a ^ b : a * b;
    }
    if (strstr(one->text, "satfinite"))
        sum = sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum;
    return one->layout_a ? 2 * sum : sum;
}

/* What floats may be off by, for the sum of all magnitudes: a device adds in a width of its own and
 * cuts the rest off. f32: 2^-21; of the narrow floats, whose sums have fewer bits: 2^-11. d of f16
 * adds half a unit of its last place, twice where the kernel doubles it. */
static double bound_of(const struct instruction *one, double magnitudes, double sum)
{
    const bool narrow = one->a == E4M3 || one->a == E5M2;
    const double bound = ldexp(magnitudes, narrow ? -11 : -21);

    return one->d == F16 ? bound + ldexp(fabs(sum), -10) + ldexp(1.0, -24) : bound;
}

static double float_error(const struct instruction *one, const struct problem *problem, unsigned i,
                          unsigned j, bool exact)
{
    const unsigned quad = i / one->m;
    double sum = element_value(one->c, problem->c[i * one->n + j]), magnitudes = fabs(sum), found;

    for (unsigned l = 0; l < one->k; l++) {
        const double product = element_value(one->a, problem->a[i * one->k + l]) *
                               element_value(one->b, problem->b[(quad * one->k + l) * one->n + j]);

        sum += product;
        magnitudes += fabs(product);
    }
    if (one->layout_a) {
        sum *= 2;
        magnitudes *= 2;
    }
    found = element_value(one->d, problem->d[i * one->n + j]);
    if (found == sum)
        return 0.0;
    return exact || one->d == F64 ? 1e9 : fabs(found - sum) / bound_of(one, magnitudes, sum);
}

double matrix_error(const struct instruction *one, const struct problem *problem, bool exact)
{
    double worst = 0.0;

    for (unsigned i = 0; i < one->m * matrix_quads(one); i++)
        for (unsigned j = 0; j < one->n; j++) {
            double error;

            if (is_integer(one))
                error =
                    (uint32_t)integer_at(one, problem, i, j) == (uint32_t)problem->d[i * one->n + j]
                        ? 0.0
                        : 1e9;
            else
                error = float_error(one, problem, i, j, exact);
            worst = error <= worst ? worst : error;
        }
    return worst;
}
