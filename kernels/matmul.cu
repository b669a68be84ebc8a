// c = a · b, matrix by matrix: (B, M, K) · (B, K, N) → (B, M, N), with any strides.
//
// Three versions of one sum, to be read in this order. All three add up the same products in the
// same order, c = fmaf(a, b, c) for k = 0, 1, .. K - 1, so they give the same bits. They differ in
// how often a number crosses from memory to where it is multiplied. For a packed f32 product of
// 64 x 64 elements of c, so much is read for each k, in sectors of 32 bytes:
//
//   version         a thread makes   a block makes   sectors
//   naive           1 element        256 elements    640: by each of 128 warps, 1 of a and 4 of b
//   shared_tile     1 element        16 x 16          64: by each of 16 blocks, 2 of a and 2 of b
//   register_tile   4 x 4 elements   64 x 64          16: by one block, 8 of a and 8 of b
//
// Half types are widened to float on the way in, and rounded once on the way out.
#include "types.cuh"

// The sizes, and how far apart things lie, in elements: a matrix, a row, a column and the next.
// c is packed.
struct Product {
    unsigned batches, m, n, k;
    i64 a_step[3], b_step[3];
};

__device__ inline float multiply_add(float a, float b, float c) { return fmaf(a, b, c); }
template <typename T> __device__ T multiply_add(T a, T b, T c) { return a * b + c; }

// Version 1: the definition.
//
// Mapping: one thread an element of c, 256 threads a block, in the order of memory. A warp has 32
// neighbours of a row: for each k they read one number of a, all the same, and 32 of b, side by
// side if b's rows are packed.
// Moves: each element of a N times and each of b M times; each of c once.
// Why this version: nothing is wasted when there is little to share, as in a product with a
// vector, or with few rows or columns. It is also the one for integers.
template <typename T>
__device__ void naive(const T* a, const T* b, T* c, const Product& p) {
    const unsigned i = thread_number();
    if (i >= p.batches * p.m * p.n) return;
    const unsigned column = i % p.n, row = i / p.n % p.m, batch = i / p.n / p.m;
    a += batch * p.a_step[0] + row * p.a_step[1];
    b += batch * p.b_step[0] + column * p.b_step[2];
    Compute<T> sum = 0;
    for (unsigned k = 0; k < p.k; k++) {
        sum = multiply_add(widen(*a), widen(*b), sum);
        a += p.a_step[2];
        b += p.b_step[1];
    }
    c[i] = narrow<T>(sum);
}

// The tile of c that this block makes: SIDE x SIDE elements, fewer at the right and lower edges.
// Blocks are numbered along the rows of tiles, one matrix after the other.
template <unsigned SIDE> struct Tile {
    unsigned batch, row, column;    // of its first element

    __device__ Tile(const Product& p) {
        const unsigned columns = (p.n + SIDE - 1) / SIDE, rows = (p.m + SIDE - 1) / SIDE;
        column = blockIdx.x % columns * SIDE;
        row = blockIdx.x / columns % rows * SIDE;
        batch = blockIdx.x / columns / rows;
    }
};

// Version 2: what 16 threads would each read, one of them reads, for all.
//
// Mapping: one thread an element of c, 16 x 16 threads a block. The block walks along k in steps of
// 16: each thread brings one element of a and one of b into shared memory, 0 beyond the edges, and
// then takes 16 products from there.
// Moves: each element of a N / 16 times and each of b M / 16 times; each of c once. A product
// costs two reads of shared memory: of a by a warp two numbers, of b 16, without bank conflicts.
// Why this version: the smallest change that ends the naive one's traffic. Shared memory is now
// what limits it: one multiplication for two numbers read.
enum { SMALL = 16 };

template <typename T>
__device__ void shared_tile(const T* a, const T* b, T* c, const Product& p) {
    __shared__ float a_tile[SMALL][SMALL], b_tile[SMALL][SMALL];
    const Tile<SMALL> tile(p);
    const unsigned x = threadIdx.x, y = threadIdx.y;
    const unsigned row = tile.row + y, column = tile.column + x;
    a += tile.batch * p.a_step[0] + min(row, p.m - 1) * p.a_step[1];
    b += tile.batch * p.b_step[0] + min(column, p.n - 1) * p.b_step[2];
    float sum = 0;
    for (unsigned k = 0; k < p.k; k += SMALL) {
        const float a_next = widen(a[min(k + x, p.k - 1) * p.a_step[2]]);
        const float b_next = widen(b[min(k + y, p.k - 1) * p.b_step[1]]);
        a_tile[y][x] = k + x < p.k ? a_next : 0;
        b_tile[y][x] = k + y < p.k ? b_next : 0;
        __syncthreads();            // the tiles are complete
        #pragma unroll
        for (unsigned i = 0; i < SMALL; i++) sum = fmaf(a_tile[y][i], b_tile[i][x], sum);
        __syncthreads();            // nobody needs them any more
    }
    if (row < p.m && column < p.n) c[(tile.batch * p.m + row) * p.n + column] = narrow<T>(sum);
}

// Version 3: what a thread has read from shared memory, it uses four times.
//
// Mapping: 4 x 4 elements of c a thread, 256 threads and 64 x 64 elements a block. The block walks
// along k in steps of 16: each thread brings four elements of a and four of b into shared memory.
// For each k a thread then reads four of a and four of b, as one float4 each, and makes 16 products
// of them, whose sums stay in registers.
// Moves: each element of a N / 64 times and each of b M / 64 times; each of c once. A product costs
// an eighth of a read of shared memory.
// Why this version: arithmetic is now what limits it. The tile of a lies turned, k by k, so that
// four of its rows are a float4; PITCH keeps float4s aligned and lets at most two lanes that turn
// elements meet in a bank. Tensor cores, asynchronous copies and a second pair of tiles, which the
// next step would fill during the products, are left to cuBLAS.
enum { SIDE = 64, DEPTH = 16, PITCH = SIDE + 4, THREADS = 256 };

// Brings a tile into shared memory: SIDE rows of a (or columns of b), DEPTH elements of each, and 0
// beyond the edges. Threads next to each other take elements with the smaller step between them,
// so that a transposed matrix, too, is read side by side. Beyond an edge a thread reads the last
// element and drops it: loads without a branch wait for memory together.
template <typename T>
__device__ void bring(float (*tile)[PITCH], const T* from, unsigned sides, i64 side_step,
                      unsigned depth, i64 depth_step) {
    const bool along_side = side_step < depth_step;
    #pragma unroll
    for (unsigned part = 0; part < SIDE * DEPTH / THREADS; part++) {
        const unsigned i = part * THREADS + threadIdx.x;
        const unsigned side = along_side ? i % SIDE : i / DEPTH;
        const unsigned k = along_side ? i / SIDE : i % DEPTH;
        const i64 at = min(side, sides - 1) * side_step + min(k, depth - 1) * depth_step;
        const float x = widen(from[at]);
        tile[k][side] = side < sides && k < depth ? x : 0;
    }
}

// Moves four neighbours as one; their address is a multiple of their size.
__device__ inline void store_four(f32* c, const float (&x)[4]) {
    *reinterpret_cast<float4*>(c) = make_float4(x[0], x[1], x[2], x[3]);
}
template <typename T> __device__ void store_four(T* c, const float (&x)[4]) {
    const auto bits = [&](unsigned i) { return narrow<T>(x[i]).bits; };
    *reinterpret_cast<ushort4*>(c) = make_ushort4(bits(0), bits(1), bits(2), bits(3));
}

// Writes four neighbours of a row of c, or as many as the row has left.
template <typename T>
__device__ void store(T* c, const float (&x)[4], unsigned left, bool aligned) {
    if (aligned && left > 0) return store_four(c, x);
    for (unsigned i = 0; i < 4; i++) if (i < left) c[i] = narrow<T>(x[i]);
}

template <typename T>
__device__ void register_tile(const T* a, const T* b, T* c, const Product& p) {
    alignas(16) __shared__ float a_tile[DEPTH][PITCH], b_tile[DEPTH][PITCH];
    const Tile<SIDE> tile(p);
    const unsigned rows = p.m - tile.row, columns = p.n - tile.column;
    const unsigned x = threadIdx.x % (SIDE / 4) * 4, y = threadIdx.x / (SIDE / 4) * 4;
    a += tile.batch * p.a_step[0] + tile.row * p.a_step[1];
    b += tile.batch * p.b_step[0] + tile.column * p.b_step[2];
    float sum[4][4] = {};
    for (unsigned k = 0; k < p.k; k += DEPTH) {
        bring(a_tile, a + k * p.a_step[2], rows, p.a_step[1], p.k - k, p.a_step[2]);
        bring(b_tile, b + k * p.b_step[1], columns, p.b_step[2], p.k - k, p.b_step[1]);
        __syncthreads();
        #pragma unroll
        for (unsigned i = 0; i < DEPTH; i++) {
            const float4 u = *reinterpret_cast<float4*>(&a_tile[i][y]);
            const float4 v = *reinterpret_cast<float4*>(&b_tile[i][x]);
            const float us[4] = {u.x, u.y, u.z, u.w}, vs[4] = {v.x, v.y, v.z, v.w};
            for (unsigned r = 0; r < 4; r++)
                for (unsigned s = 0; s < 4; s++) sum[r][s] = fmaf(us[r], vs[s], sum[r][s]);
        }
        __syncthreads();
    }
    const unsigned left = x < columns ? columns - x : 0;
    c += (tile.batch * p.m + tile.row + y) * p.n + tile.column + x;
    #pragma unroll
    for (unsigned r = 0; r < 4; r++)
        if (y + r < rows) store(c + r * p.n, sum[r], left, p.n % 4 == 0);
}

// One kernel a version and type: matmul_naive_f32 and so on.
#define OF_TYPE(VERSION, T)                                                                \
    extern "C" __global__ void matmul_##VERSION##_##T(const T* a, const T* b, T* c, Product p) { \
        VERSION(a, b, c, p);                                                               \
    }
#define FLOATS(VERSION) OF_TYPE(VERSION, f32) OF_TYPE(VERSION, f16) OF_TYPE(VERSION, bf16)

FLOATS(naive) OF_TYPE(naive, i64) OF_TYPE(naive, i32) OF_TYPE(naive, u8)
FLOATS(shared_tile)
FLOATS(register_tile)
