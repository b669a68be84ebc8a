// Kernels that do what they must not; see faults.rs, which finds the lines by their text.
#define GLOBAL extern "C" __global__ void

GLOBAL store(int *x, int first, int by) { x[first + (int)(blockIdx.x * blockDim.x + threadIdx.x) * by] = 7; }
GLOBAL load(const int *x, int *y, int first) {
    int i = threadIdx.x;
    y[i] = x[first + i];
}
GLOBAL bytes(const char *x, int *y, int shift) {
    int i = threadIdx.x;
    y[i] = *(const int *)(x + 4 * i + (i == 5 || i == 9 ? shift : 0));
}
GLOBAL quads(const float4 *x, float4 *y) {
    int i = threadIdx.x;
    y[i] = x[i];
}
GLOBAL add(int *x) { atomicAdd(&x[threadIdx.x], 1); }

__device__ int at(const int *x, int i) {
    return x[i];  // inlined
}
GLOBAL inlined(const int *x, int *y) {
    int i = threadIdx.x;
    y[i] = at(x, 100 * i);
}
// Some lanes are wrong in one line, others in another.
GLOBAL two_lines(int *x, int n) {
    int i = threadIdx.x;
    if (i < 2) {
        x[i] = x[n + i] * 3;
    } else if (i >= 29) {
        x[i] = x[-i] + 2;
    } else {
        x[i] = 3;
    }
}
GLOBAL tile(int *y, int by) {
    __shared__ int own[64];
    int i = threadIdx.x;
    own[i * by] = i;
    __syncthreads();
    y[i] = own[i];
}
GLOBAL dynamic_tile(int *y, int by) {
    extern __shared__ int tiles[];
    int i = threadIdx.x;
    y[i] = tiles[i * by];
}
GLOBAL fat(int *y) {
    __shared__ int much[60000];
    much[threadIdx.x] = y[0];
    __syncthreads();
    y[threadIdx.x] = much[threadIdx.x ^ 1];
}
GLOBAL own(int *y, int by) {
    int values[8];
    for (int k = 0; k < 8; k++) values[k] = k * by;
    int i = threadIdx.x;
    y[i] = values[i * by];
}
__constant__ int table[4] = {5, 6, 7, 8};
GLOBAL fixed(int *y) {
    int i = threadIdx.x;
    y[i] = table[i];
}
__device__ __noinline__ int endless(int n) {
    return n + endless(n + 1) * 2;
}
GLOBAL deep(int *y) { y[threadIdx.x] = endless(threadIdx.x); }
GLOBAL forever(volatile int *x) {
    while (x[0] == 0) {}
}
GLOBAL apart(int *x) {
    if (threadIdx.x < 40) __syncthreads();
    else asm volatile("bar.sync 1;");
    x[threadIdx.x] = 1;
}
GLOBAL half(int *x) {
    if (threadIdx.x < 16) x[threadIdx.x] = __shfl_sync(0xffffffff, x[threadIdx.x], 20);
    __syncthreads();
}
GLOBAL unnamed(int *x) {
    x[threadIdx.x] = __shfl_sync(0xffff, x[threadIdx.x], 3);
}
GLOBAL trapped(int *x) {
    if (threadIdx.x == 7) __trap();
    x[threadIdx.x] = 5;
}
GLOBAL matrices(float *x) {
    float a = x[0];
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %0, %0, %0}, {%1, %1, %1, %1}, {%1, %1}, {%0, %0, %0, %0};" : "+f"(a) : "r"(1));
    x[0] = a;
}
GLOBAL __launch_bounds__(128) bounded(int *x) { x[threadIdx.x] = 1; }
