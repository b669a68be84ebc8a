// y = exp(x - m) / s of each row, or its logarithm x - m - ln s, with m = max x and
// s = sum of exp(x - m); and m + ln s over any dimensions.
//
// Mapping: softmax has a row of threads for each row: a warp for up to 1,024 elements, (32, 8),
// else a block, (256, 1). logsumexp: see reduce.cuh.
// Moves: softmax reads x twice and writes y once; the second time a row comes from a cache, unless
// it is longer than one. logsumexp reads x once.
// Why this version: m and s are found in one walk ("online"; M. Milakov and N. Gimelshein, "Online
// normalizer calculation for softmax", 2018), where first m and then s would read x three times.
#include "reduce.cuh"

// The largest number of those seen, and the sum of exp(number - max).
struct Seen {
    f32 max, sum;
};

__device__ inline Seen nothing_seen() { return Seen{-infinity(), 0}; }

// exp(x - max). An infinite maximum counts 1, and does not become infinity - infinity.
__device__ inline f32 weight(f32 x, f32 max) { return x == max ? 1 : expf(x - max); }

// One number. A NaN is no maximum, but makes the sum NaN.
__device__ inline Seen one(f32 x) { return x == x ? Seen{x, 1} : Seen{-infinity(), x}; }

// Both together: the sum that belongs to the smaller maximum shrinks.
__device__ inline Seen joined(Seen a, Seen b) {
    const f32 max = a.max < b.max ? b.max : a.max;
    return Seen{max, a.sum * weight(a.max, max) + b.sum * weight(b.max, max)};
}

template <typename T>
__device__ void softmax(const T* x, T* y, const Rows<1>& rows, int log) {
    const unsigned row = row_number();
    if (row >= rows.count()) return;
    x += place(rows.outer, row);
    y += static_cast<i64>(row) * rows.len;
    Seen seen = nothing_seen();
    for (unsigned i = threadIdx.x; i < rows.len; i += blockDim.x)
        seen = joined(seen, one(widen(x[i * rows.step[0]])));
    seen = reduce_row(seen, nothing_seen(), joined);
    // An infinite maximum leaves no number: infinity - infinity is NaN, and so is all of the row.
    const f32 sum = seen.sum + (seen.max - seen.max);
    const f32 shift = logf(sum), scale = 1 / sum;
    for (unsigned i = threadIdx.x; i < rows.len; i += blockDim.x) {
        const f32 below = widen(x[i * rows.step[0]]) - seen.max;
        y[i] = narrow<T>(log ? below - shift : expf(below) * scale);
    }
}

#define OF_TYPE(T)                                                                      \
    extern "C" __global__ void softmax_##T(const T* x, T* y, Rows<1> rows, int log) {   \
        softmax(x, y, rows, log);                                                       \
    }                                                                                   \
    extern "C" __global__ void logsumexp_##T(                                           \
        const T* x, const f32*, void* y, Reduction r, Finish finish) {                  \
        auto join = [](Seen a, Seen b) { return joined(a, b); };                        \
        auto load = [=](i64 at, unsigned, unsigned) { return one(widen(x[at])); };      \
        reduce(r, nothing_seen(), load, join, [=](unsigned i, Seen seen) {              \
            store(y, i, seen.max + logf(seen.sum), finish.to);                          \
        });                                                                             \
    }

OF_TYPE(f32)
OF_TYPE(f16)
OF_TYPE(bf16)
