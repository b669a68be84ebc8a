// The reduction of some dimensions of a tensor, as reduce.cu, arg_reduce.cu and softmax.cu use it.
//
// Mapping: the grid is (blocks for the kept elements, parts of the reduced ones), a block 256
// threads. Where the reduced elements lie side by side in memory, a row of threads takes one kept
// element: a warp if at most 1,024 become one, (32, 8), else a block, (256, 1). The threads walk
// along the row, and reduce_row joins what they have. Where the kept elements lie side by side
// (the sum over the batch, the gradient of a bias), threads next to each other take elements next
// to each other, (32, 8), the eight threads of a column walk down it, and reduce_columns joins.
// Either way neighbours read neighbours: all 32 loads of a warp come from 128 bytes of an f32.
//
// If all that makes few blocks, the host cuts the reduced elements into parts, one a row of blocks,
// and a second launch joins the parts. No atomics: the order of the additions depends on the
// layout of x alone, so that the same input gives the same bits every time.
#pragma once
#include "rows.cuh"
#include "types.cuh"
#include "warp.cuh"

struct Reduction {
    Walk<1> kept;       // each of these becomes one element of y
    Walk<1> reduced;    // from these elements of x, counted from where the kept one lies
    int columns;        // whether threads next to each other take kept elements
};

// The type of y, and what is done to a floating-point result at the end.
struct Finish {
    int to;             // an ElementType
    int root;           // whether y is the root
    f32 divisor;        // of the result, before the root
};

// What `load` gives for each reduced element joined, and given to `store` with its place: of part
// p and kept element k, p * kept + k. `load` gets where the element lies, its number among the
// reduced ones, and k.
template <typename S, typename Load, typename Join, typename Store>
__device__ void reduce(const Reduction& r, S nothing, Load load, Join join, Store store) {
    const unsigned across = blockIdx.x * (r.columns ? blockDim.x : blockDim.y);
    const unsigned k = across + (r.columns ? threadIdx.x : threadIdx.y);
    const unsigned own = r.columns ? threadIdx.y : threadIdx.x;
    const unsigned step = r.columns ? blockDim.y : blockDim.x;
    const unsigned count = r.reduced.count, part = (count + gridDim.y - 1) / gridDim.y;
    const unsigned start = blockIdx.y * part, end = min(start + part, count);
    const bool exists = k < r.kept.count;
    S value = nothing;
    if (exists) {
        const i64 first = place(r.kept, k);
        for (unsigned i = start + own; i < end; i += step) {
            value = join(value, load(first + place(r.reduced, i), i, k));
        }
    }
    value = r.columns ? reduce_columns(value, join) : reduce_row(value, nothing, join);
    if (exists && own == 0) store(blockIdx.y * r.kept.count + k, value);
}
