package site

import (
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/profile"
)

// maxGang bounds what a proof may cost.
const maxGang = 64

func (v *validator) autoscale(s *Site, p *profile.Profile) {
	a := &s.Autoscale
	v.oneOf("autoscale.autoscaler", a.Autoscaler, []string{Karpenter, ClusterAutoscaler})
	v.deployment("autoscale.adapter", a.Adapter)
	if a.Controller != Managed {
		v.deployment("autoscale.controller", a.Controller)
	}
	if n := a.NodeClass; n != (NodeClass{}) && (n.Group == "" || n.Kind == "" || n.Name == "") {
		v.add("autoscale.nodeClass", "needs group, kind and name; for example {group: karpenter.k8s.aws, kind: EC2NodeClass, name: gpu}")
	}
	v.unique("autoscale.instanceTypes", a.InstanceTypes)
	v.nodeGroup(a)
	if _, _, err := ParseTaint(a.Taint); err != nil {
		v.add("autoscale.taint", "%s", err)
	}
	v.scale(s, p)
	for name, d := range a.Settings {
		path := "autoscale.settings." + name
		if !slices.Contains(AutoscaleSettings(), name) {
			v.add(path, "unknown setting %q: want one of %s", name, strings.Join(AutoscaleSettings(), ", "))
		}
		if d < 0 {
			v.add(path, "%s is negative", d.D())
		}
	}
}

// deployment wants namespace/name.
func (v *validator) deployment(path, value string) {
	namespace, name, ok := strings.Cut(value, "/")
	if !ok || !dnsLabel.MatchString(namespace) || !nodeName.MatchString(name) {
		v.add(path, "invalid Deployment %q: must be namespace/name", value)
	}
}

func (v *validator) nodeGroup(a *Autoscale) {
	if a.Autoscaler == ClusterAutoscaler && len(a.NodeGroup) == 0 {
		v.add("autoscale.nodeGroup", "is missing: the labels that the nodes of the group have, for example {cloud.google.com/gke-nodepool: gpu}")
	}
	if a.Autoscaler == Karpenter && len(a.NodeGroup) > 0 {
		v.add("autoscale.nodeGroup", "is for autoscaler: cluster-autoscaler; with Karpenter a NodePool is used")
	}
	for label := range a.NodeGroup {
		if label == "" {
			v.add("autoscale.nodeGroup", "has a label without a name")
		}
	}
}

func (v *validator) scale(s *Site, p *profile.Profile) {
	a := &s.Autoscale
	v.positive("autoscale.gpusPerReplica", float64(a.GPUsPerReplica), "1")
	v.positive("autoscale.loadGPUs", float64(a.LoadGPUs), "4")
	v.positive("autoscale.minReplicas", float64(a.MinReplicas), "1")
	v.positive("autoscale.window", a.Window.D().Seconds(), "10s")
	if a.MaxReplicas <= a.MinReplicas {
		v.add("autoscale.maxReplicas", "%d is not more than minReplicas (%d): nothing could scale", a.MaxReplicas, a.MinReplicas)
	}
	if a.Gang < 1 || a.Gang > maxGang {
		v.add("autoscale.gang", "invalid gang size %d: must be 2 to %d pods, or 1 for no gang", a.Gang, maxGang)
	}
	if a.Target < 0 {
		v.add("autoscale.target", "%v is negative", a.Target)
	}
	if p == nil {
		return
	}
	if full := p.GPU.TDP.Value; full > 0 && a.Target >= full {
		v.add("autoscale.target", "%v W is never exceeded: a GPU of profile %s draws %v W at most", a.Target, p.Name, full)
	}
	// One GPU more is held by the pod that keeps the metric defined.
	if total := len(s.Inventory.Nodes) * int(p.Node.GPUs.Value); v.written("autoscale.loadGPUs") && a.LoadGPUs >= total {
		v.add("autoscale.loadGPUs", "%d is impossible: the inventory has %d GPUs, of which one more is held idle", a.LoadGPUs, total)
	}
}

// written tells that the file has the key itself.
func (v *validator) written(path string) bool {
	node := v.root
	if len(node.Content) > 0 {
		node = node.Content[0]
	}
	for part := range strings.SplitSeq(path, ".") {
		if node, _ = child(node, part); node == nil {
			return false
		}
	}
	return true
}
