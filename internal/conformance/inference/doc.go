// Package inference is the requirement ai_inference: the Gateway API, with an
// implementation that routes requests of inference services by weight and by header.
//
// Positive: a GatewayClass that its controller accepts; a Gateway of the run's own,
// programmed, with an address; a route to two model servers of the run's own, three
// requests to one of one server's to the other's, and all with a header of OpenAI's
// protocol to the other, told by what the servers say of themselves. Negative: a route
// to a Service that does not exist is not resolved and answers errors; a path without
// a route answers 404.
//
// Requests go to the gateway's address or, where that does not answer from here, to
// the gateway's pods through a port forward. Where neither leads anywhere nothing is
// concluded of them: unobserved, never passed.
//
// The servers are vLLM with a GPU each; where two GPUs are not free, scripts without
// any that answer the same question, and the verdict says so.
//
// Everything that it creates is in a namespace of the run's own, carries the run's
// labels, and is gone with the namespace. It creates no cluster-scoped object but that
// namespace and the run's PriorityClass.
package inference
