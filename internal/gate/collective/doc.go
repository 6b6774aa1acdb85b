// Package collective is gate 6: all_reduce_perf over every node of the inventory, with NCCL's
// debug log.
//
// It owns the workload's script, the choice of pairs that localise a failure, and the
// criterion: all sizes in every repetition, correct data, consistent figures, the expected
// transports and devices, and the bus bandwidth at the largest sizes (median of the
// repetitions, not the average line) compared with the profile's ceiling.
//
// Invariants: Judge is pure; no figure or limit is in code; a run without a known transport or
// without data checks never passes.
package collective
