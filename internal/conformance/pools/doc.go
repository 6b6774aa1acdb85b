// Package pools is the requirement advanced_inference_ingress: an implementation of the
// Gateway API Inference Extension routes requests to models by what their servers say.
//
// It sees that the API is served, that an InferencePool is programmed (accepted and
// resolved for a Gateway that is programmed, with an endpoint picker and model servers
// that are ready), and asks for a token through that Gateway.
//
// Invariants: a pool that nobody routes to shows nothing. It creates nothing: endpoint
// picker and model servers are the platform's, and what they serve is not ours to choose.
// How the picker decides is not looked at.
package pools
