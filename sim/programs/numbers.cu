// Numbers: 64 and 128 bits, division, random numbers, hashes, doubles, roundings, conversions.

typedef unsigned long long u64;

extern "C" __global__ void wide(const u64 *a, const u64 *b, u64 *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    u64 x = a[i], y = b[i] | 1;
    long long sx = x, sy = y;
    u64 *to = out + 10 * i;
    to[0] = x + y;
    to[1] = x - y;
    to[2] = x * y;
    to[3] = __umul64hi(x, y);
    to[4] = __mul64hi(sx, sy);
    to[5] = x / y;
    to[6] = x % y;
    to[7] = sx / sy;
    to[8] = sx % sy;
    to[9] = (u64)__mulhi((int)x, (int)y) << 32 | __umulhi((unsigned)x, (unsigned)y);
}

// Sums and products of 128 bits, with the carry flag.
extern "C" __global__ void longer(const u64 *a, const u64 *b, u64 *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    u64 al = a[2 * i], ah = a[2 * i + 1], bl = b[2 * i], bh = b[2 * i + 1], *to = out + 6 * i;
    u64 low, high;
    asm("add.cc.u64 %0, %2, %4;\n\taddc.u64 %1, %3, %5;"
        : "=l"(low), "=l"(high) : "l"(al), "l"(ah), "l"(bl), "l"(bh));
    to[0] = low, to[1] = high;
    asm("sub.cc.u64 %0, %2, %4;\n\tsubc.u64 %1, %3, %5;"
        : "=l"(low), "=l"(high) : "l"(al), "l"(ah), "l"(bl), "l"(bh));
    to[2] = low, to[3] = high;
    unsigned w[4], x0 = al, x1 = al >> 32, y0 = bl, y1 = bl >> 32;
    asm("mul.lo.u32 %0, %4, %6;\n\tmul.hi.u32 %1, %4, %6;\n\t"
        "mad.lo.cc.u32 %1, %4, %7, %1;\n\tmadc.hi.u32 %2, %4, %7, 0;\n\t"
        "mad.lo.cc.u32 %1, %5, %6, %1;\n\tmadc.hi.cc.u32 %2, %5, %6, %2;\n\taddc.u32 %3, 0, 0;\n\t"
        "mad.lo.cc.u32 %2, %5, %7, %2;\n\tmadc.hi.u32 %3, %5, %7, %3;"
        : "=&r"(w[0]), "=&r"(w[1]), "=&r"(w[2]), "=&r"(w[3]) : "r"(x0), "r"(x1), "r"(y0), "r"(y1));
    to[4] = (u64)w[1] << 32 | w[0], to[5] = (u64)w[3] << 32 | w[2];
}

__device__ u64 multiply(u64 a, u64 b, u64 modulus)
{
    u64 product = 0;
    for (; b; b /= 2) {
        if (b % 2) product = product >= modulus - a ? product - (modulus - a) : product + a;
        a = a >= modulus - a ? a - (modulus - a) : a + a;
    }
    return product;
}

// Powers modulo a prime near 2^62, and greatest common divisors.
extern "C" __global__ void powers(const u64 *base, const u64 *exponent, u64 *power, u64 *divisor)
{
    int i = threadIdx.x;
    u64 modulus = 4611686018427387847ull, x = base[i] % modulus, result = 1;
    for (u64 e = exponent[i]; e; e /= 2) {
        if (e % 2) result = multiply(result, x, modulus);
        x = multiply(x, x, modulus);
    }
    power[i] = result;
    u64 a = base[i], b = exponent[i];
    while (b) {
        u64 rest = a % b;
        a = b;
        b = rest;
    }
    divisor[i] = a;
}

// C truncates a quotient; Python floors it.
extern "C" __global__ void floor_division(const int *a, const int *b, int *quotient, int *rest)
{
    int i = threadIdx.x, q = a[i] / b[i], r = a[i] % b[i];
    if (r != 0 && (r < 0) != (b[i] < 0)) {
        q--;
        r += b[i];
    }
    quotient[i] = q;
    rest[i] = r;
}

// Narrow integers wrap as C says: through int, and back.
extern "C" __global__ void narrow(const signed char *a, const short *b, short *out)
{
    int i = threadIdx.x;
    signed char c = a[i] * 3;
    unsigned char u = a[i] - 100;
    short s = b[i] * a[i];
    unsigned short w = b[i] >> 3;
    short *to = out + 7 * i;
    to[0] = c, to[1] = u, to[2] = s, to[3] = w;
    to[4] = b[i] / (a[i] | 1), to[5] = (unsigned short)b[i] % 1000, to[6] = -b[i];
}

// A random number for each thread, by xorshift and by a product.
extern "C" __global__ void noise(unsigned seed, unsigned *a, float *b)
{
    unsigned x = seed + (blockIdx.x * blockDim.x + threadIdx.x) * 2654435761u;
    for (int i = 0; i < 10; i++) {
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
    }
    u64 y = (u64)x * 6364136223846793005ull + 1442695040888963407ull;
    a[blockIdx.x * blockDim.x + threadIdx.x] = x ^ (unsigned)(y >> 33);
    b[blockIdx.x * blockDim.x + threadIdx.x] = (y >> 40) * (1.0f / 16777216.0f);
}

// A checksum of 64 bytes by each thread: CRC-32, bit by bit.
extern "C" __global__ void checksum(const unsigned char *data, unsigned *out)
{
    unsigned crc = 0xffffffffu;
    for (int i = 0; i < 64; i++) {
        crc ^= data[threadIdx.x * 64 + i];
        for (int bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
    }
    out[threadIdx.x] = ~crc;
}

// Newton's root in doubles, and a sum with Kahan's correction in floats.
extern "C" __global__ void doubles(const double *in, double *root, float *sum, int n)
{
    double x = in[threadIdx.x], guess = x > 1 ? x : 1;
    for (int i = 0; i < 60; i++) guess = 0.5 * (guess + x / guess);
    root[threadIdx.x] = guess - sqrt(x);
    float total = 0, lost = 0;
    for (int i = 0; i < n; i++) {
        float term = __fadd_rn(0.1f, -lost), next = __fadd_rn(total, term);
        lost = __fadd_rn(__fadd_rn(next, -total), -term);
        total = next;
    }
    sum[threadIdx.x] = total;
}

// One operation in each rounding.
extern "C" __global__ void roundings(const float *a, const float *b, float *out, const double *c,
                                     double *wide_out)
{
    int i = threadIdx.x;
    float x = a[i], y = b[i], *to = out + 12 * i;
    to[0] = __fadd_rn(x, y), to[1] = __fadd_rz(x, y), to[2] = __fadd_rd(x, y);
    to[3] = __fadd_ru(x, y), to[4] = __fmul_rz(x, y), to[5] = __fmul_ru(x, y);
    to[6] = __fdiv_rn(x, y), to[7] = __fdiv_rd(x, y), to[8] = __fmaf_rn(x, y, x);
    to[9] = __fmaf_rd(x, y, x), to[10] = __fsqrt_rn(fabsf(x)), to[11] = __frcp_ru(y);
    double z = c[i], *wider = wide_out + 4 * i;
    wider[0] = __dadd_rd(z, 1.0), wider[1] = __dmul_ru(z, z), wider[2] = __ddiv_rz(1.0, z);
    wider[3] = __fma_rn(z, z, -1.0);
}

// Floats to integers and back, out of range as well.
extern "C" __global__ void conversions(const float *in, int *a, long long *b, float *c, double *d)
{
    int i = threadIdx.x;
    float x = in[i];
    a[4 * i] = __float2int_rz(x), a[4 * i + 1] = __float2int_rn(x);
    a[4 * i + 2] = __float2uint_ru(x), a[4 * i + 3] = (int)rintf(x);
    b[2 * i] = __float2ll_rd(x), b[2 * i + 1] = __double2ll_rn((double)x * 1e10);
    c[4 * i] = floorf(x), c[4 * i + 1] = ceilf(x), c[4 * i + 2] = truncf(x);
    c[4 * i + 3] = __ll2float_rz(b[2 * i]);
    d[i] = (double)b[2 * i + 1] + (double)x;
}
