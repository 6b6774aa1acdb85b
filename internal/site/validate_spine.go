package site

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/firstlight/firstlight/internal/profile"
)

// singleNodeKeys are the keys with an effect on a single node, each with all keys below it.
var singleNodeKeys = []string{
	"apiVersion", "kind", "name", "spine", "profile", "inventory.nodes", "inventory.driverVersion",
	"reach.gpuTools", "reach.ssh.become", "reach.ssh.timeout",
	"workloads.collective.timeout", "workloads.collective.minBytes", "workloads.collective.maxBytes",
	"workloads.collective.suite", "notApplicable",
}

// singleNode validates the site of one machine. Keys of a cluster would have no effect.
func (v *validator) singleNode(s *Site, p *profile.Profile) {
	if len(v.root.Content) > 0 {
		v.only(SpineSingleNode, singleNodeKeys, "", v.root.Content[0])
	}
	v.inventory(&s.Inventory)
	if len(s.Inventory.Nodes) > 1 {
		v.add("inventory.nodes", "lists %d nodes: spine single-node is the machine that firstlight runs on", len(s.Inventory.Nodes))
	}
	for _, n := range s.Inventory.Nodes {
		if n.Address != "" {
			v.add("inventory.nodes.0.address", "has no effect with spine single-node: remove it")
		}
	}
	if p != nil && p.Rails() {
		v.add("profile", "%s has a compute fabric between nodes, and spine single-node has one node: use the profile of the GPUs alone, such as h100-sxm", p.Name)
	}
	if s.Reach.GPUTools != ToolsOnHost {
		v.add("reach.gpuTools", "%q is not %s: spine single-node has no pods", s.Reach.GPUTools, ToolsOnHost)
	}
	if b := s.Reach.SSH.Become; b != "" && b != Sudo {
		v.add("reach.ssh.become", "%q is not %s", b, Sudo)
	}
	v.collective(s, p)
}

// only refuses the keys of a mapping that have no effect with a spine.
func (v *validator) only(spine string, keys []string, prefix string, mapping *yaml.Node) {
	if mapping.Kind != yaml.MappingNode {
		return
	}
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		path := prefix + mapping.Content[i].Value
		switch {
		case slices.Contains(keys, path):
		case slices.ContainsFunc(keys, func(key string) bool { return strings.HasPrefix(key, path+".") }):
			v.only(spine, keys, path+".", mapping.Content[i+1])
		default:
			v.add(path, "has no effect with spine %s: remove it", spine)
		}
	}
}
