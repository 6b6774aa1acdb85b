// Package operator simulates the NVIDIA GPU Operator at the API: the ClusterPolicy definition and
// object, the operand DaemonSets and the ClusterPolicy's status, which it computes from nodes and
// DaemonSets by the operator's rules. With no GPU node the status is ready, as in the real
// operator.
//
// It owns its namespace. An operand that is not ready on a node in the world is held there with
// the annotation of the lab's kwok stages; DaemonSet status and ClusterPolicy status follow.
//
// Like the real operator it writes no observedGeneration: the status has no such field, and its
// conditions leave theirs at zero.
package operator
