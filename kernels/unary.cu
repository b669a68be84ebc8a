// y = f(x), element by element, of an x with any strides.
//
// Mapping: one thread an element of y, 256 threads a block; neighbours read and write neighbours
// if x is packed.
// Moves: each element of x and of y once.
// Why this version: with no data used twice there is nothing to keep. All but the longest formulas
// take less time than memory does, so there is nothing to gain by faster and rougher ones.
#include "activation.cuh"
#include "arithmetic.cuh"
#include "elementwise.cuh"

template <typename T, typename F>
__device__ void unary(const T* x, T* y, const Walk<1>& walk, F f) {
    const unsigned i = thread_number();
    if (i >= walk.count) return;
    i64 at[1];
    walk.find(i, at);
    y[i] = narrow<T>(f(widen(x[at[0]])));
}

// One kernel of one function and type: NAME_f32 and so on.
#define UNARY(NAME, T, F)                                                               \
    extern "C" __global__ void NAME##_##T(const T* x, T* y, WALK(1)) {             \
        unary(x, y, walk, [](Compute<T> x) -> Compute<T> { return F; });                \
    }
// And of a function of x and a number c of the program.
#define WITH_NUMBER(NAME, T, F)                                                         \
    extern "C" __global__ void NAME##_##T(const T* x, T* y, WALK(1), Constant<T> number) { \
        const Compute<T> c = number;                                                    \
        unary(x, y, walk, [c](Compute<T> x) -> Compute<T> { return F; });               \
    }
#define WITH_TWO_NUMBERS(NAME, T, F)                                                    \
    extern "C" __global__ void NAME##_##T(const T* x, T* y, WALK(1), float c, float d) { \
        unary(x, y, walk, [c, d](float x) { return F; });                               \
    }

NUMBERS(UNARY, neg, -x)
FLOATS(UNARY, abs, fabsf(x))
INTEGERS(UNARY, abs, x < 0 ? -x : x)
NUMBERS(UNARY, sign, (x > 0) - (x < 0))
INTEGERS(UNARY, bitwise_not, ~x)
UNARY(bitwise_not, bool, !x)

FLOATS(UNARY, sqrt, sqrtf(x))
FLOATS(UNARY, rsqrt, 1.0f / sqrtf(x))
FLOATS(UNARY, reciprocal, 1.0f / x)
FLOATS(UNARY, exp, expf(x))
FLOATS(UNARY, exp2, exp2f(x))
FLOATS(UNARY, expm1, expm1f(x))
FLOATS(UNARY, log, logf(x))
FLOATS(UNARY, log2, log2f(x))
FLOATS(UNARY, log1p, log1pf(x))
FLOATS(UNARY, sin, sinf(x))
FLOATS(UNARY, cos, cosf(x))
FLOATS(UNARY, tanh, tanhf(x))
FLOATS(UNARY, erf, erff(x))

FLOATS(UNARY, floor, floorf(x))
FLOATS(UNARY, ceil, ceilf(x))
FLOATS(UNARY, round, rintf(x))
FLOATS(UNARY, trunc, truncf(x))

FLOATS(UNARY, sigmoid, sigmoid(x))
FLOATS(UNARY, logsigmoid, logsigmoid(x))
FLOATS(UNARY, silu, silu(x))
FLOATS(UNARY, gelu, gelu(x))
FLOATS(UNARY, gelu_tanh, gelu_tanh(x))
FLOATS(WITH_NUMBER, leaky_relu, x > 0.0f ? x : x * c)
FLOATS(WITH_TWO_NUMBERS, softplus, softplus(x, c, d))

ALL(WITH_NUMBER, add_scalar, x + c)
ALL(WITH_NUMBER, mul_scalar, x * c)
FLOATS(WITH_NUMBER, div_scalar, x / c)
ALL(WITH_NUMBER, clamp_min, larger(x, c))
ALL(WITH_NUMBER, clamp_max, smaller(x, c))
NUMBERS(WITH_NUMBER, pow_scalar, power_of_constant(x, c))
