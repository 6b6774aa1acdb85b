// Package inference is gate 8: a vLLM server that comes up, serves the model
// asked for, answers a known prompt with the known words, and holds its latency
// objective under a load of fixed rate and bounded concurrency.
//
// It owns the server's script, the load generator and the criterion. Latencies
// are those of the requests after the warm-up; a load that was not run in full,
// a failed request or an answer without tokens is no pass.
//
// Invariants: Judge is pure; no objective is in code; the server is deleted
// whatever happens.
package inference
