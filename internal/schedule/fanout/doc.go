// Package fanout runs a scheduling test as an Indexed Job in a Kubernetes cluster. Each
// index is a shard of the recipes with its own control plane; the shards' reports are
// merged into one.
//
// The caller selects the recipes. Their names, and a recipe tree that is not built into
// firstlight, are passed to the shards as ConfigMaps. Each shard runs firstlight recipe
// test, which publishes its report as a ConfigMap.
//
// Invariants: every object carries the run's label and, within the namespace, is owned by
// the Job; a shard may only write ConfigMaps of its namespace; the pods never preempt. A
// shard counts only with exactly one complete report of this run for exactly its recipes
// with the caller's fingerprints. A shard that does not count keeps the test from passing.
package fanout
