/* SPDX-License-Identifier: MIT */
/*
 * sim_pocl vecadd|matmul RUNS
 *
 * The kernels of sim.c as POCL runs them on this CPU, for comparison: the same text in OpenCL C,
 * the same sizes, the same data. POCL compiles to vector code and checks no access. sim.py runs it
 * with POCL_MAX_PTHREAD_COUNT=1. The output is that of sim.c; 77: there is no device.
 */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"

enum { VECADD_COUNT = 1 << 24, MATMUL_SIZE = 512, MAX_RUNS = 101 };

static const char source[] =
    "kernel void vecadd(global const float *a, global const float *b, global float *c, uint n)\n"
    "{\n"
    "    uint i = get_group_id(0) * get_local_size(0) + get_local_id(0);\n"
    "    if (i < n)\n"
    "        c[i] = a[i] + b[i];\n"
    "}\n"
    "kernel void matmul(global const float *a, global const float *b, global float *c, uint rows,\n"
    "                   uint inner, uint columns)\n"
    "{\n"
    "    local float tile_a[16][16], tile_b[16][16];\n"
    "    uint x = get_local_id(0), y = get_local_id(1);\n"
    "    uint row = get_group_id(1) * 16 + y, column = get_group_id(0) * 16 + x;\n"
    "    float sum = 0;\n"
    "    for (uint k = 0; k < inner; k += 16) {\n"
    "        tile_a[y][x] = row < rows && k + x < inner ? a[row * inner + k + x] : 0;\n"
    "        tile_b[y][x] = column < columns && k + y < inner ? b[(k + y) * columns + column] : "
    "0;\n"
    "        barrier(CLK_LOCAL_MEM_FENCE);\n"
    "        for (uint i = 0; i < 16; i++)\n"
    "            sum = fma(tile_a[y][i], tile_b[i][x], sum);\n"
    "        barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    }\n"
    "    if (row < rows && column < columns)\n"
    "        c[row * columns + column] = sum;\n"
    "}\n";

#define CALL(call)                                                                                 \
    do {                                                                                           \
        const cl_int code_ = (call);                                                               \
        if (code_ != CL_SUCCESS)                                                                   \
            fail(#call, code_);                                                                    \
    } while (0)

static void fail(const char *what, cl_int code)
{
    fprintf(stderr, "%s: %d\n", what, (int)code);
    exit(1);
}

static int compare(const void *a, const void *b)
{
    const double difference = *(const double *)a - *(const double *)b;
    return (difference > 0) - (difference < 0);
}

static cl_device_id find_device(void)
{
    cl_platform_id platforms[16];
    cl_device_id device;
    cl_uint count = 0;
    char name[128];

    if (clGetPlatformIDs(16, platforms, &count) != CL_SUCCESS)
        return NULL;
    for (cl_uint i = 0; i < count && i < 16; i++)
        if (clGetPlatformInfo(platforms[i], CL_PLATFORM_NAME, sizeof name, name, NULL) ==
                CL_SUCCESS &&
            strstr(name, "Portable Computing Language") &&
            clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_CPU, 1, &device, NULL) == CL_SUCCESS)
            return device;
    return NULL;
}

/* Small whole numbers, as those of sim.c. */
static cl_mem upload(cl_context context, size_t count, unsigned seed)
{
    float *values = malloc(count * sizeof *values);
    cl_int code;
    cl_mem memory;

    if (!values)
        exit(1);
    for (size_t i = 0; i < count; i++)
        values[i] = (float)((i * 7 + seed) % 17);
    memory = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, count * sizeof *values, values, &code);
    CALL(code);
    free(values);
    return memory;
}

static void measure(cl_device_id device, const char *name, int runs)
{
    const int is_vecadd = strcmp(name, "vecadd") == 0;
    const size_t count = is_vecadd ? VECADD_COUNT : (size_t)MATMUL_SIZE * MATMUL_SIZE;
    const size_t vector[] = {VECADD_COUNT, 1}, square[] = {MATMUL_SIZE, MATMUL_SIZE};
    const size_t line[] = {256, 1}, tile[] = {16, 16};
    const cl_uint sizes[] = {is_vecadd ? VECADD_COUNT : MATMUL_SIZE, MATMUL_SIZE, MATMUL_SIZE};
    const char *text = source;
    double times[MAX_RUNS];
    cl_int code;
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &code);
    CALL(code);
    cl_command_queue queue = clCreateCommandQueue(context, device, 0, &code);
    CALL(code);
    cl_program program = clCreateProgramWithSource(context, 1, &text, NULL, &code);
    CALL(code);
    CALL(clBuildProgram(program, 1, &device, "", NULL, NULL));
    cl_kernel kernel = clCreateKernel(program, name, &code);
    CALL(code);
    cl_mem memory[] = {upload(context, count, 1), upload(context, count, 5),
                       upload(context, count, 0)};
    for (cl_uint i = 0; i < 3; i++)
        CALL(clSetKernelArg(kernel, i, sizeof memory[i], &memory[i]));
    for (cl_uint i = 0; i < (is_vecadd ? 1U : 3U); i++)
        CALL(clSetKernelArg(kernel, 3 + i, sizeof sizes[i], &sizes[i]));
    for (int i = -1; i < runs; i++) { /* the first one compiles, and touches the result's pages */
        const long long start = clock_now();
        CALL(clEnqueueNDRangeKernel(queue, kernel, 2, NULL, is_vecadd ? vector : square,
                                    is_vecadd ? line : tile, 0, NULL, NULL));
        CALL(clFinish(queue));
        if (i >= 0)
            times[i] = (double)(clock_now() - start) * 1e-6;
    }
    qsort(times, (size_t)runs, sizeof *times, compare);
    printf("pocl %.6f\npocl-fastest %.6f\n", times[runs / 2], times[0]);
    for (int i = 0; i < 3; i++)
        clReleaseMemObject(memory[i]);
    clReleaseKernel(kernel);
    clReleaseProgram(program);
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
}

int main(int argc, char **argv)
{
    const int runs = argc == 3 ? atoi(argv[2]) : 0;
    cl_device_id device;

    if (runs < 1 || runs > MAX_RUNS ||
        (strcmp(argv[1], "vecadd") != 0 && strcmp(argv[1], "matmul") != 0)) {
        fprintf(stderr, "usage: sim_pocl vecadd|matmul RUNS\n");
        return 2;
    }
    device = find_device();
    if (!device) {
        fprintf(stderr, "there is no POCL with a CPU\n");
        return 77;
    }
    measure(device, argv[1], runs);
    return 0;
}
