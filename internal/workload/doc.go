// Package workload runs gangs of pods: an Indexed Job with its headless Service, or a job of another
// kind, and the group object of the gang scheduler, all labelled with the run. It watches them, explains
// why an expected state is not reached, and deletes them.
//
// Invariants: a gang preempts no pods and restarts containers only as its Spec allows; Delete
// returns nil only when no pod of the gang exists; a failed wait always has an explanation.
package workload
