// Package disaggregated is the requirement disaggregated_inference: a solution that serves
// models with instances of their own for prefill and decode runs.
//
// It sees which operators of such solutions are served and what their objects say of
// themselves, which pods are of which phase, and asks a Service beside them for a token.
//
// Invariants: an operator is no solution, and one phase is none; both have to be ready
// beside each other. It creates nothing: to serve a model takes the platform's images,
// weights and GPUs.
package disaggregated
