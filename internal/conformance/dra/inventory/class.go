package inventory

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/site"
)

// Class is the DeviceClass by which pods claim the GPUs of nodes; "" if they request the device
// plugin's resource. A site that declares neither a class nor the absence of a DRA driver claims them
// where the nodes have no resource of the device plugin, and ResourceSlices offer their GPUs. A
// device plugin that has ended leaves its resource on the node, with an amount of 0. An account that may
// not list ResourceSlices, as the roles of such a site do not, requests the resource: its absence is the defect.
func Class(ctx context.Context, cluster *kube.Cluster, g site.GPUStack, nodes []string) (string, error) {
	if g.DeviceClass != "" || g.DRADriver == site.DRANone {
		return g.DeviceClass, nil
	}
	list, err := cluster.Client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return "", fmt.Errorf("list nodes: %w", err)
	}
	known := false
	for _, n := range list.Items {
		if slices.Contains(nodes, n.Name) {
			known = true
			if plugged(n.Status.Capacity) {
				return "", nil
			}
		}
	}
	if !known {
		return "", nil
	}
	all, err := ListSlices(ctx, cluster)
	switch {
	case apierrors.IsNotFound(err), apierrors.IsForbidden(err):
		return "", nil
	case err != nil:
		return "", fmt.Errorf("no node has %s, and whether a DRA driver offers the GPUs is unknown (declare gpustack.deviceClass or gpustack.draDriver in the site): %w", kube.GPUResource, err)
	}
	if slices.ContainsFunc(nodes, func(node string) bool {
		gpus, _, _ := GPUsOnNode(all, node)
		return len(gpus) > 0
	}) {
		return Driver, nil
	}
	return "", nil
}

// plugged reports whether a device plugin for GPUs has registered on a node.
func plugged(capacity corev1.ResourceList) bool {
	for name := range capacity {
		if name == kube.GPUResource || strings.HasPrefix(string(name), site.MIGResource) {
			return true
		}
	}
	return false
}
