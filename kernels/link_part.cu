/* SPDX-License-Identifier: MIT */

/* Called from link_main.cu. 3 * value + 1, rounded once (fused). */
extern "C" __device__ float link_part(float value)
{
    return 3.0f * value + 1.0f;
}
