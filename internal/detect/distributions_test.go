package detect

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The spine is that of the nodes: mixed and unknown distributions are stated, and never guessed.
func TestSpineOfNodes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		server   string
		kubelets []string
		want     []string
	}{
		"k3s":            {"v1.33.4+k3s1", []string{"v1.33.4+k3s1", "v1.33.4+k3s1"}, []string{"spine: k3s  # seen: the distribution of the nodes: 2 nodes of k3s (kubelet v1.33.4+k3s1)"}},
		"two versions":   {"v1.33.4+k3s1", []string{"v1.33.4+k3s1", "v1.32.8+k3s1"}, []string{"spine: k3s  # seen: the distribution of the nodes: 2 nodes of k3s (kubelet v1.32.8+k3s1, v1.33.4+k3s1)"}},
		"mixed":          {"v1.33.4+k3s1", []string{"v1.33.4+k3s1", "v1.33.4+rke2r1"}, []string{"spine: kubernetes  # TODO: nodes of different distributions: "}},
		"a node unknown": {"v1.33.4+k3s1", []string{"v1.33.4+k3s1", "v1.33.4"}, []string{"spine: kubernetes  # TODO: nodes of different distributions: ", "1 node without a mark of a known distribution (kubelet v1.33.4)"}},
		"unknown":        {"v1.33.4", []string{"v1.33.4"}, []string{"spine: kubernetes  # seen: ", "1 node without a mark of a known distribution (kubelet v1.33.4)"}},
		"no nodes":       {"v1.33.4+k3s1", nil, []string{"spine: k3s  # TODO: the cluster has no nodes", "# distribution: no node; API server v1.33.4+k3s1"}},
		"a virtual cluster": {"v1.33.4+k3s1", []string{"v1.33.5-eks-113cf36"}, []string{
			"spine: kubernetes  # seen: ", "# the API server is that of k3s, and no node is: it may be that of a virtual cluster",
		}},
		"no version": {"", []string{"v1.33.4+k3s1"}, []string{"API server of unknown version: forbidden", "spine: k3s  # seen: "}},
	} {
		s := &Snapshot{Version: c.server, Unread: map[string]string{unreadVersion: "forbidden"}}
		for i, kubelet := range c.kubelets {
			n := corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: string(rune('a' + i))}}
			n.Status.NodeInfo.KubeletVersion = kubelet
			s.Nodes = append(s.Nodes, n)
		}
		file := write(t, s)
		for _, want := range c.want {
			if !strings.Contains(file, want) {
				head, _, _ := strings.Cut(file, "facility:")
				t.Errorf("%s: the file lacks %q:\n%s", name, want, head)
			}
		}
	}
}
