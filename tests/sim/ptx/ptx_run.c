/* SPDX-License-Identifier: MIT */
/* Time kernels on the PTX engine alone:
 *     ptx_run vecadd kernels/vecadd.ptx [ELEMENTS [WORKERS]]
 *     ptx_run matmul kernels/matmul.ptx [SIZE [WORKERS]]
 * and tell what is in a PTX file, or why it does not compile:
 *     ptx_run list FILE */
#include "world.h"

#include <time.h>

static double seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static char *read_file(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    char *text = NULL;
    long length;

    if (!file)
        return NULL;
    if (fseek(file, 0, SEEK_END) == 0 && (length = ftell(file)) >= 0) {
        rewind(file);
        text = malloc((size_t)length + 1);
        *size = !text ? 0 : fread(text, 1, (size_t)length, file);
    }
    fclose(file);
    return text;
}

static bool launch(struct world *world, const char *name, const void *params, uint32_t x,
                   uint32_t y, uint32_t block_x, uint32_t block_y)
{
    struct ptx_launch request = {.image = world->image,
                                 .function = world_function(world, name),
                                 .grid = {x, y, 1},
                                 .block = {block_x, block_y, 1},
                                 .params = params,
                                 .machine = &world->machine,
                                 .world = &world->calls};

    if (!ptx_launch(&request, &world->fault)) {
        fprintf(stderr, "%s\n", world->fault.report);
        return false;
    }
    return true;
}

static int run_vecadd(struct world *world, uint32_t count)
{
    struct {
        uint64_t a, b, c;
        uint32_t count;
    } params = {.count = count};
    float *a, *b, *c;
    double best = 1e9;

    params.a = world_alloc(world, (uint64_t)count * 4);
    params.b = world_alloc(world, (uint64_t)count * 4);
    params.c = world_alloc(world, (uint64_t)count * 4);
    a = world_host(world, params.a);
    b = world_host(world, params.b);
    c = world_host(world, params.c);
    for (uint32_t i = 0; i < count; i++) {
        a[i] = (float)i;
        b[i] = (float)(i % 1000);
    }
    for (int i = 0; i < 5; i++) {
        double start = seconds();

        if (!launch(world, "vecadd", &params, (count + 255) / 256, 1, 256, 1))
            return 1;
        best = seconds() - start < best ? seconds() - start : best;
    }
    for (uint32_t i = 0; i < count; i++)
        if (c[i] != a[i] + b[i]) {
            fprintf(stderr, "element %u is wrong\n", (unsigned)i);
            return 1;
        }
    printf("vecadd of %u: %.3f s\n", (unsigned)count, best);
    return 0;
}

/* The loop that the kernel is compared with. */
static void __attribute__((noinline))
plain_matmul(const float *a, const float *b, float *c, uint32_t size)
{
    for (uint32_t i = 0; i < size; i++)
        for (uint32_t j = 0; j < size; j++) {
            float sum = 0;

            for (uint32_t k = 0; k < size; k++)
                sum += a[i * size + k] * b[k * size + j];
            c[i * size + j] = sum;
        }
}

static int run_matmul(struct world *world, uint32_t size)
{
    struct {
        uint64_t a, b, c;
        uint32_t rows, inner, columns;
    } params = {.rows = size, .inner = size, .columns = size};
    uint64_t bytes = (uint64_t)size * size * 4;
    float *a, *b, *c, *check = malloc(bytes);
    double best = 1e9, plain = 1e9;

    params.a = world_alloc(world, bytes);
    params.b = world_alloc(world, bytes);
    params.c = world_alloc(world, bytes);
    a = world_host(world, params.a);
    b = world_host(world, params.b);
    c = world_host(world, params.c);
    for (uint32_t i = 0; i < size * size; i++) {
        a[i] = (float)(i % 7);
        b[i] = (float)(i % 5);
    }
    for (int i = 0; i < 5; i++) {
        double start = seconds();

        if (!launch(world, "matmul", &params, (size + 15) / 16, (size + 15) / 16, 16, 16))
            return 1;
        best = seconds() - start < best ? seconds() - start : best;
        start = seconds();
        plain_matmul(a, b, check, size);
        plain = seconds() - start < plain ? seconds() - start : plain;
    }
    for (uint32_t i = 0; i < size * size; i++)
        if (c[i] != check[i]) {
            fprintf(stderr, "element %u is wrong: %g, not %g\n", (unsigned)i, (double)c[i],
                    (double)check[i]);
            return 1;
        }
    printf("matmul of %u: %.3f s; a plain C loop: %.3f s; ratio %.2f\n", (unsigned)size, best,
           plain, best / plain);
    free(check);
    return 0;
}

static int list(const struct world *world)
{
    for (size_t i = 0; i < ptx_module_functions(world->module); i++) {
        const struct ptx_function_info *info = ptx_module_function(world->module, i);

        printf("%s %s: %u parameters (%u bytes), shared %u, local %u, registers %u\n",
               info->entry ? "entry" : "function", info->name, (unsigned)info->param_count,
               (unsigned)info->param_size, (unsigned)info->static_shared, (unsigned)info->local,
               (unsigned)info->registers);
    }
    for (size_t i = 0; i < ptx_module_variables(world->module); i++)
        printf("variable %s: %llu bytes\n", ptx_module_variable(world->module, i)->name,
               (unsigned long long)ptx_module_variable(world->module, i)->size);
    return 0;
}

int main(int argc, char **argv)
{
    struct ptx_text errors = {0};
    struct world world;
    size_t size = 0;
    char *text;
    int result = 2;

    if (argc < 3) {
        fprintf(stderr, "usage: ptx_run vecadd|matmul|list FILE [SIZE [WORKERS]]\n");
        return 2;
    }
    text = read_file(argv[2], &size);
    if (!text) {
        perror(argv[2]);
        return 2;
    }
    world_open(&world);
    if (argc > 4)
        world.machine.workers = (uint32_t)atoi(argv[4]);
    if (!world_load(&world, text, size, &errors))
        fprintf(stderr, "%s", errors.data ? errors.data : "no memory\n");
    else if (strcmp(argv[1], "vecadd") == 0)
        result = run_vecadd(&world, argc > 3 ? (uint32_t)atoi(argv[3]) : 1u << 24);
    else if (strcmp(argv[1], "matmul") == 0)
        result = run_matmul(&world, argc > 3 ? (uint32_t)atoi(argv[3]) : 512);
    else
        result = list(&world);
    ptx_text_free(&errors);
    world_close(&world);
    free(text);
    return result;
}
