// Package runner runs scenarios concurrently on a control plane with the real scheduler
// and controllers, and takes a snapshot of each once it has converged.
//
// A scenario has its own nodes and namespaces, and all its objects carry its label. A
// required node affinity with one term per node restricts its pods to its nodes, so that
// the scheduler evaluates no others. DaemonSets likewise.
//
// Everything is event-driven: labels are discovered as soon as the discovering pod is
// bound, and an extended resource appears once the pods that provide it are bound. There
// are no kubelets: a bound pod is taken as running.
//
//	layout     names and objects of a scenario (pure)
//	objectset  observed objects, from watches or lists
//	pending    changes that are still expected (pure)
//	discovery  labels and resources that running pods add to nodes (pure)
//	run        one scenario from its nodes to its snapshot
//	idletimer  the limit without a change
//	runner     the watches that all scenarios share
//
// Convergence is detected in three steps. First, every controller has observed its newest
// object and created its pods, and each pod is bound or unschedulable. Then a barrier: a
// DaemonSet for the newest version of the last updated node must get its pod, which passes
// the queues of the DaemonSet controller and the scheduler behind everything before it. If
// nothing changed meanwhile, all kinds are listed at one resource version and checked
// again.
//
// Invariants: a scenario touches only objects with its label; every wait has a deadline; a
// scenario that fails has a complete snapshot.
package runner
