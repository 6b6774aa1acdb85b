// Package capacity adds nodes to an accepted cluster: it reads the file of new nodes and the accepted
// run, decides what is added to what, and makes the plan of it: the cordon, gate node on the new nodes,
// pairs of a new and an accepted node, and gate collective on all of them.
//
// A run that adds nodes has an Addition among its inputs. Site, profile and Addition give the plan, so
// that replay and verify derive it again. Only the check of the cordon does I/O.
package capacity
