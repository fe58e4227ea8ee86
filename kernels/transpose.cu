/* SPDX-License-Identifier: MIT */

#define TILE 32 /* blockDim is (TILE, ROWS) */
#define ROWS 8

/* to[x * height + y] = from[y * width + x], by square tiles, so that both sides are read and
 * written row by row. The tile's extra column keeps its columns apart in the memory's banks. */
extern "C" __global__ void transpose(const unsigned int *from, unsigned int *to, unsigned int width,
                                     unsigned int height)
{
    __shared__ unsigned int tile[TILE][TILE + 1];
    unsigned int x = blockIdx.x * TILE + threadIdx.x;
    unsigned int y = blockIdx.y * TILE + threadIdx.y;

    for (unsigned int row = 0; row < TILE; row += ROWS)
        if (x < width && y + row < height)
            tile[threadIdx.y + row][threadIdx.x] = from[(y + row) * width + x];
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x;
    y = blockIdx.x * TILE + threadIdx.y;
    for (unsigned int row = 0; row < TILE; row += ROWS)
        if (x < height && y + row < width)
            to[(y + row) * height + x] = tile[threadIdx.x][threadIdx.y + row];
}
