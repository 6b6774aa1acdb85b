package detect

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A provider is written if every GPU node has its properties, and the device plugin is in its place.
func TestProvider(t *testing.T) {
	t.Parallel()
	node := func(id string, labels map[string]string) machine {
		return machine{node: &corev1.Node{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.NodeSpec{ProviderID: id}}}
	}
	aks := node("azure:///subscriptions/a", map[string]string{"kubernetes.azure.com/accelerator": "nvidia"})
	managed := node("azure:///subscriptions/a", map[string]string{"kubernetes.azure.com/accelerator": "nvidia", "kubernetes.azure.com/dcgm-exporter": "enabled"})
	of := func(kubelet string, m machine) machine {
		m.node.Status.NodeInfo.KubeletVersion = kubelet
		return m
	}
	eks := of("v1.33.5-eks-113cf36", node("aws:///us-east-2b/i-0a1b", nil))
	auto := of("v1.33.5-eks-113cf36", node("aws:///us-east-2b/i-0a1b", map[string]string{"eks.amazonaws.com/compute-type": "auto", "eks.amazonaws.com/instance-gpu-name": "h200"}))
	const plain = "nvidia-device-plugin-daemonset"
	for name, tt := range map[string]struct {
		machines  []machine
		namespace string
		sets      []string
		want      string
	}{
		"aks":                       {[]machine{aks, aks}, "gpu-resources", []string{plain}, "aks"},
		"aks, plugin elsewhere":     {[]machine{aks}, "kube-system", []string{plain}, ""},
		"aks managed":               {[]machine{managed}, "", nil, "aks-managed"},
		"aks, one pool not managed": {[]machine{managed, aks}, "", nil, ""},
		"eks":                       {[]machine{eks}, "kube-system", []string{plain}, "eks"},
		// Any machine of EC2 was taken for one of EKS.
		"RKE2 on EC2":                 {[]machine{of("v1.33.1+rke2r1", node("aws:///us-east-2b/i-0a1b", nil))}, "kube-system", []string{plain}, ""},
		"kubeadm on EC2":              {[]machine{of("v1.33.5", node("aws:///us-east-2b/i-0a1b", nil))}, "kube-system", []string{plain}, ""},
		"eks, one node of another":    {[]machine{eks, of("v1.33.5", node("aws:///us-east-2b/i-0a1b", nil))}, "kube-system", []string{plain}, ""},
		"eks, another chart":          {[]machine{eks}, "nvidia-device-plugin", []string{"nvdp-nvidia-device-plugin"}, ""},
		"eks, a second plugin":        {[]machine{eks}, "kube-system", []string{plain, "other"}, ""},
		"eks without a plugin":        {[]machine{eks}, "", nil, ""},
		"eks auto":                    {[]machine{auto}, "", nil, "eks-auto"},
		"gke":                         {[]machine{node("gce://p/z/n", map[string]string{"cloud.google.com/gke-accelerator": "nvidia-h100-80gb"})}, "kube-system", []string{"nvidia-gpu-device-plugin-large-cos"}, "gke"},
		"gke, its plugin is kept off": {[]machine{node("gce://p/z/n", map[string]string{"cloud.google.com/gke-accelerator": "nvidia-h100-80gb", "gke-no-default-nvidia-gpu-device-plugin": "true"})}, "kube-system", []string{"nvidia-gpu-device-plugin-large-cos"}, ""},
		"own machines":                {[]machine{node("", nil)}, "kube-system", []string{plain}, ""},
		"no GPU nodes":                {nil, "", nil, ""},
	} {
		if got, ok := provider(tt.machines, tt.namespace, tt.sets); got.Name != tt.want || ok != (tt.want != "") {
			t.Errorf("%s: %q, want %q", name, got.Name, tt.want)
		}
	}
}
