// Package ray is gate 4 of a cluster whose GPUs a RayCluster of KubeRay has: the operator reconciles, head and
// workers are ready, Ray's resources equal the inventory, and a placement group over all nodes is placed as a
// whole, a larger one not at all. A task on each bundle finds all GPUs in its container.
//
// The status of a RayCluster is not enough: its state and its condition RayClusterProvisioned stay as they are when
// a pod becomes unready later, or when the operator does not run. The gate reads the pods, asks the head, and has the
// operator reconcile a RayCluster that is suspended, and so has no pods.
package ray
