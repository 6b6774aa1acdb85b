// Package inference is gate 8: a vLLM server becomes healthy, serves the requested model,
// completes a known prompt with a known prefix, and meets its latency objective under a load of
// fixed rate and limited concurrency.
//
// It owns the server's script, the load generator and the criterion. Latencies are those of the
// requests after the warm-up; an incomplete load, a failed request or an answer without tokens
// never passes.
//
// Invariants: Judge is pure; no objective is in code; the server is always deleted.
package inference
