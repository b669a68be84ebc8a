// Sorts: in a block, in many launches, by one thread, by ranks, by digits, by recursion.

// Bitonic sort of one block's 256 keys in shared memory.
extern "C" __global__ void bitonic(int *keys)
{
    __shared__ int s[256];
    int t = threadIdx.x;
    s[t] = keys[blockIdx.x * 256 + t];
    __syncthreads();
    for (int size = 2; size <= 256; size *= 2) {
        for (int stride = size / 2; stride > 0; stride /= 2) {
            int other = t ^ stride;
            if (other > t) {
                bool up = (t & size) == 0;
                int a = s[t], b = s[other];
                if ((a > b) == up) {
                    s[t] = b;
                    s[other] = a;
                }
            }
            __syncthreads();
        }
    }
    keys[blockIdx.x * 256 + t] = s[t];
}

// One step of odd-even transposition in global memory: the host launches n of them.
extern "C" __global__ void odd_even_step(float *keys, int n, int phase)
{
    int i = 2 * (blockIdx.x * blockDim.x + threadIdx.x) + phase;
    if (i + 1 < n && keys[i] > keys[i + 1]) {
        float swap = keys[i];
        keys[i] = keys[i + 1];
        keys[i + 1] = swap;
    }
}

// Each thread sorts its own 16 numbers in local memory, by insertion.
extern "C" __global__ void insertion(unsigned char *keys, int rows)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    unsigned char own[16];
    for (int i = 0; i < 16; i++) own[i] = keys[row * 16 + i];
    for (int i = 1; i < 16; i++) {
        unsigned char key = own[i];
        int at = i;
        while (at > 0 && own[at - 1] > key) {
            own[at] = own[at - 1];
            at--;
        }
        own[at] = key;
    }
    for (int i = 0; i < 16; i++) keys[row * 16 + i] = own[i];
}

// Rank sort: a key's place is how many are less, ties by position.
extern "C" __global__ void by_rank(const double *keys, double *sorted, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int rank = 0;
    for (int j = 0; j < n; j++) rank += keys[j] < keys[i] || (keys[j] == keys[i] && j < i);
    sorted[rank] = keys[i];
}

// Least significant digit first: one block, one bit a pass, places by an exclusive scan.
extern "C" __global__ void radix(unsigned *keys)
{
    __shared__ unsigned s[512];
    __shared__ unsigned count[512];
    int t = threadIdx.x, n = blockDim.x;
    s[t] = keys[t];
    for (int bit = 0; bit < 32; bit++) {
        __syncthreads();
        unsigned key = s[t];
        unsigned zero = !(key >> bit & 1);
        count[t] = zero;
        __syncthreads();
        for (int step = 1; step < n; step *= 2) {
            unsigned add = t >= step ? count[t - step] : 0;
            __syncthreads();
            count[t] += add;
            __syncthreads();
        }
        unsigned zeros = count[n - 1], before = count[t] - zero;
        __syncthreads();
        s[zero ? before : zeros + t - before] = key;
    }
    __syncthreads();
    keys[t] = s[t];
}

__device__ void quick(short *a, int low, int high)
{
    if (low >= high) return;
    short pivot = a[(low + high) / 2];
    int i = low, j = high;
    while (i <= j) {
        while (a[i] < pivot) i++;
        while (a[j] > pivot) j--;
        if (i <= j) {
            short swap = a[i];
            a[i++] = a[j];
            a[j--] = swap;
        }
    }
    quick(a, low, j);
    quick(a, i, high);
}

// Each thread sorts a row by recursion: as many stacks as threads.
extern "C" __global__ void quicksort(short *keys, int length)
{
    quick(keys + (blockIdx.x * blockDim.x + threadIdx.x) * length, 0, length - 1);
}

// Merges two sorted runs of n: each thread finds by bisection where its diagonal crosses the path.
extern "C" __global__ void merge(const long long *a, const long long *b, long long *out, int n)
{
    int d = blockIdx.x * blockDim.x + threadIdx.x;
    if (d >= 2 * n) return;
    int low = d > n ? d - n : 0, high = d < n ? d : n;
    while (low < high) {
        int mid = (low + high) / 2;
        if (a[mid] <= b[d - 1 - mid]) low = mid + 1;
        else high = mid;
    }
    int i = low, j = d - low;
    out[d] = j >= n || (i < n && a[i] <= b[j]) ? a[i] : b[j];
}
