package site

import (
	"bytes"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/profile"
)

// The spines of this version.
const (
	SpineKubernetes = "kubernetes"
	// SpineK3s is a cluster of k3s, which gate gpustack requires.
	SpineK3s   = "k3s"
	SpineSlurm = "slurm"
	// SpineSingleNode is one machine without a cluster, the one that firstlight runs on.
	SpineSingleNode = "single-node"
)

// SingleNode reports whether the site is one machine without a cluster.
func (s *Site) SingleNode() bool { return s.Spine == SpineSingleNode }

// WhyNotApplicable maps the gates that do not apply to the reasons: those of the site file, then
// those of the spine.
func (s *Site) WhyNotApplicable(p *profile.Profile) map[string]string {
	out := map[string]string{}
	if s.SingleNode() {
		out = notOnSingleNode(p)
	}
	if s.OnSlurm() && slices.Contains(s.Slurm.Without, WithoutAccounting) {
		out["telemetry"] = "slurm.without has accounting: the cluster keeps no records of jobs"
	}
	maps.Copy(out, s.NotApplicable)
	return out
}

func notOnSingleNode(p *profile.Profile) map[string]string {
	out := map[string]string{
		"facility":  "spine single-node: a site of one machine declares no budgets and no sign-off",
		"gpustack":  "spine single-node: no Kubernetes, and so no GPU Operator or device plugin",
		"telemetry": "spine single-node: no Prometheus and no Alertmanager of a cluster",
		"training":  "spine single-node: the training job consists of pods",
		"inference": "spine single-node: the server of the model is a pod",
	}
	if !p.Collectives() {
		out["fabric"] = "spine single-node: " + noNVLinks(p)
		out["collective"] = out["fabric"]
	}
	return out
}

func noNVLinks(p *profile.Profile) string {
	if p.Node.GPUs.Value < 2 {
		return "one GPU has no other to reach"
	}
	return fmt.Sprintf("the GPUs of profile %s have no NVLinks, and no limit is published for PCIe", p.Name)
}

// notInName are characters that a node name cannot have.
var notInName = regexp.MustCompile(`[^a-z0-9.-]+`)

// NodeNameOf is the name of a node for the name of a host, which may have other characters.
func NodeNameOf(host string) string {
	name := strings.Trim(notInName.ReplaceAllString(strings.ToLower(host), "-"), ".-")
	if !nodeName.MatchString(name) {
		return "node"
	}
	return name
}

// OnMachine reports whether the host with this name is the only node of the site, with or without its domain.
func (s *Site) OnMachine(host string) bool {
	short := func(name string) string { name, _, _ = strings.Cut(name, "."); return name }
	return len(s.Inventory.Nodes) == 1 && short(NodeNameOf(host)) == short(s.Inventory.Nodes[0].Name)
}

// SingleNodeFile is the site file of a machine with this host name and hardware.
func SingleNodeFile(host string, p *profile.Profile) []byte {
	node := NodeNameOf(host)
	name, _, _ := strings.Cut(node, ".")
	if !dnsLabel.MatchString(name) {
		name = SpineSingleNode
	}
	return fmt.Appendf(nil, string(bytes.TrimSpace(singleNode))+"\n", name, p.Name, node)
}
