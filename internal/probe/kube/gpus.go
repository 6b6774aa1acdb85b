package kube

import (
	"context"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	podresource "k8s.io/component-helpers/resource"
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

// PodRequest is the pod's effective request of a resource, as the scheduler computes it: from
// containers, init containers, sidecars, overhead and pod-level resources. A missing request
// of a container is its limit, as the API server defaults it.
func PodRequest(spec *corev1.PodSpec, name string) int {
	pod := &corev1.Pod{Spec: *spec}
	pod.Spec.Containers, pod.Spec.InitContainers = withRequests(spec.Containers, name), withRequests(spec.InitContainers, name)
	return Count(podresource.PodRequests(pod, podresource.PodResourcesOptions{}), name)
}

// withRequests copies containers whose request of a resource is only a limit, with the request.
func withRequests(containers []corev1.Container, name string) []corev1.Container {
	out := slices.Clone(containers)
	for i := range out {
		key := corev1.ResourceName(name)
		limit, limited := out[i].Resources.Limits[key]
		if _, requested := out[i].Resources.Requests[key]; limited && !requested {
			requests := corev1.ResourceList{key: limit}
			maps.Copy(requests, out[i].Resources.Requests)
			out[i].Resources.Requests = requests
		}
	}
	return out
}
