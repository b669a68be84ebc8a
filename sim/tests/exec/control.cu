// Kernels that go through what control flow, calls and warps have to offer; see ../exec.rs.
// Compiled by make.sh at several levels of optimisation; the results do not depend on the level.

#define GLOBAL extern "C" __global__ void

__device__ __noinline__ int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }

// Lanes recurse to different depths.
GLOBAL recursion(int* out) { out[threadIdx.x] = fib(threadIdx.x % 12); }

__device__ __noinline__ int is_odd(int n);
__device__ __noinline__ int is_even(int n) { return n == 0 ? 1 : is_odd(n - 1); }
__device__ __noinline__ int is_odd(int n) { return n == 0 ? 0 : is_even(n - 1); }
GLOBAL mutual(int* out) { out[threadIdx.x] = is_even(threadIdx.x); }

// A jump table.
GLOBAL table(int* out, const int* in) {
    int i = threadIdx.x, x = in[i];
    switch (x & 15) {
    case 0: x = x * 3; break;
    case 1: x = x + 100; break;
    case 2: x = x - 7;  // falls through
    case 3: x = x ^ 0x55; break;
    case 4: x = x << 2; break;
    case 5: x = -x; break;
    case 6: x = x / 3; break;
    case 7: x = x % 5; break;
    case 9: x = x | 64; break;
    case 10: return;
    default: x = 1000 + x;
    }
    out[i] = x;
}

__device__ int twice(int x) { return 2 * x; }
__device__ int square(int x) { return x * x; }
__device__ int negate(int x) { return -x; }
__device__ int (*const functions[3])(int) = {twice, square, negate};
GLOBAL pointers(int* out) { out[threadIdx.x] = functions[threadIdx.x % 3](threadIdx.x); }

// Lanes leave a loop after different numbers of rounds, by break, continue and return.
GLOBAL loops(int* out, int n) {
    int i = threadIdx.x, sum = 0;
    for (int k = 0; k < n; k++) {
        if (k % 3 == i % 3) continue;
        if (k > i) break;
        for (int j = 0; j < k; j++) {
            if (j * k > 200) { out[i] = -sum; return; }
            sum += j ^ k;
        }
    }
    out[i] = sum;
}

struct Box { double weight; char name[9]; short counts[5]; long long total; };
__device__ __noinline__ Box grow(Box box, int by) {
    box.weight *= by;
    box.counts[by % 5] += by;
    box.total += box.counts[2];
    return box;
}
// Structures by value, into a kernel, into a function, and out of it.
GLOBAL structures(double* out, Box box) {
    Box other = box;
    for (int k = 0; k < 3; k++) other = grow(other, threadIdx.x + k);
    out[threadIdx.x] = other.weight + other.total + other.counts[threadIdx.x % 5] + other.name[3];
}

// Shuffles, votes, matches and reductions of a whole warp and of parts of it.
GLOBAL warps(unsigned* out) {
    unsigned lane = threadIdx.x, all = 0xffffffffu, x = lane * lane + 1;
    unsigned* o = out + lane * 16;
    o[0] = __shfl_sync(all, x, (lane * 7) & 31);
    o[1] = __shfl_up_sync(all, x, 3);
    o[2] = __shfl_down_sync(all, x, 5, 8);
    o[3] = __shfl_xor_sync(all, x, 9);
    o[4] = __ballot_sync(all, lane % 3 == 0);
    o[5] = __any_sync(all, lane == 40) + 2 * __all_sync(all, lane < 40);
    o[6] = __match_any_sync(all, lane / 5);
    int same;
    o[7] = __match_all_sync(all, lane / 32, &same) + same;
    o[8] = __shfl_sync(all, x, lane + 3, 8);
    if (lane < 12) {
        o[9] = __shfl_down_sync(0xfff, x, 2) + __ballot_sync(0xfff, lane & 1);
        o[10] = __activemask();
    } else {
        o[9] = __shfl_up_sync(~0xfffu, x, 2);
        o[10] = __activemask();
    }
    // Each half of the branch executes its own copy of one shuffle of all lanes.
    unsigned y;
    if (lane & 1) {
        y = __shfl_xor_sync(all, x, 1) * 3;
    } else {
        y = __shfl_xor_sync(all, x, 1) * 5;
    }
    o[11] = y;
    __syncwarp();
    o[12] = __reduce_add_sync(all, x);
    o[13] = __reduce_max_sync(all, (int)x - 500);
    o[14] = __reduce_xor_sync(0xffu << (lane & 24), x);
    unsigned long long wide = __shfl_xor_sync(all, (unsigned long long)x << 33, 2);
    o[15] = (unsigned)(wide >> 33);
}

// Barriers: a sum through shared memory, and what a barrier makes of predicates.
GLOBAL barriers(int* out, const int* in) {
    __shared__ int sums[256];
    int i = threadIdx.x;
    sums[i] = in[blockIdx.x * 256 + i];
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (i < half) sums[i] += sums[i + half];
        __syncthreads();
    }
    int count = __syncthreads_count(i % 3 == 0);
    int any = __syncthreads_or(i == 77), all = __syncthreads_and(i < 256), none = __syncthreads_or(i > 999);
    if (i == 0) out[blockIdx.x] = sums[0] + 10 * count + any + 2 * all + 4 * none;
}

// Named barriers between producers and consumers (PTX ISA, example of bar.arrive).
GLOBAL pipeline(int* out) {
    extern __shared__ int slots[];
    int i = threadIdx.x;
    for (int round = 0; round < 4; round++) {
        if (i < 32) {
            asm volatile("bar.sync 1, 64;" ::: "memory");
            slots[i] = i * 10 + round;
            asm volatile("bar.arrive 2, 64;" ::: "memory");
        } else {
            asm volatile("bar.arrive 1, 64;" ::: "memory");
            asm volatile("bar.sync 2, 64;" ::: "memory");
            out[round * 32 + i - 32] = slots[i - 32];
        }
    }
}

__device__ unsigned arrived;
__constant__ int factors[4] = {1, 10, 100, 1000};
// The last block sums up what all wrote (CUDA C++ Programming Guide, memory fence functions).
GLOBAL last_block(int* out, volatile int* partial) {
    __shared__ bool last;
    int i = threadIdx.x;
    if (i == 0) {
        partial[blockIdx.x] = factors[blockIdx.x & 3];
        __threadfence();
        last = atomicInc(&arrived, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && i == 0) {
        int sum = 0;
        for (int k = 0; k < gridDim.x; k++) sum += partial[k];
        *out = sum;
    }
}

// Atomics of every kind on global and shared memory.
GLOBAL atomics(unsigned* u, int* s, unsigned long long* w, float* f, double* d) {
    __shared__ unsigned local[4];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x < 4) local[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&u[0], i);
    atomicAnd(&u[1], ~(1u << (i % 31)));
    atomicOr(&u[2], 1u << (i % 29));
    atomicXor(&u[3], 1u << (i % 7));
    atomicMax(&u[4], i);
    atomicMin(&u[5], i);
    atomicInc(&u[6], 99);
    atomicDec(&u[7], 99);
    atomicMax(&s[0], i - 900);
    atomicMin(&s[1], i - 900);
    atomicAdd(&w[0], (unsigned long long)i << 32);
    atomicMax(&w[1], (unsigned long long)i << 20);
    atomicAdd(f, 0.5f);
    atomicAdd(d, 0.25);
    atomicAdd(&local[threadIdx.x % 4], 1);
    unsigned old = w[2], seen;
    do {
        seen = old;
        old = atomicCAS((unsigned*)&w[2], seen, seen + 3);
    } while (old != seen);
    __syncthreads();
    if (threadIdx.x < 4) atomicAdd(&u[8 + threadIdx.x], local[threadIdx.x]);
    if (threadIdx.x == 0) atomicExch(&u[12], 7);
}

// Local memory that is indexed, generic pointers to all kinds of memory.
__device__ __noinline__ int sum_of(const int* values, int n) {
    int sum = 0;
    for (int k = 0; k < n; k++) sum += values[k];
    return sum;
}
GLOBAL generic(int* out, const int* in) {
    __shared__ int shared[8];
    int local[8], i = threadIdx.x;
    for (int k = 0; k < 8; k++) local[(k * 3 + i) % 8] = k * i;
    if (i < 8) shared[i] = in[i];
    __syncthreads();
    const int* from = i % 3 == 0 ? local : i % 3 == 1 ? shared : in;
    out[i] = sum_of(from, 8) + __isShared(from) * 1000 + __isLocal(from) * 2000 + __isGlobal(from) * 3000;
}
