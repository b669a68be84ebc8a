// Kernels that say something in words.
#include <cstdio>
#include <cassert>

extern "C" __global__ void say(const char* name, float x) {
    int i = threadIdx.x + 40 * blockIdx.x;
    if (i % 40 == 3 || i % 40 == 37) {
        int n = printf("%d|%5d|%-5d|%05d|%+d|%x|%#X|%o|%u\n", -i, i, i, i, i, 255 + i, 255, 8, -1);
        printf("%f|%.2f|%10.3e|%g|%g|%G|%c|%s|%%|%lld|%hhd n=%d\n", x, -x, x * 1000, x, x * 1e9f,
               1e-7, 'a' + i % 26, name, (long long)i << 40, 300, n);
    }
}

extern "C" __global__ void claim(const int* x) {
    assert(x[threadIdx.x] > 0);
}
