/* SPDX-License-Identifier: MIT */
/* Add two vectors with a kernel from a PTX file: vector_add vecadd.ptx */
#include <stdio.h>

#include <cushim/device.h>
#include <cushim/error.h>
#include <cushim/launch.h>
#include <cushim/memory.h>
#include <cushim/module.h>

#define COUNT 100000
#define BYTES (COUNT * sizeof(float))

struct work {
    CUmodule module;
    CUdeviceptr a, b, sum;
};

static float a[COUNT], b[COUNT], sum[COUNT];

static bool add_on_device(const struct cushim_api *cu, const char *path, struct work *work)
{
    struct cushim_launch launch = cushim_launch_1d(COUNT, 256, NULL);
    CUfunction vecadd = NULL;

    /* The last argument is the kernel's unsigned int: its type matters, as for any kernel. */
    return CUSHIM_CHECK(cushim_module_load_file(cu, path, NULL, NULL, &work->module)) &&
           CUSHIM_CHECK(cushim_module_function(cu, work->module, "vecadd", &vecadd)) &&
           CUSHIM_CHECK(cushim_memory_alloc(cu, BYTES, &work->a)) &&
           CUSHIM_CHECK(cushim_memory_alloc(cu, BYTES, &work->b)) &&
           CUSHIM_CHECK(cushim_memory_alloc(cu, BYTES, &work->sum)) &&
           CUSHIM_CHECK(cushim_copy_to_device(cu, work->a, a, BYTES)) &&
           CUSHIM_CHECK(cushim_copy_to_device(cu, work->b, b, BYTES)) &&
           CUSHIM_CHECK(
               CUSHIM_LAUNCH(cu, vecadd, &launch, work->a, work->b, work->sum, (unsigned)COUNT)) &&
           CUSHIM_CHECK(cushim_copy_to_host(cu, sum, work->sum, BYTES));
}

static bool release(const struct cushim_api *cu, const struct work *work)
{
    bool good = CUSHIM_CHECK(cushim_memory_free(cu, work->sum));
    good &= CUSHIM_CHECK(cushim_memory_free(cu, work->b));
    good &= CUSHIM_CHECK(cushim_memory_free(cu, work->a));
    return CUSHIM_CHECK(cushim_module_unload(cu, work->module)) && good;
}

int main(int count, char **arguments)
{
    const struct cushim_api *cu = cushim_load(NULL);
    struct cushim_device_scope gpu;
    struct work work = {0};
    for (int i = 0; i < COUNT; i++) {
        a[i] = (float)i / 3;
        b[i] = (float)(COUNT - i) / 7;
    }
    if (cushim_device_enter(cu, 0, &gpu) != CUDA_SUCCESS) {
        printf("skipped: %s\n", gpu.outcome.message);
        return 77;
    }
    bool good = add_on_device(cu, count > 1 ? arguments[1] : "vecadd.ptx", &work);
    good &= release(cu, &work);
    good &= CUSHIM_CHECK(cushim_device_leave(&gpu));

    for (int i = 0; good && i < COUNT; i++)
        if (sum[i] != a[i] + b[i]) { /* one rounding, on either machine */
            fprintf(stderr, "element %d is %.9g\n", i, (double)sum[i]);
            good = false;
        }
    if (good)
        printf("%d sums, every one correct\n", COUNT);
    return good ? 0 : 1;
}
