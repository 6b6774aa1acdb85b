// Package resources is the step "Check expected resources exist": a fast inventory of
// the objects that a recipe's components create, by kind, namespace and name, each with
// desired = ready.
//
// It reads the objects once a second until all are complete, for at most ten seconds: it
// reports missing objects early. The next steps wait for slow rollouts.
//
// Invariants: it is read-only. An empty expectation is an error. A workload with zero desired
// pods is not complete. Judge needs only the expected objects and the observations.
package resources
