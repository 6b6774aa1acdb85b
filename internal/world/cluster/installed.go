package cluster

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	utilversion "k8s.io/apimachinery/pkg/util/version"

	"github.com/firstlight/firstlight/internal/world"
)

// Versions of container runtimes as nodes report them: k3s' own containerd (k3s v1.33.4+k3s1), and that of a
// distribution of Linux.
const (
	k3sRuntime  = "containerd://2.0.5-k3s2"
	hostRuntime = "containerd://1.7.27"
)

// asInstalled sets what kubelet and distribution show of a node; version is that of the API server. The lab's is
// kube-apiserver, without the suffix of k3s.
func asInstalled(node *corev1.Node, state world.State, host world.Node, version string) {
	info := &node.Status.NodeInfo
	info.KubeletVersion = kubeletVersion(version, host.MinorsNewer)
	if state.Distribution != world.K3s {
		return
	}
	if host.NotK3s {
		info.ContainerRuntimeVersion = hostRuntime
		return
	}
	info.KubeletVersion += "+k3s1"
	info.ContainerRuntimeVersion = k3sRuntime
	if host.HostContainerd {
		info.ContainerRuntimeVersion = hostRuntime
	}
	node.Annotations["k3s.io/hostname"], node.Annotations["k3s.io/internal-ip"] = host.Name, hostIP(host)
	if host.System { // a server; its instance type places the lab's own pods
		node.Labels["node-role.kubernetes.io/control-plane"] = "true"
		return
	}
	node.Labels[corev1.LabelInstanceTypeStable], node.Spec.ProviderID = "k3s", "k3s://"+host.Name
}

// kubeletVersion is a version some minor versions later.
func kubeletVersion(version string, later int) string {
	v, err := utilversion.ParseGeneric(version)
	if err != nil || later == 0 {
		return version
	}
	return fmt.Sprintf("v%d.%d.%d", v.Major(), int(v.Minor())+later, v.Patch()) //nolint:gosec // a minor version
}
