/* SPDX-License-Identifier: MIT */
/* The kernels that every course begins with, as their users write them. */
#include <cuda_runtime.h>
#include <float.h>
#include <math.h>

#define TILE 16

extern "C" __global__ void vector_add(const float *a, const float *b, float *sum, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        sum[i] = a[i] + b[i];
}

/* A loop over the grid, so that any grid serves any n. */
extern "C" __global__ void saxpy(int n, float a, const float *__restrict__ x, float *__restrict__ y)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        y[i] = a * __ldg(&x[i]) + y[i];
}

extern "C" __global__ void matrix_multiply(const float *a, const float *b, float *c, int rows,
                                           int inner, int columns)
{
    __shared__ float left[TILE][TILE], right[TILE][TILE];
    int row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
    float sum = 0.0f;
    for (int start = 0; start < inner; start += TILE) {
        int across = start + threadIdx.x, down = start + threadIdx.y;
        left[threadIdx.y][threadIdx.x] =
            row < rows && across < inner ? a[row * inner + across] : 0.0f;
        right[threadIdx.y][threadIdx.x] =
            down < inner && column < columns ? b[down * columns + column] : 0.0f;
        __syncthreads();
#pragma unroll
        for (int k = 0; k < TILE; k++)
            sum += left[threadIdx.y][k] * right[k][threadIdx.x];
        __syncthreads();
    }
    if (row < rows && column < columns)
        c[row * columns + column] = sum;
}

/* The column more keeps the threads of a warp on banks of their own. */
extern "C" __global__ void transpose(const float *from, float *to, int width, int height)
{
    __shared__ float tile[32][33];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += blockDim.y)
        if (x < width && y + j < height)
            tile[threadIdx.y + j][threadIdx.x] = from[(y + j) * width + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x;
    y = blockIdx.x * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += blockDim.y)
        if (x < height && y + j < width)
            to[(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
}

struct Sum {
    template <class T> static __device__ T of(T x, T y)
    {
        return x + y;
    }
    template <class T> static __device__ T nothing()
    {
        return T(0);
    }
};

struct Most {
    template <class T> static __device__ T of(T x, T y)
    {
        return max(x, y);
    }
    template <class T> static __device__ T nothing()
    {
        return T(-FLT_MAX);
    }
};

template <class How, class T> __device__ T reduce_warp(T value)
{
    for (int offset = warpSize / 2; offset > 0; offset >>= 1)
        value = How::of(value, __shfl_xor_sync(0xffffffff, value, offset));
    return value;
}

/* For all threads of a block of whole warps. */
template <class How, class T> __device__ T reduce_block(T value)
{
    __shared__ T of_warp[32];
    int lane = threadIdx.x % warpSize, warp = threadIdx.x / warpSize;
    value = reduce_warp<How>(value);
    __syncthreads();
    if (lane == 0)
        of_warp[warp] = value;
    __syncthreads();
    value = lane < (int)blockDim.x / warpSize ? of_warp[lane] : How::template nothing<T>();
    return reduce_warp<How>(value);
}

extern "C" __global__ void reduce(const float *data, int n, float *total)
{
    float sum = 0.0f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        sum += data[i];
    sum = reduce_block<Sum>(sum);
    if (threadIdx.x == 0)
        atomicAdd(total, sum);
}

extern "C" __global__ void histogram(const uchar4 *pixels, int n, unsigned *bins)
{
    extern __shared__ unsigned local[];
    for (int i = threadIdx.x; i < 256; i += blockDim.x)
        local[i] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        uchar4 p = pixels[i];
        atomicAdd(&local[(unsigned char)(0.299f * p.x + 0.587f * p.y + 0.114f * p.z)], 1u);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < 256; i += blockDim.x)
        atomicAdd(&bins[i], local[i]);
}

/* The running sum of one block's part: by shuffles in each warp, then of the warps' sums. */
extern "C" __global__ void prefix_sum(const int *in, int *out, int n)
{
    __shared__ int of_warp[32];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    int sum = i < n ? in[i] : 0;
    for (int offset = 1; offset < 32; offset <<= 1) {
        int before = __shfl_up_sync(0xffffffff, sum, offset);
        if (lane >= offset)
            sum += before;
    }
    if (lane == 31)
        of_warp[warp] = sum;
    __syncthreads();
    if (warp == 0) {
        int all = lane < (int)blockDim.x / 32 ? of_warp[lane] : 0;
        for (int offset = 1; offset < 32; offset <<= 1) {
            int before = __shfl_up_sync(0xffffffff, all, offset);
            all += lane >= offset ? before : 0;
        }
        of_warp[lane] = all;
    }
    __syncthreads();
    if (i < n)
        out[i] = sum + (warp > 0 ? of_warp[warp - 1] : 0);
}

#define RADIUS 4
__constant__ float weights[2 * RADIUS + 1]; /* the host fills it */

extern "C" __global__ void stencil(const float *in, float *out, int n)
{
    extern __shared__ float near[];
    int i = blockIdx.x * blockDim.x + threadIdx.x, here = threadIdx.x + RADIUS;
    near[here] = i < n ? in[i] : 0.0f;
    if (threadIdx.x < RADIUS) {
        int after = i + (int)blockDim.x;
        near[here - RADIUS] = i >= RADIUS ? in[i - RADIUS] : 0.0f;
        near[here + blockDim.x] = after < n ? in[after] : 0.0f;
    }
    __syncthreads();
    float sum = 0.0f;
    for (int j = -RADIUS; j <= RADIUS; j++)
        sum += weights[j + RADIUS] * near[here + j];
    if (i < n)
        out[i] = sum;
}

extern "C" __global__ void mandelbrot(unsigned short *steps, int width, int height, int most)
{
    int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
    if (px >= width || py >= height)
        return;
    double cx = -2.0 + 3.0 * px / width, cy = -1.0 + 2.0 * py / height, x = 0, y = 0;
    int step = 0;
    while (step < most && __dadd_rn(__dmul_rn(x, x), __dmul_rn(y, y)) <= 4.0) {
        double next = __dadd_rn(__dadd_rn(__dmul_rn(x, x), -__dmul_rn(y, y)), cx);
        y = __dadd_rn(__dmul_rn(2 * x, y), cy);
        x = next;
        step++;
    }
    steps[py * width + px] = (unsigned short)step;
}

/* The acceleration of each body; w is its mass. */
extern "C" __global__ void n_body(const float4 *bodies, float3 *acceleration, int n)
{
    extern __shared__ float4 tile[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 me = i < n ? bodies[i] : make_float4(0, 0, 0, 0);
    float3 sum = make_float3(0, 0, 0);
    for (int start = 0; start < n; start += blockDim.x) {
        int other = start + threadIdx.x;
        tile[threadIdx.x] = other < n ? bodies[other] : make_float4(0, 0, 0, 0);
        __syncthreads();
        for (int k = 0; k < (int)blockDim.x; k++) {
            float dx = tile[k].x - me.x, dy = tile[k].y - me.y, dz = tile[k].z - me.z;
            float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + 1e-3f);
            float pull = tile[k].w * inverse * inverse * inverse;
            sum.x += dx * pull;
            sum.y += dy * pull;
            sum.z += dz * pull;
        }
        __syncthreads();
    }
    if (i < n)
        acceleration[i] = sum;
}

extern "C" __global__ void black_scholes(float2 *options, const float *price, const float *strike,
                                         const float *years, float rate, float volatility, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float spread = volatility * sqrtf(years[i]);
    float d1 =
        (logf(price[i] / strike[i]) + (rate + 0.5f * volatility * volatility) * years[i]) / spread;
    float d2 = d1 - spread, paid = strike[i] * expf(-rate * years[i]);
    float call = price[i] * normcdff(d1) - paid * normcdff(d2);
    options[i] = make_float2(call, paid * normcdff(-d2) - price[i] * normcdff(-d1));
}

/* One block for each row. */
extern "C" __global__ void softmax(const float *in, float *out, int columns)
{
    const float *row = in + (size_t)blockIdx.x * columns;
    float most = -FLT_MAX, sum = 0.0f;
    for (int i = threadIdx.x; i < columns; i += blockDim.x)
        most = fmaxf(most, row[i]);
    most = reduce_block<Most>(most);
    for (int i = threadIdx.x; i < columns; i += blockDim.x)
        sum += expf(row[i] - most);
    sum = reduce_block<Sum>(sum);
    for (int i = threadIdx.x; i < columns; i += blockDim.x)
        out[(size_t)blockIdx.x * columns + i] = expf(row[i] - most) / sum;
}

__device__ unsigned long long inside; /* the host reads it */

/* Points of the unit square that are in the circle, of a generator for each thread. */
extern "C" __global__ void monte_carlo(unsigned points)
{
    unsigned state = 2463534242u * (blockIdx.x * blockDim.x + threadIdx.x + 1);
    unsigned long long count = 0;
    for (unsigned k = 0; k < points; k++) {
        float at[2];
        for (float &coordinate : at) {
            state ^= state << 13;
            state ^= state >> 17;
            state ^= state << 5;
            coordinate = (state >> 8) * 0x1p-24f;
        }
        count += hypotf(at[0], at[1]) <= 1.0f;
    }
    atomicAdd(&inside, count);
}

/* Keep the positive numbers, with one atomic operation for each warp. The order is any. */
extern "C" __global__ void compact(const int *in, int n, int *out, int *count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31, first = 0;
    bool keep = i < n && in[i] > 0;
    unsigned mask = __activemask(), votes = __ballot_sync(mask, keep);
    if (__any_sync(mask, keep)) {
        int leader = __ffs(votes) - 1;
        if (lane == leader)
            first = atomicAdd(count, __popc(votes));
        first = __shfl_sync(mask, first, leader);
        if (keep)
            out[first + __popc(votes & ((1u << lane) - 1))] = in[i];
    }
    __syncwarp();
}

/* The greatest number and where it is, in one word. */
extern "C" __global__ void most_at(const float *in, unsigned n, unsigned long long *most)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) /* for positive numbers, the bits have their order */
        atomicMax(most, (unsigned long long)__float_as_uint(in[i]) << 32 | i);
}
