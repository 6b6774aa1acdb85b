// Package fanout runs a scheduling test as an Indexed Job in a Kubernetes
// cluster: each index is a shard of the recipes with a control plane of its own,
// and what the shards report is joined to one report.
//
// The caller chooses the recipes once. Their names, and a recipe tree that does not
// ship with firstlight, go to the shards as ConfigMaps; each shard is the command
// firstlight recipe test, which publishes its report as a ConfigMap.
//
// Invariants: everything created carries the run's label and, within the namespace,
// the Job as its owner; a shard may write ConfigMaps of its namespace and do nothing
// else; the pods preempt nothing. A report counts only when there is exactly one for
// the shard, of this run, whole, for exactly the recipes that were sent, as the
// caller knows them. What keeps a shard from counting keeps the whole from passing.
package fanout
