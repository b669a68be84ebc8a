// Control: divergence, loops that end at different times, recursion, jump tables, calls by pointer.

extern "C" __global__ void collatz(const unsigned *in, unsigned *steps, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned long long x = in[i];
    unsigned count = 0;
    while (x != 1) {
        if (x % 2) x = 3 * x + 1;
        else x /= 2;
        count++;
    }
    steps[i] = count;
}

extern "C" __global__ void mandelbrot(unsigned char *out, int width, int height, int limit)
{
    int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
    if (px >= width || py >= height) return;
    double cx = px * 3.0 / width - 2.0, cy = py * 2.0 / height - 1.0, x = 0, y = 0;
    int i = 0;
    for (; i < limit; i++) {
        double xx = __dmul_rn(x, x), yy = __dmul_rn(y, y);
        if (__dadd_rn(xx, yy) > 4.0) break;
        y = __dadd_rn(__dmul_rn(2 * x, y), cy);
        x = __dadd_rn(__dadd_rn(xx, -yy), cx);
    }
    out[py * width + px] = i;
}

__device__ __noinline__ unsigned fibonacci(unsigned n)
{
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

extern "C" __global__ void fibonaccis(unsigned *out)
{
    out[threadIdx.x] = fibonacci(threadIdx.x % 15);
}

__device__ __noinline__ int ackermann(int m, int n)
{
    if (m == 0) return n + 1;
    if (n == 0) return ackermann(m - 1, 1);
    return ackermann(m - 1, ackermann(m, n - 1));
}

extern "C" __global__ void ackermanns(int *out)
{
    int m = threadIdx.x / 8, n = threadIdx.x % 8;
    out[threadIdx.x] = ackermann(m % 3, n);
}

// Hanoi by two functions that call each other, counting moves to each peg.
__device__ void odd_hanoi(int n, int from, int to, int *counts);

__device__ __noinline__ void even_hanoi(int n, int from, int to, int *counts)
{
    if (n == 0) return;
    odd_hanoi(n - 1, from, 3 - from - to, counts);
    counts[to]++;
    odd_hanoi(n - 1, 3 - from - to, to, counts);
}

__device__ __noinline__ void odd_hanoi(int n, int from, int to, int *counts)
{
    if (n == 0) return;
    even_hanoi(n - 1, from, 3 - from - to, counts);
    counts[to]++;
    even_hanoi(n - 1, 3 - from - to, to, counts);
}

extern "C" __global__ void hanoi(int *counts)
{
    int own[3] = {0, 0, 0};
    even_hanoi(threadIdx.x % 7, 0, 2, own);
    for (int i = 0; i < 3; i++) counts[3 * threadIdx.x + i] = own[i];
}

// A machine with a stack, whose instructions are chosen by a jump table.
extern "C" __global__ void machine(const unsigned char *code, const int *input, int *out,
                                   int length)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int stack[8], top = 0, pc = 0, x = input[i];
    stack[0] = 0;
    for (int fuel = 0; fuel < 200 && pc < length; fuel++) {
        switch (code[pc++]) {
            case 0: stack[top++ & 7] = x; break;
            case 1: stack[(top - 2) & 7] += stack[(top - 1) & 7]; top--; break;
            case 2: stack[(top - 2) & 7] -= stack[(top - 1) & 7]; top--; break;
            case 3: stack[(top - 2) & 7] *= stack[(top - 1) & 7]; top--; break;
            case 4: stack[top & 7] = stack[(top - 1) & 7]; top++; break;
            case 5: x = stack[(top - 1) & 7] % 97; break;
            case 6: stack[(top - 1) & 7] ^= 0x5a5a; break;
            case 7: if (stack[(top - 1) & 7] & 1) pc += 2; break;
            case 8: stack[(top - 1) & 7] = -stack[(top - 1) & 7]; break;
            case 9: if (fuel < 100) pc = 0; break;
            case 10: stack[(top - 1) & 7] >>= 1; break;
            default: x++;
        }
    }
    out[i] = stack[(top - 1) & 7] + 1000 * pc;
}

typedef float (*Function)(float);
__device__ float twice(float x) { return 2 * x; }
__device__ float square(float x) { return x * x; }
__device__ float negate(float x) { return -x; }
__device__ Function functions[3] = {twice, square, negate};

// Which function is called depends on the lane.
extern "C" __global__ void by_pointer(const float *in, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = functions[i % 3](functions[(i / 3) % 3](in[i]));
}

// Queens on an n × n board: each thread starts with one place of the first row.
extern "C" __global__ void queens(int n, unsigned *solutions)
{
    int first = threadIdx.x;
    if (first >= n) return;
    int at[12], row = 1;
    unsigned found = 0;
    at[0] = first;
    at[1] = -1;
    while (row > 0) {
        bool free = false;
        while (!free && ++at[row] < n) {
            free = true;
            for (int r = 0; r < row; r++) {
                int d = at[row] - at[r];
                if (d == 0 || d == row - r || d == r - row) {
                    free = false;
                    break;
                }
            }
        }
        if (!free) row--;
        else if (row == n - 1) found++;
        else at[++row] = -1;
    }
    atomicAdd(solutions, found);
}

// A search in a sorted table, by every thread to another depth.
extern "C" __global__ void search(const int *table, int n, const int *wanted, int *found)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int low = 0, high = n - 1, at = -1;
    while (low <= high) {
        int mid = low + (high - low) / 2;
        if (table[mid] == wanted[i]) {
            at = mid;
            break;
        }
        if (table[mid] < wanted[i]) low = mid + 1;
        else high = mid - 1;
    }
    found[i] = at;
}

// Loops in loops, with continue, break and return on conditions of lanes.
extern "C" __global__ void nested(int *out)
{
    int t = threadIdx.x, sum = 0;
    for (int i = 0; i < t; i++) {
        if (i % 3 == t % 3) continue;
        for (int j = i; j < 2 * t; j++) {
            if (j * i > 200) break;
            if (sum > 5000) {
                out[t] = -sum;
                return;
            }
            sum += j % 5 == 2 ? i : j;
        }
    }
    out[t] = sum;
}
