package judge

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/firstlight/firstlight/internal/recipe/footprint"
	"github.com/firstlight/firstlight/internal/schedule/scenario"
	"github.com/firstlight/firstlight/internal/schedule/snapshot"
)

// A device is an extended resource of which a pod requests at least one.
func TestWhatADeviceIs(t *testing.T) {
	t.Parallel()
	for name, want := range map[corev1.ResourceName]bool{
		"nvidia.com/gpu": true, "rdma/hca": true, "cpu": false, "memory": false, "hugepages-1Gi": false, "kubernetes.io/batch-cpu": false,
	} {
		if got := extended(name); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
	pod := footprint.Pod{Requests: corev1.ResourceList{"cpu": resource.MustParse("1"), "nvidia.com/gpu": resource.MustParse("8"), "rdma/hca": resource.MustParse("1"), "x.com/none": resource.MustParse("0")}}
	if got := devices(pod); !slices.Equal(got, []corev1.ResourceName{"nvidia.com/gpu", "rdma/hca"}) {
		t.Errorf("%q", got)
	}
	node := &snapshot.Node{Allocatable: corev1.ResourceList{"nvidia.com/gpu": resource.MustParse("1"), "rdma/hca": resource.MustParse("0")}}
	if offers(nil, "nvidia.com/gpu") || offers(node, "rdma/hca") || offers(node, "x.com/none") || !offers(node, "nvidia.com/gpu") {
		t.Error("a node offers what it has at least one of")
	}
}

// A node never offers a device that it does not have from the start, unless a DaemonSet of the recipe provides it.
func TestWhatANodeNeverOffers(t *testing.T) {
	t.Parallel()
	const gpu = "nvidia.com/gpu"
	pod := footprint.Pod{Requests: corev1.ResourceList{gpu: resource.MustParse("1")}}
	grant := []scenario.Grant{{Component: "operator", Resource: gpu, Quantity: 8}}
	brings := func(component, kind, what string) []footprint.Component {
		return []footprint.Component{{Name: "other"}, {Name: component, Workloads: []footprint.Workload{{Kind: kind, Name: "plugin", Brings: []string{what}}}}}
	}
	for name, tt := range map[string]struct {
		node       scenario.Node
		components []footprint.Component
		never      bool
	}{
		"from the start":             {scenario.Node{Allocatable: corev1.ResourceList{gpu: resource.MustParse("1")}}, nil, false},
		"none from the start":        {scenario.Node{Allocatable: corev1.ResourceList{gpu: resource.MustParse("0")}}, nil, true},
		"granted and provided":       {scenario.Node{Grants: grant}, brings("operator", scenario.DaemonSet, gpu), false},
		"granted, by no component":   {scenario.Node{Grants: grant}, nil, true},
		"provided, and not granted":  {scenario.Node{}, brings("operator", scenario.DaemonSet, gpu), true},
		"provided by a Deployment":   {scenario.Node{Grants: grant}, brings("operator", "Deployment", gpu), true},
		"another device is provided": {scenario.Node{Grants: grant}, brings("operator", scenario.DaemonSet, "nvidia.com/mig"), true},
		"by another component":       {scenario.Node{Grants: grant}, brings("third", scenario.DaemonSet, gpu), true},
		"another device is granted":  {scenario.Node{Grants: []scenario.Grant{{Component: "operator", Resource: "rdma/hca"}}}, brings("operator", scenario.DaemonSet, "rdma/hca"), true},
	} {
		p := &plan{scenario: scenario.Scenario{Components: tt.components}}
		if got := p.neverOffers(tt.node, pod); (len(got) == 1) != tt.never || len(got) > 1 {
			t.Errorf("%s: %q", name, got)
		}
	}
}
