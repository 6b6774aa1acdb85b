package snapshot

import (
	"slices"
	"strconv"

	"github.com/firstlight/firstlight/internal/recipe/constraint"
)

// measured converts the observed nodes to the snapshot format of recipe constraints. A
// measurement is present only if all GPU nodes have the same value.
func measured(server Server, nodes map[string]Node, names []string) *constraint.Snapshot {
	values := map[constraint.Path]string{{Type: "K8s", Subtype: "server", Key: "version"}: server.Version}
	agree := func(kind, subtype, key string, of func(Node) string) {
		var found []string
		for _, name := range names {
			if n, ok := nodes[name]; ok {
				found = append(found, of(n))
			}
		}
		slices.Sort(found)
		if found = slices.Compact(found); len(found) == 1 && found[0] != "" {
			values[constraint.Path{Type: kind, Subtype: subtype, Key: key}] = found[0]
		}
	}
	agree("GPU", "smi", "model", func(n Node) string { return n.Labels[productLabel] })
	agree("GPU", "smi", "driver-version", func(n Node) string { return n.Labels[driverLabel] })
	agree("GPU", "smi", "gpu-count", func(n Node) string { return strconv.Itoa(n.Allocatable) })
	const release = "feature.node.kubernetes.io/system-os_release."
	agree("OS", "release", "ID", func(n Node) string { return n.Labels[release+"ID"] })
	agree("OS", "release", "VERSION_ID", func(n Node) string { return n.Labels[release+"VERSION_ID"] })
	agree("K8s", "node", "kernel", func(n Node) string { return n.Kernel })
	agree("K8s", "node", "kubelet", func(n Node) string { return n.Kubelet })
	agree("K8s", "node", "instance-type", func(n Node) string { return n.Labels["node.kubernetes.io/instance-type"] })
	return constraint.NewSnapshot(values)
}
