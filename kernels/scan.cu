// What runs along a row and leaves something at every element: the sum or the product up to it,
// or where the largest or the smallest element up to it is.
//
// Mapping: a row of threads for each row: a warp for up to 1,024 elements, (32, 8), else a block,
// (256, 1). The threads take the first blockDim.x elements, then the next ones, and carry on what
// the ones before have come to.
// Moves: each element of x and y once.
// Why this version: a row is one chain. Within 32 elements shuffles do it in five steps, and within
// 256 the warps' ends are scanned the same way. A few very long rows keep few blocks busy.
//
// Sums and products of floating-point numbers are in f32 and rounded at each element, integers and
// bool in i64.
#include "rows.cuh"
#include "types.cuh"
#include "warp.cuh"

template <typename S, typename Load, typename Join, typename Store>
__device__ void scan(const Rows<1>& rows, S nothing, Load load, Join join, Store store) {
    const unsigned row = row_number();
    if (row >= rows.count()) return;
    const i64 first = place(rows.outer, row), to = static_cast<i64>(row) * rows.len;
    S carry = nothing;
    for (unsigned start = 0; start < rows.len; start += blockDim.x) {
        const unsigned i = start + threadIdx.x;
        S total, value = nothing;
        if (i < rows.len) value = load(first + i * rows.step[0], i);
        value = join(carry, scan_row(value, nothing, join, total));
        carry = join(carry, total);
        if (i < rows.len) store(to + i, value);
    }
}

// The best element so far and where it is; none yet if the place is negative.
template <typename C> struct Extreme {
    C value;
    i64 place;
};

// The later one of equals; from the first NaN on the last NaN.
template <typename C, typename Beats>
__device__ Extreme<C> later(Extreme<C> a, Extreme<C> b, Beats beats) {
    if (a.place < 0) return b;
    const bool is_nan = b.value != b.value;
    return is_nan || (a.value == a.value && beats(b.value, a.value)) ? b : a;
}

#define RUNNING(NAME, T, TO, START, JOIN)                                                   \
    extern "C" __global__ void NAME##_##T(const T* x, TO* y, Rows<1> rows) {                \
        typedef Compute<TO> W;                                                              \
        auto load = [=](i64 at, unsigned) -> W { return widen(x[at]); };                    \
        auto join = [](W a, W b) -> W { return JOIN; };                                     \
        scan(rows, W(START), load, join, [=](i64 at, W sum) { y[at] = narrow<TO>(sum); });  \
    }
#define EXTREMES(NAME, T, BEATS)                                                            \
    extern "C" __global__ void NAME##_##T(const T* x, i64* y, Rows<1> rows) {               \
        typedef Compute<T> C;                                                               \
        typedef Extreme<C> Best;                                                            \
        auto load = [=](i64 at, unsigned i) { return Best{widen(x[at]), i}; };              \
        auto join = [](Best a, Best b) {                                                    \
            return later(a, b, [](C x, C best) { return BEATS; });                          \
        };                                                                                  \
        scan(rows, Best{0, -1}, load, join, [=](i64 at, Best best) { y[at] = best.place; });\
    }
#define OF_TYPE(T, TO)                          \
    RUNNING(cumsum, T, TO, 0, a + b)            \
    RUNNING(cumprod, T, TO, 1, a * b)           \
    EXTREMES(cummax, T, x >= best)              \
    EXTREMES(cummin, T, x <= best)

OF_TYPE(f32, f32)
OF_TYPE(f16, f16)
OF_TYPE(bf16, bf16)
OF_TYPE(i64, i64)
OF_TYPE(i32, i64)
OF_TYPE(u8, i64)
