// y = f(a, b), element by element, with any strides: a broadcast operand has strides of 0.
//
// Mapping: one thread an element of y, 256 threads a block; neighbours read and write neighbours.
// Moves: each element of a, b and y once, if the operands are packed.
// Why this version: with no data used twice there is nothing to keep; the kernel is as fast as
// memory is. One thread an element keeps 32 loads of a warp side by side.
#include "activation.cuh"
#include "arithmetic.cuh"
#include "elementwise.cuh"

template <typename T, typename F>
__device__ void binary(const T* a, const T* b, T* y, const Walk<2>& walk, F f) {
    const unsigned i = thread_number();
    if (i >= walk.count) return;
    i64 at[2];
    walk.find(i, at);
    y[i] = narrow<T>(f(widen(a[at[0]]), widen(b[at[1]])));
}

// One kernel of one function and type: NAME_f32 and so on.
#define BINARY(NAME, T, F)                                                              \
    extern "C" __global__ void NAME##_##T(const T* a, const T* b, T* y, WALK(2)) { \
        binary(a, b, y, walk, [](Compute<T> a, Compute<T> b) -> Compute<T> { return F; }); \
    }

ALL(BINARY, add, a + b)
ALL(BINARY, sub, a - b)
ALL(BINARY, mul, a * b)
FLOATS(BINARY, div, a / b)
ALL(BINARY, maximum, larger(a, b))
ALL(BINARY, minimum, smaller(a, b))

NUMBERS(BINARY, floor_divide, floor_divide(a, b))
NUMBERS(BINARY, trunc_divide, trunc_divide(a, b))
NUMBERS(BINARY, remainder, remainder_of(a, b))
NUMBERS(BINARY, pow, power(a, b))

BITS(BINARY, bitwise_and, a & b)
BITS(BINARY, bitwise_or, a | b)
BITS(BINARY, bitwise_xor, a ^ b)

// Gradients of activations: a is that of the result. The first takes the result of a relu as b,
// the others its argument. A choice and no product: 0 times an infinite gradient would be NaN.
FLOATS(BINARY, threshold_backward, b <= 0.0f ? 0.0f : a)
FLOATS(BINARY, gelu_backward, gelu_backward(a, b))
FLOATS(BINARY, gelu_tanh_backward, gelu_tanh_backward(a, b))
FLOATS(BINARY, silu_backward, silu_backward(a, b))
