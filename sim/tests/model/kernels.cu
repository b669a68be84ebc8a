// Kernels whose traffic and times can be counted by hand. kernels.ptx is NVRTC 12.1's:
// -arch=sm_75 -lineinfo. Each block has 256 threads unless its comment says otherwise.
#define AT (blockIdx.x * blockDim.x + threadIdx.x)

// A number for each thread.
extern "C" __global__ void copy(const float* from, float* to) { to[AT] = from[AT]; }

// Reads and writes every `stride`-th number.
extern "C" __global__ void stride(const float* from, float* to, int stride) {
    size_t at = (size_t)AT * stride;
    to[at] = from[at];
}

// Adds one to each number where it is.
extern "C" __global__ void bump(float* at) { at[AT] += 1.0f; }

// Stores each number, and another warp of the block reads it after the barrier.
extern "C" __global__ void pass_on(float* at) {
    at[AT] = threadIdx.x;
    __syncthreads();
    float got = at[blockIdx.x * blockDim.x + blockDim.x - 1 - threadIdx.x];
    __syncthreads();
    at[AT] = got;
}

// Counts into 8 numbers, which are one sector.
extern "C" __global__ void count(unsigned* bins) { atomicAdd(bins + threadIdx.x % 8, 1u); }

// The sum of each block's numbers.
extern "C" __global__ void reduce(const float* from, float* sums) {
    __shared__ float part[256];
    part[threadIdx.x] = from[AT];
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) sums[blockIdx.x] = part[0];
}

// Every thread reads all of `from`, `rounds` times, a warp 128 bytes at a time.
extern "C" __global__ void again(const float* from, float* to, int count, int rounds) {
    float sum = 0;
    for (int round = 0; round < rounds; round++)
        for (int i = threadIdx.x; i < count; i += blockDim.x) sum += from[i];
    to[AT] = sum;
}

// Turns a matrix of tiles of 32 x 32 over, through a tile with `PAD` more columns. 32 x 8 threads.
template <int PAD> __device__ void turn(const float* from, float* to, int n) {
    __shared__ float tile[32][32 + PAD];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int i = 0; i < 32; i += 8) tile[threadIdx.y + i][threadIdx.x] = from[(y + i) * n + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32 + threadIdx.y;
    for (int i = 0; i < 32; i += 8) to[(y + i) * n + x] = tile[threadIdx.x][threadIdx.y + i];
}
extern "C" __global__ void turn_conflicts(const float* from, float* to, int n) {
    turn<0>(from, to, n);
}
extern "C" __global__ void turn_padded(const float* from, float* to, int n) {
    turn<1>(from, to, n);
}

// Eight chains of multiply-adds, of 16 each a round.
template <class T> __device__ void chains(T* to, int rounds) {
    T at[8];
    for (int i = 0; i < 8; i++) at[i] = threadIdx.x + i;
    for (int round = 0; round < rounds; round++)
#pragma unroll
        for (int step = 0; step < 16; step++)
#pragma unroll
            for (int i = 0; i < 8; i++) at[i] = at[i] * T(0.5) + T(1);
    T sum = 0;
    for (int i = 0; i < 8; i++) sum += at[i];
    to[AT] = sum;
}
extern "C" __global__ void chains_f32(float* to, int rounds) { chains(to, rounds); }
extern "C" __global__ void chains_f64(double* to, int rounds) { chains(to, rounds); }

// Walks along a list: each load needs the one before.
extern "C" __global__ void walk(const int* next, int* to, int steps) {
    int at = AT;
    for (int step = 0; step < steps; step++) at = next[at];
    to[AT] = at;
}

// c = a b of n x n numbers, n a multiple of 64. 16 x 16 threads.
extern "C" __global__ void matmul_naive(const float* a, const float* b, float* c, int n) {
    int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < n; k++) sum += a[row * n + k] * b[k * n + col];
    c[row * n + col] = sum;
}
extern "C" __global__ void matmul_tiled(const float* a, const float* b, float* c, int n) {
    __shared__ float as[16][16], bs[16][16];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 16 + y, col = blockIdx.x * 16 + x;
    float sum = 0;
    for (int t = 0; t < n; t += 16) {
        as[y][x] = a[row * n + t + x];
        bs[y][x] = b[(t + y) * n + col];
        __syncthreads();
        for (int k = 0; k < 16; k++) sum += as[y][k] * bs[k][x];
        __syncthreads();
    }
    c[row * n + col] = sum;
}
// Each thread has 4 x 4 numbers of a tile of 32 x 32. 8 x 8 threads.
extern "C" __global__ void matmul_registers(const float* a, const float* b, float* c, int n) {
    __shared__ float as[8][36], bs[8][32];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 32, col = blockIdx.x * 32;
    float sum[4][4] = {};
    for (int t = 0; t < n; t += 8) {
        for (int i = 0; i < 4; i++) {
            as[x][y + 8 * i] = a[(row + y + 8 * i) * n + t + x];
            bs[y][x + 8 * i] = b[(t + y) * n + col + x + 8 * i];
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 8; k++) {
            float left[4], right[4];
#pragma unroll
            for (int i = 0; i < 4; i++) left[i] = as[k][y + 8 * i], right[i] = bs[k][x + 8 * i];
#pragma unroll
            for (int i = 0; i < 4; i++)
#pragma unroll
                for (int j = 0; j < 4; j++) sum[i][j] += left[i] * right[j];
        }
        __syncthreads();
    }
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) c[(row + y + 8 * i) * n + col + x + 8 * j] = sum[i][j];
}
