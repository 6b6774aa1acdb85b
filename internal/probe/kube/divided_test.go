package kube

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Labels, annotations and resources of real nodes, with where they were seen; kinds are "mig" and "shared".
func TestDivisions(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		labels, annotations, capacity, allocatable map[string]string
		want                                       []string
	}{
		// NVIDIA/k8s-device-plugin, issue 1501: PowerEdge XE9680 before MIG, device plugin of 2025.
		"whole": {
			labels: map[string]string{
				"nvidia.com/gpu.count": "8", "nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3", "nvidia.com/gpu.replicas": "1", "nvidia.com/gpu.mode": "compute",
				"nvidia.com/mig.capable": "true", "nvidia.com/mig.config": "all-disabled", "nvidia.com/mig.strategy": "single",
			},
			capacity: map[string]string{"nvidia.com/gpu": "8"},
		},
		// A Quadro P400 with the GPU Operator.
		"whole, no sharing": {
			labels:   map[string]string{"nvidia.com/gpu.count": "1", "nvidia.com/gpu.product": "Quadro-P400", "nvidia.com/gpu.replicas": "1", "nvidia.com/gpu.sharing-strategy": "none", "nvidia.com/mps.capable": "false"},
			capacity: map[string]string{"nvidia.com/gpu": "1"},
		},
		// A lost GPU leaves the capacity, and feature discovery counts the others.
		"one of two lost":   {labels: map[string]string{"nvidia.com/gpu.count": "1"}, capacity: map[string]string{"nvidia.com/gpu": "2"}, allocatable: map[string]string{"nvidia.com/gpu": "1"}},
		"a lost GPU":        {labels: map[string]string{"nvidia.com/gpu.count": "7"}, capacity: map[string]string{"nvidia.com/gpu": "8"}},
		"fewer than it has": {labels: map[string]string{"nvidia.com/gpu.count": "8"}, capacity: map[string]string{"nvidia.com/gpu": "7"}},
		// H100 NVL, GPU Operator, time slicing with renameByDefault: false.
		"time slicing": {
			labels:   map[string]string{"nvidia.com/gpu.count": "1", "nvidia.com/gpu.product": "NVIDIA-H100-NVL-SHARED", "nvidia.com/gpu.replicas": "5", "nvidia.com/gpu.sharing-strategy": "time-slicing", "nvidia.com/mig.config": "all-disabled"},
			capacity: map[string]string{"nvidia.com/gpu": "5"},
			want:     []string{"shared: label nvidia.com/gpu.product", "shared: label nvidia.com/gpu.replicas is 5", "shared: label nvidia.com/gpu.sharing-strategy is time-slicing", "shared: it offers 5 of nvidia.com/gpu"},
		},
		// NVIDIA/cloud-native-docs, gpu-sharing: MPS with renameByDefault: true.
		"MPS, renamed": {
			labels:   map[string]string{"nvidia.com/gpu.count": "4", "nvidia.com/gpu.product": "Tesla-T4", "nvidia.com/gpu.replicas": "4", "nvidia.com/gpu.sharing-strategy": "mps"},
			capacity: map[string]string{"nvidia.com/gpu": "0", "nvidia.com/gpu.shared": "16"},
			want:     []string{"shared: label nvidia.com/gpu.replicas is 4", "shared: label nvidia.com/gpu.sharing-strategy is mps", "shared: it offers nvidia.com/gpu.shared"},
		},
		// bottlerocket-os/bottlerocket, pull request 4418: p4d.24xlarge, MIG and time slicing.
		"renamed, without labels": {
			capacity: map[string]string{"nvidia.com/gpu": "0", "nvidia.com/gpu.shared": "128"},
			want:     []string{"shared: it offers nvidia.com/gpu.shared"},
		},
		// NVIDIA/k8s-device-plugin, issue 732: g5.xlarge.
		"the label of replicas is wrong": {
			labels:   map[string]string{"nvidia.com/gpu.count": "1", "nvidia.com/gpu.product": "NVIDIA-A10G", "nvidia.com/gpu.replicas": "1"},
			capacity: map[string]string{"nvidia.com/gpu": "10"},
			want:     []string{"shared: it offers 10 of nvidia.com/gpu, label nvidia.com/gpu.count is 1"},
		},
		// NVIDIA/cloud-native-docs, gpu-operator-mig.
		"MIG, strategy single": {
			labels:   map[string]string{"nvidia.com/gpu.count": "7", "nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3-MIG-1g.10gb", "nvidia.com/gpu.slices.gi": "1", "nvidia.com/mig.strategy": "single"},
			capacity: map[string]string{"nvidia.com/gpu": "7"},
			want:     []string{"mig: label nvidia.com/gpu.product"},
		},
		// NVIDIA/k8s-device-plugin, issue 1462.
		"MIG, strategy mixed": {
			labels:   map[string]string{"nvidia.com/gpu.count": "2", "nvidia.com/gpu.product": "NVIDIA-A100-SXM4-80GB", "nvidia.com/mig-1g.10gb.replicas": "1"},
			capacity: map[string]string{"nvidia.com/gpu": "0", "nvidia.com/mig-1g.10gb": "12", "nvidia.com/mig-1g.20gb": "2", "nvidia.com/mig-2g.20gb": "0"},
			want:     []string{"mig: it offers nvidia.com/mig-1g.10gb", "mig: it offers nvidia.com/mig-1g.20gb"},
		},
		"MIG devices with replicas": {
			labels:   map[string]string{"nvidia.com/mig-1g.10gb.replicas": "2"},
			capacity: map[string]string{"nvidia.com/mig-1g.10gb.shared": "28"},
			want:     []string{"shared: label nvidia.com/mig-1g.10gb.replicas is 2", "mig: it offers", "shared: it offers"},
		},
		// cloud.google.com/kubernetes-engine, concepts/timesharing-gpus.
		"GKE, time sharing": {
			labels:   map[string]string{"cloud.google.com/gke-accelerator": "nvidia-l4", "cloud.google.com/gke-gpu-sharing-strategy": "time-sharing", "cloud.google.com/gke-max-shared-clients-per-gpu": "3"},
			capacity: map[string]string{"nvidia.com/gpu": "6"},
			want:     []string{"shared: label cloud.google.com/gke-gpu-sharing-strategy is time-sharing", "shared: label cloud.google.com/gke-max-shared-clients-per-gpu is 3"},
		},
		"GKE, MIG": {
			labels:   map[string]string{"cloud.google.com/gke-accelerator": "nvidia-tesla-a100", "cloud.google.com/gke-gpu-partition-size": "1g.5gb"},
			capacity: map[string]string{"nvidia.com/gpu": "7"},
			want:     []string{"mig: label cloud.google.com/gke-gpu-partition-size is 1g.5gb"},
		},
		// A guest of NVIDIA vGPU: NVIDIA/k8s-device-plugin (docs/gpu-feature-discovery, vGPU labels).
		"vGPU": {
			labels:   map[string]string{"nvidia.com/gpu.count": "8", "nvidia.com/gpu.product": "NVIDIA-A40-48Q", "nvidia.com/vgpu.present": "true", "nvidia.com/vgpu.host-driver-branch": "r535_00"},
			capacity: map[string]string{"nvidia.com/gpu": "8"},
			want:     []string{"shared: label nvidia.com/vgpu.present is true"},
		},
		"no vGPU": {labels: map[string]string{"nvidia.com/gpu.count": "8", "nvidia.com/vgpu.present": "false"}, capacity: map[string]string{"nvidia.com/gpu": "8"}},
		// Project-HAMi, protocol of device registration.
		"HAMi": {
			annotations: map[string]string{"hami.io/node-nvidia-register": `[{"id":"GPU-a","count":10,"devmem":32768,"devcore":100,"type":"NVIDIA-Tesla V100-PCIE-32GB","health":true}]`},
			capacity:    map[string]string{"nvidia.com/gpu": "10"},
			want:        []string{"shared: annotation hami.io/node-nvidia-register"},
		},
		// NVIDIA/k8s-device-plugin, gpu-feature-discovery: a resource without devices has 0 replicas, a label may be empty.
		"nothing to divide": {
			labels: map[string]string{
				"nvidia.com/gpu.replicas": "0", "nvidia.com/mig-1g.10gb.replicas": "", "nvidia.com/gpu.sharing-strategy": "",
				"cloud.google.com/gke-gpu-sharing-strategy": "", "cloud.google.com/gke-max-shared-clients-per-gpu": "1", "cloud.google.com/gke-gpu-partition-size": "",
			},
			capacity: map[string]string{"nvidia.com/gpu": "8"},
		},
		"labels and resources of others": {
			labels:   map[string]string{"example.com/gpu.replicas": "4", "example.com/product": "A-SHARED", "example.com/partition": "A-MIG-1g.10gb"},
			capacity: map[string]string{"nvidia.com/gpu": "8", "example.com/gpu.shared": "4"},
		},
		"two of each GPU": {
			labels:   map[string]string{"nvidia.com/gpu.count": "4"},
			capacity: map[string]string{"nvidia.com/gpu": "8"}, allocatable: map[string]string{"nvidia.com/gpu": "8"},
			want: []string{"shared: it offers 8 of nvidia.com/gpu, label nvidia.com/gpu.count is 4"},
		},
		"HAMi, two":        {annotations: map[string]string{"hami.io/node-nvidia-register": `[{"id":"GPU-a","count":2}]`}, want: []string{"shared: annotation"}},
		"HAMi, older":      {annotations: map[string]string{"hami.io/node-nvidia-register": "GPU-a,10,32768,100,NVIDIA-Tesla V100-PCIE-32GB,0,true:"}, want: []string{"shared: annotation"}},
		"HAMi, not shared": {annotations: map[string]string{"hami.io/node-nvidia-register": `[{"id":"GPU-a","count":1}]`}},
	} {
		n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Labels: tt.labels, Annotations: tt.annotations}, Status: corev1.NodeStatus{Capacity: corev1.ResourceList{}}}
		for resourceName, amount := range tt.capacity {
			n.Status.Capacity[corev1.ResourceName(resourceName)] = resource.MustParse(amount)
		}
		for resourceName, amount := range tt.allocatable {
			n.Status.Allocatable = corev1.ResourceList{corev1.ResourceName(resourceName): resource.MustParse(amount)}
		}
		got := Divisions(n)
		if len(got) != len(tt.want) {
			t.Errorf("%s: %+v, want %q", name, got, tt.want)
			continue
		}
		for i, d := range got {
			kind := map[bool]string{true: "mig: ", false: "shared: "}[d.MIG]
			if !strings.HasPrefix(kind+d.What, tt.want[i]) {
				t.Errorf("%s: %s%s, want %q", name, kind, d.What, tt.want[i])
			}
		}
	}
}
