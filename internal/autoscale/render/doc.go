// Package render builds the objects of a run from its Values. It does no I/O: equal Values
// give equal objects.
//
// Invariants: every object has the run's label, the gate's label and, if it creates pods, a
// role; pods have the run's priority and never preempt; the load and the holder run on
// nodes of the site's inventory, all other pods on nodes of the run's pools.
package render
