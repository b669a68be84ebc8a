// y = where the largest or the smallest element of each row is: the first one of equals, the first
// NaN if there is one.
//
// Mapping: see reduce.cuh; a row is never cut into parts.
// Moves: each element of x once, and an index of 8 bytes a row.
// Why this version: a maximum that carries its place along is a reduction like any other.
#include "reduce.cuh"

template <typename C> struct Candidate {
    C value;
    unsigned place;
};

// Whether an element is better than another one, by its value alone.
template <typename C, typename Better> __device__ bool beats(C a, C b, Better better) {
    return better(a, b) || (a != a && b == b);
}

template <typename T, typename Better>
__device__ void arg_reduce(const T* x, i64* y, const Reduction& r, Better better) {
    typedef Candidate<Compute<T>> Best;
    auto load = [=](i64 at, unsigned i, unsigned) { return Best{widen(x[at]), i}; };
    auto join = [=](Best a, Best b) {
        // The one of nothing has the last place, which no element has.
        if (a.place > b.place) { const Best other = a; a = b; b = other; }
        return b.place != ~0u && beats(b.value, a.value, better) ? b : a;
    };
    reduce(r, Best{0, ~0u}, load, join, [=](unsigned i, Best best) { y[i] = best.place; });
}

#define OF_TYPE(T)                                                                      \
    extern "C" __global__ void argmax_##T(const T* x, i64* y, Reduction r) {            \
        arg_reduce(x, y, r, [](Compute<T> a, Compute<T> b) { return a > b; });          \
    }                                                                                   \
    extern "C" __global__ void argmin_##T(const T* x, i64* y, Reduction r) {            \
        arg_reduce(x, y, r, [](Compute<T> a, Compute<T> b) { return a < b; });          \
    }

OF_TYPE(f32)
OF_TYPE(f16)
OF_TYPE(bf16)
OF_TYPE(i64)
OF_TYPE(i32)
OF_TYPE(u8)
