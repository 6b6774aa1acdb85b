// Package sandbox is the requirement workload_sandboxing: workloads can be run isolated
// from the kernel of their node.
//
// It sees which RuntimeClasses there are, and runs a pod under each that is not the
// container runtime's own, and beside it on the same node one under none: both say which
// kernel they run on.
//
// Invariants: the name of a class shows nothing; a kernel of its own does. A sandbox whose
// kernel can't be told from the node's is none. What process, filesystem and network of
// the sandbox are like is not looked at.
package sandbox
