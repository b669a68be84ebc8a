// Threads that work together: tiles of a warp, named barriers, warps with different roles.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

// Sums of tiles of 8 lanes, by a group's own shuffles.
extern "C" __global__ void tiles(const int *in, int *out)
{
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<8> tile = cg::tiled_partition<8>(block);
    int x = in[blockIdx.x * blockDim.x + block.thread_rank()];
    for (int step = tile.size() / 2; step > 0; step /= 2) x += tile.shfl_down(x, step);
    if (tile.thread_rank() == 0)
        out[blockIdx.x * (blockDim.x / 8) + block.thread_rank() / 8] = x;
    block.sync();
}

// Lanes that happen to be together: one of them takes room for all.
extern "C" __global__ void together(const int *in, int *out, int *count)
{
    int x = in[threadIdx.x];
    if (x % 3 == 0) {
        cg::coalesced_group group = cg::coalesced_threads();
        int at = 0;
        if (group.thread_rank() == 0) at = atomicAdd(count, (int)group.size());
        out[group.shfl(at, 0) + group.thread_rank()] = x;
    }
}

// Two warps produce, two consume: named barriers, one for full and one for empty.
extern "C" __global__ void pipeline(const int *in, int *out, int rounds)
{
    __shared__ int buffer[64];
    int t = threadIdx.x;
    if (t < 64) {
        for (int r = 0; r < rounds; r++) {
            asm volatile("bar.sync 2, 128;");
            buffer[t] = in[r * 64 + t] * 3;
            __threadfence_block();
            asm volatile("bar.arrive 1, 128;");
        }
    } else {
        asm volatile("bar.arrive 2, 128;");
        for (int r = 0; r < rounds; r++) {
            asm volatile("bar.sync 1, 128;");
            out[r * 64 + t - 64] = buffer[127 - t] + 1;
            if (r + 1 < rounds) asm volatile("bar.arrive 2, 128;");
        }
    }
}

// Barriers that vote.
extern "C" __global__ void votes(const int *in, int *out)
{
    int t = threadIdx.x, x = in[t];
    int count = __syncthreads_count(x > 50);
    int all = __syncthreads_and(x >= 0), any = __syncthreads_or(x == 99);
    out[t] = 100 * count + 10 * (all != 0) + (any != 0);
}

// Lanes exchange through shared memory, ordered by a barrier of the warp alone.
extern "C" __global__ void neighbours(const int *in, int *out)
{
    __shared__ int s[128];
    int t = threadIdx.x, warp = t & ~31;
    s[t] = in[t];
    __syncwarp();
    int right = s[warp + (t + 1) % 32];
    __syncwarp();
    s[t] = right * 2;
    __syncwarp();
    out[t] = s[warp + (t + 31) % 32];
}

// Halves of a warp at different work, meeting by masks.
extern "C" __global__ void halves(const int *in, int *out)
{
    int t = threadIdx.x, lane = t % 32, x = in[t];
    if (lane < 16) {
        for (int step = 8; step > 0; step /= 2) x += __shfl_xor_sync(0x0000ffffu, x, step);
    } else {
        for (int step = 8; step > 0; step /= 2)
            x = max(x, __shfl_xor_sync(0xffff0000u, x, step));
    }
    int broadcast = __shfl_sync(0xffffffffu, x, lane < 16 ? 31 : 0);
    int up = __shfl_up_sync(0xffffffffu, x, 4, 8);
    int down = __shfl_down_sync(0xffffffffu, lane, 3, 16);
    out[4 * t] = x, out[4 * t + 1] = broadcast, out[4 * t + 2] = up, out[4 * t + 3] = down;
}

// A lock that one thread of each block takes in turn.
extern "C" __global__ void locked(int *lock, int *counter, int times)
{
    if (threadIdx.x != 0) return;
    for (int i = 0; i < times; i++) {
        while (atomicCAS(lock, 0, 1) != 0) __nanosleep(20);
        __threadfence();
        *(volatile int *)counter += 1;
        __threadfence();
        atomicExch(lock, 0);
    }
}

// A ring of blocks would deadlock in order; warps of one block may wait for each other.
extern "C" __global__ void relay(volatile int *flag, int *out)
{
    int warp = threadIdx.x / 32;
    if (threadIdx.x % 32 == 0) {
        while (*flag != warp) {}
        out[warp] = warp * warp;
        __threadfence();
        *flag = warp + 1;
    }
}

// How long it takes: a clock that does not run backwards.
extern "C" __global__ void clocks(long long *out)
{
    long long start = clock64();
    unsigned early = clock();
    int sum = 0;
    for (int i = 0; i < 100; i++) sum += i ^ threadIdx.x;
    long long end = clock64();
    out[2 * threadIdx.x] = end > start && clock() - early < 1000000;
    out[2 * threadIdx.x + 1] = sum;
}
