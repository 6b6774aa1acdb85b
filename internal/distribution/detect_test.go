package distribution

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestOf has nodes as their clusters show them; the source of each is in its comment.
func TestOf(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		kubelet, runtime, os string
		labels, annotations  map[string]string
		want, mark           string
	}{
		// docs.k3s.io, issues of k3s-io/k3s: kubectl get nodes -o wide
		"k3s":                       {kubelet: "v1.33.4+k3s1", runtime: "containerd://2.0.5-k3s2", want: "k3s", mark: "kubelet v1.33.4+k3s1"},
		"a release candidate":       {kubelet: "v1.33.5-rc1+k3s1", want: "k3s", mark: "kubelet v1.33.5-rc1+k3s1"},
		"a build from a commit":     {kubelet: "v1.27.1+k3s-bc5b42c2", want: "k3s", mark: "kubelet v1.27.1+k3s-bc5b42c2"},
		"k3s with Docker":           {kubelet: "v1.33.4+k3s1", runtime: "docker://28.0.4", want: "k3s", mark: "kubelet v1.33.4+k3s1"},
		"RKE2":                      {kubelet: "v1.33.1+rke2r1", runtime: "containerd://2.0.5-k3s1", want: "RKE2", mark: "kubelet v1.33.1+rke2r1"},
		"k0s":                       {kubelet: "v1.33.2+k0s", runtime: "containerd://1.7.27", want: "k0s", mark: "kubelet v1.33.2+k0s"},
		"EKS":                       {kubelet: "v1.33.5-eks-113cf36", runtime: "containerd://1.7.27", want: "Amazon EKS", mark: "kubelet v1.33.5-eks-113cf36"},
		"GKE":                       {kubelet: "v1.33.5-gke.1080000", want: "Google GKE", mark: "kubelet v1.33.5-gke.1080000"},
		"MicroK8s":                  {kubelet: "v1.26.4", labels: map[string]string{"microk8s.io/cluster": "true", "node.kubernetes.io/microk8s-controlplane": "microk8s-controlplane"}, want: "MicroK8s", mark: "label microk8s.io/cluster"},
		"OpenShift 4.7":             {kubelet: "v1.20.0+bd9e442", runtime: "cri-o://1.20.0-0.rhaos4.7.gitfdbdf43.el8.52", labels: map[string]string{"node.openshift.io/os_id": "rhcos"}, want: "Red Hat OpenShift", mark: "label node.openshift.io/os_id"},
		"AKS":                       {kubelet: "v1.33.3", labels: map[string]string{"kubernetes.azure.com/cluster": "MC_train_train_eastus2"}, want: "Azure AKS", mark: "label kubernetes.azure.com/cluster"},
		"Talos":                     {kubelet: "v1.34.1", os: "Talos (v1.11.2)", runtime: "containerd://2.1.4", want: "Talos Linux", mark: "OS image Talos (v1.11.2)"},
		"kubeadm":                   {kubelet: "v1.27.4", annotations: map[string]string{"kubeadm.alpha.kubernetes.io/cri-socket": "unix:///var/run/containerd/containerd.sock"}, want: "kubeadm", mark: "annotation kubeadm.alpha.kubernetes.io/cri-socket"},
		"k3s on machines of AKS":    {kubelet: "v1.33.4+k3s1", labels: map[string]string{"kubernetes.azure.com/cluster": "MC"}, want: "k3s", mark: "kubelet v1.33.4+k3s1"},
		"plain Kubernetes":          {kubelet: "v1.33.4"},
		"a label that anyone sets":  {kubelet: "v1.33.4", labels: map[string]string{"node.kubernetes.io/instance-type": "k3s"}},
		"KWOK":                      {kubelet: "kwok-v0.8.0", runtime: "kwok-v0.8.0"},
		"OpenShift without a label": {kubelet: "v1.20.0+bd9e442"},
		"k3s in another place":      {kubelet: "v1.33.4-k3s1"},
		"a kubelet without version": {},
	} {
		n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "a", Labels: c.labels, Annotations: c.annotations}}
		n.Status.NodeInfo = corev1.NodeSystemInfo{KubeletVersion: c.kubelet, ContainerRuntimeVersion: c.runtime, OSImage: c.os}
		node, err := NodeOf(n)
		if err != nil {
			t.Fatal(err)
		}
		found, err := Of(node)
		if err != nil || found.Name != c.want || found.Mark != c.mark || found.Known() != (c.want != "") {
			t.Errorf("%s: %q by %q, %v, want %q by %q", name, found.Name, found.Mark, err, c.want, c.mark)
		}
	}
}

func TestGroups(t *testing.T) {
	t.Parallel()
	groups, err := Groups([]Node{
		{Name: "c", Kubelet: "v1.33.4+k3s1"}, {Name: "a", Kubelet: "v1.32.8+k3s1"}, {Name: "b", Kubelet: "v1.33.4"}, {Name: "d"},
		{Name: "e", Kubelet: "v1.33.3", Marks: []string{"kubernetes.azure.com/cluster"}}, {Name: "f", Kubelet: "v1.33.4+k3s1"},
	})
	if err != nil {
		t.Fatal(err)
	}
	const want = "3 nodes of k3s (kubelet v1.32.8+k3s1, v1.33.4+k3s1), 2 nodes without a mark of a known distribution (kubelet v1.33.4), 1 node of Azure AKS (label kubernetes.azure.com/cluster, kubelet v1.33.3)"
	if got := Describe(groups); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got := strings.Join(groups[0].Nodes, ","); got != "a,c,f" {
		t.Error(got)
	}
	if unknown, err := Groups([]Node{{Name: "d"}}); err != nil || Describe(unknown) != "1 node without a mark of a known distribution (kubelet version unknown)" {
		t.Error(Describe(unknown), err)
	}
}

func TestKubeletLog(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		kubelet string
		labels  map[string]string
		want    string
	}{
		"an agent":  {"v1.33.4+k3s1", nil, "journalctl -u k3s-agent"},
		"a server":  {"v1.33.4+k3s1", map[string]string{"node-role.kubernetes.io/control-plane": "true"}, "journalctl -u k3s"},
		"RKE2":      {"v1.33.4+rke2r1", nil, "journalctl -u rke2-agent"},
		"EKS":       {"v1.33.5-eks-113cf36", nil, "journalctl -u kubelet"},
		"a master":  {"v1.33.4", map[string]string{"node-role.kubernetes.io/control-plane": ""}, "journalctl -u kubelet"},
		"MicroK8s":  {"v1.33.4", map[string]string{"microk8s.io/cluster": "true"}, "journalctl -u snap.microk8s.daemon-kubelite"},
		"a new one": {"", nil, "journalctl -u kubelet"},
	} {
		n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Labels: c.labels}}
		n.Status.NodeInfo.KubeletVersion = c.kubelet
		if got := KubeletLog(n); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}
