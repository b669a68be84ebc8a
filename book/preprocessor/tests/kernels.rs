//! Tests of kernels by name.

use super::*;

const SOURCE: &str = r#"// Elementwise kernels.
#include "common.cuh"

// One thread an element. Reads 8 bytes, writes 4. "relu(" { in words
extern "C" __global__ void __launch_bounds__(256) relu(const float* x, float* y, int n) {
int i = blockIdx.x * blockDim.x + threadIdx.x; /* } */
if (i < n) { y[i] = x[i] > 0.0f ? x[i] : 0.0f; printf("} %d\n", '}'); }
}

__device__ float square(float x);
extern "C" {
/* block */
__device__ float square(float x) { return x * x; }
}
"#;

#[test]
fn kernels_come_with_their_comment() {
    let kernel = find(SOURCE, "relu", true).unwrap();
    assert!(kernel.text.starts_with("// One thread an element."), "{}", kernel.text);
    assert!(kernel.text.ends_with("'}'); }\n}"), "{}", kernel.text);
    assert_eq!(kernel.lines, (4, 8));
    assert_eq!(find(SOURCE, "relu", false).unwrap().lines, (5, 8));
    assert_eq!(find(SOURCE, "square", true).unwrap().lines, (13, 13));
}

#[test]
fn a_wrong_kernel_lists_the_near_ones() {
    let wrong = find(SOURCE, "relu_forward", true).unwrap_err();
    assert!(wrong.todo.contains("`relu`"), "{}", wrong.todo);
}
