package snapshot

import (
	"fmt"
	"slices"
	"strconv"

	"sigs.k8s.io/yaml"

	"github.com/firstlight/firstlight/internal/recipe/constraint"
)

// measured converts the observed nodes to the snapshot format of recipe constraints. A
// measurement is present only if all GPU nodes have the same value.
func measured(server Server, nodes map[string]Node, names []string) (*constraint.Snapshot, error) {
	gpu, os, node := map[string]any{}, map[string]any{}, map[string]any{}
	agree := func(to map[string]any, key string, of func(Node) string) {
		var values []string
		for _, name := range names {
			if n, ok := nodes[name]; ok {
				values = append(values, of(n))
			}
		}
		slices.Sort(values)
		if values = slices.Compact(values); len(values) == 1 && values[0] != "" {
			to[key] = values[0]
		}
	}
	agree(gpu, "model", func(n Node) string { return n.Labels[productLabel] })
	agree(gpu, "driver-version", func(n Node) string { return n.Labels[driverLabel] })
	agree(gpu, "gpu-count", func(n Node) string { return strconv.Itoa(n.Allocatable) })
	const release = "feature.node.kubernetes.io/system-os_release."
	agree(os, "ID", func(n Node) string { return n.Labels[release+"ID"] })
	agree(os, "VERSION_ID", func(n Node) string { return n.Labels[release+"VERSION_ID"] })
	agree(node, "kernel", func(n Node) string { return n.Kernel })
	agree(node, "kubelet", func(n Node) string { return n.Kubelet })
	agree(node, "instance-type", func(n Node) string { return n.Labels["node.kubernetes.io/instance-type"] })
	type subtype struct {
		Subtype string         `json:"subtype"`
		Data    map[string]any `json:"data"`
	}
	type measurement struct {
		Type     string    `json:"type"`
		Subtypes []subtype `json:"subtypes"`
	}
	data, err := yaml.Marshal(map[string]any{
		"kind": "Snapshot", "apiVersion": "aicr.run/v1beta1",
		"measurements": []measurement{
			{Type: "K8s", Subtypes: []subtype{{"server", map[string]any{"version": server.Version}}, {"node", node}}},
			{Type: "GPU", Subtypes: []subtype{{"smi", gpu}}},
			{Type: "OS", Subtypes: []subtype{{"release", os}}},
		},
	})
	if err != nil {
		return nil, fmt.Errorf("write the snapshot: %w", err)
	}
	s, err := constraint.ParseSnapshot("snapshot of the cluster", data)
	if err != nil {
		return nil, fmt.Errorf("read the snapshot: %w", err)
	}
	return s, nil
}
