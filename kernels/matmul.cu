/* SPDX-License-Identifier: MIT */

#define TILE 16 /* blockDim is (TILE, TILE) */

/* c[rows][columns] = a[rows][inner] * b[inner][columns], row by row in memory. Each element is
 * summed from 0 in the order of the inner index, each step rounded once (fused). */
extern "C" __global__ void matmul(const float *a, const float *b, float *c, unsigned int rows,
                                  unsigned int inner, unsigned int columns)
{
    __shared__ float tile_a[TILE][TILE], tile_b[TILE][TILE];
    unsigned int row = blockIdx.y * TILE + threadIdx.y;
    unsigned int column = blockIdx.x * TILE + threadIdx.x;
    float sum = 0.0f;

#pragma unroll 1
    for (unsigned int start = 0; start < inner; start += TILE) {
        unsigned int inner_a = start + threadIdx.x, inner_b = start + threadIdx.y;

        tile_a[threadIdx.y][threadIdx.x] =
            row < rows && inner_a < inner ? a[row * inner + inner_a] : 0.0f;
        tile_b[threadIdx.y][threadIdx.x] =
            inner_b < inner && column < columns ? b[inner_b * columns + column] : 0.0f;
        __syncthreads();
        for (unsigned int k = 0; k < TILE; k++)
            sum = tile_a[threadIdx.y][k] * tile_b[k][threadIdx.x] + sum;
        __syncthreads();
    }
    if (row < rows && column < columns)
        c[row * columns + column] = sum;
}
