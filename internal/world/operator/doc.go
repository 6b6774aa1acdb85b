// Package operator imitates the NVIDIA GPU Operator at the API, for labs of the stack minimal: the
// ClusterPolicy definition and object, the operand DaemonSets and the ClusterPolicy's status, which
// it computes from nodes and DaemonSets by the operator's rules. With no GPU node the status is
// ready, as in the real operator. Package operand has the DaemonSets' pods.
//
// It owns its namespace.
//
// Like the real operator it writes no observedGeneration: the status has no such field, and its
// conditions leave theirs at zero.
package operator
