package site

import (
	"fmt"
	"path"
	"strings"
)

// Values of GPUStack.ManagedBy.
const (
	ManagedByOperator = "gpu-operator" // NVIDIA's GPU Operator
	ManagedByProvider = "provider"     // the cloud: its DaemonSets, or the node's image
)

// Provided reports whether the provider installs driver and device plugin.
func (g GPUStack) Provided() bool { return g.ManagedBy == ManagedByProvider }

// Policy is the kind and name of the object by which the GPU Operator installs its stack.
func (g GPUStack) Policy() (kind, name string) {
	if g.GPUCluster != "" {
		return "GPUCluster", g.GPUCluster
	}
	return "ClusterPolicy", g.ClusterPolicy
}

// Names reports whether an entry of Operands, a name or a pattern, names a DaemonSet.
func (g GPUStack) Names(operand, set string) bool {
	ok, err := path.Match(operand, set)
	return ok && err == nil
}

// IsPattern reports whether an entry of Operands can name several DaemonSets.
func IsPattern(operand string) bool { return strings.ContainsAny(operand, "*?[") }

// provided validates a GPU stack of the provider.
func (v *validator) provided(g *GPUStack) {
	if g.ClusterPolicy != "" {
		v.add("gpustack.clusterPolicy", "is the GPU Operator's: remove it, or managedBy: %s", ManagedByProvider)
	}
	if g.GPUCluster != "" {
		v.add("gpustack.gpuCluster", "is the GPU Operator's: remove it, or managedBy: %s", ManagedByProvider)
	}
	if len(g.Operands) > 0 {
		v.require("gpustack.namespace", g.Namespace, "kube-system")
	}
	if g.Operands == nil {
		v.add("gpustack.operands", "is missing: patterns of the provider's DaemonSets, or [] if the device plugin is a part of the nodes' image")
	}
}

// operands validates the patterns of DaemonSets.
func (v *validator) operands(g *GPUStack) {
	for i, pattern := range g.Operands {
		if strings.HasPrefix(pattern, "*") || strings.HasPrefix(pattern, "?") {
			v.add(fmt.Sprintf("gpustack.operands.%d", i), "%q also matches other DaemonSets: begin with the name of one, such as that of the device plugin", pattern)
		}
		if _, err := path.Match(pattern, ""); err != nil {
			v.add(fmt.Sprintf("gpustack.operands.%d", i), "invalid pattern %q: %v", pattern, err)
		}
	}
}
