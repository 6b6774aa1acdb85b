// Package inference is the world's vLLM: a real HTTP server with vLLM's
// OpenAI-compatible API over a model of continuous batching and a KV cache.
//
// It owns the requests of one server: they queue for KV-cache blocks, are
// prefilled, and then share decode steps. Time is real here, since clients
// measure it; tokens are deterministic: the same prompt at temperature 0 gives
// the same text from every server of a model.
//
// It never looks at Kubernetes or at what anybody expects of the figures.
package inference
