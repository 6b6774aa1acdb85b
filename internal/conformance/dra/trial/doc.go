// Package trial runs the pods by which conformance checks try how devices get into
// containers: on nodes that are named, with a claim or without, and sees what the
// scheduler and the kubelet make of them.
//
// Invariants: everything it creates is in the run's own namespace and carries the
// run's labels; its pods ask for no GPU through the device plugin, and end by
// themselves within an hour.
package trial
