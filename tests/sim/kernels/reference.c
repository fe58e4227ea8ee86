/* SPDX-License-Identifier: MIT */
/* How near the approximate instructions must be to the true value: the errors that the PTX ISA
 * states, and for those without one what GPUs show. */
#include <math.h>
#include <string.h>

#include "harness.h"

#define PI 3.14159265358979323846

static double sine(double a, double b)
{
    (void)b;
    return sin(a);
}

static double cosine(double a, double b)
{
    (void)b;
    return cos(a);
}

static double power(double a, double b)
{
    (void)b;
    return exp2(a);
}

static double logarithm(double a, double b)
{
    (void)b;
    return log2(a);
}

static double reciprocal(double a, double b)
{
    (void)b;
    return 1.0 / a;
}

static double root(double a, double b)
{
    (void)b;
    return sqrt(a);
}

static double inverse_root(double a, double b)
{
    (void)b;
    return 1.0 / sqrt(a);
}

static double tangent(double a, double b)
{
    (void)b;
    return tanh(a);
}

static double quotient(double a, double b)
{
    return a / b;
}

#define BITS(n) (1.0 / (double)(1ULL << (n)))
/* 2^-20.5, 2^-22.9 and so on. */
#define FRACTION(n, factor) (BITS(n) * (factor))

const struct bound approx_f32[] = {
    {FORM_FLOAT, ABSOLUTE, FRACTION(21, 1.41421357), sine, 0, 2 * PI},
    {FORM_FLOAT, ABSOLUTE, FRACTION(21, 1.41421357), cosine, 0, 2 * PI},
    {FORM_FLOAT, ULPS, 2, power, 0, 0},
    {FORM_FLOAT, ULPS, 2, power, 0, 0},
    {FORM_FLOAT, LOGARITHM, BITS(22), logarithm, 0, 0},
    {FORM_FLOAT, LOGARITHM, BITS(22), logarithm, 0, 0},
    {FORM_FLOAT, ULPS, 1, reciprocal, 0, 0},
    {FORM_FLOAT, ULPS, 1, reciprocal, 0, 0},
    {FORM_FLOAT, RELATIVE, FRACTION(23, 1.0717735), inverse_root, 0, 0},
    {FORM_FLOAT, RELATIVE, FRACTION(23, 1.0717735), inverse_root, 0, 0},
    {FORM_FLOAT, RELATIVE, BITS(23), root, 0, 0},
    {FORM_FLOAT, RELATIVE, BITS(23), root, 0, 0},
    {FORM_FLOAT, RELATIVE, BITS(11), tangent, 0, 0},
    {FORM_FLOAT, ULPS, 2, quotient, 0, 0},
    {FORM_FLOAT, ULPS, 2, quotient, 0, 0},
    {FORM_FLOAT, ULPS, 2, quotient, 0, 0},
    {.form = FORM_END}};

const struct bound approx_f64[] = {{FORM_DOUBLE, RELATIVE, BITS(19), reciprocal, 0, 0},
                                   {FORM_DOUBLE, RELATIVE, BITS(19), inverse_root, 0, 0},
                                   {FORM_DOUBLE, RELATIVE, BITS(19), inverse_root, 0, 0},
                                   {.form = FORM_END}};

const struct bound approx_half[] = {{FORM_HALF, RELATIVE, FRACTION(10, 1.0717735), power, 0, 0},
                                    {FORM_HALF, ABSOLUTE, FRACTION(11, 1.009), tangent, 0, 0},
                                    {FORM_HALF2, RELATIVE, FRACTION(10, 1.0717735), power, 1, 0},
                                    {FORM_HALF2, ABSOLUTE, FRACTION(11, 1.009), tangent, 1, 0},
                                    {.form = FORM_END}};

const struct bound approx_brain[] = {{FORM_BRAIN, RELATIVE, BITS(7), power, 0, 0},
                                     {FORM_BRAIN, RELATIVE, BITS(7), tangent, 0, 0},
                                     {FORM_BRAIN2, RELATIVE, BITS(7), power, 1, 0},
                                     {FORM_BRAIN2, RELATIVE, BITS(7), tangent, 1, 0},
                                     {.form = FORM_END}};

/* Texels are between -1 and 1; a weight is a multiple of 1/256, and there are up to eight. */
#define LINEAR                                                                                     \
    {                                                                                              \
        FORM_FLOAT, RECORDED, 1.0 / 256, NULL, 0, 0                                                \
    }
#define LINEAR4 LINEAR, LINEAR, LINEAR, LINEAR
const struct bound texture_linear[] = {LINEAR4, LINEAR4, LINEAR4, LINEAR4,           LINEAR4,
                                       LINEAR4, LINEAR4, LINEAR4, {.form = FORM_END}};

float half_value(uint16_t bits)
{
    unsigned exponent = bits >> 10 & 31, fraction = bits & 1023;
    float magnitude;

    if (exponent == 31)
        magnitude = fraction ? NAN : INFINITY;
    else
        magnitude = exponent ? ldexpf((float)(fraction | 1024), (int)exponent - 25)
                             : ldexpf((float)fraction, -24);
    return bits & 0x8000 ? -magnitude : magnitude;
}

static float float_value(uint32_t bits)
{
    float value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Value `part` of the word, or of two words, at `words`; the second word is `stride` further. */
static double value_of(enum form form, const uint32_t *words, size_t stride, unsigned part)
{
    uint32_t word = form == FORM_HALF2 || form == FORM_BRAIN2 ? *words >> 16 * part : *words;
    uint64_t wide;
    double value;

    switch (form) {
    case FORM_DOUBLE:
        wide = words[0] | (uint64_t)words[stride] << 32;
        memcpy(&value, &wide, sizeof value);
        return value;
    case FORM_HALF:
    case FORM_HALF2:
        return (double)half_value((uint16_t)word);
    case FORM_BRAIN:
    case FORM_BRAIN2:
        return (double)float_value(word << 16);
    default:
        return (double)float_value(word);
    }
}

/* The smallest number above 0, and the distance between 1 and the next, of a format. */
static double smallest(enum form form)
{
    switch (form) {
    case FORM_DOUBLE:
        return 0x1p-1022;
    case FORM_HALF:
    case FORM_HALF2:
        return 0x1p-24;
    case FORM_BRAIN:
    case FORM_BRAIN2:
        return 0x1p-133;
    default:
        return 0x1p-149;
    }
}

static double distance_allowed(const struct bound *bound, double truth)
{
    int exponent;

    switch (bound->measure) {
    case RELATIVE:
        return bound->limit * fabs(truth) + smallest(bound->form);
    case ULPS: /* of float */
        (void)frexp(truth, &exponent);
        return ldexp(bound->limit, exponent - 24) + smallest(bound->form);
    case LOGARITHM: /* relative, but absolute for what is about 1 */
        return bound->limit * fmax(fabs(truth), 1.0);
    default:
        return bound->limit;
    }
}

/* Whether `got` is near enough to the true value, and special where `expected` is. */
static bool near(const struct bound *bound, double a, double b, double expected, double got)
{
    double truth;

    if (isnan(expected) || isnan(got))
        return isnan(expected) && isnan(got);
    if (isinf(expected) || isinf(got))
        return expected == got;
    if ((bound->measure == RELATIVE || bound->measure == ULPS) && expected == 0.0)
        return got == 0.0 && signbit(got) == signbit(expected);
    if (bound->domain != 0.0 && fabs(a) > bound->domain)
        return true;
    truth = bound->exact ? bound->exact(a, b) : expected;
    return fabs(got - truth) <= distance_allowed(bound, truth);
}

unsigned compare_bounds(const struct kernel *kernel, const uint32_t *in, const uint32_t *expected,
                        const uint32_t *got)
{
    const unsigned n = kernel->n;
    unsigned wrong = 0, section = 0;

    for (const struct bound *bound = kernel->bounds; bound->form != FORM_END; bound++) {
        unsigned parts = bound->form == FORM_HALF2 || bound->form == FORM_BRAIN2 ? 2 : 1;
        unsigned row = bound->form == FORM_DOUBLE ? 2 * bound->row : bound->row;

        for (unsigned i = 0; i < n * parts; i++) {
            size_t element = i / parts, at = section * n + element;
            unsigned part = i % parts;
            const uint32_t *first =
                &in[bound->form == FORM_DOUBLE ? 2 * element : row * n + element];
            double a = value_of(bound->form, first, 1, part);
            double b = value_of(bound->form, &in[n + element], 1, part);
            double e = value_of(bound->form, &expected[at], n, part);
            double g = value_of(bound->form, &got[at], n, part);

            if (near(bound, a, b, e, g))
                continue;
            if (wrong++ < 4)
                printf("  section %u element %zu: of %.9g, %.9g: recorded %.9g, got %.9g\n",
                       section, element, a, b, e, g);
        }
        section += bound->form == FORM_DOUBLE ? 2 : 1;
    }
    return wrong;
}
