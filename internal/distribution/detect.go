package distribution

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// Node is what the API shows of a node's distribution.
type Node struct {
	Name    string `json:"name"`
	Kubelet string `json:"kubelet"`
	Runtime string `json:"runtime"`
	OSImage string `json:"osImage,omitempty"`
	// Marks are its labels and annotations that are marks of distributions, by key.
	Marks []string `json:"marks,omitempty"`
	// ControlPlane: it has the label of control plane nodes.
	ControlPlane bool `json:"controlPlane,omitempty"`
}

const labelControlPlane = "node-role.kubernetes.io/control-plane"

// NodeOf reads a node.
func NodeOf(n *corev1.Node) (Node, error) {
	list, err := all()
	if err != nil {
		return Node{}, err
	}
	info := n.Status.NodeInfo
	out := Node{Name: n.Name, Kubelet: info.KubeletVersion, Runtime: info.ContainerRuntimeVersion, OSImage: info.OSImage}
	_, out.ControlPlane = n.Labels[labelControlPlane]
	for _, d := range list {
		if _, ok := n.Labels[d.Marks.Label]; ok {
			out.Marks = append(out.Marks, d.Marks.Label)
		}
		if _, ok := n.Annotations[d.Marks.Annotation]; ok {
			out.Marks = append(out.Marks, d.Marks.Annotation)
		}
	}
	return out, nil
}

// Found is the distribution of a node with the mark that shows it. The zero Found is a node without a known mark.
type Found struct {
	Distribution
	Mark string
}

// Known reports whether the node has a known mark.
func (f Found) Known() bool { return f.Name != "" }

// Of recognises the distribution of a node. The version of the kubelet, which is its own report, counts before
// labels, which others can set.
func Of(n Node) (Found, error) {
	list, err := all()
	if err != nil {
		return Found{}, err
	}
	for _, d := range list {
		if d.Marks.kubelet != nil && d.Marks.kubelet.MatchString(n.Kubelet) {
			return Found{d, "kubelet " + n.Kubelet}, nil
		}
	}
	for _, d := range list {
		switch {
		case d.Marks.Label != "" && slices.Contains(n.Marks, d.Marks.Label):
			return Found{d, "label " + d.Marks.Label}, nil
		case d.Marks.osImage != nil && d.Marks.osImage.MatchString(n.OSImage):
			return Found{d, "OS image " + n.OSImage}, nil
		case d.Marks.Annotation != "" && slices.Contains(n.Marks, d.Marks.Annotation):
			return Found{d, "annotation " + d.Marks.Annotation}, nil
		}
	}
	return Found{}, nil
}

// OfServer recognises the distribution of an API server by its version.
func OfServer(version string) (Found, error) { return Of(Node{Kubelet: version}) }

// Group is the nodes of one distribution, or those without a known mark.
type Group struct {
	Found
	// Nodes are their names, Versions those of their kubelets, both sorted.
	Nodes, Versions []string
}

// String describes the group: "3 nodes of k3s (kubelet v1.33.4+k3s1)".
func (g Group) String() string {
	count := fmt.Sprintf("%d nodes", len(g.Nodes))
	if len(g.Nodes) == 1 {
		count = "1 node"
	}
	versions := cmp.Or(strings.Join(g.Versions, ", "), "version unknown")
	if !g.Known() {
		return fmt.Sprintf("%s without a mark of a known distribution (kubelet %s)", count, versions)
	}
	mark := ""
	if !strings.HasPrefix(g.Mark, "kubelet ") {
		mark = g.Mark + ", "
	}
	return fmt.Sprintf("%s of %s (%skubelet %s)", count, g.Name, mark, versions)
}

// Groups are the nodes by distribution, the largest group first.
func Groups(nodes []Node) ([]Group, error) {
	by := map[string]*Group{}
	for _, n := range nodes {
		found, err := Of(n)
		if err != nil {
			return nil, err
		}
		g := by[found.Name]
		if g == nil {
			g = &Group{Found: found}
			by[found.Name] = g
		}
		g.Nodes = append(g.Nodes, n.Name)
		if n.Kubelet != "" && !slices.Contains(g.Versions, n.Kubelet) {
			g.Versions = append(g.Versions, n.Kubelet)
		}
	}
	var out []Group
	for _, name := range slices.Sorted(maps.Keys(by)) {
		g := by[name]
		slices.Sort(g.Nodes)
		slices.Sort(g.Versions)
		out = append(out, *g)
	}
	slices.SortStableFunc(out, func(a, b Group) int { return len(b.Nodes) - len(a.Nodes) })
	return out, nil
}

// Describe describes groups in one line.
func Describe(groups []Group) string {
	var out []string
	for _, g := range groups {
		out = append(out, g.String())
	}
	return strings.Join(out, ", ")
}

// KubeletLog is the command that shows the kubelet's log on a node, of the distribution.
func (f Found) KubeletLog(controlPlane bool) string {
	if controlPlane {
		return cmp.Or(f.Logs.Server, kubeletLog)
	}
	return cmp.Or(f.Logs.Agent, kubeletLog)
}

// kubeletLog is that of a kubelet with a service of its own.
const kubeletLog = "journalctl -u kubelet"

// KubeletLog is the command that shows the kubelet's log on a node.
func KubeletLog(n *corev1.Node) string {
	node, err := NodeOf(n)
	if err != nil {
		return kubeletLog
	}
	found, err := Of(node)
	if err != nil {
		return kubeletLog
	}
	return found.KubeletLog(node.ControlPlane)
}
