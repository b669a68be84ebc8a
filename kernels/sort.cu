// y = where the smallest element of each row is, the next one, and so on; NaN last, and equal ones
// in the order they have.
//
// Mapping: sort_runs, a block for each run of 1,024 elements, a thread for each two of them;
// merge_runs, one thread an element, 256 a block, launched again and again while runs double.
// Moves: sort_runs, x once and a place of 8 bytes for each element. merge_runs, two places for
// each element, and about log2(run) elements of the other run, in the order of their places.
// Why this version: 1,024 elements fit into shared memory, where a bitonic network (K. Batcher,
// "Sorting networks and their applications", 1968) sorts them without a branch. A merge needs no
// order among its threads: an element's place in the merged run is its place in its own run plus
// the number of elements of the other run that precede it, which a binary search finds.
//
// Elements are compared by value and then by place, so that no two are equal and the order is
// stable, though neither of the two methods is by itself.
#include "rows.cuh"
#include "types.cuh"

enum { RUN = 1024 };

template <typename C> struct Item {
    C value;
    unsigned place;
};

// Whether a comes before b in the sorted row.
template <typename C> __device__ bool precedes(Item<C> a, Item<C> b) {
    const bool a_is_nan = a.value != a.value, b_is_nan = b.value != b.value;
    if (a_is_nan != b_is_nan) return b_is_nan;
    if (a.value < b.value) return true;
    return !(b.value < a.value) && a.place < b.place;
}

// Sorts runs of twice as many elements as a block has threads, a power of two. What is beyond the
// end of the row counts as last.
template <typename T>
__device__ void sort_runs(const T* x, i64* y, const Rows<1>& rows) {
    typedef Item<Compute<T>> Own;
    __shared__ Own items[RUN];
    const unsigned size = 2 * blockDim.x, runs = (rows.len + size - 1) / size;
    const unsigned row = blockIdx.x / runs, start = blockIdx.x % runs * size;
    x += place(rows.outer, row);
    y += static_cast<i64>(row) * rows.len;
    for (unsigned i = threadIdx.x; i < size; i += blockDim.x) {
        const unsigned at = start + i;
        items[i] = Own{at < rows.len ? widen(x[at * rows.step[0]]) : 0, at};
    }
    // Pairs `distance` apart come into order: ascending in every second stretch of `length`
    // elements, descending in the others, until there is one stretch.
    for (unsigned length = 2; length <= size; length *= 2) {
        for (unsigned distance = length / 2; distance > 0; distance /= 2) {
            __syncthreads();
            const unsigned low = 2 * threadIdx.x - threadIdx.x % distance, high = low + distance;
            const Own a = items[low], b = items[high];
            const bool a_is_out = a.place >= rows.len, b_is_out = b.place >= rows.len;
            const bool ordered = a_is_out || b_is_out ? !a_is_out : precedes(a, b);
            const bool ascending = (low & length) == 0;
            if (ordered != ascending) {
                items[low] = b;
                items[high] = a;
            }
        }
    }
    __syncthreads();
    for (unsigned i = threadIdx.x; i < size; i += blockDim.x)
        if (start + i < rows.len) y[start + i] = items[i].place;
}

// Merges each two neighbouring runs of `size` elements.
template <typename T>
__device__ void merge_runs(
    const T* x, const i64* from, i64* to, const Rows<1>& rows, unsigned size) {
    const unsigned number = thread_number(), len = rows.len;
    if (number >= rows.count() * len) return;
    const unsigned row = number / len, i = number % len;
    x += place(rows.outer, row);
    from += number - i;
    to += number - i;
    auto item = [&](unsigned i) {
        const unsigned at = from[i];
        return Item<Compute<T>>{widen(x[at * rows.step[0]]), at};
    };
    const auto own = item(i);
    const unsigned run = i / size * size, other = run ^ size;
    unsigned low = min(other, len), high = min(low + size, len);
    const unsigned start = low;
    while (low < high) {
        const unsigned middle = low + (high - low) / 2;
        if (precedes(item(middle), own)) low = middle + 1;
        else high = middle;
    }
    to[min(run, other) + (i - run) + (low - start)] = own.place;
}

#define OF_TYPE(T)                                                                          \
    extern "C" __global__ void sort_runs_##T(const T* x, i64* y, Rows<1> rows) {            \
        sort_runs(x, y, rows);                                                              \
    }                                                                                       \
    extern "C" __global__ void merge_runs_##T(                                              \
        const T* x, const i64* from, i64* to, Rows<1> rows, unsigned size) {                \
        merge_runs(x, from, to, rows, size);                                                \
    }

OF_TYPE(f32)
OF_TYPE(f16)
OF_TYPE(bf16)
OF_TYPE(i64)
OF_TYPE(i32)
OF_TYPE(u8)
