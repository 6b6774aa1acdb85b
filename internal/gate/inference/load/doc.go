// Package load is the load generator of gate inference: it sends streamed requests at a fixed rate,
// whatever the answers take, and records the times of each.
//
// The gate calls Run in its own process, or runs it as a Job in the cluster (firstlight load), which
// prints the result with Write. Read accepts a log only if the document in it is whole and is that of
// the plan. The package does not judge.
package load
