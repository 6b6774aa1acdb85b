// Package cluster is the world's side of a Kubernetes API server. It registers the world's hosts
// as KWOK nodes, keeps their resources and labels like the hardware, runs the GPU Operator, the
// gateways and the exporters, publishes the GPUs as NVIDIA's DRA driver does, and simulates
// container runtime, device plugin and the node side of the DRA driver for the pods on those
// nodes.
//
// It owns the Node objects of the world's hosts, their ResourceSlices and the DeviceClass
// gpu.nvidia.com, the Logs and PortForward objects (kwok.x-k8s.io) of the pods that it runs, the
// status of these pods after kwok has set them Running, and the log files in its directory. kwok's
// stages own earlier statuses and ignore ended pods.
//
// Reconciliation is level-triggered: it recovers from restarts of the API server and missed
// events. A pod's GPUs, files and ports are released when it ends or is deleted.
//
// Logs and ports of its pods are only reachable through the API server: see secretNames.
//
// The package judges nothing: it makes the cluster match the hardware.
package cluster
