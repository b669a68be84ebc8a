#include <cstdio>
#include <cuda_fp16.h>
__constant__ float table[5] = {1, 2, 3};
__device__ int counter = 7;
__device__ const char *names[3] = {"a", "bc", nullptr};
struct P { int a; double b; char c[3]; };
__device__ __noinline__ int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
__device__ float sq(float x) { return x * x + table[int(x) % 5]; }
typedef float (*fn)(float);
__device__ float f1(float x){return x+1;}
__device__ float f2(float x){return x*3;}
__device__ fn fns[2] = {f1,f2};
extern "C" __global__ void __launch_bounds__(256, 2) k(float *x, P p, int n) {
  __shared__ float s[32][33];
  extern __shared__ float dyn[];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  s[threadIdx.x % 32][0] = i < n ? sq(x[i]) : 0;
  __syncthreads();
  dyn[threadIdx.x] = s[(threadIdx.x + 1) % 32][0];
  switch (n) { case 0: x[0] = 1; break; case 1: x[3] = sinf(x[4]); break; case 2: x[1] = 5; break; case 3: printf("hi %d %f\n", i, p.b); break; case 4: x[9] = fns[i & 1](p.b); break; case 5: x[7]=3; break; case 6: x[8] += 3; break; }
  atomicAdd(&x[1], fib(p.a));
  if (i < n) x[i] = __shfl_down_sync(~0u, dyn[threadIdx.x], 1) + __half2float(__float2half(x[i]));
  float4 v = reinterpret_cast<float4*>(x)[i]; v.x += 1; v.y *= expf(v.z); reinterpret_cast<float4*>(x)[i] = v;
  double d; asm("{ .reg .f64 t; mul.f64 t, %1, %1; add.f64 %0, t, t; }" : "=d"(d) : "d"(p.b));
  double e; asm("{ .reg .f64 t; mul.f64 t, %1, %1; @!%%p1 add.f64 %0, t, t; }" : "=d"(e) : "d"(d));
  x[2] = e + d;
  x[i] = sinf(x[i]) / x[i+1] + sqrtf(x[3]);
}
template <class T> __global__ void g(T *x, const T * __restrict__ y) { x[threadIdx.x] = y[threadIdx.x]; if (threadIdx.x == 3) __trap(); }
template __global__ void g<double>(double *, const double *);
