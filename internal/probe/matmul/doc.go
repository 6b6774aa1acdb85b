// Package matmul reads what the training gate's measurement of single GPUs prints
// (internal/gate/training/gpus.py): a line a GPU with the rate at which it multiplies
// matrices on its own. Input is bounded, nothing panics, nothing is judged.
package matmul
