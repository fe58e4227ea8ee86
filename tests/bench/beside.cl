/* SPDX-License-Identifier: MIT */
/* Kernels in what OpenCL C and CUDA C have in common, for beside.py. beside.ptx is what nvcc made of
 * it: nvcc -x cu -ptx -arch=sm_80 -o beside.ptx beside.cl, with two lines above. */
#ifdef __OPENCL_VERSION__
#define KERNEL kernel void
#define GLOBAL global
#define SHARED local
#define BARRIER barrier(CLK_LOCAL_MEM_FENCE)
#define LOCAL(axis) ((uint)get_local_id(axis))
#define GROUP(axis) ((uint)get_group_id(axis))
#define SIZE ((uint)get_local_size(0))
#define GROUPS ((uint)get_num_groups(0))
#define ADD(place, value) atomic_add(place, value)
#else
typedef unsigned int uint;
typedef unsigned char uchar;
#define KERNEL extern "C" __global__ void
#define GLOBAL
#define SHARED __shared__
#define BARRIER __syncthreads()
#define LOCAL(axis) ((axis) ? threadIdx.y : threadIdx.x)
#define GROUP(axis) ((axis) ? blockIdx.y : blockIdx.x)
#define SIZE blockDim.x
#define GROUPS gridDim.x
#define ADD(place, value) atomicAdd(place, value)
#define fma fmaf
#define rsqrt rsqrtf
#endif

KERNEL vecadd(GLOBAL const float *a, GLOBAL const float *b, GLOBAL float *c, uint count)
{
    uint i = GROUP(0) * SIZE + LOCAL(0);

    if (i < count)
        c[i] = a[i] + b[i];
}

KERNEL matmul(GLOBAL const float *a, GLOBAL const float *b, GLOBAL float *c, uint size)
{
    SHARED float tile_a[16][16], tile_b[16][16];
    uint x = LOCAL(0), y = LOCAL(1), row = GROUP(1) * 16 + y, column = GROUP(0) * 16 + x;
    float sum = 0;

    for (uint k = 0; k < size; k += 16) {
        tile_a[y][x] = a[row * size + k + x];
        tile_b[y][x] = b[(k + y) * size + column];
        BARRIER;
        for (uint i = 0; i < 16; i++)
            sum = fma(tile_a[y][i], tile_b[i][x], sum);
        BARRIER;
    }
    c[row * size + column] = sum;
}

KERNEL reduce(GLOBAL const float *data, GLOBAL float *sums, uint count)
{
    SHARED float partial[256];
    uint thread = LOCAL(0), i = GROUP(0) * SIZE + thread;

    partial[thread] = i < count ? data[i] : 0;
    BARRIER;
    for (uint half_ = SIZE / 2; half_ > 0; half_ /= 2) {
        if (thread < half_)
            partial[thread] += partial[thread + half_];
        BARRIER;
    }
    if (thread == 0)
        sums[GROUP(0)] = partial[0];
}

KERNEL histogram(GLOBAL const uchar *data, GLOBAL uint *bins, uint count)
{
    SHARED uint own[256];

    own[LOCAL(0)] = 0;
    BARRIER;
    for (uint i = GROUP(0) * SIZE + LOCAL(0); i < count; i += GROUPS * SIZE)
        ADD(&own[data[i]], 1);
    BARRIER;
    ADD(&bins[LOCAL(0)], own[LOCAL(0)]);
}

KERNEL collatz(GLOBAL uint *steps, uint count)
{
    uint i = GROUP(0) * SIZE + LOCAL(0), at = i + 1, taken = 0;

    if (i >= count)
        return;
    for (; at > 1 && taken < 1000; taken++)
        at = at & 1 ? 3 * at + 1 : at / 2;
    steps[i] = taken;
}

KERNEL nbody(GLOBAL const float *x, GLOBAL const float *y, GLOBAL float *force, uint count)
{
    uint i = GROUP(0) * SIZE + LOCAL(0);
    float at_x = x[i], at_y = y[i], sum = 0;

    for (uint j = 0; j < count; j++) {
        float far_x = x[j] - at_x, far_y = y[j] - at_y;
        float near_ = rsqrt(fma(far_x, far_x, fma(far_y, far_y, 0.01f)));

        sum = fma(far_x, near_ * near_ * near_, sum);
    }
    force[i] = sum;
}
