// Package drift records the figures of an accepted run as a baseline, and compares later
// observations of the same cluster with it.
//
// A baseline is read from verified evidence only. It is bound to its stack: profile, driver,
// firmware, NCCL and images. Figures of another stack are not compared.
//
// The plan of a comparison is the step stack and the gates from collective on, each with the same
// observations as in acceptance. Invariants: judges are pure; a step fails if its gate fails, or if
// a figure is worse than its band, or the step time rises within the run; a figure of the baseline
// that was not observed again is unobserved.
package drift
