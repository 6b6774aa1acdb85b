package gpustack

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/distribution"
)

// Defaults of the GPU Operator: github.com/NVIDIA/gpu-operator, controllers/object_controls.go.
const (
	defaultSocket = "/run/containerd/containerd.sock"
	defaultConfig = "/etc/containerd/config.toml"
)

// toolkitFigures is the part of a ClusterPolicy that says which containerd the container toolkit configures.
type toolkitFigures struct {
	Enabled bool `json:"enabled"`
	// NRI: containers get their GPUs by an NRI plugin, and the configuration of containerd is not changed.
	NRI bool `json:"nri,omitempty"`
	// Socket, Config and DropIn are CONTAINERD_SOCKET, CONTAINERD_CONFIG (or RUNTIME_CONFIG) and
	// RUNTIME_DROP_IN_CONFIG of its environment; empty: not set.
	Socket string `json:"socket,omitempty"`
	Config string `json:"config,omitempty"`
	DropIn string `json:"dropIn,omitempty"`
}

// judgeToolkit requires that the container toolkit configures the containerd that the nodes run, where a
// distribution has it elsewhere. Otherwise the toolkit reports success, and pods have no runtime nvidia
// (NVIDIA/gpu-operator, issues 406 and 432).
func (g *Gate) judgeToolkit(b *check.Builder, o check.Observation, t *toolkitFigures, nodes map[string]installed) (remark string) {
	suspect := "ClusterPolicy " + g.stack.ClusterPolicy + "/toolkit"
	elsewhere := g.namesOf(nodes, func(n installed) bool { return n.Containerd.Differs() })
	switch {
	case len(elsewhere) == 0:
		return ""
	case t == nil:
		b.Unobserved(o.ID, suspect, "run the gate again", "its environment was not observed")
		return ""
	case !t.Enabled:
		return "; the container toolkit is that of the hosts, and was not observed"
	case t.NRI:
		return "; the container toolkit is an NRI plugin, which changes no configuration of containerd"
	}
	on := map[string][]string{} // distribution to nodes that run its containerd
	for _, name := range elsewhere {
		n := nodes[name]
		switch {
		case n.Runtime == "":
			b.Unobserved(o.ID, name, "look at the node: "+n.KubeletLog(n.ControlPlane), "its container runtime is unknown")
		case n.Containerd.Runs(n.Runtime):
			on[n.Found.Name] = append(on[n.Found.Name], name)
		case n.Containerd.HasSocket(t.Socket):
			b.Fail(o.ID, name, "start "+n.Found.Name+" without --container-runtime-endpoint and --docker on this node, so that it runs its own containerd",
				"%s runs %s, not the containerd of %s (such as %s), which the container toolkit configures (%s)", name, n.Runtime, n.Found.Name, n.Containerd.Example, t.Socket)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(on)) {
		t.judge(b, o, suspect, nodes[on[name][0]].Distribution, on[name])
	}
	return ""
}

// judge compares the toolkit's environment with the containerd of a distribution, which these nodes run.
func (t *toolkitFigures) judge(b *check.Builder, o check.Observation, suspect string, d distribution.Distribution, nodes []string) {
	c := d.Containerd
	remedy := fmt.Sprintf("in the chart's values set toolkit.env: CONTAINERD_SOCKET=%s, %s; %s", c.Sockets[0], t.wanted(c), c.Page())
	where := fmt.Sprintf("that of %s on %s", d.Name, listed(nodes))
	if !c.HasSocket(cmp.Or(t.Socket, defaultSocket)) {
		b.Fail(o.ID, suspect, remedy, "CONTAINERD_SOCKET is %s: the container toolkit restarts another containerd, %s is at %s", orDefault(t.Socket, defaultSocket), where, c.Sockets[0])
	}
	switch {
	case c.Reads(t.Config) || c.Reads(t.DropIn):
	case t.Config == "" && t.DropIn == "" && c.FindsRuntimes:
	case t.DropIn != "":
		b.Fail(o.ID, suspect, remedy, "RUNTIME_DROP_IN_CONFIG is %s and CONTAINERD_CONFIG is %s: the container toolkit configures another containerd, %s reads files in %s", t.DropIn, orDefault(t.Config, defaultConfig), where, c.Config[0])
	default:
		b.Fail(o.ID, suspect, remedy, "CONTAINERD_CONFIG is %s: the container toolkit configures another containerd, %s reads files in %s", orDefault(t.Config, defaultConfig), where, c.Config[0])
	}
}

func (t *toolkitFigures) wanted(c distribution.Containerd) string {
	text := "and CONTAINERD_CONFIG or RUNTIME_DROP_IN_CONFIG to a file in " + c.Config[0]
	if c.FindsRuntimes {
		text += ", or leave both out"
	}
	return text
}

func orDefault(value, otherwise string) string {
	if value == "" {
		return "not set (" + otherwise + ")"
	}
	return value
}

// listed names nodes, or counts them if they are many.
func listed(nodes []string) string {
	const most = 4
	if len(nodes) > most {
		return fmt.Sprintf("%s and %d more nodes", strings.Join(nodes[:most-1], ", "), len(nodes)-most+1)
	}
	return strings.Join(nodes, ", ")
}
