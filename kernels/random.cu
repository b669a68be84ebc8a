// Random numbers: Philox 4x32-10, the generator of src/rng.rs, number for number.
//
// Number n of a stream is a function of the seed and of n alone: every thread computes its own
// numbers, and there is no state that they would have to share.
// Source: J. Salmon et al., "Parallel Random Numbers: As Easy as 1, 2, 3", SC 2011.
#include "common.cuh"

typedef unsigned long long u64;

// Ten rounds of the bijection on the counter, keyed by the seed: four numbers of 32 bits.
struct Four { unsigned x[4]; };
__device__ inline Four philox(u64 seed, u64 counter) {
    unsigned x[4] = {unsigned(counter), unsigned(counter >> 32), 0, 0};
    unsigned key[2] = {unsigned(seed), unsigned(seed >> 32)};
    #pragma unroll
    for (int round = 0; round < 10; round++) {
        const u64 low = u64(x[0]) * 0xD2511F53u, high = u64(x[2]) * 0xCD9E8D57u;
        x[0] = unsigned(high >> 32) ^ x[1] ^ key[0];
        x[1] = unsigned(high);
        x[2] = unsigned(low >> 32) ^ x[3] ^ key[1];
        x[3] = unsigned(low);
        key[0] += 0x9E3779B9u;
        key[1] += 0xBB67AE85u;
    }
    return Four{{x[0], x[1], x[2], x[3]}};
}

// Four elements that are written as one.
template <typename T> struct alignas(4 * sizeof(T)) Quad { T x[4]; };

// y[i] = f(the upper 24 bits of number drawn + i of the stream). 24 bits are what a float holds.
//
// Mapping: one thread for the four numbers of one counter, 256 threads a block. The first and the
// last thread may have fewer to write, since a stream may have stopped between two counters.
// Moves: each element of y once, four at a time if the stream stood between two counters before.
// Why this version: a counter gives four numbers, and to compute them takes some 80 instructions.
// One thread an element would compute each of them four times, and be slower than the memory.
template <typename T, typename F>
__device__ void draw(T* y, unsigned count, u64 seed, u64 drawn, F f) {
    const u64 counter = drawn / 4 + thread_number();
    const i64 first = i64(counter * 4 - drawn);
    if (first >= i64(count)) return;
    const Four numbers = philox(seed, counter);
    Quad<T> four;
    #pragma unroll
    for (int k = 0; k < 4; k++) four.x[k] = f(numbers.x[k] >> 8);
    if (drawn % 4 == 0 && first + 4 <= i64(count)) {
        reinterpret_cast<Quad<T>*>(y)[first / 4] = four;
        return;
    }
    #pragma unroll
    for (int k = 0; k < 4; k++) {
        const i64 i = first + k;
        if (i >= 0 && i < i64(count)) y[i] = four.x[k];
    }
}

// Uniform in [0, 1): a multiple of 2^-24, so that nothing is rounded.
extern "C" __global__ void uniform(f32* y, unsigned count, u64 seed, u64 drawn) {
    draw(y, count, seed, drawn, [](unsigned bits) { return float(bits) * (1.0f / (1 << 24)); });
}

// Which elements a dropout lets stay: those whose number is not below the threshold, p * 2^24.
extern "C" __global__ void keep(u8* y, unsigned count, u64 seed, u64 drawn, unsigned threshold) {
    draw(y, count, seed, drawn, [=](unsigned bits) -> u8 { return bits >= threshold; });
}
