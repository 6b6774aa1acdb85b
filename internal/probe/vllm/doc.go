// Package vllm is a client of the OpenAI-compatible API that vLLM serves, and a parser
// of the log of a vLLM server.
//
// The client calls health, models, completion and streamed completion, and records the
// time of every chunk of a stream. Times start when the request is passed to the
// transport. TPOT is (last - first) / (tokens - 1). The token count is the usage that
// the server reports, otherwise the number of chunks; the result states which. A stream
// that ends without "[DONE]" is an error. Responses are bounded.
//
// ParseLog finds why a server did not start: a KV cache that is too small for one
// request of the configured length, GPU memory in use, a model that cannot be loaded.
//
// No parser panics, and no parser judges what it reads.
package vllm
