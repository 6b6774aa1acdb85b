// Package torchtitan reads the metric lines of torchtitan from a pod's log, by
// rank: step, loss, tokens a second, TFLOPS and the MFU that torchtitan
// computed from a peak it chose itself (A100's for a GPU it does not know).
//
// What a line does not have is nil: older versions print no TFLOPS, FP8 runs
// print "mfu: N/A". A loss that is no finite number is nil too, with its text.
// Input is bounded, nothing panics, nothing is judged.
package torchtitan
