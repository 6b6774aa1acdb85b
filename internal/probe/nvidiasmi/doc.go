// Package nvidiasmi reads what nvidia-smi prints: the document of -q -x in the
// versions that drivers write (DTD v11 to v13), nvlink -s, and the lines about
// GPUs and drivers that can't be reached.
//
// A figure that a card doesn't have (N/A, [Not Supported], deprecated) is nil,
// never zero. A figure that can't be had because the GPU is in trouble is in
// GPU.Errors. Units are in the names.
//
// Invariants: input that is cut short, of another encoding or of another
// program is an error that says what was expected; nothing panics.
package nvidiasmi
