// Package summarize computes the result of a workflow's required check: whether everything in
// the plan was tested and passed. Skipped and cancelled jobs leave no results, so it compares
// the results with the plan instead of only reading the results. It performs no I/O.
package summarize
