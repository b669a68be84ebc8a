// Kernels of a network: a row each, by warps and by blocks.

// A softmax of each row, a warp to a row, over a view whose rows lie `stride` apart.
extern "C" __global__ void softmax(const float *in, float *out, int rows, int columns, int stride)
{
    int row = blockIdx.x * blockDim.y + threadIdx.y, lane = threadIdx.x;
    if (row >= rows) return;
    const float *x = in + row * stride;
    float greatest = -__int_as_float(0x7f800000);
    for (int j = lane; j < columns; j += 32) greatest = fmaxf(greatest, x[j]);
    for (int step = 16; step > 0; step /= 2)
        greatest = fmaxf(greatest, __shfl_xor_sync(0xffffffffu, greatest, step));
    float sum = 0;
    for (int j = lane; j < columns; j += 32) sum += expf(x[j] - greatest);
    for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
    for (int j = lane; j < columns; j += 32) out[row * columns + j] = expf(x[j] - greatest) / sum;
}

// Layer normalisation, a block to a row: mean and variance by two trees.
extern "C" __global__ void layer_norm(const float *in, const float *gain, float *out, int columns)
{
    __shared__ float s[128];
    const float *x = in + blockIdx.x * columns;
    int t = threadIdx.x;
    float sum = 0;
    for (int j = t; j < columns; j += 128) sum += x[j];
    s[t] = sum;
    for (int half = 64; half > 0; half /= 2) {
        __syncthreads();
        if (t < half) s[t] += s[t + half];
    }
    __syncthreads();
    float mean = s[0] / columns;
    __syncthreads();
    sum = 0;
    for (int j = t; j < columns; j += 128) sum += (x[j] - mean) * (x[j] - mean);
    s[t] = sum;
    for (int half = 64; half > 0; half /= 2) {
        __syncthreads();
        if (t < half) s[t] += s[t + half];
    }
    __syncthreads();
    float scale = rsqrtf(s[0] / columns + 1e-5f);
    for (int j = t; j < columns; j += 128)
        out[blockIdx.x * columns + j] = (x[j] - mean) * scale * gain[j];
}

// y = 2 x and its sum, by however many threads there are.
extern "C" __global__ void doubled(const float *x, float *y, double *sum, int n)
{
    double own = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        y[i] = 2 * x[i];
        own += y[i];
    }
    atomicAdd(sum, own);
}

// Activations and what they need: erf, tanh, exp, log, powers, sines.
extern "C" __global__ void activations(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = in[i], *to = out + 8 * i;
    to[0] = 0.5f * x * (1 + erff(x * 0.70710678f));
    to[1] = tanhf(x);
    to[2] = x / (1 + expf(-x));
    to[3] = logf(1 + expf(-fabsf(x))) + fmaxf(x, 0);
    to[4] = powf(fabsf(x) + 0.5f, 1.7f);
    to[5] = sinf(x);
    to[6] = cosf(3 * x);
    to[7] = cbrtf(x);
}

extern "C" __global__ void precise(const double *in, double *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double x = in[i], *to = out + 5 * i;
    to[0] = exp(x), to[1] = log(fabs(x) + 1), to[2] = sin(10 * x), to[3] = tanh(x);
    to[4] = pow(2.5, x);
}

// Rows of a table, added up by atomics: the forward and the backward of an embedding.
extern "C" __global__ void embed(const float *weight, const long long *index, float *out, int width)
{
    for (int j = threadIdx.x; j < width; j += blockDim.x)
        out[blockIdx.x * width + j] = weight[index[blockIdx.x] * width + j];
}

extern "C" __global__ void embed_backward(const float *grad, const long long *index, float *weight,
                                          int width)
{
    for (int j = threadIdx.x; j < width; j += blockDim.x)
        atomicAdd(&weight[index[blockIdx.x] * width + j], grad[blockIdx.x * width + j]);
}

// One step of AdamW on a flat array.
extern "C" __global__ void adamw(float *p, const float *g, float *m, float *v, float rate,
                                 int step, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    m[i] = 0.9f * m[i] + 0.1f * g[i];
    v[i] = 0.999f * v[i] + 0.001f * g[i] * g[i];
    float mean = m[i] / (1 - powf(0.9f, step)), spread = v[i] / (1 - powf(0.999f, step));
    p[i] -= rate * (mean / (sqrtf(spread) + 1e-8f) + 0.01f * p[i]);
}
