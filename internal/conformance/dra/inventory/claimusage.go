package inventory

import (
	"context"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/probe/kube"
)

// Offered is the DeviceClass by which the GPUs of nodes can be claimed: Driver if it publishes a GPU
// of each of them, else "", the resource of the device plugin. An API server without
// ResourceSlices publishes none; any other failure is an error. So is a DeviceClass of the driver
// without a GPU of one of the nodes: the driver should offer it, and the device plugin would hide that.
func Offered(ctx context.Context, cluster *kube.Cluster, nodes []string) (string, error) {
	all, err := ListSlices(ctx, cluster)
	if err != nil && !apierrors.IsNotFound(err) {
		return "", err
	}
	var without []string
	for _, node := range nodes {
		if gpus, _, _ := GPUsOnNode(all, node); len(gpus) == 0 {
			without = append(without, node)
		}
	}
	const remedy = "check the pods of the DRA driver's kubelet plugin and their logs, or declare gpustack.draDriver: none in the site to request GPUs of the device plugin"
	switch {
	case len(nodes) > 0 && len(without) == 0:
		return Driver, nil
	case len(without) < len(nodes):
		return "", fmt.Errorf("ResourceSlices of %s offer no GPU of %s, and they offer those of the other nodes: %s", Driver, strings.Join(without, ", "), remedy)
	}
	_, err = cluster.DRA().DeviceClasses().Get(ctx, Driver, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return "", nil
	case err != nil:
		return "", fmt.Errorf("get DeviceClass %s: %w", Driver, err)
	default:
		return "", fmt.Errorf("the cluster has the DeviceClass %s, and no ResourceSlice offers a GPU of the nodes of the inventory: %s", Driver, remedy)
	}
}

// UsageBy reads the usage of GPUs by node: those of ResourceSlices for a DeviceClass, those of the
// device plugin for "".
func UsageBy(ctx context.Context, cluster *kube.Cluster, class string, nodes []string) (map[string]kube.Usage, error) {
	if class == "" {
		return cluster.Usage(ctx, nodes, kube.GPUResource)
	}
	return ClaimUsage(ctx, cluster, nodes)
}

// UsageBehindCordon is UsageBy, also of cordoned nodes.
func UsageBehindCordon(ctx context.Context, cluster *kube.Cluster, class string, nodes []string) (map[string]kube.Usage, error) {
	if class == "" {
		return cluster.UsageBehindCordon(ctx, nodes, kube.GPUResource)
	}
	return claimUsage(ctx, cluster, nodes, true)
}

// UsageCommand is what UsageBy reads, as the command of an observation.
func UsageCommand(class string) string {
	if class == "" {
		return "GET nodes, pods: " + kube.GPUResource + " allocatable less requested by live pods"
	}
	return "GET nodes, pods, resourceslices, resourceclaims: devices of " + class + " less those allocated to claims"
}

// ClaimUsage reads the usage of the GPUs of ResourceSlices, by node: that of a cluster without
// the device plugin.
func ClaimUsage(ctx context.Context, cluster *kube.Cluster, nodes []string) (map[string]kube.Usage, error) {
	return claimUsage(ctx, cluster, nodes, false)
}

func claimUsage(ctx context.Context, cluster *kube.Cluster, nodes []string, cordoned bool) (map[string]kube.Usage, error) {
	all, err := ListSlices(ctx, cluster)
	if err != nil {
		return nil, err
	}
	held, err := usageOf(ctx, cluster, nodes, all, cordoned)
	if err != nil {
		return nil, err
	}
	out := map[string]kube.Usage{}
	for _, n := range held {
		out[n.Node] = n.usage()
	}
	return out, nil
}

// usage of a node that is not open, or has pods of the device plugin, offers nothing, as in Free.
// Holders are the texts of NodeGPUs, without a namespace, then the pods of claims.
func (n NodeGPUs) usage() kube.Usage {
	u := kube.Usage{Requested: n.Allocated + n.Plugged}
	if n.Open && n.Plugged == 0 {
		u.Allocatable = n.Offered
	}
	for _, holder := range n.Holders {
		u.Holders = append(u.Holders, kube.Holder{Pod: holder})
	}
	u.Holders = append(u.Holders, n.Pods...)
	return u
}
