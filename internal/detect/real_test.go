package detect

import (
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/firstlight/firstlight/internal/conformance/dra/inventory"
)

// whole is a snapshot of a node with 8 whole GPUs, altered.
func whole(alter func(*Snapshot, *corev1.Node)) *Snapshot {
	s := oneNode(map[string]string{"nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3", "nvidia.com/gpu.count": "8", "nvidia.com/gpu.present": "true"}, map[string]string{"nvidia.com/gpu": "8"})
	alter(s, &s.Nodes[0])
	return s
}

func daemonSet(namespace, name string, desired int32, owner string) appsv1.DaemonSet {
	d := appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Status: appsv1.DaemonSetStatus{DesiredNumberScheduled: desired}}
	if kind, of, ok := strings.Cut(owner, "/"); ok {
		d.OwnerReferences = []metav1.OwnerReference{{Kind: kind, Name: of, Controller: new(true)}}
	}
	return d
}

// Objects as real clusters have them, with where they were seen. Lines that begin with ! must not be in the file.
func TestRealObjects(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		alter func(*Snapshot, *corev1.Node)
		want  []string
	}{
		// Taints of programs that remove or repair a node: kubernetes/autoscaler, kubernetes-sigs/karpenter, AKS auto-repair
		// (MicrosoftDocs/azure-aks-docs), OKE. Pods of gates must not tolerate them.
		"to be deleted": {func(_ *Snapshot, n *corev1.Node) {
			n.Spec.Taints = []corev1.Taint{{Key: "ToBeDeletedByClusterAutoscaler", Value: "1790000000", Effect: corev1.TaintEffectNoSchedule}, {Key: "sku", Value: "gpu", Effect: corev1.TaintEffectNoSchedule}}
		}, []string{"; has the taint ToBeDeletedByClusterAutoscaler=1790000000:NoSchedule", "tolerations: [{key: sku, ", "!tolerations: [{key: ToBeDeleted"}},
		"disrupted":     {taintOf("karpenter.sh/disrupted"), []string{"; has the taint karpenter.sh/disrupted:NoSchedule", "!tolerations:"}},
		"AKS repairs":   {taintOf("remediator.kubernetes.azure.com/unschedulable"), []string{"; has the taint remediator.", "!tolerations:"}},
		"OKE repairs":   {taintOf("oci.oraclecloud.com/node-auto-repair-scheduled"), []string{"; has the taint oci.", "!tolerations:"}},
		"not yet ready": {taintOf("readiness.k8s.io/doks-gpu"), []string{"; has the taint readiness.k8s.io/doks-gpu", "!tolerations:"}},
		"disk full":     {taintOf("node.kubernetes.io/disk-pressure"), []string{"; has the taint node.kubernetes.io/disk-pressure", "!tolerations:"}},
		// A pool's own taint, for which pods need a toleration: AKS spot.
		"of a pool": {taintOf("kubernetes.azure.com/scalesetpriority"), []string{"tolerations: [{key: kubernetes.azure.com/scalesetpriority", "!; has the taint"}},
		// NVIDIA/k8s-device-plugin, issue 519: an unhealthy GPU lowers allocatable.
		"unhealthy": {func(_ *Snapshot, n *corev1.Node) {
			n.Status.Allocatable = corev1.ResourceList{"nvidia.com/gpu": resource.MustParse("7")}
		}, []string{"; 7 of 8 nvidia.com/gpu allocatable"}},
		// Each machine had a text of its own.
		"an unknown cloud": {func(s *Snapshot, n *corev1.Node) {
			n.Spec.ProviderID = "sample://computeinstance-e00aaa"
			s.Nodes = append(s.Nodes, *n.DeepCopy())
			s.Nodes[1].Name, s.Nodes[1].Spec.ProviderID = "gpu-b", "sample://computeinstance-e00bbb"
		}, []string{"# machines: 2 x unknown cloud (spec.providerID sample://...)"}},
		"Nebius": {func(_ *Snapshot, n *corev1.Node) { n.Spec.ProviderID = "nebius://computeinstance-e00aaa" }, []string{"# machines: 1 x Nebius (spec.providerID nebius://...)"}},
		// Node feature discovery alone, with its default label of class and vendor: NVIDIA/gpu-operator (controllers/state_manager.go).
		"before the GPU Operator": {func(_ *Snapshot, n *corev1.Node) {
			n.Labels = map[string]string{"feature.node.kubernetes.io/pci-0302_10de.present": "true", "feature.node.kubernetes.io/pci-0207_15b3.present": "true"}
			n.Status.Capacity = nil
		}, []string{"!# seen: no GPU\n", "# GPUs: 1 node", "adapters of NVIDIA (label feature.node.kubernetes.io/pci-0207_15b3.present)", "no node offers nvidia.com/gpu"}},
		"another vendor's": {func(_ *Snapshot, n *corev1.Node) {
			n.Labels = map[string]string{"feature.node.kubernetes.io/pci-0300_1a03.present": "true", "feature.node.kubernetes.io/pci-0200_10de.present": "true"}
			n.Status.Capacity = nil
		}, []string{"# seen: no GPU\n"}},
		// DGX H100 with Base Command Manager: SR-IOV resources of InfiniBand adapters.
		"DGX": {func(_ *Snapshot, n *corev1.Node) {
			n.Status.Capacity["nvidia.com/resibp24s0"], n.Status.Capacity["nvidia.com/resibp64s0"] = resource.MustParse("8"), resource.MustParse("8")
		}, []string{"# network: 8 of nvidia.com/resibp24s0 a node, 8 of nvidia.com/resibp64s0 a node"}},
		// docs.coreweave.com, labels of InfiniBand and RoCE.
		"CoreWeave": {func(_ *Snapshot, n *corev1.Node) {
			n.Labels["backend.coreweave.cloud/flavor"] = "roce"
			n.Status.Capacity["rdma/roce"] = resource.MustParse("1")
		}, []string{"a fabric of kind roce (label backend.coreweave.cloud/flavor is roce)", "one of h100-sxm-roce200, h100-sxm-roce400:"}},
		// NVIDIA/aicr, docs/integrator/oke-gpu-setup.md: OKE has a DaemonSet of the same name as GKE.
		"OKE": {func(s *Snapshot, n *corev1.Node) {
			n.Labels["oci.oraclecloud.com/fault-domain"], n.Spec.ProviderID = "FAULT-DOMAIN-1", "ocid1.instance.oc1.iad.aaaa"
			s.DaemonSets = []appsv1.DaemonSet{daemonSet("kube-system", "nvidia-gpu-device-plugin", 1, "")}
		}, []string{"nvidia-gpu-device-plugin (OKE's own device plugin)", "!GKE"}},
		// kubectl get ds -n kube-system on GKE with one pool of a3-highgpu-8g: a DaemonSet for each size and image.
		"GKE": {func(s *Snapshot, n *corev1.Node) {
			n.Labels["cloud.google.com/gke-accelerator"], n.Spec.ProviderID = "nvidia-h100-80gb", "gce://p/z/n"
			n.Status.NodeInfo.KubeletVersion = "v1.33.5-gke.1080000"
			for _, size := range []string{"small", "medium", "large"} {
				s.DaemonSets = append(s.DaemonSets, daemonSet("kube-system", "nvidia-gpu-device-plugin-"+size+"-ubuntu", 0, ""), daemonSet("kube-system", "nvidia-gpu-device-plugin-"+size+"-cos", map[string]int32{"large": 1}[size], ""))
			}
		}, []string{"provider: gke", "operands: [nvidia-gpu-device-plugin*]", "device plugins: DaemonSet kube-system/nvidia-gpu-device-plugin-large-cos (GKE's own device plugin)\n"}},
		// kubectl get ds of the chart nvidia-device-plugin v0.17 with gfd.enabled=true.
		"the chart of the device plugin": {func(s *Snapshot, _ *corev1.Node) {
			s.DaemonSets = []appsv1.DaemonSet{
				daemonSet("nvidia", "nvdp-node-feature-discovery-worker", 4, ""), daemonSet("nvidia", "nvdp-nvidia-device-plugin", 1, ""),
				daemonSet("nvidia", "nvdp-nvidia-device-plugin-gpu-feature-discovery", 1, ""), daemonSet("nvidia", "nvdp-nvidia-device-plugin-mps-control-daemon", 0, ""),
			}
		}, []string{"operands: [nvdp-nvidia-device-plugin]  # seen"}},
		"a release of another name": {func(s *Snapshot, _ *corev1.Node) {
			s.DaemonSets = []appsv1.DaemonSet{daemonSet("gpu", "gpu-stack-nvidia-device-plugin", 1, "")}
		}, []string{"operands: [gpu-stack-nvidia-device-plugin]  # seen", "(NVIDIA's device plugin on its own)"}},
		"HAMi": {func(s *Snapshot, _ *corev1.Node) {
			s.DaemonSets = []appsv1.DaemonSet{daemonSet("kube-system", "hami-device-plugin", 1, "")}
		}, []string{"operands: [hami-device-plugin]  # seen", "(HAMi's device plugin"}},
		// OpenShift: a driver's DaemonSet has the version of RHCOS; one of an NVIDIADriver has a hash, and its own judge.
		"drivers": {func(s *Snapshot, _ *corev1.Node) {
			s.Policies, s.Drivers = []Policy{{Name: "gpu-cluster-policy", Namespace: "nvidia-gpu-operator"}}, []string{"a"}
			s.DaemonSets = []appsv1.DaemonSet{
				daemonSet("nvidia-gpu-operator", "nvidia-device-plugin-daemonset", 1, "ClusterPolicy/gpu-cluster-policy"), daemonSet("nvidia-gpu-operator", "nvidia-device-plugin-mps-control-daemon", 0, "ClusterPolicy/gpu-cluster-policy"),
				daemonSet("nvidia-gpu-operator", "nvidia-driver-daemonset-418.94.202509100653-0", 1, "ClusterPolicy/gpu-cluster-policy"), daemonSet("nvidia-gpu-operator", "nvidia-driver-daemonset-418.94.202510100653-0", 1, "ClusterPolicy/gpu-cluster-policy"),
				daemonSet("nvidia-gpu-operator", "nvidia-gpu-driver-rhcos4.18-797bd4457c", 1, "NVIDIADriver/a"),
			}
		}, []string{"operands: [nvidia-device-plugin-daemonset, nvidia-driver-daemonset-*]  # seen"}},
		// MIG manager has no pods on GPUs without MIG, and the driver none on hosts with their own: gate gpustack judges them by labels.
		"an operand on a part of the nodes": {func(s *Snapshot, n *corev1.Node) {
			other := n.DeepCopy()
			other.Name = "gpu-b"
			s.Nodes = append(s.Nodes, *other)
			s.Policies = []Policy{{Name: "cluster-policy", Namespace: "gpu-operator"}}
			s.DaemonSets = []appsv1.DaemonSet{daemonSet("gpu-operator", "nvidia-mig-manager", 1, "ClusterPolicy/cluster-policy"), daemonSet("gpu-operator", "nvidia-dcgm-exporter", 2, "ClusterPolicy/cluster-policy")}
		}, []string{"  # TODO: DaemonSet nvidia-mig-manager has pods on 1 of 2 GPU nodes: repair it", "operands: [nvidia-dcgm-exporter, nvidia-mig-manager]  # seen", "!DaemonSet nvidia-dcgm-exporter has"}},
		// GPU Operator v26.7 with DRA has a GPUCluster and no ClusterPolicy.
		"GPUCluster": {func(s *Snapshot, _ *corev1.Node) {
			s.Policies, s.Clusters = nil, []Policy{{Name: "gpu-cluster", Namespace: "gpu-operator"}}
			s.DaemonSets = []appsv1.DaemonSet{daemonSet("gpu-operator", "nvidia-dra-driver-kubelet-plugin", 1, "GPUCluster/gpu-cluster")}
		}, []string{"namespace: gpu-operator  # seen: status.namespace of GPUCluster gpu-cluster", "gpuCluster: gpu-cluster  # seen", "operands: [nvidia-dra-driver-kubelet-plugin]  # seen", "!clusterPolicy:", "!managedBy:"}},
		// The chart prometheus-community/prometheus: the API has port 80 of its Service; its other Services begin alike.
		"Prometheus without its operator": {func(s *Snapshot, _ *corev1.Node) {
			s.Services = []corev1.Service{service("prometheus-server", "prometheus", 80, 9090), service("prometheus-kube-state-metrics", "kube-state-metrics", 8080, 8080), service("prometheus-alertmanager", "alertmanager", 9093, 9093)}
		}, []string{"service: monitoring/prometheus-server:80  # seen", "service: monitoring/prometheus-alertmanager:9093  # seen"}},
		// GPU feature discovery before v0.15 (NVIDIA/gpu-operator, issue 487).
		"an older feature discovery": {func(_ *Snapshot, n *corev1.Node) {
			n.Labels["nvidia.com/cuda.driver.major"], n.Labels["nvidia.com/cuda.driver.minor"], n.Labels["nvidia.com/cuda.driver.rev"] = "530", "41", "03"
		}, []string{"driverVersion: 530.41.03  # seen"}},
		"a rack of CoreWeave": {func(_ *Snapshot, n *corev1.Node) { n.Labels["node.coreweave.cloud/rack"] = "12" }, []string{`rack: "12"}`, "rack by label node.coreweave.cloud/rack"}},
		// kubernetes-sigs/dra-driver-nvidia-gpu, issue 719.
		"DRA, divided": {func(s *Snapshot, n *corev1.Node) {
			n.Labels, n.Status.Capacity = nil, nil
			s.Slices = []inventory.Slice{{Driver: inventory.Driver, Pool: n.Name, Node: n.Name, PoolSlices: 1, Devices: []inventory.Device{
				{Name: "gpu-0", Type: "gpu", UUID: "GPU-a", Product: "NVIDIA A100 80GB PCIe"}, {Name: "gpu-0-mig-0", Type: "mig", Parent: "GPU-a"},
			}}}
		}, []string{"!# seen: no GPU\n", "gpu-0 is divided: MIG device gpu-0-mig-0 is a part of it"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := write(t, whole(tt.alter))
			for _, want := range tt.want {
				line, absent := strings.CutPrefix(want, "!")
				if strings.Contains(file, line) == absent {
					t.Errorf("%q: in the file %t\n%s", line, !absent, file)
				}
			}
		})
	}
}

func service(name, of string, port, target int32) corev1.Service {
	return corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: "monitoring", Name: name, Labels: map[string]string{"app.kubernetes.io/name": of}},
		Spec:       corev1.ServiceSpec{Ports: []corev1.ServicePort{{Name: "http", Port: port, TargetPort: intstr.FromInt32(target)}}},
	}
}

func taintOf(key string) func(*Snapshot, *corev1.Node) {
	return func(_ *Snapshot, n *corev1.Node) {
		n.Spec.Taints = []corev1.Taint{{Key: key, Effect: corev1.TaintEffectNoSchedule}}
	}
}
