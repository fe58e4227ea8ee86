/* SPDX-License-Identifier: MIT */
/* On a device: the kernels of every course, compiled by cushim-embed, against plain C. With a name,
 * that one alone. */
#include <math.h>
#include <string.h>

#include <cushim/device.h>
#include <cushim/launch.h>
#include <cushim/memory.h>
#include <cushim/module.h>

#include "../device.h"
#include "kernels_ptx.h"

enum { MANY = 20011, THREADS = 128, MOST = 8 };

static const struct cushim_api *cu;
static CUmodule module;
static CUdeviceptr held[MOST];
static unsigned holding;

/* Memory with these bytes, until the kernel's check ends. */
static CUdeviceptr device(const void *host, size_t bytes)
{
    CHECK(holding < MOST);
    OK(cushim_memory_alloc(cu, bytes, &held[holding]));
    OK(cushim_copy_to_device(cu, held[holding], host, bytes));
    return held[holding++];
}

static void host(void *to, CUdeviceptr from, size_t bytes)
{
    OK(cushim_copy_to_host(cu, to, from, bytes));
}

static CUfunction kernel(const char *name)
{
    CUfunction function = NULL;
    OK(cushim_module_function(cu, module, name, &function));
    return function;
}

/* In [0, 1), with all 24 bits in use. */
static float number(unsigned i)
{
    i = (i ^ i >> 15) * 0x2c1b3c6du;
    i = (i ^ i >> 12) * 0x297a2d39u;
    return (float)((i ^ i >> 15) >> 8) * 0x1p-24f;
}

static void fill(float *data, size_t count, unsigned seed, float low, float high)
{
    for (size_t i = 0; i < count; i++)
        data[i] = low + (high - low) * number((unsigned)i * 31 + seed);
}

static bool close_to(double got, double wanted, double relative)
{
    bool good = fabs(got - wanted) <= relative * fmax(fabs(wanted), 1e-6);
    if (!good)
        fprintf(stderr, "%a, not %a\n", got, wanted);
    return good;
}

static float a[MANY], b[MANY], c[MANY];

static void vector_add(CUfunction function)
{
    struct cushim_launch launch = cushim_launch_1d(MANY, THREADS, NULL);
    fill(a, MANY, 1, -9, 9);
    fill(b, MANY, 2, -9, 9);
    CUdeviceptr sum = device(c, sizeof c);
    OK(CUSHIM_LAUNCH(cu, function, &launch, device(a, sizeof a), device(b, sizeof b), sum, MANY));
    host(c, sum, sizeof c);
    for (int i = 0; i < MANY; i++)
        CHECK(c[i] == a[i] + b[i]);
}

static void saxpy(CUfunction function)
{
    struct cushim_launch launch = cushim_launch_1d(THREADS * 3, THREADS, NULL);
    fill(a, MANY, 3, -9, 9);
    fill(b, MANY, 4, -9, 9);
    CUdeviceptr x = device(a, sizeof a), y = device(b, sizeof b);
    OK(CUSHIM_LAUNCH(cu, function, &launch, MANY, 2.5f, x, y));
    host(c, y, sizeof c);
    for (int i = 0; i < MANY; i++)
        CHECK(c[i] == fmaf(2.5f, a[i], b[i]));
}

static void matrix_multiply(CUfunction function)
{
    enum { ROWS = 45, INNER = 70, COLUMNS = 37 };
    struct cushim_launch launch = {.size = sizeof launch,
                                   .grid = CUSHIM_DIM((COLUMNS + 15) / 16, (ROWS + 15) / 16),
                                   .block = CUSHIM_DIM(16, 16)};
    fill(a, ROWS * INNER, 5, -1, 1);
    fill(b, INNER * COLUMNS, 6, -1, 1);
    CUdeviceptr product = device(c, ROWS * COLUMNS * sizeof *c);
    OK(CUSHIM_LAUNCH(cu, function, &launch, device(a, ROWS * INNER * sizeof *a),
                     device(b, INNER * COLUMNS * sizeof *b), product, ROWS, INNER, COLUMNS));
    host(c, product, ROWS * COLUMNS * sizeof *c);
    for (int row = 0; row < ROWS; row++) {
        for (int column = 0; column < COLUMNS; column++) {
            float sum = 0;
            for (int k = 0; k < INNER; k++)
                sum = fmaf(a[row * INNER + k], b[k * COLUMNS + column], sum);
            CHECK(c[row * COLUMNS + column] == sum);
        }
    }
}

static void transpose(CUfunction function)
{
    enum { WIDTH = 101, HEIGHT = 75, BYTES = WIDTH * HEIGHT * sizeof(float) };
    struct cushim_launch launch = {.size = sizeof launch,
                                   .grid = CUSHIM_DIM((WIDTH + 31) / 32, (HEIGHT + 31) / 32),
                                   .block = CUSHIM_DIM(32, 8)};
    fill(a, WIDTH * HEIGHT, 7, 0, 1);
    CUdeviceptr turned = device(c, BYTES);
    OK(CUSHIM_LAUNCH(cu, function, &launch, device(a, BYTES), turned, WIDTH, HEIGHT));
    host(c, turned, BYTES);
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++)
            CHECK(c[x * HEIGHT + y] == a[y * WIDTH + x]);
}

static void reduce(CUfunction function)
{
    struct cushim_launch launch = cushim_launch_1d(THREADS * 5, THREADS, NULL);
    float total = 0;
    double sum = 0;
    fill(a, MANY, 8, 0, 2);
    CUdeviceptr result = device(&total, sizeof total);
    OK(CUSHIM_LAUNCH(cu, function, &launch, device(a, sizeof a), MANY, result));
    host(&total, result, sizeof total);
    for (int i = 0; i < MANY; i++)
        sum += (double)a[i];
    CHECK(close_to((double)total, sum, 1e-5));
}

static void histogram(CUfunction function)
{
    static unsigned char pixels[MANY][4];
    struct cushim_launch launch = cushim_launch_1d(THREADS * 4, THREADS, NULL);
    unsigned bins[256] = {0}, wanted[256] = {0};
    for (unsigned i = 0; i < MANY; i++) {
        for (unsigned k = 0; k < 4; k++)
            pixels[i][k] = (unsigned char)(256 * number(4 * i + k) * number(i));
        float blue = 0.114f * (float)pixels[i][2];
        float light = fmaf(0.299f, (float)pixels[i][0], 0.587f * (float)pixels[i][1]);
        wanted[(unsigned char)(light + blue)]++;
    }
    CUdeviceptr counts = device(bins, sizeof bins);
    launch.shared = sizeof bins;
    OK(CUSHIM_LAUNCH(cu, function, &launch, device(pixels, sizeof pixels), MANY, counts));
    host(bins, counts, sizeof bins);
    unsigned sum = 0, apart = 0;
    for (unsigned i = 0; i < 256; i++) {
        sum += bins[i];
        apart += (unsigned)abs((int)bins[i] - (int)wanted[i]);
    }
    /* Where the compiler fuses a product and a sum, a pixel in a thousand may be a neighbour's. */
    CHECK(sum == MANY && apart < MANY / 500);
}

static void prefix_sum(CUfunction function)
{
    enum { BLOCK = 256 };
    static int in[MANY], out[MANY];
    struct cushim_launch launch = cushim_launch_1d(MANY, BLOCK, NULL);
    for (unsigned i = 0; i < MANY; i++)
        in[i] = (int)(number(i) * 100) - 50;
    CUdeviceptr sums = device(out, sizeof out);
    OK(CUSHIM_LAUNCH(cu, function, &launch, device(in, sizeof in), sums, MANY));
    host(out, sums, sizeof out);
    for (int i = 0, sum = 0; i < MANY; i++) {
        sum = i % BLOCK ? sum + in[i] : in[i];
        CHECK(out[i] == sum);
    }
}

static void stencil(CUfunction function)
{
    struct cushim_launch launch = cushim_launch_1d(MANY, THREADS, NULL);
    const float weights[9] = {.01f, .05f, .1f, .2f, .28f, .2f, .1f, .05f, .01f};
    CUdeviceptr constants = 0;
    size_t bytes = 0;
    OK(cu->cuModuleGetGlobal(&constants, &bytes, module, "weights"));
    CHECK(bytes == sizeof weights);
    OK(cushim_copy_to_device(cu, constants, weights, bytes));
    fill(a, MANY, 9, -1, 1);
    CUdeviceptr result = device(c, sizeof c);
    launch.shared = (THREADS + 8) * sizeof(float);
    OK(CUSHIM_LAUNCH(cu, function, &launch, device(a, sizeof a), result, MANY));
    host(c, result, sizeof c);
    for (int i = 0; i < MANY; i++) {
        float sum = 0;
        for (int j = -4; j <= 4; j++)
            sum = fmaf(weights[j + 4], i + j >= 0 && i + j < MANY ? a[i + j] : 0, sum);
        CHECK(c[i] == sum);
    }
}

static void mandelbrot(CUfunction function)
{
    enum { WIDTH = 90, HEIGHT = 60, STEPS = 100 };
    static unsigned short steps[HEIGHT][WIDTH];
    struct cushim_launch launch = {.size = sizeof launch,
                                   .grid = CUSHIM_DIM((WIDTH + 15) / 16, (HEIGHT + 7) / 8),
                                   .block = CUSHIM_DIM(16, 8)};
    CUdeviceptr result = device(steps, sizeof steps);
    OK(CUSHIM_LAUNCH(cu, function, &launch, result, WIDTH, HEIGHT, STEPS));
    host(steps, result, sizeof steps);
    for (int py = 0; py < HEIGHT; py++) {
        for (int px = 0; px < WIDTH; px++) {
            double cx = -2.0 + 3.0 * px / WIDTH, cy = -1.0 + 2.0 * py / HEIGHT, x = 0, y = 0;
            int step = 0;
            for (; step < STEPS && x * x + y * y <= 4.0; step++) {
                double next = x * x - y * y + cx;
                y = 2 * x * y + cy;
                x = next;
            }
            CHECK(steps[py][px] == step);
        }
    }
}

static void n_body(CUfunction function)
{
    enum { BODIES = 150 };
    static float bodies[BODIES][4], got[BODIES][3];
    struct cushim_launch launch = cushim_launch_1d(BODIES, 64, NULL);
    fill(&bodies[0][0], BODIES * 4, 10, 0.1f, 1);
    CUdeviceptr result = device(got, sizeof got);
    launch.shared = 64 * sizeof bodies[0];
    OK(CUSHIM_LAUNCH(cu, function, &launch, device(bodies, sizeof bodies), result, BODIES));
    host(got, result, sizeof got);
    for (int i = 0; i < BODIES; i++) {
        double sum[3] = {0}, size = 0;
        for (int k = 0; k < BODIES; k++) {
            double d[3], square = 1e-3;
            for (int m = 0; m < 3; m++) {
                d[m] = (double)bodies[k][m] - (double)bodies[i][m];
                square += d[m] * d[m];
            }
            for (int m = 0; m < 3; m++) {
                sum[m] += d[m] * (double)bodies[k][3] / (square * sqrt(square));
                size += fabs(d[m]) * (double)bodies[k][3] / (square * sqrt(square));
            }
        }
        for (int m = 0; m < 3; m++)
            CHECK(fabs((double)got[i][m] - sum[m]) < 1e-5 * size);
    }
}

static double normal(double x)
{
    return erfc(-x / sqrt(2)) / 2;
}

static void black_scholes(CUfunction function)
{
    enum { OPTIONS = 3001 };
    static float got[OPTIONS][2];
    struct cushim_launch launch = cushim_launch_1d(OPTIONS, THREADS, NULL);
    const float rate = 0.02f, volatility = 0.3f;
    fill(a, OPTIONS, 11, 5, 30);
    fill(b, OPTIONS, 12, 1, 100);
    fill(c, OPTIONS, 13, 0.25f, 10);
    CUdeviceptr result = device(got, sizeof got);
    OK(CUSHIM_LAUNCH(cu, function, &launch, result, device(a, sizeof a), device(b, sizeof b),
                     device(c, sizeof c), rate, volatility, OPTIONS));
    host(got, result, sizeof got);
    for (int i = 0; i < OPTIONS; i++) {
        double price = a[i], strike = b[i], years = c[i], v = volatility, r = rate;
        double d1 = (log(price / strike) + (r + v * v / 2) * years) / (v * sqrt(years));
        double d2 = d1 - v * sqrt(years), paid = strike * exp(-r * years);
        double call = price * normal(d1) - paid * normal(d2);
        CHECK(fabs((double)got[i][0] - call) < 2e-6 * (price + strike));
        CHECK(fabs((double)got[i][1] - (call - price + paid)) < 2e-6 * (price + strike));
    }
}

static void softmax(CUfunction function)
{
    enum { ROWS = 7, COLUMNS = 300 };
    struct cushim_launch launch = {
        .size = sizeof launch, .grid = CUSHIM_DIM(ROWS), .block = CUSHIM_DIM(THREADS)};
    fill(a, ROWS * COLUMNS, 14, -60, 60);
    CUdeviceptr result = device(c, ROWS * COLUMNS * sizeof *c);
    OK(CUSHIM_LAUNCH(cu, function, &launch, device(a, ROWS * COLUMNS * sizeof *a), result,
                     COLUMNS));
    host(c, result, ROWS * COLUMNS * sizeof *c);
    for (int row = 0; row < ROWS; row++) {
        const float *in = a + row * COLUMNS, *out = c + row * COLUMNS;
        double most = -HUGE_VAL, sum = 0;
        for (int i = 0; i < COLUMNS; i++)
            most = fmax(most, (double)in[i]);
        for (int i = 0; i < COLUMNS; i++)
            sum += exp((double)in[i] - most);
        for (int i = 0; i < COLUMNS; i++)
            CHECK(close_to((double)out[i], exp((double)in[i] - most) / sum, 2e-5));
    }
}

static void monte_carlo(CUfunction function)
{
    enum { GENERATORS = 512, POINTS = 50 };
    struct cushim_launch launch = cushim_launch_1d(GENERATORS, THREADS, NULL);
    unsigned long long got = 0, wanted = 0;
    CUdeviceptr counter = 0;
    OK(cu->cuModuleGetGlobal(&counter, NULL, module, "inside"));
    OK(CUSHIM_LAUNCH(cu, function, &launch, (unsigned)POINTS));
    host(&got, counter, sizeof got);
    for (unsigned i = 0; i < GENERATORS; i++) {
        unsigned state = 2463534242u * (i + 1);
        for (unsigned k = 0; k < POINTS; k++) {
            double at[2];
            for (unsigned m = 0; m < 2; m++) {
                state ^= state << 13;
                state ^= state >> 17;
                state ^= state << 5;
                at[m] = (state >> 8) * 0x1p-24;
            }
            wanted += (float)sqrt(at[0] * at[0] + at[1] * at[1]) <= 1.0f;
        }
    }
    CHECK(got == wanted && got > GENERATORS * POINTS / 2);
}

static void compact(CUfunction function)
{
    static int in[MANY], out[MANY];
    struct cushim_launch launch = cushim_launch_1d(MANY, THREADS, NULL);
    int count = 0, wanted = 0;
    long long sum = 0;
    for (unsigned i = 0; i < MANY; i++) {
        in[i] = (int)(number(i) * 2000) - 1000;
        wanted += in[i] > 0;
        sum += in[i] > 0 ? in[i] : 0;
    }
    CUdeviceptr kept = device(out, sizeof out), counter = device(&count, sizeof count);
    OK(CUSHIM_LAUNCH(cu, function, &launch, device(in, sizeof in), MANY, kept, counter));
    host(out, kept, sizeof out);
    host(&count, counter, sizeof count);
    CHECK(count == wanted);
    for (int i = 0; i < count; i++) {
        CHECK(out[i] > 0);
        sum -= out[i];
    }
    CHECK(sum == 0);
}

static void most_at(CUfunction function)
{
    struct cushim_launch launch = cushim_launch_1d(MANY, THREADS, NULL);
    unsigned long long most = 0;
    unsigned wanted = 0;
    fill(a, MANY, 15, 0, 1);
    for (unsigned i = 0; i < MANY; i++)
        wanted = a[i] >= a[wanted] ? i : wanted;
    CUdeviceptr result = device(&most, sizeof most);
    OK(CUSHIM_LAUNCH(cu, function, &launch, device(a, sizeof a), (unsigned)MANY, result));
    host(&most, result, sizeof most);
    CHECK((unsigned)most == wanted);
}

static const struct {
    const char *name;
    void (*check)(CUfunction function);
} checks[] = {
#define CHECKED(name)                                                                              \
    {                                                                                              \
#name, name                                                                                \
    }
    CHECKED(vector_add),  CHECKED(saxpy),     CHECKED(matrix_multiply), CHECKED(transpose),
    CHECKED(reduce),      CHECKED(histogram), CHECKED(prefix_sum),      CHECKED(stencil),
    CHECKED(mandelbrot),  CHECKED(n_body),    CHECKED(black_scholes),   CHECKED(softmax),
    CHECKED(monte_carlo), CHECKED(compact),   CHECKED(most_at),
};

int main(int count, char **arguments)
{
    struct cushim_device_scope gpu;
    setvbuf(stdout, NULL, _IOLBF, 0);
    cu = device_or_skip();
    OK(cushim_device_enter(cu, 0, &gpu));
    OK(cushim_module_load(cu, kernels_ptx, sizeof kernels_ptx, NULL, NULL, &module));
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++) {
        if (count > 1 && strcmp(arguments[1], checks[i].name) != 0)
            continue;
        checks[i].check(kernel(checks[i].name));
        printf("%s: right\n", checks[i].name);
        while (holding > 0)
            OK(cushim_memory_free(cu, held[--holding]));
    }
    OK(cushim_module_unload(cu, module));
    OK(cushim_device_leave(&gpu));
    return 0;
}
