// What a kernel can say: printf, assert, trap.
#ifndef __CUDACC_RTC__
#include <assert.h>
#include <stdio.h>
#endif

extern "C" __global__ void hello(int n, double x)
{
    if (threadIdx.x == 0)
        printf("block %d of %u: %5.2f, %s, %c, %x, %lld%%\n", blockIdx.x, gridDim.x, x, "text",
               'a' + (int)blockIdx.x, 255 * n, -5000000000LL * n);
}

extern "C" __global__ void table()
{
    int t = threadIdx.x;
    if (t % 8 == 3) printf("[%-4d|%4d|%04d|%+d]\n", t, t, t, 7);
    printf(threadIdx.x == 31 ? "the end\n" : "");
}

extern "C" __global__ void checked(const int *x, int *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    assert(x[i] >= 0);
    y[i] = x[i];
}

extern "C" __global__ void trapped(int *x)
{
    if (x[threadIdx.x] == 77) __trap();
    x[threadIdx.x] = 1;
}
