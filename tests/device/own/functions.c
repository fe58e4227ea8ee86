/* SPDX-License-Identifier: MIT */
/* On a device: the greatest error of each mathematical function that cushim-embed gives kernels,
 * against the host's functions of twice the precision. The results are the same bits on every
 * device, which a sum over all shows.
 *
 *     device-own-functions [EVERY]    every EVERYth float (default: 65521) */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include <cushim/device.h>
#include <cushim/launch.h>
#include <cushim/memory.h>
#include <cushim/module.h>

#include "../device.h"
#include "functions.h"
#include "functions_ptx.h"

enum { CHUNK = 1 << 20, EVERY = 65521, DOUBLES = 20000 };
/* What the sum is for EVERY, on the simulated driver. */
static const uint64_t expected_sum = 0x28ef32425730daf0;

static const long double pi = 3.14159265358979323846264338327950288L;

static double exact_exp10(double x)
{
    return pow(10, x);
}

static long double exact_exp10l(long double x)
{
    return powl(10, x);
}

/* sin(pi x + turns pi / 2) */
static long double turned(double x, int turns)
{
    double quarter = nearbyint(2 * fmod(x, 2));
    long double rest = pi * (long double)(fmod(x, 2) - quarter / 2);
    switch (((int)quarter + turns) & 3) {
    case 0:
        return sinl(rest);
    case 1:
        return cosl(rest);
    case 2:
        return -sinl(rest);
    default:
        return -cosl(rest);
    }
}

/* The zeros of whole numbers have the number's sign. */
static long double exact_sinpil(long double x)
{
    return isfinite(x) && x == truncl(x) ? copysignl(0, x) : turned((double)x, 0);
}

static double exact_sinpi(double x)
{
    return (double)exact_sinpil(x);
}

static long double exact_cospil(long double x)
{
    long double y = turned((double)x, 1);
    return y == 0 ? 0 : y;
}

static double exact_cospi(double x)
{
    return (double)exact_cospil(x);
}

static long double exact_rsqrtl(long double x)
{
    return 1 / sqrtl(x);
}

static long double exact_rcbrtl(long double x)
{
    return 1 / cbrtl(x);
}

static double exact_rsqrt(double x)
{
    return 1 / sqrt(x);
}

static double exact_rcbrt(double x)
{
    return 1 / cbrt(x);
}

static double exact_normcdf(double x)
{
    return (double)(erfcl(-(long double)x / sqrtl(2)) / 2);
}

static double exact_quotient(double x, double y)
{
    return x / y;
}

struct function {
    const char *name;
    double stated;
    double (*one)(double);
    double (*two)(double, double);
    long double (*wide)(long double);
    long double (*wide_two)(long double, long double);
    double low, high;
};

static const struct function functions[] = {
#define ONE(name, reference, error) {#name, error, .one = reference},
#define TWO(name, reference, error) {#name, error, .two = reference},
#define DOUBLE(name, reference, error, lowest, highest)                                            \
    {#name, error, .wide = reference, .low = lowest, .high = highest},
#define DOUBLE_PAIR(name, reference, error, lowest, highest)                                       \
    {#name, error, .wide_two = reference, .low = lowest, .high = highest},
    FLOAT_FUNCTIONS(ONE) PAIR_FUNCTIONS(TWO) DOUBLE_FUNCTIONS(DOUBLE)
        DOUBLE_PAIR_FUNCTIONS(DOUBLE_PAIR)};

static struct {
    const struct cushim_api *cu;
    CUmodule module;
    CUdeviceptr x, y, result;
    union {
        float f[CHUNK];
        double d[CHUNK];
    } host[3];
    uint64_t sum, every;
} run;

static uint32_t bits(float x)
{
    uint32_t word;
    memcpy(&word, &x, sizeof word);
    return word;
}

static float number(uint64_t word)
{
    uint32_t low = (uint32_t)word;
    float x;
    memcpy(&x, &low, sizeof x);
    return x;
}

static uint64_t mixed(uint64_t i)
{
    i = (i ^ i >> 31) * 0x9e3779b97f4a7c15u;
    return (i ^ i >> 29) * 0xbf58476d1ce4e5b9u;
}

/* How far `got` is from `exact`, in units of the last of `digits` bits of the exact result. */
static double error_of(double got, long double exact, int digits, int least, int limit)
{
    int exponent;
    /* Infinity stands for the number after the greatest, as rounding has it. */
    long double above = ldexpl(1, limit), value = isinf(got) ? copysignl(above, got) : got;
    if (isnan(got) || isnan(exact))
        return isnan(got) && isnan(exact) ? 0 : HUGE_VAL;
    if (isinf(got) && (isinf(exact) || fabsl(exact) >= above))
        return !signbit(got) == !signbit(exact) ? 0 : HUGE_VAL;
    if (isinf(exact))
        return HUGE_VAL;
    if (got == 0 && exact == 0)
        return !signbit(got) == !signbit(exact) ? 0 : HUGE_VAL;
    frexpl(exact, &exponent);
    exponent = exponent < least ? least : exponent;
    return (double)(fabsl(value - exact) / ldexpl(1, exponent - digits));
}

static void launch(const struct function *function, unsigned count, size_t width)
{
    struct cushim_launch grid = cushim_launch_1d(count, 128, NULL);
    char name[40];
    CUfunction kernel = NULL;
    snprintf(name, sizeof name, "of_%s", function->name);
    OK(cushim_module_function(run.cu, run.module, name, &kernel));
    OK(cushim_copy_to_device(run.cu, run.x, &run.host[0], count * width));
    OK(cushim_copy_to_device(run.cu, run.y, &run.host[1], count * width));
    OK(CUSHIM_LAUNCH(run.cu, kernel, &grid, run.x, run.y, run.result, count));
    OK(cushim_copy_to_host(run.cu, &run.host[2], run.result, count * width));
}

struct worst {
    double error, x, y, got;
};

static void compare_floats(const struct function *function, unsigned count, struct worst *worst)
{
    for (unsigned i = 0; i < count; i++) {
        float x = run.host[0].f[i], y = run.host[1].f[i], got = run.host[2].f[i];
        double exact = function->two ? function->two(x, y) : function->one(x);
        double error = error_of(got, exact, 24, -125, 128);
        if (error > worst->error)
            *worst = (struct worst){error, x, y, got};
        run.sum = mixed(run.sum ^ (isnan(got) ? 0 : bits(got)));
    }
}

static void compare_doubles(const struct function *function, unsigned count, struct worst *worst)
{
    for (unsigned i = 0; i < count; i++) {
        double x = run.host[0].d[i], y = run.host[1].d[i], got = run.host[2].d[i];
        long double exact = function->wide ? function->wide(x) : function->wide_two(x, y);
        double error = error_of(got, exact, 53, -1021, 1024);
        uint64_t word;
        if (error > worst->error)
            *worst = (struct worst){error, x, y, got};
        memcpy(&word, &got, sizeof word);
        run.sum = mixed(run.sum ^ (isnan(got) ? 0 : word));
    }
}

static void measure_floats(const struct function *function, struct worst *worst)
{
    for (uint64_t i = 0, first = 0; first < (uint64_t)1 << 32; first += CHUNK * run.every) {
        unsigned count = 0;
        for (i = first; count < CHUNK && i < (uint64_t)1 << 32; i += run.every, count++) {
            uint64_t other = mixed(i) >> 32;
            if (i / run.every % 2) /* of a similar magnitude */
                other = (other & 0x80ffffff) | (i & 0x7f000000);
            run.host[0].f[count] = number(i);
            run.host[1].f[count] = number(other);
        }
        launch(function, count, sizeof(float));
        compare_floats(function, count, worst);
    }
}

/* The ith number of a function's range: half evenly in it, half of all magnitudes in it. */
static double in_range(const struct function *function, uint64_t i)
{
    double share = (double)(mixed(2 * i) >> 11) * 0x1p-53;
    double x = function->low + (function->high - function->low) * share;
    double small = ldexp(x, -(int)((mixed(2 * i + 1) >> 32) % 1000));
    return i % 2 && small >= function->low ? small : x;
}

static void measure_doubles(const struct function *function, struct worst *worst)
{
    uint64_t many = (uint64_t)DOUBLES * EVERY / run.every;
    for (uint64_t first = 0; first < many; first += CHUNK) {
        unsigned count = 0;
        for (uint64_t i = first; count < CHUNK && i < many; i++, count++) {
            run.host[0].d[count] = in_range(function, i);
            run.host[1].d[count] = in_range(function, i * 3 + 1) * (i & 4 ? -1 : 1);
        }
        launch(function, count, sizeof(double));
        compare_doubles(function, count, worst);
    }
}

static int measure(const struct function *function)
{
    struct worst worst = {0};
    if (function->wide || function->wide_two)
        measure_doubles(function, &worst);
    else
        measure_floats(function, &worst);
    bool bad = worst.error > function->stated;
    printf("%-12s %6.3f of %4.2f  at %a", function->name, worst.error, function->stated, worst.x);
    if (function->two || function->wide_two)
        printf(", %a", worst.y);
    printf(" = %a%s\n", worst.got, bad ? "  MORE THAN STATED" : "");
    return bad;
}

int main(int count, char **arguments)
{
    struct cushim_device_scope gpu;
    int failed = 0;
    setvbuf(stdout, NULL, _IOLBF, 0);
    run.every = count > 1 ? strtoull(arguments[1], NULL, 10) : EVERY;
    CHECK(run.every > 0 && run.every < UINT32_MAX);
    run.cu = device_or_skip();
    OK(cushim_device_enter(run.cu, 0, &gpu));
    OK(cushim_module_load(run.cu, functions_ptx, sizeof functions_ptx, NULL, NULL, &run.module));
    OK(cushim_memory_alloc(run.cu, sizeof run.host[0], &run.x));
    OK(cushim_memory_alloc(run.cu, sizeof run.host[1], &run.y));
    OK(cushim_memory_alloc(run.cu, sizeof run.host[2], &run.result));
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        failed += measure(&functions[i]);
    printf("sum %016llx\n", (unsigned long long)run.sum);
    CHECK(failed == 0);
    CHECK(run.every != EVERY || run.sum == expected_sum);
    OK(cushim_memory_free(run.cu, run.x));
    OK(cushim_memory_free(run.cu, run.y));
    OK(cushim_memory_free(run.cu, run.result));
    OK(cushim_module_unload(run.cu, run.module));
    OK(cushim_device_leave(&gpu));
    return 0;
}
