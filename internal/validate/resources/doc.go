// Package resources is the step "Check expected resources exist": a fast inventory of
// what a recipe's components put into a cluster, by kind, namespace and name, each
// with desired = ready.
//
// It lists a handful of kinds once a second until everything is there in full, and
// at most for ten seconds: what a rollout needs longer for is the next steps' matter,
// what is not there at all is said here.
//
// Invariants: it only looks, and creates nothing. An empty expectation is an error.
// A workload that wants no pod is not complete. Judge needs nothing but the
// expectation and what was observed.
package resources
