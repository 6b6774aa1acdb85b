package site

import (
	"fmt"
	"slices"
	"strings"
)

// The autoscalers that a chain can be proved with.
const (
	Karpenter         = "karpenter"
	ClusterAutoscaler = "cluster-autoscaler"
)

// Managed is the Controller of an autoscaler that the provider runs where the
// cluster does not show it.
const Managed = "managed"

// Autoscale is what the autoscaling chain goes through. Every key but NodeClass
// has a default.
type Autoscale struct {
	// Autoscaler is karpenter or cluster-autoscaler.
	Autoscaler string `yaml:"autoscaler,omitempty" json:"autoscaler,omitempty"`
	// Adapter is the Deployment, as namespace/name, that serves the metrics API.
	// Controller is the Deployment of the autoscaler (or Managed).
	Adapter    string `yaml:"adapter,omitempty" json:"adapter,omitempty"`
	Controller string `yaml:"controller,omitempty" json:"controller,omitempty"`
	// NodeClass is the node class that the NodePool of a run refers to.
	NodeClass NodeClass `yaml:"nodeClass,omitempty" json:"nodeClass,omitzero"`
	// InstanceTypes that such a NodePool may choose from; empty: any with GPUs.
	InstanceTypes []string `yaml:"instanceTypes,omitempty" json:"instanceTypes,omitempty"`
	// NodeGroup are the labels that the nodes of a cluster autoscaler's group have.
	NodeGroup map[string]string `yaml:"nodeGroup,omitempty" json:"nodeGroup,omitempty"`
	// Taint of the GPU nodes, as ParseTaint reads it.
	Taint          string `yaml:"taint,omitempty" json:"taint,omitempty"`
	GPUsPerReplica int    `yaml:"gpusPerReplica,omitempty" json:"gpusPerReplica,omitempty"`
	// LoadGPUs is the number of GPUs on existing nodes that the load uses.
	LoadGPUs int `yaml:"loadGPUs,omitempty" json:"loadGPUs,omitempty"`
	// Target is the average a replica that the HPA keeps, in W; 0: computed from
	// the profile, between idle and full power.
	Target      float64 `yaml:"target,omitempty" json:"target,omitempty"`
	MinReplicas int     `yaml:"minReplicas,omitempty" json:"minReplicas,omitempty"`
	MaxReplicas int     `yaml:"maxReplicas,omitempty" json:"maxReplicas,omitempty"`
	// Window is how long nothing may scale in the control run, at least.
	Window      Duration `yaml:"window,omitempty" json:"window,omitempty"`
	WorkerImage string   `yaml:"workerImage,omitempty" json:"workerImage,omitempty"`
	// Gang is how many pods the gang has that is larger than the free nodes; 1: no gang.
	Gang int `yaml:"gang,omitempty" json:"gang,omitempty"`
	// Settings override detected delay settings of the cluster, by name.
	Settings map[string]Duration `yaml:"settings,omitempty" json:"settings,omitempty"`
}

// NodeClass is a NodePool's nodeClassRef.
type NodeClass struct {
	Group string `yaml:"group,omitempty" json:"group,omitempty"`
	Kind  string `yaml:"kind,omitempty" json:"kind,omitempty"`
	Name  string `yaml:"name,omitempty" json:"name,omitempty"`
}

// Taint is a node's taint.
type Taint struct {
	Key, Value, Effect string
}

// taintEffects are those that keep pods off a node.
var taintEffects = []string{"NoSchedule", "NoExecute"}

// ParseTaint reads key=value:effect or key:effect; false for "none" and for an empty text.
func ParseTaint(text string) (Taint, bool, error) {
	if text == "" || text == "none" {
		return Taint{}, false, nil
	}
	rest, effect, ok := cutLast(text, ":")
	key, value, _ := strings.Cut(rest, "=")
	if !ok || key == "" {
		return Taint{}, false, fmt.Errorf("invalid taint %q: must be key=value:effect, such as nvidia.com/gpu=present:NoSchedule, or none", text)
	}
	if slices.Contains(taintEffects, effect) {
		return Taint{Key: key, Value: value, Effect: effect}, true, nil
	}
	return Taint{}, false, fmt.Errorf("%q: the effect %q is not one of %s", text, effect, strings.Join(taintEffects, ", "))
}

func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// AutoscaleSettings are the names of the settings that cost time in the chain.
func AutoscaleSettings() []string {
	return []string{
		"sample-interval", "scrape-interval", "rate-window", "adapter-relist", "hpa-sync", "hpa-stabilization",
		"karpenter-batch-idle", "karpenter-batch-max", "registration-delay",
		"consolidate-after", "nomination-window", "disruption-poll", "consolidation-ttl", "termination",
	}
}
