// Steps of the optimizers, in place: AdamW and SGD, with the operations of the CPU in its order.
//
// The host rounds each number of the rule to float once, for all elements. Every product and sum is
// rounded as it stands here (fmaf once, a product and a sum twice), so that the parameters have the
// same bits as those of the CPU.
//
// Mapping, of all: one thread an element, 256 threads a block; all tensors are packed.
// Moves: each element of the gradient once; each of the parameter (or the master copy) and of the
// state is read once and written once. For AdamW in f32 that is 28 bytes an element.
// Why this version: fused. As a chain of elementwise kernels, the same step would move each of
// these, and every intermediate result, several times.
#include "common.cuh"

// The parameter in the type that is computed with: the master copy if there is one.
template <typename T> __device__ float load(const T* param, const float* master, unsigned i) {
    return master ? master[i] : widen(param[i]);
}
template <typename T> __device__ void store(T* param, float* master, unsigned i, float p) {
    if (master) master[i] = p;
    param[i] = narrow<T>(p);
}

// See AdamwRule in src/device/updates.rs.
struct Adamw {
    float factor;           // of the gradient
    float keep;             // 1 - lr * weight_decay
    float beta1;
    float weight;           // 1 - beta1
    int near;               // whether that is less than a half
    float beta2;
    float square_weight;    // 1 - beta2
    float root_correction;  // sqrt(1 - beta2^t)
    float eps;
    float step_size;        // -lr / (1 - beta1^t)
};

// T is the type of the parameter and the gradient, S that of the state.
template <typename T, typename S>
__device__ void adamw_step(T* param, const T* grad, float* master, S* mean, S* square,
                           unsigned count, const Adamw& rule) {
    const unsigned i = thread_number();
    if (i >= count) return;
    float p = load(param, master, i), m = widen(mean[i]), v = widen(square[i]);
    const float g = widen(grad[i]) * rule.factor;
    // m + weight * (g - m), from the nearer end: from the other one it is rounded more.
    m = rule.near ? fmaf(rule.weight, g - m, m) : fmaf(m - g, rule.beta1, g);
    v = fmaf(rule.square_weight * g, g, v * rule.beta2);
    const float size = sqrtf(v) / rule.root_correction + rule.eps;
    p = p * rule.keep + rule.step_size * m / size;
    store(param, master, i, p);
    mean[i] = narrow<S>(m);
    square[i] = narrow<S>(v);
}

// See SgdRule in src/device/updates.rs.
struct Sgd {
    float factor;           // of the gradient
    float lr;               // -lr
    float momentum;
    float share;            // of the gradient in the buffer
    float weight_decay;
    int decays;
    int nesterov;
};

template <typename T, typename S>
__device__ void sgd_step(T* param, const T* grad, float* master, S* buffer, unsigned count,
                         const Sgd& rule) {
    const unsigned i = thread_number();
    if (i >= count) return;
    float p = load(param, master, i);
    float g = widen(grad[i]) * rule.factor;
    // Not 0 * p: that is NaN where the parameter is infinite.
    if (rule.decays) g = fmaf(rule.weight_decay, p, g);
    float step = g;
    if (buffer) {
        const float b = fmaf(rule.share, g, widen(buffer[i]) * rule.momentum);
        buffer[i] = narrow<S>(b);
        step = rule.nesterov ? fmaf(rule.momentum, b, g) : b;
    }
    store(param, master, i, fmaf(rule.lr, step, p));
}

// One kernel a type of the parameter; `_wide` where a half parameter has its state in f32.
#define STEPS(NAME, T, S)                                                           \
    extern "C" __global__ void adamw_step##NAME(T* param, const T* grad, float* master, \
                                                S* mean, S* square, unsigned count, Adamw rule) { \
        adamw_step(param, grad, master, mean, square, count, rule);                 \
    }                                                                               \
    extern "C" __global__ void sgd_step##NAME(T* param, const T* grad, float* master, \
                                              S* buffer, unsigned count, Sgd rule) { \
        sgd_step(param, grad, master, buffer, count, rule);                         \
    }
STEPS(_f32, f32, f32)
STEPS(_f16, f16, f16) STEPS(_wide_f16, f16, f32)
STEPS(_bf16, bf16, bf16) STEPS(_wide_bf16, bf16, f32)
