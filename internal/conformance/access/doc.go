// Package access is the requirement secure_accelerator_access: a container sees
// the devices that were given to it, and no other.
//
// On one node, at the same time: a container with a claim sees exactly the GPU that
// was allocated; a container beside it in the same pod sees none; neither does a pod
// without a claim, nor one that asks the container toolkit for all GPUs by
// NVIDIA_VISIBLE_DEVICES. Pods that would go around all of it, by a host path or as
// privileged, are refused by the API server where pod security is enforced.
//
// Invariants: what a container sees is read from its log, through the API server, and
// only a log that is whole counts; a part that could not be seen never passes.
package access
