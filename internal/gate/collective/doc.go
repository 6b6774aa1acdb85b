// Package collective is gate 6: all_reduce_perf over every node of the
// inventory, with NCCL saying how it moves the data.
//
// It owns the workload's script, the choice of pairs when something is wrong,
// and the criterion: the whole range of sizes reached in every repetition,
// every byte right, figures that agree with each other, transports and devices
// as they must be, and the bus bandwidth at the largest sizes (median of the
// repetitions, never the average line) against the profile's ceiling.
//
// Invariants: Judge is pure; no figure or limit is in code; a run that says
// nothing of its transport, or did not check its data, is no pass.
package collective
