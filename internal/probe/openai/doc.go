// Package openai is a small client of the OpenAI-compatible API that vLLM
// serves: health, models, a completion, and a streamed completion with the time
// of every piece of it.
//
// Times are from the moment that a request is handed to the transport. TPOT is
// (last - first) / (tokens - 1). Tokens come from the server's usage, else from
// counting pieces, and the result says which. A stream that ends without
// "[DONE]" is an error. Answers are bounded; nothing is judged.
package openai
