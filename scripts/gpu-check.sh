#!/usr/bin/env bash
# Builds gpu-check: the tests of the engine's kernels and how fast they are, in one program that runs
# on a machine with an NVIDIA GPU and its driver, and needs no cargo, no CUDA toolkit and no files.
#
#   bash scripts/gpu-check.sh              builds target/gpu-check and runs it here
#   bash scripts/gpu-check.sh --build      only builds it; copy it to the machine with the GPU and
#                                          run it there: ./gpu-check --json gpu.json
#   bash scripts/gpu-check.sh ARGUMENTS    runs it with these: --json FILE, --cublas, --verbose
#
# Without a GPU it says so and ends well. The other machine must have the same processor
# architecture, and a C library that is not older than this one's.
set -euo pipefail
cd "$(dirname "$0")/.."
target=${CARGO_TARGET_DIR:-target}
cargo build --locked -p engine-room-benches --bin gpu-check
program=$target/gpu-check
cp "$target/debug/gpu-check" "$program"
if [ "$(uname)" = Linux ] && command -v strip >/dev/null; then strip "$program"; fi
echo "built $program, $(wc -c <"$program") bytes, for $(uname -s) $(uname -m)"
[ "${1:-}" = --build ] || exec "$program" "$@"
