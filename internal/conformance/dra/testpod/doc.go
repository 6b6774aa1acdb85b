// Package testpod runs the pods by which conformance checks test how devices get into
// containers: on given nodes, with a claim or without, and reads what the scheduler and the
// kubelet do with them.
//
// Invariants: everything it creates is in a namespace of the run and has the run's labels;
// a pod requests a GPU through the device plugin only by Limits, and ends by itself
// within an hour.
package testpod
