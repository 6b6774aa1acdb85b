// Package runner puts cells on a control plane with the real scheduler and the
// real controllers, many at a time, and sees what comes of each.
//
// A cell has its own nodes and its own namespaces, and all that is made for it is
// labelled with it. Its pods see its nodes alone: their template names them, one
// required node affinity term a node, which is also what makes the scheduler look
// at these nodes only. DaemonSets likewise.
//
// What a cluster does in life happens as events, never after a pause: a pod that
// finds out what a node has puts labels there as soon as it is bound, a resource
// appears on a node once the pods that bring it are bound there. Nothing plays the
// kubelets: a pod that is bound is where it would run, and that is what is asked.
//
//	layout     what is made of a cell: names, objects (pure)
//	picture    what was seen of a cell, by watching or by listing
//	rest       whether anything is still to happen (pure)
//	discovery  what nodes get because pods run on them (pure)
//	run        one cell from its nodes to its state
//	patience   how long nothing may change
//	arena      the control plane's watches, which all cells share
//
// Rest is recognised in three steps: every controller has seen the newest of its
// object and made its pods, each pod is bound or was refused; then a barrier: a
// DaemonSet for the newest version of the node that was written last must get its
// pod, which passes through the DaemonSet controller's queue and the scheduler's, behind
// everything before it; and if nothing changed meanwhile, all kinds are
// listed at one resource version, and what was listed is looked at once more.
//
// Pods of Jobs stay where they are until they are deleted. Invariants: what a cell does is by its label only; nothing waits
// without a deadline; a cell that fails has a complete state like any other.
package runner
