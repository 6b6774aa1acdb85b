// Package access is the requirement secure_accelerator_access: a container has access to the
// devices that were allocated to it, and to no other.
//
// On one node, at the same time: a container with a claim sees exactly the allocated GPU;
// another container of its pod sees none; neither does a pod without a claim, nor a pod that
// requests all GPUs of the container toolkit by NVIDIA_VISIBLE_DEVICES. The API server
// refuses pods with a host path or a privileged container where pod security is enforced.
//
// Invariants: the devices of a container are read from its log, through the API server, and only a
// complete log counts; a part that was not observed never passes.
package access
