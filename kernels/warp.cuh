// Reductions and scans of what the 32 threads of a warp hold, and the threads of a row.
//
// A row of threads is the threads of a block that differ in threadIdx.x only. There are a multiple
// of 32 of them, so that a warp never has threads of two rows: a block is (32, 8) where a warp is
// enough for a row, and (256, 1) where it takes a block. Every thread of a row must call what ends
// in `_row`, and every thread of the block what ends in `_columns`, since these wait at barriers;
// the others every thread of the warp.
//
// What is joined may be a number or a plain struct of 4-byte or 8-byte members. A reduction may
// take its operands in any order, so `join` must be commutative; a scan keeps their order.
#pragma once

enum { WARP = 32, ALL_LANES = 0xffffffff };

__device__ inline unsigned lane_number() { return threadIdx.x % WARP; }

// Any plain value as registers of 32 bits, the unit of a shuffle.
template <typename S, typename F> __device__ S by_words(S x, F shuffle) {
    enum { WORDS = sizeof(S) / 4 };
    union Registers {
        S value;
        unsigned word[WORDS];
        __device__ Registers() {}
    } registers;
    registers.value = x;
    for (int i = 0; i < WORDS; i++) registers.word[i] = shuffle(registers.word[i]);
    return registers.value;
}

// The value of the lane whose number differs in the bits of `mask`.
template <typename S> __device__ S shuffle_xor(S x, unsigned mask) {
    return by_words(x, [=](unsigned word) { return __shfl_xor_sync(ALL_LANES, word, mask); });
}

// The value of the lane `distance` before this one; of the first lanes their own.
template <typename S> __device__ S shuffle_up(S x, unsigned distance) {
    return by_words(x, [=](unsigned word) { return __shfl_up_sync(ALL_LANES, word, distance); });
}

// The value of one lane.
template <typename S> __device__ S shuffle_from(S x, unsigned lane) {
    return by_words(x, [=](unsigned word) { return __shfl_sync(ALL_LANES, word, lane); });
}

// The values of all lanes joined, in each lane. Five steps: after the first every lane has what
// two lanes had, then four, and so on.
template <typename S, typename Join> __device__ S reduce_warp(S x, Join join) {
    #pragma unroll 1
    for (unsigned mask = WARP / 2; mask > 0; mask /= 2) x = join(x, shuffle_xor(x, mask));
    return x;
}

// The values of this lane and all before it joined. `join` gets the earlier one first.
template <typename S, typename Join> __device__ S scan_warp(S x, Join join) {
    #pragma unroll 1
    for (unsigned distance = 1; distance < WARP; distance *= 2) {
        const S before = shuffle_up(x, distance);
        if (lane_number() >= distance) x = join(before, x);
    }
    return x;
}

// The values of a row of threads joined, in each of them: by shuffles within the warps, whose
// results go through shared memory to be joined the same way. `nothing` joins without effect.
template <typename S, typename Join> __device__ S reduce_row(S x, S nothing, Join join) {
    x = reduce_warp(x, join);
    if (blockDim.x == WARP) return x;
    __shared__ S of_warp[WARP];
    __syncthreads();                // what an earlier call has left there has been read
    if (lane_number() == 0) of_warp[threadIdx.x / WARP] = x;
    __syncthreads();
    x = lane_number() < blockDim.x / WARP ? of_warp[lane_number()] : nothing;
    return reduce_warp(x, join);
}

// The values of this thread and all before it in its row joined, and in `total` those of the row.
// `join` gets the earlier one first.
template <typename S, typename Join>
__device__ S scan_row(S x, S nothing, Join join, S& total) {
    x = scan_warp(x, join);
    if (blockDim.x == WARP) {
        total = shuffle_from(x, WARP - 1);
        return x;
    }
    const unsigned warp = threadIdx.x / WARP, warps = blockDim.x / WARP;
    __shared__ S ends[WARP];
    __syncthreads();
    if (lane_number() == WARP - 1) ends[warp] = x;
    __syncthreads();
    if (warp == 0) {
        const S end = lane_number() < warps ? ends[lane_number()] : nothing;
        ends[lane_number()] = scan_warp(end, join);
    }
    __syncthreads();
    total = ends[warps - 1];
    return warp == 0 ? x : join(ends[warp - 1], x);
}

// The values of the threads that differ in threadIdx.y only joined, in the one with 0. A block has
// at most 256 threads. The upper half of the threads hands its values to the lower half, until one
// is left; their number is a power of two.
template <typename S, typename Join> __device__ S reduce_columns(S x, Join join) {
    if (blockDim.y == 1) return x;
    __shared__ S values[256];
    const unsigned own = threadIdx.y * blockDim.x + threadIdx.x;
    for (unsigned half = blockDim.y / 2; half > 0; half /= 2) {
        values[own] = x;
        __syncthreads();
        if (threadIdx.y < half) x = join(x, values[own + half * blockDim.x]);
        __syncthreads();
    }
    return x;
}
