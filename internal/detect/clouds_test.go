package detect

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/firstlight/firstlight/internal/conformance/dra/inventory"
	"github.com/firstlight/firstlight/internal/golden"
	"github.com/firstlight/firstlight/internal/probe/prom"
	"github.com/firstlight/firstlight/internal/workload"
)

// fixture is a file of testdata: objects as clusters have them, with where they were published.
type fixture struct {
	Version     string              `json:"version"`
	Context     string              `json:"context"`
	ClusterName string              `json:"clusterName"`
	Unread      map[string]string   `json:"unread"`
	Schedulers  []workload.Detected `json:"schedulers"`
	Policies    []Policy            `json:"policies"`
	Drivers     []string            `json:"drivers"`
	Rules       []Rules             `json:"rules"`
	RulesServed bool                `json:"rulesServed"`
	Targets     []prom.Target       `json:"targets"`
	Receivers   []prom.Receiver     `json:"receivers"`
	Objects     []json.RawMessage   `json:"objects"`
	Slices      []inventory.Slice   `json:"slices"`
	RDMA        []RDMADevice        `json:"rdma"`
}

func load(t *testing.T, name string) *Snapshot {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", name+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(raw), "# ") || !strings.Contains(string(raw), "https://") {
		t.Fatalf("%s names no source", name)
	}
	var f fixture
	if err := yaml.UnmarshalStrict(raw, &f); err != nil {
		t.Fatal(err)
	}
	s := &Snapshot{
		Version: f.Version, Context: f.Context, ClusterName: f.ClusterName, Schedulers: f.Schedulers, Policies: f.Policies, Drivers: f.Drivers, Rules: f.Rules, RulesServed: f.RulesServed,
		Targets: f.Targets, Receivers: f.Receivers, Slices: f.Slices, RDMA: f.RDMA, Unread: f.Unread,
	}
	for _, object := range f.Objects {
		var kind struct {
			Kind string `json:"kind"`
		}
		into := func(v any) {
			t.Helper()
			if err := yaml.UnmarshalStrict(object, v); err != nil {
				t.Fatal(err)
			}
		}
		if err := json.Unmarshal(object, &kind); err != nil {
			t.Fatal(err)
		}
		switch kind.Kind {
		case "Node":
			var n corev1.Node
			into(&n)
			s.Nodes = append(s.Nodes, n)
		case "DaemonSet":
			var d appsv1.DaemonSet
			into(&d)
			s.DaemonSets = append(s.DaemonSets, d)
		case "Service":
			var v corev1.Service
			into(&v)
			s.Services = append(s.Services, v)
		default:
			t.Fatalf("%s: kind %q", name, kind.Kind)
		}
	}
	return s
}

func write(t *testing.T, s *Snapshot) string {
	t.Helper()
	result, err := File(s)
	if err != nil {
		t.Fatal(err)
	}
	if result.TODOs != strings.Count(string(result.File), "# TODO: ") {
		t.Errorf("%d TODOs are reported, the file has %d", result.TODOs, strings.Count(string(result.File), "# TODO: "))
	}
	return string(result.File)
}

// TestClouds checks the values of each kind of cluster. The golden file has the whole site file.
func TestClouds(t *testing.T) {
	t.Parallel()
	for name, want := range map[string][]string{
		"eks-p5": {
			"# distribution: 3 nodes of Amazon EKS (kubelet v1.33.5-eks-113cf36); API server v1.33.5-eks-113cf36",
			"# machines: 3 x Amazon EC2 (spec.providerID aws://...)",
			"name: train-prod  # seen: ",
			"spine: kubernetes  # seen: the distribution of the nodes: 3 nodes of Amazon EKS",
			"profile: h100-sxm-efa-p5  # seen: label node.kubernetes.io/instance-type is p5.48xlarge",
			"    - {name: ip-10-0-114-53.us-east-2.compute.internal, address: 10.0.114.53:22}  # seen: 8 x NVIDIA-H100-80GB-HBM3",
			"    - {name: ip-10-0-1-9.us-east-2.compute.internal, address: 10.0.1.9:22}  # seen: no GPU",
			"  driverVersion: 580.105.08  # seen: ",
			"    service: monitoring/kube-prometheus-stack-prometheus:9090  # seen: ",
			"    service: monitoring/kube-prometheus-stack-alertmanager:9093  # seen: ",
			"  networkResource: vpc.amazonaws.com/efa  # seen: ",
			"  networkResourceCount: 32  # seen: ",
			"  namespace: gpu-operator  # seen: status.namespace",
			"  clusterPolicy: cluster-policy  # seen: ",
			"  operands: [nvidia-dcgm-exporter, nvidia-device-plugin-daemonset]  # seen: ",
			"  gangScheduler: kai  # seen: ",
			`  queue: ""  # TODO: `,
			"  scrapeInterval: 15s  # seen: ",
			"  receiver: pagerduty  # seen: ",
			"  taint: nvidia.com/gpu=present:NoSchedule  # seen: ",
			"  soak: 10m  # default: the floor of firstlight",
		},
		"gke-a3-mega": {
			"# distribution: 1 node of Google GKE (kubelet v1.33.5-gke.1080000)",
			"# machines: 1 x Google Compute Engine",
			"# device plugins: DaemonSet kube-system/nvidia-gpu-device-plugin-large-cos (GKE's own device plugin)",
			"a fabric of kind tcpxo (label cloud.google.com/gke-accelerator is nvidia-h100-mega-80gb)",
			"name: train  # seen: ",
			"profile: h100-sxm-tcpxo  # seen: label node.kubernetes.io/instance-type is a3-megagpu-8g",
			"  managedBy: provider  # seen: no ClusterPolicy, and DaemonSet kube-system/nvidia-gpu-device-plugin-large-cos",
			"  namespace: kube-system  # seen: ",
			"  operands: [nvidia-gpu-device-plugin*]  # seen: ",
			`    service: ""  # TODO: namespace/name:port of prometheus`,
			"    service: gmp-system/alertmanager:9093  # seen: ",
			"  # networkResource: TCPXO has no extended resource",
			"  gangScheduler: kueue  # seen: ",
			"  # driverVersion: not seen",
		},
		"aks-nd-h100": {
			"# distribution: 1 node of Azure AKS (label kubernetes.azure.com/cluster, kubelet v1.33.3); API server v1.33.3",
			"# machines: 1 x Azure (spec.providerID azure://...)",
			"profile: h100-sxm-ndr400  # seen: label node.kubernetes.io/instance-type is Standard_ND96isr_H100_v5",
			"address: 10.224.0.33:22}  # seen: 8 x a GPU without a name (nvidia.com/gpu in status.capacity); cordoned",
			"  networkResource: rdma/shared_ib  # seen: ",
			"  networkResourceCount: 63  # seen: ",
			"  switches: []  # TODO: ",
			"  hcas: []  # TODO: ",
			"  gangScheduler: auto  # default: the first of volcano (scheduling.volcano.sh/v1beta1), kueue",
			"  managedBy: provider  # seen: no ClusterPolicy, and DaemonSet gpu-resources/nvidia-device-plugin-daemonset (NVIDIA's device plugin on its own)",
			"  operands: [nvidia-device-plugin-daemonset]  # seen: ",
			"  taint: none  # seen: ",
			"      tolerations: [{key: sku, operator: Equal, value: gpu, effect: NoSchedule}]  # seen: ",
		},
		"openshift-a100": {
			"# distribution: 3 nodes of Red Hat OpenShift (label node.openshift.io/os_id, kubelet v1.33.5)",
			"# machines: 3 x no cloud (spec.providerID is empty)",
			"# GPUs: 3 nodes with 8 x NVIDIA-A100-SXM4-80GB",
			`profile: ""  # TODO: one of a100-sxm-80gb-hdr200, a100-sxm-80gb-roce200: 8 x NVIDIA-A100-SXM4-80GB a node was seen, 8 of openshift.io/mlnxrdma a node`,
			"# seen: 7 x NVIDIA-A100-SXM4-80GB (nvidia.com/gpu in status.capacity); most nodes have 8",
			"# seen: 8 x NVIDIA-A100-SXM4-80GB (nvidia.com/gpu in status.capacity); not Ready",
			"  # seen: NVIDIADriver a100",
			"  namespace: nvidia-gpu-operator  # seen: DaemonSet nvidia-dcgm-exporter of the operator",
			"  operands: [nvidia-dcgm-exporter]  # seen: ",
			"name: api-train-example-com-6443  # seen: ",
			"    service: https:openshift-monitoring/prometheus-k8s:9091  # TODO: check that this is the API of prometheus, found by its label app.kubernetes.io/name and port: list targets of service https:openshift-monitoring/prometheus-k8s:9091: 401",
			"    service: https:openshift-monitoring/alertmanager-main:9094  # seen: ",
			"  scrapeInterval: 15s  # TODO: ",
		},
		"k3s-l40s": {
			"# distribution: 1 node of k3s (kubelet v1.33.4+k3s1); API server v1.33.4+k3s1",
			"# k3s has a containerd of its own: the container toolkit of the GPU Operator needs toolkit.env CONTAINERD_SOCKET=/run/k3s/containerd/containerd.sock",
			"spine: k3s  # seen: ",
			"profile: l40s  # seen: label nvidia.com/gpu.product is NVIDIA-L40S, 8 a node",
			"  # TODO: GPUs of psduyqnrwtts are divided (label nvidia.com/gpu.product is NVIDIA-L40S-SHARED; label nvidia.com/gpu.replicas is 4; ",
			"(NVIDIA's device plugin on its own)",
			"  gangScheduler: auto  # TODO: install a gang scheduler",
		},
		"rke2-gb200": {
			"# distribution: 1 node of RKE2 (kubelet v1.34.1+rke2r1)",
			"# RKE2 has a containerd of its own: the container toolkit of the GPU Operator needs toolkit.env CONTAINERD_SOCKET=/run/k3s/containerd/containerd.sock",
			"spine: kubernetes  # seen: ",
			"# DRA: 4 devices of gpu.nvidia.com in ResourceSlices",
			"# GPUs: 1 node with 4 x NVIDIA GB200 (productName of ResourceSlices of gpu.nvidia.com",
			`profile: ""  # TODO: one of gb200-nvl72-ndr400: 4 x NVIDIA GB200 a node was seen, RDMA devices mlx5_0, mlx5_1, mlx5_4, mlx5_5 by DRANET`,
			"  deviceClass: gpu.nvidia.com  # seen: no node offers nvidia.com/gpu",
			"  hcas: [mlx5_0, mlx5_1, mlx5_4, mlx5_5]  # seen: ",
		},
		"dgx-h100": {
			"# machines: 2 x no cloud (spec.providerID is empty)",
			"# network: 8 of nvidia.com/resibp154s0 a node, 8 of nvidia.com/resibp192s0 a node",
			`profile: ""  # TODO: one of h100-sxm-hdr200, h100-sxm-ndr400, h100-sxm-roce200, h100-sxm-roce400: 8 x NVIDIA-H100-80GB-HBM3 a node was seen`,
			"  hcas: []  # TODO: ",
			"  networkResource: nvidia.com/resibp154s0  # TODO: one resource: ",
			"  operands: [gpu-feature-discovery, nvidia-dcgm-exporter, nvidia-device-plugin-daemonset, nvidia-operator-validator]  # seen: ",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := write(t, load(t, name))
			for _, line := range want {
				if !strings.Contains(got, line) {
					t.Errorf("the file lacks %q", line)
				}
			}
			golden.Compare(t, filepath.Join("testdata", name+".golden.yaml"), got)
		})
	}
}
