// Package inference is the requirement ai_inference: the Gateway API, with an implementation
// that routes requests of inference services by weight and by header.
//
// Positive: a GatewayClass that its controller accepts; a Gateway of the run, programmed, with
// an address; a route to two model servers of the run, which splits requests three to one,
// and sends all requests with a header of OpenAI's protocol to the second. The servers are
// identified by the model that they report. Negative: a route to a Service that does not exist
// is not resolved and returns errors; a path without a route returns 404.
//
// Requests go to the gateway's address or, where it is not reachable from here, to the
// gateway's pods through a port-forward. Without either the result is unobserved.
//
// The servers are vLLM with a GPU each; where two GPUs are not free, scripts without GPUs that
// answer the same request, and the reason names them.
//
// Everything that it creates is in a namespace of the run, has the run's labels, and is
// removed with the namespace. Its only cluster-scoped objects are that namespace and the run's
// PriorityClass.
package inference
