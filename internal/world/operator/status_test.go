package operator

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func node(labels map[string]string) *corev1.Node {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Labels: labels}}
}

func sets(t *testing.T, change func(*appsv1.DaemonSet)) ([]daemonSet, []*appsv1.DaemonSet) {
	t.Helper()
	operands, err := loadOperands()
	if err != nil {
		t.Fatal(err)
	}
	var all []*appsv1.DaemonSet
	for _, o := range operands {
		ds := o.render(9400)
		ds.Generation = 1
		ds.Status = appsv1.DaemonSetStatus{ObservedGeneration: 1, DesiredNumberScheduled: 4, NumberReady: 4, UpdatedNumberScheduled: 4}
		if o.State == "state-mig-manager" {
			ds.Status = appsv1.DaemonSetStatus{ObservedGeneration: 1}
		}
		if change != nil {
			change(ds)
		}
		all = append(all, ds)
	}
	return operands, all
}

func TestStatus(t *testing.T) {
	t.Parallel()
	gpu := node(map[string]string{"feature.node.kubernetes.io/pci-10de.present": "true"})
	plain := node(map[string]string{"feature.node.kubernetes.io/cpu-model.vendor_id": "Intel"})
	bare := node(map[string]string{"kubernetes.io/hostname": "a"})
	notReady := func(names ...string) func(*appsv1.DaemonSet) {
		return func(ds *appsv1.DaemonSet) {
			for _, n := range names {
				if ds.Name == n {
					ds.Status.NumberReady, ds.Status.NumberUnavailable = 3, 1
				}
			}
		}
	}
	tests := []struct {
		name                  string
		nodes                 []*corev1.Node
		change                func(*appsv1.DaemonSet)
		state                 string
		ready                 metav1.ConditionStatus
		reason, error, errMsg string
	}{
		{"healthy", []*corev1.Node{gpu, plain}, nil, "ready", "True", "Reconciled", "Ready", ""},
		{
			"operands not ready", []*corev1.Node{gpu}, notReady("nvidia-driver-daemonset", "nvidia-device-plugin-daemonset"), "notReady", "False", "Error",
			"OperandNotReady", "ClusterPolicy is not ready, states not ready: [state-driver state-device-plugin]",
		},
		{"without status", []*corev1.Node{gpu}, func(ds *appsv1.DaemonSet) {
			if ds.Name == "gpu-feature-discovery" {
				ds.Status = appsv1.DaemonSetStatus{}
			}
		}, "notReady", "False", "Error", "OperandNotReady", "ClusterPolicy is not ready, states not ready: [gpu-feature-discovery]"},
		{"no GPU node is vacuously ready", []*corev1.Node{plain}, notReady("nvidia-driver-daemonset"), "ready", "True", "NoGPUNodes", "Ready", ""},
		{"no NFD labels are vacuously ready", []*corev1.Node{bare}, nil, "ready", "True", "NFDLabelsMissing", "Ready", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			operands, all := sets(t, tt.change)
			got := nextStatus(nil, operands, tt.nodes, all)
			ready, failed := meta.FindStatusCondition(got.Conditions, "Ready"), meta.FindStatusCondition(got.Conditions, "Error")
			if got.State != tt.state || got.Namespace != "gpu-operator" || ready == nil || failed == nil || len(got.Conditions) != 2 {
				t.Fatalf("status = %+v", got)
			}
			if ready.Status != tt.ready || ready.Reason != tt.reason || failed.Reason != tt.error || failed.Message != tt.errMsg || ready.ObservedGeneration != 0 {
				t.Errorf("Ready %+v, Error %+v", ready, failed)
			}
		})
	}
}

func TestTransitionTimesAreKept(t *testing.T) {
	t.Parallel()
	operands, all := sets(t, nil)
	gpu := []*corev1.Node{node(map[string]string{"feature.node.kubernetes.io/pci-10de.present": "true"})}
	first := nextStatus(nil, operands, gpu, all)
	second := nextStatus(first.Conditions, operands, gpu, all)
	if !first.Conditions[0].LastTransitionTime.Equal(&second.Conditions[0].LastTransitionTime) {
		t.Error("a status that stayed has a new transition time")
	}
}

func TestOperandPlacement(t *testing.T) {
	t.Parallel()
	operands, err := loadOperands()
	if err != nil {
		t.Fatal(err)
	}
	if len(operands) != 8 {
		t.Errorf("%d operands, want 8", len(operands))
	}
	for _, o := range operands {
		pod := o.render(9400).Spec.Template
		if pod.Spec.Tolerations[0].Key != "nvidia.com/gpu" || pod.Labels["app"] != o.Name {
			t.Errorf("%s: %+v", o.Name, pod)
		}
		scraped := pod.Annotations["prometheus.io/scrape"] == "true" && pod.Annotations["prometheus.io/port"] == "9400" && pod.Spec.HostNetwork
		if scraped != (o.Name == "nvidia-dcgm-exporter") {
			t.Errorf("%s: scraped = %v", o.Name, scraped)
		}
	}
}
