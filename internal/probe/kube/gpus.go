package kube

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Usage is what a node has of a resource and who holds it.
type Usage struct {
	Allocatable int      `json:"allocatable"`
	Requested   int      `json:"requested"`
	Holders     []Holder `json:"holders,omitempty"`
}

// Free is what is left; never negative.
func (u Usage) Free() int { return max(0, u.Allocatable-u.Requested) }

// Holder is a live pod that requests some of a resource.
type Holder struct {
	Namespace string `json:"namespace"`
	Pod       string `json:"pod"`
	Count     int    `json:"count"`
}

// FreeGPUs tells how many GPUs of each of nodes no live pod requests. A node
// that the cluster does not have, or that takes no pods, has none.
func (c *Cluster) FreeGPUs(ctx context.Context, nodes []string) (map[string]int, error) {
	usage, err := c.Usage(ctx, nodes, GPUResource)
	if err != nil {
		return nil, err
	}
	free := make(map[string]int, len(nodes))
	for node, u := range usage {
		free[node] = u.Free()
	}
	return free, nil
}

// Usage tells what each of nodes has of a resource and who holds it. Every
// node asked for is in the answer.
func (c *Cluster) Usage(ctx context.Context, nodes []string, name string) (map[string]Usage, error) {
	usage := make(map[string]Usage, len(nodes))
	for _, n := range nodes {
		usage[n] = Usage{}
	}
	list, err := c.Client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("list nodes: %w", err)
	}
	for _, n := range list.Items {
		u, asked := usage[n.Name]
		if !asked || n.Spec.Unschedulable || !Ready(&n) {
			continue
		}
		u.Allocatable = Count(n.Status.Allocatable, name)
		usage[n.Name] = u
	}
	pods, err := c.Client.CoreV1().Pods(metav1.NamespaceAll).List(ctx, metav1.ListOptions{
		FieldSelector: "status.phase!=Succeeded,status.phase!=Failed",
	})
	if err != nil {
		return nil, fmt.Errorf("list pods: %w", err)
	}
	for _, p := range pods.Items {
		u, asked := usage[p.Spec.NodeName]
		n := PodRequest(&p.Spec, name)
		if !asked || n == 0 {
			continue
		}
		u.Requested += n
		u.Holders = append(u.Holders, Holder{Namespace: p.Namespace, Pod: p.Name, Count: n})
		usage[p.Spec.NodeName] = u
	}
	return usage, nil
}

// Ready tells whether the kubelet says that the node is ready.
func Ready(n *corev1.Node) bool {
	return slices.ContainsFunc(n.Status.Conditions, func(c corev1.NodeCondition) bool {
		return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
	})
}

// Count reads a whole number of a resource from a list; absent is zero.
func Count(list corev1.ResourceList, name string) int {
	q, ok := list[corev1.ResourceName(name)]
	if !ok {
		q = resource.Quantity{}
	}
	return int(q.Value())
}

// PodRequest is what the scheduler counts for a pod: its containers together,
// or its largest init container where that is more.
func PodRequest(spec *corev1.PodSpec, name string) int {
	sum, largest := 0, 0
	for _, c := range spec.Containers {
		sum += containerRequest(c.Resources, name)
	}
	for _, c := range spec.InitContainers {
		n := containerRequest(c.Resources, name)
		if c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			sum += n
			continue
		}
		largest = max(largest, n)
	}
	return max(sum, largest)
}

func containerRequest(r corev1.ResourceRequirements, name string) int {
	if _, ok := r.Requests[corev1.ResourceName(name)]; ok {
		return Count(r.Requests, name)
	}
	return Count(r.Limits, name)
}
