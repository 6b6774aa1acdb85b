// Package inference simulates vLLM: an HTTP server with vLLM's OpenAI-compatible API over a model
// of continuous batching and a KV cache.
//
// Requests queue for KV-cache blocks, are prefilled and then share decode steps. Time is real,
// because clients measure it. Tokens are deterministic: at temperature 0 every server of a model
// returns the same text for a prompt.
//
// It depends neither on Kubernetes nor on expected figures.
package inference
