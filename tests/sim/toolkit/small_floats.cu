/* SPDX-License-Identifier: MIT */
/* Floats of 16, 8, 6 and 4 bits by the toolkit's headers: instructions where the target has them,
 * and the headers' own code elsewhere, give the same. */
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp4.h>
#include <cuda_fp6.h>
#include <cuda_fp8.h>

extern "C" __global__ void test(const int *in, int *out)
{
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    float value = (in[at] - 500) * 0.375f;
    __half half = __float2half(value * 0.01f);
    __half2 two = __floats2half2_rn(value, value + 1);

    out[at] = __nv_fp8_e4m3(value).__x;
    out[1024 + at] = __nv_fp8_e5m2(value).__x;
    out[2048 + at] = __float_as_int(float(__nv_fp8_e4m3(value)));
    out[3072 + at] = __nv_fp6_e2m3(value * 0.01f).__x | __nv_fp6_e3m2(value * 0.1f).__x << 8;
    out[4096 + at] = __nv_fp4_e2m1(value * 0.03f).__x;
    out[5120 + at] = __half_as_ushort(__hfma(half, half, half));
    out[6144 + at] = __bfloat16_as_ushort(__float2bfloat16(value));
    two = __hfma2_relu(two, two, two);
    out[7168 + at] = *(int *)&two;
}
