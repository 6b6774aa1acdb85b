package kube

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	podresource "k8s.io/component-helpers/resource"
)

// Usage is the allocatable amount of a resource on a node and the pods that request it.
type Usage struct {
	Allocatable int      `json:"allocatable"`
	Requested   int      `json:"requested"`
	Holders     []Holder `json:"holders,omitempty"`
}

// Free is the amount that is not requested; never negative.
func (u Usage) Free() int { return max(0, u.Allocatable-u.Requested) }

// Holder is a running or pending pod that requests the resource.
type Holder struct {
	Namespace string `json:"namespace"`
	Pod       string `json:"pod"`
	Count     int    `json:"count"`
	// Claimed: the scheduler has met the request with a claim, as the pod's DeviceClass maps the
	// resource (extendedResourceName); no device plugin is asked for it.
	Claimed bool `json:"claimed,omitempty"`
}

// Usage returns the usage of a resource on each node in nodes. The result has an entry for
// every name in nodes. A cordoned node has nothing allocatable.
func (c *Cluster) Usage(ctx context.Context, nodes []string, name string) (map[string]Usage, error) {
	return c.usage(ctx, nodes, name, false)
}

// UsageBehindCordon is Usage, also of cordoned nodes.
func (c *Cluster) UsageBehindCordon(ctx context.Context, nodes []string, name string) (map[string]Usage, error) {
	return c.usage(ctx, nodes, name, true)
}

func (c *Cluster) usage(ctx context.Context, nodes []string, name string, cordoned bool) (map[string]Usage, error) {
	usage := make(map[string]Usage, len(nodes))
	for _, n := range nodes {
		usage[n] = Usage{}
	}
	ofNode, ofPod := "", "status.phase!=Succeeded,status.phase!=Failed"
	if len(nodes) == 1 { // not the pods of a thousand nodes
		ofNode, ofPod = "metadata.name="+nodes[0], ofPod+",spec.nodeName="+nodes[0]
	}
	list, err := c.Client.CoreV1().Nodes().List(ctx, metav1.ListOptions{FieldSelector: ofNode})
	if err != nil {
		return nil, fmt.Errorf("list nodes: %w", err)
	}
	for _, n := range list.Items {
		u, listed := usage[n.Name]
		if !listed || n.Spec.Unschedulable && !cordoned || !Ready(&n) {
			continue
		}
		u.Allocatable = Count(n.Status.Allocatable, name)
		usage[n.Name] = u
	}
	pods, err := c.Client.CoreV1().Pods(metav1.NamespaceAll).List(ctx, metav1.ListOptions{
		FieldSelector: ofPod,
	})
	if err != nil {
		return nil, fmt.Errorf("list pods: %w", err)
	}
	for _, p := range pods.Items {
		u, listed := usage[p.Spec.NodeName]
		n := PodRequest(&p.Spec, name)
		if !listed || n == 0 {
			continue
		}
		u.Requested += n
		u.Holders = append(u.Holders, Holder{Namespace: p.Namespace, Pod: p.Name, Count: n, Claimed: claimed(&p, name)})
		usage[p.Spec.NodeName] = u
	}
	return usage, nil
}

// claimed reports whether a claim meets a pod's requests of a resource.
func claimed(p *corev1.Pod, name string) bool {
	status := p.Status.ExtendedResourceClaimStatus
	return status != nil && slices.ContainsFunc(status.RequestMappings, func(m corev1.ContainerExtendedResourceRequest) bool { return m.ResourceName == name })
}

// Ready reports whether the Ready condition of the node is true.
func Ready(n *corev1.Node) bool {
	return slices.ContainsFunc(n.Status.Conditions, func(c corev1.NodeCondition) bool {
		return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
	})
}

// NotReadyWhy is the reason of a node that is not Ready.
func NotReadyWhy(n *corev1.Node) string {
	for _, c := range n.Status.Conditions {
		if c.Type == corev1.NodeReady {
			return c.Reason + ": " + c.Message
		}
	}
	return "its kubelet has never reported"
}

// Count is the amount of a resource in a list; 0 if absent.
func Count(list corev1.ResourceList, name string) int {
	q, ok := list[corev1.ResourceName(name)]
	if !ok {
		q = resource.Quantity{}
	}
	return int(q.Value())
}

// PodRequest is what the scheduler counts for a pod, pod-level resources included. A limit
// without a request counts as the request, as the API server sets it.
func PodRequest(spec *corev1.PodSpec, name string) int {
	spec = spec.DeepCopy()
	for _, containers := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
		for i := range containers {
			requestLimit(&containers[i].Resources, corev1.ResourceName(name))
		}
	}
	return Count(podresource.PodRequests(&corev1.Pod{Spec: *spec}, podresource.PodResourcesOptions{}), name)
}

func requestLimit(r *corev1.ResourceRequirements, name corev1.ResourceName) {
	limit, limited := r.Limits[name]
	if _, requested := r.Requests[name]; limited && !requested {
		r.Requests = corev1.ResourceList{name: limit}
	}
}
