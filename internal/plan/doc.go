// Package plan is the engine: a Plan is a graph of Checks with what each needs
// and which GPUs it claims, and a Executor walks it.
//
// For every step: journal that it starts, prepare, observe (each Observation is
// durable before Record returns), clean up, judge what the store gives back,
// journal the verdict, then tell whoever watches.
//
// Invariants: no verdict without a durable journal entry; a step that was not
// observed is never passed; a step whose context ended gets no verdict; claims
// held at one time fit the capacity, or one step holds them alone; the same
// Plan is always walked in the same order.
//
// It never looks inside an Observation, and knows no gate, cluster or disk.
package plan
