// y = softmax(q · kᵀ · scale + mask) · v, and its gradients, with no matrix of all weights.
//
// Heads are 64 or 128 numbers wide at most; half types are computed with in float. No atomics: each
// number of a result is made by one block, in one order. Source: T. Dao et al., "FlashAttention",
// 2022: tiles, the running maximum, and one number a query, ln Σ eᶻ, instead of the weights.
#include "attention.cuh"

// Forward, with a softmax that never sees a whole row.
//
// Mapping: a block has 32 queries (16 if they are wide) of one head, a warp four of them, and walks
// along the keys in tiles of 32. A lane scores one key of the tile for four queries; then each lane
// adds up its columns of y over the tile's keys.
// Moves: q and y once; k and v once for each block, that is L / 32 times; the mask once.
// Why this version: a score lives in a register, a weight in 16 bytes of shared memory. Of each row
// of scores only the largest so far, m, and the sum of eᶻ⁻ᵐ are kept: when a larger one comes, the
// sums so far are multiplied with eᵐ⁻ᵐ', which is what they would have been divided by.
template <typename T, int WIDTH>
__device__ void attention(const T* q, const T* k, const T* v, const T* mask, T* y, float* log_sums,
                          const Heads& heads) {
    typedef Shape<WIDTH> S;
    alignas(16) __shared__ float own[S::OWN][S::PITCH], tile[WARP][S::PITCH];
    __shared__ float4 all_weights[S::WARPS][WARP];
    const Place place(heads, heads.queries, S::OWN);
    const auto keys = place.matrix(heads, K, k), values = place.matrix(heads, V, v);
    const auto added = mask ? place.matrix(heads, MASK, mask) : Matrix<T>{};
    const unsigned query = place.first + warp_number() * ROWS;
    float4* weights = all_weights[warp_number()];

    bring(own, place.matrix(heads, Q, q), place.first, heads.queries, heads.depth);
    const unsigned end = heads.causal ? min(heads.keys, place.first + S::OWN) : heads.keys;
    float sum[S::CHUNKS][ROWS] = {}, most[ROWS];
    for (int r = 0; r < ROWS; r++) most[r] = -infinity();
    Rows total = {};
    for (unsigned first = 0; first < end; first += WARP) {
        Rows z;
        bring(tile, keys, first, heads.keys, heads.depth);
        __syncthreads();
        products(z.of, own + warp_number() * ROWS, tile[lane_number()], heads.depth);
        for (int r = 0; r < ROWS; r++) {
            z.of[r] = score(heads, added, z.of[r], query + r, first + lane_number());
        }
        const Rows most_here = warp_max(z);
        float p[ROWS];
        #pragma unroll
        for (int r = 0; r < ROWS; r++) {
            const float before = most[r];
            most[r] = fmaxf(before, most_here.of[r]);
            const float shift = shift_of(most[r]), factor = expf(before - shift);
            p[r] = expf(z.of[r] - shift);
            total.of[r] = fmaf(total.of[r], factor, p[r]);
            for (int c = 0; c < S::CHUNKS; c++) sum[c][r] *= factor;
        }
        weights[lane_number()] = make_float4(p[0], p[1], p[2], p[3]);
        __syncthreads();            // the scores are made: the tile may go
        bring(tile, values, first, heads.keys, heads.width);
        __syncthreads();
        mix(sum, weights, tile, heads.width);
        __syncthreads();
    }
    total = warp_sum(total);
    #pragma unroll
    for (int r = 0; r < ROWS; r++) {
        if (query + r >= heads.queries) break;
        const float all = total.of[r];
        const i64 row = i64(place.head) * heads.queries + query + r;
        store(y + row * heads.width, sum, r, all == 0 ? 0 : 1 / all, heads.width);
        if (lane_number() == 0) log_sums[row] = shift_of(most[r]) + logf(all);
    }
}

// Backward, first kernel: dq, and D = Σ p · dp of each query for the second one.
//
// With p = exp(z - ln Σ eᶻ) and dp = dy · vᵀ: dz = p · (dp - D) and dq = dz · k · scale. D is known
// at the end of the walk along the keys, so two sums are kept:
// dq = (Σ p · dp · k - D Σ p · k) · scale.
//
// Mapping: as forward; per tile, first the values go by for dp, then the keys.
// Moves: q, dy, dq once; k and v L / 32 times; the mask once.
// Why this version: one walk instead of two, one to find D and one to use it.
template <typename T, int WIDTH>
__device__ void attention_dq(const T* q, const T* k, const T* v, const T* mask, const T* dy,
                             const float* log_sums, T* dq, float* centres, const Heads& heads) {
    typedef Shape<WIDTH> S;
    alignas(16) __shared__ float own_q[S::OWN][S::PITCH], own_dy[S::OWN][S::PITCH];
    alignas(16) __shared__ float tile[WARP][S::PITCH];
    __shared__ float4 all_weights[S::WARPS][2][WARP];
    const Place place(heads, heads.queries, S::OWN);
    const auto keys = place.matrix(heads, K, k), values = place.matrix(heads, V, v);
    const auto added = mask ? place.matrix(heads, MASK, mask) : Matrix<T>{};
    const unsigned query = place.first + warp_number() * ROWS;
    auto weights = all_weights[warp_number()];

    bring(own_q, place.matrix(heads, Q, q), place.first, heads.queries, heads.depth);
    bring(own_dy, place.matrix(heads, DY, dy), place.first, heads.queries, heads.width);
    const i64 row = i64(place.head) * heads.queries + query;
    float with_dp[S::CHUNKS][ROWS] = {}, plain[S::CHUNKS][ROWS] = {};
    float shift[ROWS];
    Rows centre = {};
    for (int r = 0; r < ROWS; r++) {
        shift[r] = query + r < heads.queries ? shift_of(log_sums[row + r]) : 0;
    }
    const unsigned end = heads.causal ? min(heads.keys, place.first + S::OWN) : heads.keys;
    for (unsigned first = 0; first < end; first += WARP) {
        float z[ROWS], dp[ROWS];
        bring(tile, values, first, heads.keys, heads.width);
        __syncthreads();
        products(dp, own_dy + warp_number() * ROWS, tile[lane_number()], heads.width);
        __syncthreads();
        bring(tile, keys, first, heads.keys, heads.depth);
        __syncthreads();
        products(z, own_q + warp_number() * ROWS, tile[lane_number()], heads.depth);
        #pragma unroll
        for (int r = 0; r < ROWS; r++) {
            z[r] = expf(score(heads, added, z[r], query + r, first + lane_number()) - shift[r]);
            dp[r] *= z[r];
            centre.of[r] += dp[r];
        }
        weights[0][lane_number()] = make_float4(dp[0], dp[1], dp[2], dp[3]);
        weights[1][lane_number()] = make_float4(z[0], z[1], z[2], z[3]);
        __syncwarp();
        mix(with_dp, weights[0], tile, heads.depth);
        mix(plain, weights[1], tile, heads.depth);
        __syncthreads();
    }
    centre = warp_sum(centre);
    #pragma unroll
    for (int r = 0; r < ROWS; r++) {
        if (query + r >= heads.queries) break;
        const float all = centre.of[r];
        for (int c = 0; c < S::CHUNKS; c++) with_dp[c][r] = fmaf(-all, plain[c][r], with_dp[c][r]);
        store(dq + (row + r) * heads.depth, with_dp, r, heads.scale, heads.depth);
        if (lane_number() == 0) centres[row + r] = all;
    }
}

// Backward, second kernel: dk = dzᵀ · q · scale and dv = pᵀ · dy.
//
// Mapping: a block has 32 keys (16 if they are wide) of one head, a warp four of them, and walks
// along the queries in tiles of 32, one a lane. Per tile the queries go by for the scores, then dy
// for dp and dv, then the queries again for dk.
// Moves: k, v, dk, dv once; q 2 S / 32 times, dy and two numbers a query S / 32 times; the mask
// once, but down its columns, so that each lane's number is in a sector of its own.
// Why this version: keys stay and queries go by, so each sum has one owner. The other way round,
// all blocks of a head would have to add to dk and dv with atomics, in any order.
template <typename T, int WIDTH>
__device__ void attention_dkv(const T* q, const T* k, const T* v, const T* mask, const T* dy,
                              const float* log_sums, const float* centres, T* dk, T* dv,
                              const Heads& heads) {
    typedef Shape<WIDTH> S;
    alignas(16) __shared__ float own_k[S::OWN][S::PITCH], own_v[S::OWN][S::PITCH];
    alignas(16) __shared__ float tile[WARP][S::PITCH];
    __shared__ float4 all_weights[S::WARPS][WARP];
    const Place place(heads, heads.keys, S::OWN);
    const auto queries = place.matrix(heads, Q, q), dys = place.matrix(heads, DY, dy);
    const auto added = mask ? place.matrix(heads, MASK, mask) : Matrix<T>{};
    const unsigned key = place.first + warp_number() * ROWS;
    float4* weights = all_weights[warp_number()];

    bring(own_k, place.matrix(heads, K, k), place.first, heads.keys, heads.depth);
    bring(own_v, place.matrix(heads, V, v), place.first, heads.keys, heads.width);
    const i64 row = i64(place.head) * heads.queries;
    float of_k[S::CHUNKS][ROWS] = {}, of_v[S::CHUNKS][ROWS] = {};
    const unsigned start = heads.causal ? place.first / WARP * WARP : 0;
    for (unsigned first = start; first < heads.queries; first += WARP) {
        float p[ROWS], dz[ROWS];
        const unsigned query = first + lane_number();
        const bool there = query < heads.queries;
        const float shift = there ? shift_of(log_sums[row + query]) : 0;
        const float centre = there ? centres[row + query] : 0;
        bring(tile, queries, first, heads.queries, heads.depth);
        __syncthreads();
        products(p, own_k + warp_number() * ROWS, tile[lane_number()], heads.depth);
        for (int r = 0; r < ROWS; r++) {
            p[r] = expf(score(heads, added, p[r], query, key + r) - shift);
        }
        weights[lane_number()] = make_float4(p[0], p[1], p[2], p[3]);
        __syncthreads();
        bring(tile, dys, first, heads.queries, heads.width);
        __syncthreads();
        products(dz, own_v + warp_number() * ROWS, tile[lane_number()], heads.width);
        mix(of_v, weights, tile, heads.width);
        __syncthreads();
        for (int r = 0; r < ROWS; r++) dz[r] = p[r] * (dz[r] - centre);
        weights[lane_number()] = make_float4(dz[0], dz[1], dz[2], dz[3]);
        bring(tile, queries, first, heads.queries, heads.depth);
        __syncthreads();
        mix(of_k, weights, tile, heads.depth);
        __syncthreads();
    }
    #pragma unroll
    for (int r = 0; r < ROWS; r++) {
        if (key + r >= heads.keys) break;
        const i64 own = i64(place.head) * heads.keys + key + r;
        store(dk + own * heads.depth, of_k, r, heads.scale, heads.depth);
        store(dv + own * heads.width, of_v, r, 1.0f, heads.width);
    }
}

// One kernel a width and type: attention_64_f32 and so on.
#define OF_TYPE(WIDTH, T)                                                                       \
    extern "C" __global__ void attention_##WIDTH##_##T(                                         \
        const T* q, const T* k, const T* v, const T* mask, T* y, float* log_sums, Heads heads) { \
        attention<T, WIDTH>(q, k, v, mask, y, log_sums, heads);                                 \
    }                                                                                           \
    extern "C" __global__ void attention_dq_##WIDTH##_##T(                                      \
        const T* q, const T* k, const T* v, const T* mask, const T* dy, const float* log_sums,  \
        T* dq, float* centres, Heads heads) {                                                   \
        attention_dq<T, WIDTH>(q, k, v, mask, dy, log_sums, dq, centres, heads);                \
    }                                                                                           \
    extern "C" __global__ void attention_dkv_##WIDTH##_##T(                                     \
        const T* q, const T* k, const T* v, const T* mask, const T* dy, const float* log_sums,  \
        const float* centres, T* dk, T* dv, Heads heads) {                                      \
        attention_dkv<T, WIDTH>(q, k, v, mask, dy, log_sums, centres, dk, dv, heads);           \
    }
#define OF_WIDTH(WIDTH) OF_TYPE(WIDTH, f32) OF_TYPE(WIDTH, f16) OF_TYPE(WIDTH, bf16)

OF_WIDTH(64)
OF_WIDTH(128)
