// Package workload runs gangs of pods as a guest: an Indexed Job, its headless
// Service and the group object of the cluster's gang scheduler, all labelled
// with the run; it waits for what happens to them by watching, says why it does
// not happen, and removes them.
//
// Invariants: a gang preempts nothing and restarts nothing unless its Spec says
// so; Delete returns nil only when no pod of the gang is left; a wait that ends
// without its event always explains itself. It judges nothing.
package workload
