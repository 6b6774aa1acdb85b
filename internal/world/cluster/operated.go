package cluster

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/client-go/tools/cache"

	"github.com/firstlight/firstlight/internal/world"
	"github.com/firstlight/firstlight/internal/world/operand"
)

// Labels of MIG manager: the requested configuration and the state of its application.
const (
	migConfig = "nvidia.com/mig.config"
	migState  = "nvidia.com/mig.config.state"

	wholeGPUs   = "all-disabled"
	halfApplied = "all-" + world.MIGProfile
)

// follow makes the nodes those of a cluster with an external GPU Operator, whose pods decide what
// the kubelets report.
func (n *nodes) follow(operands *operand.Operands, pods cache.SharedIndexInformer) {
	n.operands = operands
	changed := func(obj any) {
		if pod, ok := obj.(*corev1.Pod); ok && operand.Concerns(pod) {
			n.changed.add(pod.Spec.NodeName)
		}
	}
	// AddEventHandler fails only on a stopped informer.
	_, _ = pods.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: changed, UpdateFunc: func(_, obj any) { changed(obj) }, DeleteFunc: changed,
	})
}

// asOperated leaves the labels of Node Feature Discovery and the operator to them. MIG manager's
// pod answers the requested configuration, and GPUs are those that the device plugin's pod has
// registered: without it a kubelet offers none, and keeps their capacity if it had any.
func (n *nodes) asOperated(node *corev1.Node, host world.Node) {
	maps.DeleteFunc(node.Labels, func(key, _ string) bool { return ownedLabel(key) })
	if host.System {
		return
	}
	have, _ := n.get(host.Name)
	known := have != nil && have.Labels[migState] != ""
	switch {
	case host.MIGHalfApplied:
		node.Labels[migConfig], node.Labels[migState] = halfApplied, "failed"
	case host.MIG != "":
		node.Labels[migConfig], node.Labels[migState] = halfApplied, "success"
	case known || n.operands.Ready(host.Name, operand.MIGManager):
		node.Labels[migConfig], node.Labels[migState] = wholeGPUs, "success"
	}
	if n.operands.OffersGPUs(host.Name) {
		return
	}
	delete(node.Status.Capacity, gpuResource)
	delete(node.Status.Allocatable, gpuResource)
	if have != nil {
		if before, ok := have.Status.Capacity[gpuResource]; ok {
			node.Status.Capacity[gpuResource], node.Status.Allocatable[gpuResource] = before, *resource.NewQuantity(0, resource.DecimalSI)
		}
	}
}
