extern "C" __global__ void vadd(const float* a, const float* b, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}
#define T 16
extern "C" __global__ void matmul(const float* a, const float* b, float* c, int n) {
    __shared__ float as[T][T], bs[T][T];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;
    float acc = 0;
    for (int t = 0; t < n / T; t++) {
        as[ty][tx] = a[row * n + t * T + tx];
        bs[ty][tx] = b[(t * T + ty) * n + col];
        __syncthreads();
        for (int k = 0; k < T; k++) acc += as[ty][k] * bs[k][tx];
        __syncthreads();
    }
    c[row * n + col] = acc;
}
extern "C" __global__ void empty(const float* a) {}
