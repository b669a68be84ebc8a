// Counting: histograms, atomics of all kinds, matches, bits.

extern "C" __global__ void histogram(const unsigned char *in, unsigned *bins, int n)
{
    __shared__ unsigned own[256];
    for (int i = threadIdx.x; i < 256; i += blockDim.x) own[i] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&own[in[i]], 1u);
    __syncthreads();
    for (int i = threadIdx.x; i < 256; i += blockDim.x)
        if (own[i]) atomicAdd(&bins[i], own[i]);
}

// A weighted histogram in doubles and floats.
extern "C" __global__ void weighted(const int *key, const float *weight, double *sums, float *small,
                                    int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    atomicAdd(&sums[key[i]], (double)weight[i]);
    atomicAdd(&small[key[i]], weight[i]);
}

// Every atomic on 32 and 64 bits, with results that do not depend on the order.
extern "C" __global__ void atomics(int *a, unsigned *b, unsigned long long *c, long long *d)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(&a[0], i);
    atomicSub(&a[1], i);
    atomicMin(&a[2], -i);
    atomicMax(&a[3], i * 7 % 1000);
    atomicAnd(&b[0], ~(1u << i % 16));
    atomicOr(&b[1], 1u << i % 20);
    atomicXor(&b[2], i);
    atomicInc(&b[3], 99);
    atomicDec(&b[4], 99);
    atomicMax(&b[5], 4000000000u + i);
    atomicAdd(&c[0], 1ull << 33);
    atomicMax(&c[1], (unsigned long long)i << 40);
    atomicMin(&c[2], ~0ull - i);
    atomicOr(&c[3], 1ull << i % 64);
    atomicXor(&c[4], (unsigned long long)i << 32);
    atomicMin(&d[0], -(long long)i << 35);
    atomicMax(&d[1], (long long)i - 5);
    if (atomicExch(&a[4], i) >= 0) atomicAdd(&a[5], 1);
}

// The greatest float by compare and swap, and its product, in whatever order.
extern "C" __global__ void by_swap(const float *in, unsigned *greatest, unsigned long long *product)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned old = *greatest, assumed;
    do {
        assumed = old;
        if (__uint_as_float(assumed) >= in[i]) break;
        old = atomicCAS(greatest, assumed, __float_as_uint(in[i]));
    } while (assumed != old);
    unsigned long long before = *product, seen;
    double factor = i % 2 ? 2.0 : 0.5;
    do {
        seen = before;
        double next = __longlong_as_double(seen) * factor;
        before = atomicCAS(product, seen, (unsigned long long)__double_as_longlong(next));
    } while (seen != before);
}

// The place of the greatest; ties go to the smallest index, and a NaN is the greatest of all.
extern "C" __global__ void argmax(const float *x, int n, unsigned long long *best)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        unsigned bits = __float_as_uint(x[i]);
        unsigned key = bits & 0x80000000u ? ~bits : bits | 0x80000000u;
        if (x[i] != x[i]) key = 0xffffffffu;
        atomicMax(best, (unsigned long long)key << 32 | (0xffffffffu - i));
    }
}

// Lanes with equal keys count together: one atomic for each key of a warp.
extern "C" __global__ void matched(const int *keys, unsigned *bins)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
    unsigned same = __match_any_sync(0xffffffffu, keys[i]);
    if (__ffs(same) - 1 == lane) atomicAdd(&bins[keys[i]], __popc(same));
}

// Bits of 32- and 64-bit words.
extern "C" __global__ void bits(const unsigned long long *in, unsigned long long *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned long long x = in[i];
    unsigned low = (unsigned)x, high = (unsigned)(x >> 32);
    unsigned long long *to = out + 10 * i;
    to[0] = __popcll(x) * 1000 + __popc(low);
    to[1] = __clzll(x) * 1000 + __clz(low);
    to[2] = __brevll(x);
    to[3] = __ffsll(x) * 1000 + __ffs(low);
    to[4] = __brev(low);
    to[5] = __byte_perm(low, high, 0x3175);
    to[6] = __funnelshift_l(low, high, i);
    to[7] = __funnelshift_r(low, high, i);
    to[8] = (low & high) | (~low & i) | (x >> 5 ^ x << 3);
    to[9] = (x >> (i & 63)) + ((long long)x >> (i & 63)) + (x << (i & 63));
}

// How often each neighbour differs, in a counter of 16 bits that lies in shared memory.
extern "C" __global__ void changes(const unsigned short *in, unsigned short *out, int n)
{
    __shared__ unsigned short first[64];
    int t = threadIdx.x;
    first[t] = 0;
    for (int i = t; i + 1 < n; i += 64) first[t] += in[i] != in[i + 1];
    __syncthreads();
    if (t == 0) {
        unsigned short sum = 0;
        for (int i = 0; i < 64; i++) sum += first[i];
        *out = sum;
    }
}
