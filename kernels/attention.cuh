// What the kernels of attention share: tiles of 32 rows in shared memory, and products with them.
//
// A block has WARPS warps, and each warp four rows of its own: queries where keys go by, keys where
// queries go by. What goes by does so in tiles of 32 rows, one a lane. So a warp makes the scores
// of four rows with 32 others at a time, each lane its own four.
#pragma once
#include "types.cuh"
#include "warp.cuh"

enum { ROWS = 4 };
enum { Q, K, V, MASK, DY, OPERANDS };

// Where the operands lie: their heads (all dimensions but the last two), and in a head the steps
// from row to row and from column to column. Steps may be 0, and there need not be a mask.
struct Heads {
    Walk<OPERANDS> walk;
    i64 step[OPERANDS][2];
    unsigned queries, keys, depth, width;   // of a query and key depth numbers, of a value width
    float scale;
    int causal;                             // whether query i sees keys 0 to i only
};

// Rows of up to WIDTH numbers: 64 or 128. Wide rows leave shared memory for half the warps only.
// A row in shared memory is four numbers longer than WIDTH: so float4s stay aligned, and those of
// eight lanes, each in its own row, lie in different banks.
template <int WIDTH> struct Shape {
    enum {
        WARPS = 512 / WIDTH, THREADS = WARPS * WARP,
        OWN = WARPS * ROWS,                 // rows of a block
        PITCH = WIDTH + 4,
        CHUNKS = WIDTH / WARP,              // numbers of a row that a lane adds up
    };
};

__device__ inline unsigned warp_number() { return threadIdx.x / WARP; }

// One operand's matrix of one head.
template <typename T> struct Matrix {
    const T* first;
    i64 row_step, column_step;

    __device__ float at(unsigned row, unsigned column) const {
        return widen(first[row * row_step + column * column_step]);
    }
};

// The head of this block, and the first of its own rows: the blocks of a head are neighbours.
struct Place {
    unsigned head, first;
    i64 begin[OPERANDS];

    __device__ Place(const Heads& heads, unsigned rows, unsigned own) {
        const unsigned blocks = (rows + own - 1) / own;
        head = blockIdx.x / blocks;
        first = blockIdx.x % blocks * own;
        heads.walk.find(head, begin);
    }
    template <typename T>
    __device__ Matrix<T> matrix(const Heads& heads, int which, const T* x) const {
        return {x + begin[which], heads.step[which][0], heads.step[which][1]};
    }
};

// Brings rows from `first` on into a tile, 0 where the matrix has none, and 0 up to a multiple of
// 32 columns. A warp reads a row, neighbours side by side. Beyond the edges it reads the last
// element and drops it: loads without a branch wait for memory together.
template <typename T, int COUNT, int PITCH>
__device__ void bring(float (&tile)[COUNT][PITCH], const Matrix<T>& x, unsigned first,
                      unsigned rows, unsigned columns) {
    constexpr int WARPS = Shape<PITCH - 4>::WARPS;
    for (unsigned from = 0; from < columns; from += WARP) {
        const unsigned column = from + lane_number();
        #pragma unroll
        for (int i = 0; i < COUNT / WARPS; i++) {
            const unsigned in_tile = i * WARPS + warp_number(), row = first + in_tile;
            const float value = x.at(min(row, rows - 1), min(column, columns - 1));
            tile[in_tile][column] = row < rows && column < columns ? value : 0;
        }
    }
}

__device__ inline float4 four(const float* x) { return *reinterpret_cast<const float4*>(x); }

__device__ inline float dot(float4 a, float4 b, float sum) {
    return fmaf(a.w, b.w, fmaf(a.z, b.z, fmaf(a.y, b.y, fmaf(a.x, b.x, sum))));
}

// z[r] = Σ own[r][e] · row[e]: the four rows of a warp times the one of this lane.
template <int PITCH>
__device__ void products(float (&z)[ROWS], const float (*own)[PITCH], const float* row,
                         unsigned columns) {
    for (int r = 0; r < ROWS; r++) z[r] = 0;
    for (unsigned e = 0; e < columns; e += 4) {
        const float4 x = four(row + e);
        #pragma unroll
        for (int r = 0; r < ROWS; r++) z[r] = dot(four(own[r] + e), x, z[r]);
    }
}

// sum[c][r] += Σ weight[j][r] · tile[j][lane + 32 c]: rows of the tile, weighted, for four rows.
template <int CHUNKS, int PITCH>
__device__ void mix(float (&sum)[CHUNKS][ROWS], const float4* weight, const float (*tile)[PITCH],
                    unsigned columns) {
    #pragma unroll
    for (int c = 0; c < CHUNKS; c++) {
        if (c * WARP >= columns) break;
        #pragma unroll 8
        for (int j = 0; j < WARP; j++) {
            const float4 w = weight[j];
            const float x = tile[j][c * WARP + lane_number()];
            sum[c][0] = fmaf(w.x, x, sum[c][0]);
            sum[c][1] = fmaf(w.y, x, sum[c][1]);
            sum[c][2] = fmaf(w.z, x, sum[c][2]);
            sum[c][3] = fmaf(w.w, x, sum[c][3]);
        }
    }
}

// Writes the numbers that the lanes have of one row of a packed matrix.
template <typename T, int CHUNKS>
__device__ void store(T* y, const float (&sum)[CHUNKS][ROWS], int r, float factor,
                      unsigned columns) {
    #pragma unroll
    for (int c = 0; c < CHUNKS; c++) {
        const unsigned column = c * WARP + lane_number();
        if (column < columns) y[column] = narrow<T>(sum[c][r] * factor);
    }
}

// The score of a query and a key: -infinity where the query may not see the key.
template <typename T>
__device__ float score(const Heads& heads, const Matrix<T>& mask, float product, unsigned query,
                       unsigned key) {
    if (query >= heads.queries || key >= heads.keys) return -infinity();
    if (heads.causal && key > query) return -infinity();
    const float z = product * heads.scale;
    return mask.first ? z + mask.at(query, key) : z;
}

// What e to a score is divided by: all are -infinity where a query sees nothing.
__device__ inline float shift_of(float x) { return x == -infinity() ? 0 : x; }

// A number for each row of a warp; and the largest of each row that a lane has, or their sum.
struct Rows {
    float of[ROWS];
};

__device__ inline Rows warp_max(const Rows& x) {
    return reduce_warp(x, [](Rows a, const Rows& b) {
        for (int r = 0; r < ROWS; r++) a.of[r] = fmaxf(a.of[r], b.of[r]);
        return a;
    });
}
__device__ inline Rows warp_sum(const Rows& x) {
    return reduce_warp(x, [](Rows a, const Rows& b) {
        for (int r = 0; r < ROWS; r++) a.of[r] += b.of[r];
        return a;
    });
}
