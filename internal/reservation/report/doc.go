// Package grid says what the nights came to: by version and intent, the newest outcome of
// each cell and for how many nights it has been so; by night, every outcome that there was.
// It finds what is flaky (passes and fails at the same version) and what is stale (the matrix
// has it, and it does not run), by thresholds that are data. What was not run is no pass, and
// a gap is shown as one.
//
// It only computes: hand-overs in, text, JSON or one page of HTML out. What stands by day for
// people is no cell.
package report
