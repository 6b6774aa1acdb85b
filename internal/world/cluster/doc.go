// Package cluster is the world's side of a Kubernetes API server: it registers
// the world's hosts as KWOK nodes, keeps their resources and labels what the
// hardware is, runs the GPU Operator's part, the gateways and the exporters, publishes the GPUs
// as NVIDIA's DRA driver does, and plays container runtime, device plugin and the
// driver's node side for the pods on those nodes.
//
// It owns: the Node objects of the world's hosts, their ResourceSlices and the
// DeviceClass gpu.nvidia.com, the Logs and PortForward
// objects (kwok.x-k8s.io) of the pods it runs, those pods' status from the
// moment that kwok made them Running, and the log files in its directory. kwok's
// stages own everything before; they leave ended pods alone.
//
// What it keeps is level-triggered: after a restart of the API server, or an
// event that was missed, the next look puts things right. What a pod holds (GPUs,
// files, ports) is given back when it ends or is gone.
//
// Logs and ports of its pods are reached through the API server alone: see secretNames.
//
// It never decides whether anything is good: it makes the cluster look as the
// hardware is.
package cluster
