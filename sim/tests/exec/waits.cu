// Threads that wait for each other, and some that leave; see waits.rs.
#define GLOBAL extern "C" __global__ void

// Every third thread leaves before the barrier; the others sum up what the others brought.
GLOBAL early(int *out, const int *in) {
    __shared__ int brought[96];
    int i = threadIdx.x;
    if (i % 3 == 0) return;
    brought[i] = in[i];
    __syncthreads();
    int sum = 0;
#pragma unroll 1
    for (int k = 0; k < 96; k++)
        if (k % 3) sum += brought[k];
    out[i] = sum;
}

// Each half of the block turns its own ring by its own barrier, one three times, the other five.
GLOBAL rings(int *out) {
    __shared__ int ring[128];
    int i = threadIdx.x, half = i / 64, first = half * 64, at = i % 64;
    int rounds = half ? 5 : 3, x = i;
    for (int k = 0; k < rounds; k++) {
        ring[i] = x;
        asm volatile("bar.sync %0, 64;" :: "r"(1 + half) : "memory");
        x = ring[first + (at + 1) % 64] + k;
        asm volatile("bar.sync %0, 64;" :: "r"(1 + half) : "memory");
    }
    out[i] = x;
}

// One lane of each warp takes a lock, ten times.
GLOBAL warps_lock(int *count, int *lock) {
    if (threadIdx.x % 32) return;
#pragma unroll 1
    for (int k = 0; k < 10; k++) {
        while (atomicCAS(lock, 0, 1) != 0) {}
        __threadfence();
        *(volatile int *)count += k;
        __threadfence();
        atomicExch(lock, 0);
    }
}

// Lanes of a warp take a lock one after the other: who has it gives it back before it waits.
GLOBAL lanes_lock(int *count, int *lock) {
    bool done = false;
    while (!done) {
        if (atomicCAS(lock, 0, 1) == 0) {
            *(volatile int *)count += threadIdx.x;
            __threadfence();
            atomicExch(lock, 0);
            done = true;
        }
    }
}

// Who has the lock waits behind the loop for the others, who wait for the lock.
GLOBAL stuck(int *count, int *lock) {
    while (atomicCAS(lock, 0, 1) != 0) {}
    *count += 1;
    __threadfence();
    atomicExch(lock, 0);
}

__device__ __noinline__ int down(int n, int by);
__device__ __noinline__ int up(int n, int by) { return n <= 0 ? by : 2 * down(n - by, by + 1) - 1; }
__device__ __noinline__ int down(int n, int by) { return n <= 0 ? -by : up(n - by, by) + n; }
__device__ int (*const ways[2])(int, int) = {up, down};
// Lanes call different functions by pointer, in loops of different lengths; these call each other.
GLOBAL dances(int *out) {
    int i = threadIdx.x, sum = 0;
    for (int k = 0; k < i % 5; k++) {
        if ((i + k) % 7 == 6) continue;
        if (sum > 60) break;
        sum += ways[(i ^ k) & 1](i % 11 + k, 1 + i % 3);
    }
    out[i] = sum;
}

// The order in which warps come is seen in what they draw.
GLOBAL order(int *out, int *next) {
#pragma unroll 1
    for (int k = 0; k < 4; k++)
        if (threadIdx.x % 32 == 0) out[atomicAdd(next, 1)] = threadIdx.x / 32;
}
