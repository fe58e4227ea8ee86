/* SPDX-License-Identifier: MIT */

/* What tex2D<float>(texture, x, y) is, which needs the toolkit's headers. */
static inline __device__ float look_up(cudaTextureObject_t texture, float x, float y)
{
    float red;

    asm("{\n\t"
        ".reg .f32 green, blue, alpha;\n\t"
        "tex.2d.v4.f32.f32 {%0, green, blue, alpha}, [%1, {%2, %3}];\n\t"
        "}"
        : "=f"(red)
        : "l"(texture), "f"(x), "f"(y));
    return red;
}

/* out[y * width + x] = the texture at (x + dx, y + dy), in texels; 0.5 is a texel's middle. */
extern "C" __global__ void texture(cudaTextureObject_t source, float *out, unsigned int width,
                                   unsigned int height, float dx, float dy)
{
    unsigned int x = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned int y = blockIdx.y * blockDim.y + threadIdx.y;

    if (x < width && y < height)
        out[y * width + x] = look_up(source, (float)x + dx, (float)y + dy);
}
