// Half precision, in both formats, alone and in pairs.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

extern "C" __global__ void axpy(__half a, const __half *x, __half *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = __hfma(a, x[i], y[i]);
}

extern "C" __global__ void axpy_pairs(__half a, const __half2 *x, __half2 *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = __hadd2(__hmul2(__half2half2(a), x[i]), y[i]);
}

// A dot product that multiplies halves and adds floats.
extern "C" __global__ void dot(const __half *x, const __half *y, float *out, int n)
{
    float sum = 0;
    for (int i = threadIdx.x; i < n; i += 32) sum += __half2float(x[i]) * __half2float(y[i]);
    for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffffu, sum, step);
    if (threadIdx.x == 0) *out = sum;
}

extern "C" __global__ void brain(const __nv_bfloat16 *x, const float *y, __nv_bfloat16 *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = __float2bfloat16(__bfloat162float(x[i]) * y[i]);
}

// Comparisons, minima and conversions of halves.
extern "C" __global__ void compare(const __half *x, const __half *y, __half *least, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    least[i] = __hmin(x[i], y[i]);
    out[i] = __hlt(x[i], y[i]) + 2 * __heq(x[i], y[i]) + 4 * __hisnan(x[i])
        + 8 * __half2int_rn(x[i] > __float2half(100.0f) ? y[i] : x[i]);
}

// Exponentials and roots in half precision.
extern "C" __global__ void functions(const __half *x, __half *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    out[3 * i] = hexp(x[i]);
    out[3 * i + 1] = hsqrt(__habs(x[i]));
    out[3 * i + 2] = __hdiv(x[i], __float2half(3.0f));
}
