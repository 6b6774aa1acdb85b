package inventory

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/probe/kube"
)

// NodeGPUs counts the GPUs of a node by who holds them.
type NodeGPUs struct {
	Node string `json:"node"`
	// Open: the node exists, is ready and schedulable.
	Open bool `json:"open"`
	// Offered counts the GPUs of its slices, Allocated those that claims hold.
	Offered   int `json:"offered"`
	Allocated int `json:"allocated"`
	// Plugged counts GPUs that pods hold through the device plugin. The allocator of claims
	// does not know which ones, so it may allocate one of them.
	Plugged int `json:"plugged"`
	// Holders are the pods and claims that hold them.
	Holders []string `json:"holders,omitempty"`
	// Pods are those that claims are reserved for, with the GPUs of the claim.
	Pods []kube.Holder `json:"pods,omitempty"`
}

// Free counts the GPUs that a claim can get without a conflict with the device plugin.
func (n NodeGPUs) Free() int {
	if !n.Open || n.Plugged > 0 {
		return 0
	}
	return max(0, n.Offered-n.Allocated)
}

// Usage reads which GPUs of nodes are held, in the order of nodes.
func Usage(ctx context.Context, cluster *kube.Cluster, nodes []string, all []Slice) ([]NodeGPUs, error) {
	return usageOf(ctx, cluster, nodes, all, false)
}

// usageOf is Usage; with cordoned, also cordoned nodes are open.
func usageOf(ctx context.Context, cluster *kube.Cluster, nodes []string, all []Slice, cordoned bool) ([]NodeGPUs, error) {
	usage, err := cluster.Usage(ctx, nodes, kube.GPUResource)
	if err != nil {
		return nil, err
	}
	list, err := cluster.Client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("list nodes: %w", err)
	}
	claims, err := cluster.DRA().ResourceClaims(metav1.NamespaceAll).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("list resource claims: %w", err)
	}
	out := make([]NodeGPUs, 0, len(nodes))
	for _, node := range nodes {
		gpus, _, _ := GPUsOnNode(all, node)
		open := slices.ContainsFunc(list.Items, func(n corev1.Node) bool {
			return n.Name == node && (cordoned || !n.Spec.Unschedulable) && kube.Ready(&n)
		})
		u := NodeGPUs{Node: node, Open: open, Offered: len(gpus), Plugged: usage[node].Requested}
		for _, h := range usage[node].Holders {
			if h.Claimed { // its claim is among those below
				u.Plugged -= h.Count
				continue
			}
			u.Holders = append(u.Holders, fmt.Sprintf("pod %s/%s", h.Namespace, h.Pod))
		}
		whole, held := wholes(all, node, gpus), map[GPU]bool{}
		for _, c := range claims.Items {
			if c.Status.Allocation == nil {
				continue
			}
			n, holds := 0, false // a GPU counts once, however many claims have parts of it
			for _, d := range c.Status.Allocation.Devices.Results {
				if d.AdminAccess != nil && *d.AdminAccess {
					continue // for monitoring: it holds no GPU
				}
				gpu, of := whole[allocatable{d.Pool, d.Device}]
				if d.Driver != Driver || !of {
					continue
				}
				if holds = true; !held[gpu] {
					held[gpu] = true
					n++
				}
			}
			if holds {
				u.Allocated += n
				u.Holders = append(u.Holders, fmt.Sprintf("claim %s/%s", c.Namespace, c.Name))
				for _, user := range c.Status.ReservedFor {
					if user.APIGroup == "" && user.Resource == "pods" {
						u.Pods = append(u.Pods, kube.Holder{Namespace: c.Namespace, Pod: user.Name, Count: n})
					}
				}
			}
		}
		out = append(out, u)
	}
	return out, nil
}

// NodesWithFree lists the nodes with a GPU that a claim can get, at most limit of them.
func NodesWithFree(all []NodeGPUs, limit int) []string {
	var out []string
	for _, n := range all {
		if n.Free() > 0 && len(out) < limit {
			out = append(out, n.Node)
		}
	}
	return out
}

// DescribeHolders lists, in brackets, why nodes have no free GPU; empty where that is not
// known.
func DescribeHolders(all []NodeGPUs) string {
	var out []string
	for _, n := range all {
		switch {
		case !n.Open:
			out = append(out, n.Node+": not ready or not schedulable")
		case len(n.Holders) > 0:
			out = append(out, n.Node+": "+strings.Join(n.Holders, ", "))
		}
	}
	if len(out) == 0 {
		return ""
	}
	return " (" + strings.Join(out, "; ") + ")"
}
