// Package kube reaches a Kubernetes cluster: clients, container logs, port
// forwards, Services through the API server's proxy, free GPUs, and the guest's
// duties (own namespace, own priority, removal of exactly what a run created).
//
// Invariants: everything created through it carries the label LabelRun; what
// does not carry it is never altered or deleted. Nothing here knows whether a
// cluster is simulated, other than Simulated, which tells from what any reader
// of the API can see.
package kube
