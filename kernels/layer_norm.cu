// y = n * weight + bias with n = (x - mean) / sqrt(variance + eps) of each row, and its gradients;
// for RMSNorm the mean counts as 0.
//
// Mapping: a row of threads for each row: a warp for up to 1,024 elements, (32, 8), else a block,
// (256, 1). The gradients of weight and bias, sums over the rows: (32, 8), a thread for each
// column, eight threads down it, and the rows in parts, one a row of blocks.
// Moves: forward, x three times and y once; backward, x and dy twice for dx, and once for the
// sums. All but the first time a row comes from a cache, unless it is longer than one.
// Why this version: the variance is taken of what is left without the mean, as on the CPU: the
// mean of x^2 less the square of the mean would cancel. The sums write their parts to memory, and
// a reduction adds them up: atomics would add in another order each time.
#include "rows.cuh"
#include "types.cuh"
#include "warp.cuh"

__device__ inline f32 sum_of_row(f32 x) {
    return reduce_row(x, 0.0f, [](f32 a, f32 b) { return a + b; });
}

template <typename T>
__device__ void layer_norm(
    const T* x, const T* weight, const T* bias, T* y, f32* means, f32* rstds,
    const Rows<1>& rows, const Walk<2>& factors, f32 eps, int centred) {
    const unsigned row = row_number(), len = rows.len;
    if (row >= rows.count()) return;
    x += place(rows.outer, row);
    y += static_cast<i64>(row) * len;
    const i64 step = rows.step[0];
    f32 sum = 0, squares = 0;
    if (centred)
        for (unsigned i = threadIdx.x; i < len; i += blockDim.x) sum += widen(x[i * step]);
    const f32 mean = centred ? sum_of_row(sum) / len : 0;
    for (unsigned i = threadIdx.x; i < len; i += blockDim.x)
        squares += square(widen(x[i * step]) - mean);
    const f32 rstd = 1 / sqrtf(sum_of_row(squares) / len + eps);
    for (unsigned i = threadIdx.x; i < len; i += blockDim.x) {
        i64 at[2];
        factors.find(i, at);
        f32 n = (widen(x[i * step]) - mean) * rstd;
        if (weight) n = n * widen(weight[at[0]]);
        if (bias) n = n + widen(bias[at[1]]);
        y[i] = narrow<T>(n);
    }
    if (threadIdx.x == 0) {
        means[row] = mean;
        rstds[row] = rstd;
    }
}

// dx = rstd * (dn - mean(dn) - n * mean(dn * n)) with dn = dy * weight.
template <typename T>
__device__ void backward(
    const T* x, const T* dy, const f32* means, const f32* rstds, const T* weight, T* dx,
    const Rows<2>& rows, const Walk<2>& moments, const Walk<1>& factors, int centred) {
    const unsigned row = row_number(), len = rows.len;
    if (row >= rows.count()) return;
    i64 at[2];
    moments.find(row, at);
    const f32 mean = means[at[0]], rstd = rstds[at[1]];
    rows.outer.find(row, at);
    x += at[0];
    dy += at[1];
    dx += static_cast<i64>(row) * len;
    auto n_of = [&](unsigned i) { return (widen(x[i * rows.step[0]]) - mean) * rstd; };
    auto dn_of = [&](unsigned i) {
        const f32 own = widen(dy[i * rows.step[1]]);
        return weight ? own * widen(weight[place(factors, i)]) : own;
    };
    f32 sum = 0, along = 0;
    for (unsigned i = threadIdx.x; i < len; i += blockDim.x) {
        const f32 dn = dn_of(i);
        sum += dn;
        along += dn * n_of(i);
    }
    sum = centred ? sum_of_row(sum) / len : 0;
    along = sum_of_row(along) / len;
    for (unsigned i = threadIdx.x; i < len; i += blockDim.x)
        dx[i] = narrow<T>((dn_of(i) - sum - n_of(i) * along) * rstd);
}

struct Sums {
    f32 dweight, dbias;
};

// dweight = sum of dy * n and dbias = sum of dy over the rows of one part, for each column.
template <typename T>
__device__ void sums(
    const T* x, const T* dy, const f32* means, const f32* rstds, f32* dweight, f32* dbias,
    const Rows<2>& rows, const Walk<2>& moments) {
    const unsigned column = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned count = rows.count(), part = (count + gridDim.y - 1) / gridDim.y;
    const unsigned start = blockIdx.y * part, end = min(start + part, count);
    Sums own = {0, 0};
    if (column < rows.len) {
        for (unsigned row = start + threadIdx.y; row < end; row += blockDim.y) {
            i64 at[2], of[2];
            rows.outer.find(row, at);
            moments.find(row, of);
            const f32 n = (widen(x[at[0] + column * rows.step[0]]) - means[of[0]]) * rstds[of[1]];
            const f32 own_dy = widen(dy[at[1] + column * rows.step[1]]);
            own.dweight += own_dy * n;
            own.dbias += own_dy;
        }
    }
    own = reduce_columns(own, [](Sums a, Sums b) {
        return Sums{a.dweight + b.dweight, a.dbias + b.dbias};
    });
    if (column < rows.len && threadIdx.y == 0) {
        dweight[blockIdx.y * rows.len + column] = own.dweight;
        dbias[blockIdx.y * rows.len + column] = own.dbias;
    }
}

#define OF_TYPE(T)                                                                          \
    extern "C" __global__ void layer_norm_##T(                                              \
        const T* x, const T* weight, const T* bias, T* y, f32* means, f32* rstds,           \
        Rows<1> rows, Walk<2> factors, f32 eps, int centred) {                              \
        layer_norm(x, weight, bias, y, means, rstds, rows, factors, eps, centred);          \
    }                                                                                       \
    extern "C" __global__ void layer_norm_backward_##T(                                     \
        const T* x, const T* dy, const f32* means, const f32* rstds, const T* weight,       \
        T* dx, Rows<2> rows, Walk<2> moments, Walk<1> factors, int centred) {               \
        backward(x, dy, means, rstds, weight, dx, rows, moments, factors, centred);         \
    }                                                                                       \
    extern "C" __global__ void layer_norm_sums_##T(                                         \
        const T* x, const T* dy, const f32* means, const f32* rstds,                        \
        f32* dweight, f32* dbias, Rows<2> rows, Walk<2> moments) {                          \
        sums(x, dy, means, rstds, dweight, dbias, rows, moments);                           \
    }

OF_TYPE(f32)
OF_TYPE(f16)
OF_TYPE(bf16)
