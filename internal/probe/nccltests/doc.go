// Package nccltests reads what nccl-tests prints (all_reduce_perf and its
// siblings): the table on the console, with the forms of older versions, and
// the JSON report of -J.
//
// One log may hold several runs. A run that has no footer is a run that ended
// early; Run.Complete says so, the parser doesn't judge it. A "#wrong" of N/A
// is a nil: not validated, which is not zero.
//
// Invariants: input is bounded, nothing panics, no figure is made up: what
// can't be read is in Run.Problems.
package nccltests
