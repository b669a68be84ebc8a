// Where data lies: transposes, strides, vectors, 3-D launches, structures, constant memory.

extern "C" __global__ void transpose(const float *in, float *out, int rows, int columns)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < rows && column < columns) out[column * rows + row] = in[row * columns + column];
}

extern "C" __global__ void transpose_tiled(const float *in, float *out, int rows, int columns)
{
    __shared__ float tile[16][17];
    int column = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
    if (row < rows && column < columns) tile[threadIdx.y][threadIdx.x] = in[row * columns + column];
    __syncthreads();
    column = blockIdx.y * 16 + threadIdx.x;
    row = blockIdx.x * 16 + threadIdx.y;
    if (row < columns && column < rows) out[row * rows + column] = tile[threadIdx.x][threadIdx.y];
}

extern "C" __global__ void matmul(const float *a, const float *b, float *c, int m, int n, int k)
{
    __shared__ float at[16][16], bt[16][16];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 16 + y, column = blockIdx.x * 16 + x;
    float sum = 0;
    for (int i = 0; i < k; i += 16) {
        at[y][x] = row < m && i + x < k ? a[row * k + i + x] : 0;
        bt[y][x] = i + y < k && column < n ? b[(i + y) * n + column] : 0;
        __syncthreads();
        for (int j = 0; j < 16; j++) sum += at[y][j] * bt[j][x];
        __syncthreads();
    }
    if (row < m && column < n) c[row * n + column] = sum;
}

// A blur of seven cells in three dimensions, in blocks and grids of three.
extern "C" __global__ void stencil(const int *in, int *out, int nx, int ny, int nz)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    int z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x >= nx || y >= ny || z >= nz) return;
    int at = (z * ny + y) * nx + x, sum = in[at];
    if (x > 0) sum += in[at - 1];
    if (x < nx - 1) sum += in[at + 1];
    if (y > 0) sum += in[at - nx];
    if (y < ny - 1) sum += in[at + nx];
    if (z > 0) sum += in[at - nx * ny];
    if (z < nz - 1) sum += in[at + nx * ny];
    out[at] = sum;
}

// What each thread of a 3-D launch is told about itself.
extern "C" __global__ void identity(uint3 *out, unsigned *sizes)
{
    unsigned block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    unsigned thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    unsigned at = block * blockDim.x * blockDim.y * blockDim.z + thread;
    out[2 * at] = make_uint3(blockIdx.x, blockIdx.y, blockIdx.z);
    out[2 * at + 1] = make_uint3(threadIdx.x, threadIdx.y, threadIdx.z);
    if (at == 0) {
        sizes[0] = gridDim.x * 100 + gridDim.y * 10 + gridDim.z;
        sizes[1] = blockDim.x * 100 + blockDim.y * 10 + blockDim.z;
        sizes[2] = warpSize;
    }
}

// y = x + 1, one, two or four at a time; what is left over, one by one.
extern "C" __global__ void plus_one(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] + 1;
}

extern "C" __global__ void plus_one_by_two(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (2 * i + 1 < n) {
        float2 v = ((const float2 *)x)[i];
        ((float2 *)y)[i] = make_float2(v.x + 1, v.y + 1);
    } else if (2 * i < n) y[2 * i] = x[2 * i] + 1;
}

extern "C" __global__ void plus_one_by_four(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (4 * i + 3 < n) {
        float4 v = ((const float4 *)x)[i];
        ((float4 *)y)[i] = make_float4(v.x + 1, v.y + 1, v.z + 1, v.w + 1);
    } else for (int j = 4 * i; j < n; j++) y[j] = x[j] + 1;
}

// Sums along dimension 1 of a matrix that is a view: rows and columns have strides.
struct View {
    const float *data;
    long long row_stride, column_stride;
    int rows, columns;
};

extern "C" __global__ void row_sums(View view, float *out)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= view.rows) return;
    float sum = 0;
    for (int j = 0; j < view.columns; j++)
        sum += view.data[row * view.row_stride + j * view.column_stride];
    out[row] = sum;
}

struct Particle {
    double mass;
    float position[3];
    short charge;
    char kind;
};

// A structure by value, and an array of them by reference.
extern "C" __global__ void move(Particle *all, Particle wind, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    for (int d = 0; d < 3; d++) all[i].position[d] += wind.position[d];
    all[i].mass *= wind.mass;
    all[i].charge -= wind.charge;
    all[i].kind ^= wind.kind;
}

__constant__ float coefficients[5] = {1.5f, -2.0f, 0.25f, 4.0f, -0.125f};
__device__ int offsets[2][3] = {{10, 20, 30}, {-1, -2, -3}};

// A polynomial from constant memory, and a table from global memory.
extern "C" __global__ void polynomial(const float *x, float *y, int *z, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float value = 0;
    for (int k = 4; k >= 0; k--) value = value * x[i] + coefficients[k];
    y[i] = value;
    z[i] = offsets[i % 2][i % 3];
}

// 8-, 16- and 64-bit cells: gather by an index and scatter to its inverse.
extern "C" __global__ void scatter(const signed char *a, const unsigned short *b, long long *out,
                                   const int *index, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[index[i]] = (long long)a[i] * b[index[i]];
}
