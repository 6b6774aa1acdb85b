// Package operator is the world's NVIDIA GPU Operator, as far as a cluster shows
// it: the ClusterPolicy definition and object, the operand DaemonSets, and the
// ClusterPolicy's status, computed from nodes and DaemonSets by the real
// operator's rules, the vacuous ones included: with no GPU node in sight it is
// ready.
//
// It owns its namespace and what is in it. An operand that the world has not
// ready on a node is held back there by the annotation that the lab's kwok
// stages heed; the DaemonSet controller and the status follow from that.
//
// As the real operator does, it writes no observedGeneration: the ClusterPolicy's
// status has no such field, and its conditions leave theirs at zero.
package operator
