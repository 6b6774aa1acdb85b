// Package training is gate 7: a gang-scheduled training job over the site's nodes, judged by the
// log of each rank.
//
// It owns the workload's scripts and the criterion: every rank started within
// the window and reached the last step; MFU recomputed from TFLOPS and the
// profile's peak, never the printed one; step time steady after warm-up; loss
// finite and falling; the slowest rank within its limit of the median, and named.
//
// Invariants: Judge is pure; no limit is in code; a rank without output never passes.
package training
