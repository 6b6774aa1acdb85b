// Package render makes the objects that a run of the chain creates, all of them
// from one Values. It does no I/O: equal Values give equal objects.
//
// Invariants: everything carries the run's label, the gate's and, where it makes
// pods, a role; pods have the run's priority, preempt nobody, and stay where they
// are meant: the load and the holder on nodes of the site's inventory, all
// others on nodes of the run's pools.
package render
