// Package vllmlog finds in a vLLM server's log why it did not come up: a KV
// cache that does not hold one request of the asked length, GPU memory that is
// taken, a model that can't be loaded. Input is bounded, nothing panics,
// nothing is judged.
package vllmlog
