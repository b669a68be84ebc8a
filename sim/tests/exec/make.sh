#!/bin/sh
# Makes the PTX beside the CUDA sources again: NVCC names nvcc of CUDA 13, NVRTC a command that takes
# IN OUT and options and calls NVRTC 12.1. The debug sections of -G are left out: nothing reads them.
set -e
cd "$(dirname "$0")"
for name in control say waits; do
    "$NVCC" -arch=sm_80 -O3 -lineinfo -ptx -o "$name"_o3.ptx "$name".cu
    "$NVCC" -arch=sm_80 -Xcicc -O0 -lineinfo -ptx -o "$name"_o0.ptx "$name".cu
    "$NVCC" -arch=sm_80 -G -ptx -o "$name"_debug.ptx "$name".cu
done
"$NVCC" -arch=sm_80 -O3 -lineinfo -ptx -o wrong_o3.ptx wrong.cu
$NVRTC control.cu control_nvrtc.ptx -arch=compute_80
for file in *.ptx; do
    sed -e '/^[[:space:]]*\.section/,$d' -e 's#"[^"]*/\([^/"]*\)"#"\1"#' "$file" > tmp && mv tmp "$file"
done
