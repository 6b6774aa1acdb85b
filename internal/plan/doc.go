// Package plan is the engine: a Plan is a graph of Checks with their needs and GPU claims,
// and an Executor runs it.
//
// For every step: journal the start, prepare, observe (each Observation is durable before
// Record returns), clean up, judge the observations read back from the store, journal the
// verdict, then send the event.
//
// Invariants: no verdict without a durable journal entry; a step without observations never
// passes; a step whose context ended gets no verdict; concurrent claims fit the capacity, or
// a single step exceeds it; the same Plan always runs in the same order.
//
// It interprets no Observations but those of preparations (package playbook), and does not depend on gates, clusters or disks.
package plan
