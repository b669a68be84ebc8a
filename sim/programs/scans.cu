// Scans and reductions: in a block, in a warp, by segments, by the last block to finish.

// Hillis and Steele: an inclusive scan of each block.
extern "C" __global__ void inclusive(const int *in, int *out)
{
    __shared__ int s[2][256];
    int t = threadIdx.x, from = 0;
    s[0][t] = in[blockIdx.x * 256 + t];
    __syncthreads();
    for (int step = 1; step < 256; step *= 2) {
        s[1 - from][t] = s[from][t] + (t >= step ? s[from][t - step] : 0);
        from = 1 - from;
        __syncthreads();
    }
    out[blockIdx.x * 256 + t] = s[from][t];
}

// Blelloch: an exclusive scan of 512 by 256 threads, in dynamic shared memory.
extern "C" __global__ void exclusive(unsigned long long *data)
{
    extern __shared__ unsigned long long tree[];
    int t = threadIdx.x, n = 2 * blockDim.x;
    tree[2 * t] = data[2 * t];
    tree[2 * t + 1] = data[2 * t + 1];
    int offset = 1;
    for (int d = n / 2; d > 0; d /= 2) {
        __syncthreads();
        if (t < d) tree[offset * (2 * t + 2) - 1] += tree[offset * (2 * t + 1) - 1];
        offset *= 2;
    }
    if (t == 0) tree[n - 1] = 0;
    for (int d = 1; d < n; d *= 2) {
        offset /= 2;
        __syncthreads();
        if (t < d) {
            int left = offset * (2 * t + 1) - 1, right = offset * (2 * t + 2) - 1;
            unsigned long long swap = tree[left];
            tree[left] = tree[right];
            tree[right] += swap;
        }
    }
    __syncthreads();
    data[2 * t] = tree[2 * t];
    data[2 * t + 1] = tree[2 * t + 1];
}

// Each warp scans its 32 numbers by shuffles.
extern "C" __global__ void warp_scan(const double *in, double *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
    double x = in[i];
    for (int step = 1; step < 32; step *= 2) {
        double from = __shfl_up_sync(0xffffffffu, x, step);
        if (lane >= step) x += from;
    }
    out[i] = x;
}

// A scan that starts anew wherever a flag is set.
extern "C" __global__ void segmented(const int *in, const unsigned char *flags, int *out)
{
    __shared__ int value[128];
    __shared__ unsigned char head[128];
    int t = threadIdx.x;
    value[t] = in[t];
    head[t] = flags[t];
    __syncthreads();
    for (int step = 1; step < 128; step *= 2) {
        int v = value[t];
        unsigned char h = head[t];
        if (!h && t >= step) {
            v += value[t - step];
            h = head[t - step];
        }
        __syncthreads();
        value[t] = v;
        head[t] = h;
        __syncthreads();
    }
    out[t] = value[t];
}

// Keeps what is above a limit: places within a warp by ballots, between warps by an atomic.
extern "C" __global__ void compact(const float *in, float *out, unsigned *count, int n, float limit)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31;
    bool keep = i < n && in[i] > limit;
    unsigned votes = __ballot_sync(0xffffffffu, keep);
    unsigned base = 0;
    if (lane == 0) base = atomicAdd(count, __popc(votes));
    base = __shfl_sync(0xffffffffu, base, 0);
    if (keep) out[base + __popc(votes & ((1u << lane) - 1))] = in[i];
}

// A tree in shared memory; one partial sum a block.
extern "C" __global__ void tree_sum(const float *in, float *partial, int n)
{
    __shared__ float s[128];
    int t = threadIdx.x;
    float sum = 0;
    for (int i = blockIdx.x * 128 + t; i < n; i += gridDim.x * 128) sum += in[i];
    s[t] = sum;
    for (int half = 64; half > 0; half /= 2) {
        __syncthreads();
        if (t < half) s[t] += s[t + half];
    }
    if (t == 0) partial[blockIdx.x] = s[0];
}

__device__ long long warp_sum(long long x)
{
    for (int step = 16; step > 0; step /= 2) x += __shfl_xor_sync(0xffffffffu, x, step);
    return x;
}

// Shuffles in each warp, then in the first; 64-bit atomics between blocks.
extern "C" __global__ void shuffle_sum(const int *in, unsigned long long *total, int n)
{
    __shared__ long long s[32];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    long long sum = warp_sum(i < n ? in[i] : 0);
    if (t % 32 == 0) s[t / 32] = sum;
    __syncthreads();
    if (t < 32) {
        sum = warp_sum(t < blockDim.x / 32 ? s[t] : 0);
        if (t == 0) atomicAdd(total, (unsigned long long)sum);
    }
}

__device__ unsigned finished = 0;

// The block that finishes last adds up what the others left: a fence and a counter.
extern "C" __global__ void last_block(const int *in, volatile int *partial, int *total, int n)
{
    __shared__ bool last;
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    int sum = __syncthreads_count(i < n && in[i] % 3 == 0);
    if (t == 0) {
        partial[blockIdx.x] = sum;
        __threadfence();
        last = atomicInc(&finished, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && t == 0) {
        int all = 0;
        for (int b = 0; b < gridDim.x; b++) all += partial[b];
        *total = all;
    }
}

// The least and the greatest, and whether all are positive, by reductions of a warp.
extern "C" __global__ void warp_votes(const int *in, int *out)
{
    int x = in[threadIdx.x], warp = threadIdx.x / 32;
    int least = __reduce_min_sync(0xffffffffu, x), greatest = __reduce_max_sync(0xffffffffu, x);
    unsigned bits = __reduce_or_sync(0xffffffffu, (unsigned)x);
    int all = __all_sync(0xffffffffu, x > 0), any = __any_sync(0xffffffffu, x > 90);
    if (threadIdx.x % 32 == 0) {
        int *to = out + 5 * warp;
        to[0] = least, to[1] = greatest, to[2] = bits, to[3] = all, to[4] = any;
    }
}
