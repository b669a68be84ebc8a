// The activation functions as formulas of one number, each beside what its gradient is made of.
// The operations and their order are those of src/device/cpu/activation.rs.
#pragma once
#include "common.cuh"

__device__ inline float sigmoid(float x) { return 1.0f / (1.0f + expf(-x)); }

// ln(1 / (1 + exp(-x))); this exponential never overflows.
__device__ inline float logsigmoid(float x) {
    return (x < 0.0f || x != x ? x : 0.0f) - log1pf(expf(-fabsf(x)));
}

__device__ inline float silu(float x) { return x / (expf(-x) + 1.0f); }

// dy * s * (1 + x * (1 - s)) with s = sigmoid(x)
__device__ inline float silu_backward(float dy, float x) {
    const float s = sigmoid(x);
    return dy * (s * (x * (1.0f - s) + 1.0f));
}

constexpr float SQRT_HALF = 0.707106781f;       // 1 / sqrt(2)
constexpr float SQRT_2_OVER_PI = 0.797884561f;  // sqrt(2 / pi)

// x times the share of a normal distribution that lies below x.
__device__ inline float gelu(float x) { return x * 0.5f * (erff(x * SQRT_HALF) + 1.0f); }

// dy * (share + x * density)
__device__ inline float gelu_backward(float dy, float x) {
    const float below = (erff(x * SQRT_HALF) + 1.0f) * 0.5f;
    const float density = expf(x * x * -0.5f) * (0.5f * SQRT_2_OVER_PI);
    return dy * (below + x * density);
}

// gelu with a tanh for the share: x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3))) / 2
__device__ inline float gelu_tanh(float x) {
    const float cube = x * x * x;
    return x * 0.5f * (tanhf((x + cube * 0.044715f) * SQRT_2_OVER_PI) + 1.0f);
}

// dy * (1 + tanh u + x * (1 - tanh^2 u) * u') / 2
__device__ inline float gelu_tanh_backward(float dy, float x) {
    const float square = x * x;
    const float t = tanhf(x * (square * 0.044715f + 1.0f) * SQRT_2_OVER_PI);
    const float du = (square * (3.0f * 0.044715f) + 1.0f) * SQRT_2_OVER_PI;
    return dy * ((x * (1.0f - t * t) * du + t + 1.0f) * 0.5f);
}

// ln(1 + exp(beta x)) / beta, or x itself where beta x is above the threshold.
__device__ inline float softplus(float x, float beta, float threshold) {
    const float scaled = x * beta;
    return scaled > threshold ? x : log1pf(expf(scaled)) / beta;
}
