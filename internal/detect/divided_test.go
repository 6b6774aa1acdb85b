package detect

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// oneNode is a snapshot of a Ready node.
func oneNode(labels, capacity map[string]string) *Snapshot {
	list := corev1.ResourceList{}
	for name, amount := range capacity {
		list[corev1.ResourceName(name)] = resource.MustParse(amount)
	}
	return &Snapshot{Unread: map[string]string{}, Nodes: []corev1.Node{{
		ObjectMeta: metav1.ObjectMeta{Name: "gpu-a", Labels: labels},
		Status:     corev1.NodeStatus{Capacity: list, Allocatable: list, Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}},
	}}}
}

// Parts of GPUs are not counted as GPUs: a profile of nodes with as many whole GPUs is not theirs. Every way
// in which nodes show it is in probe/kube.
func TestPartsAreNotCountedAsGPUs(t *testing.T) {
	t.Parallel()
	const divided = "# TODO: GPUs of gpu-a are divided ("
	for name, tt := range map[string]struct {
		labels, capacity map[string]string
		want             []string
	}{
		"2 GPUs with 4 replicas": {
			map[string]string{"nvidia.com/gpu.product": "NVIDIA-L40S-SHARED", "nvidia.com/gpu.count": "2", "nvidia.com/gpu.replicas": "4"},
			map[string]string{"nvidia.com/gpu": "8"},
			[]string{divided, `profile: ""`, "seen: 2 x NVIDIA-L40S"},
		},
		"8 GPUs with 4 replicas": {
			map[string]string{"nvidia.com/gpu.product": "NVIDIA-L40S-SHARED", "nvidia.com/gpu.count": "8", "nvidia.com/gpu.replicas": "4"},
			map[string]string{"nvidia.com/gpu": "32"},
			[]string{divided, "profile: l40s", "seen: 8 x NVIDIA-L40S"},
		},
		// GKE has no label of the product's name or number: cloud.google.com/kubernetes-engine, concepts/timesharing-gpus.
		"GKE": {
			map[string]string{"cloud.google.com/gke-accelerator": "nvidia-l4", "cloud.google.com/gke-gpu-sharing-strategy": "time-sharing", "cloud.google.com/gke-max-shared-clients-per-gpu": "4"},
			map[string]string{"nvidia.com/gpu": "8"},
			[]string{divided, "number not shown"},
		},
		// With the strategy single GPU feature discovery sets gpu.count to the number of MIG devices.
		"MIG, strategy single": {
			map[string]string{"nvidia.com/gpu.product": "NVIDIA-L40S-MIG-2g.24gb", "nvidia.com/gpu.count": "8", "nvidia.com/mig.strategy": "single"},
			map[string]string{"nvidia.com/gpu": "8"},
			[]string{divided, `profile: ""`, "number not shown"},
		},
		// bottlerocket-os/bottlerocket, pull request 4418: time slicing without labels.
		"nvidia.com/gpu.shared alone": {
			nil,
			map[string]string{"nvidia.com/gpu": "0", "nvidia.com/gpu.shared": "128"},
			[]string{divided, "number not shown"},
		},
	} {
		file := write(t, oneNode(tt.labels, tt.capacity))
		for _, want := range tt.want {
			if !strings.Contains(file, want) {
				t.Errorf("%s: the file lacks %q:\n%s", name, want, file)
			}
		}
	}
}
