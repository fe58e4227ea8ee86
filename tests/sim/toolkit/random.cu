/* SPDX-License-Identifier: MIT */
/* cuRAND's generators. The compiler fuses some of their float arithmetic, so floats are scaled to
 * what all levels of optimisation agree on. */
#include <curand_kernel.h>

extern "C" __global__ void test(const int *in, int *out)
{
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    curandStatePhilox4_32_10_t philox;
    curandStateXORWOW_t xorwow;
    curandStateMRG32k3a_t combined;

    curand_init(in[0], at, 0, &philox);
    curand_init(in[1], at, 5, &xorwow);
    curand_init(in[2], at, 1, &combined);
    out[at] = curand(&philox);
    out[1024 + at] = curand(&xorwow);
    out[2048 + at] = curand(&combined);
    out[3072 + at] = __float_as_int(curand_uniform(&xorwow));
    out[4096 + at] = (int)rintf(curand_normal(&philox) * 10);
    out[5120 + at] = curand_poisson(&philox, 20.0);
}
