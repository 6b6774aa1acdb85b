// Package kube accesses a Kubernetes cluster: clients, container logs, port forwards,
// Services through the API server proxy, free GPUs, and the objects of a run (its
// namespaces, its priority class, its Lease, their removal).
//
// Every object created through it carries the label LabelRun. It never changes or deletes an
// object without that label. It does not distinguish simulated clusters, except in
// Simulated, which reads what every client of the API can read.
package kube
