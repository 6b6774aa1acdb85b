package gpustack

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/version"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/distribution"
)

// Defaults of the GPU Operator: github.com/NVIDIA/gpu-operator, controllers/object_controls.go.
const (
	defaultSocket = "/run/containerd/containerd.sock"
	defaultConfig = "/etc/containerd/config.toml"
)

// sinceRuntimeConfig is the first release of the GPU Operator that reads RUNTIME_CONFIG and RUNTIME_DROP_IN_CONFIG:
// github.com/NVIDIA/gpu-operator, pull request 1710, issue 1425. Releases before read CONTAINERD_CONFIG alone
// (controllers/object_controls.go, getRuntimeConfigFile), and so do those after.
const sinceRuntimeConfig = "25.10.0"

// toolkitFigures is the part of a ClusterPolicy that says which containerd the container toolkit configures.
type toolkitFigures struct {
	Enabled bool `json:"enabled"`
	// NRI: containers get their GPUs by an NRI plugin, and the configuration of containerd is not changed.
	NRI bool `json:"nri,omitempty"`
	// Socket, Config, RuntimeConfig and DropIn are CONTAINERD_SOCKET, CONTAINERD_CONFIG, RUNTIME_CONFIG and
	// RUNTIME_DROP_IN_CONFIG of its environment; empty: not set.
	Socket        string `json:"socket,omitempty"`
	Config        string `json:"config,omitempty"`
	RuntimeConfig string `json:"runtimeConfig,omitempty"`
	DropIn        string `json:"dropIn,omitempty"`
}

// judgeToolkit requires that the container toolkit configures the containerd that the nodes run, where a
// distribution has it elsewhere. Otherwise the toolkit reports success, and pods have no runtime nvidia
// (NVIDIA/gpu-operator, issues 406 and 432).
func (g *Gate) judgeToolkit(b *check.Builder, o check.Observation, t *toolkitFigures, operator []operatorFigures, nodes map[string]installed) (remark string) {
	suspect := "ClusterPolicy " + g.stack.ClusterPolicy + "/toolkit"
	differing := g.namesOf(nodes, func(n installed) bool { return n.Containerd.Differs() })
	switch {
	case len(differing) == 0:
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
	for _, name := range differing {
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
	read := t.readBy(operator)
	for _, name := range slices.Sorted(maps.Keys(on)) {
		read.judge(b, o, suspect, nodes[on[name][0]].Distribution, on[name])
	}
	return ""
}

// environment is the toolkit's as its operator reads it.
type environment struct {
	socket, config, dropIn string
	// unread: this version of the operator does not read variables that are set; unknown: it may not.
	unread, unknown string
}

// readBy is the environment as this operator reads it: CONTAINERD_CONFIG before RUNTIME_CONFIG. Operators before
// sinceRuntimeConfig read neither RUNTIME_CONFIG nor RUNTIME_DROP_IN_CONFIG, and set the former themselves.
func (t *toolkitFigures) readBy(operator []operatorFigures) environment {
	always := environment{socket: t.Socket, config: t.Config}
	if t.DropIn == "" && (t.RuntimeConfig == "" || t.Config != "") {
		return always
	}
	const variables = "RUNTIME_CONFIG and RUNTIME_DROP_IN_CONFIG"
	if len(operator) == 0 {
		always.unknown = fmt.Sprintf("the GPU Operator reads %s from v%s on, and its version was not observed", variables, sinceRuntimeConfig)
		return always
	}
	since := version.MustParseGeneric(sinceRuntimeConfig)
	for _, d := range operator {
		v, err := version.ParseGeneric(d.Version)
		switch {
		case err != nil:
			always.unknown = fmt.Sprintf("the GPU Operator reads %s from v%s on, and the version %q of Deployment %s is unknown: %v", variables, sinceRuntimeConfig, d.Version, d.Name, err)
			return always
		case !v.AtLeast(since):
			always.unread = fmt.Sprintf("GPU Operator %s does not read %s (v%s and later do)", d.Version, variables, sinceRuntimeConfig)
			return always
		}
	}
	return environment{socket: t.Socket, config: cmp.Or(t.Config, t.RuntimeConfig), dropIn: t.DropIn}
}

// judge compares the toolkit's environment with the containerd of a distribution, which these nodes run.
func (e environment) judge(b *check.Builder, o check.Observation, suspect string, d distribution.Distribution, nodes []string) {
	c := d.Containerd
	remedy := fmt.Sprintf("in the chart's values set toolkit.env: CONTAINERD_SOCKET=%s, %s; %s", c.Sockets[0], wanted(c), c.Page())
	where := fmt.Sprintf("that of %s on %s", d.Name, listed(nodes))
	if !c.HasSocket(cmp.Or(e.socket, defaultSocket)) {
		b.Fail(o.ID, suspect, remedy, "CONTAINERD_SOCKET is %s: the container toolkit restarts another containerd, %s is at %s", orDefault(e.socket, defaultSocket), where, c.Sockets[0])
	}
	switch {
	case c.Reads(e.config) || c.Reads(e.dropIn):
	case e.unknown != "":
		b.Unobserved(o.ID, suspect, remedy+"; or give the operator's image the tag of its release", "%s", e.unknown)
	case e.unread != "":
		b.Fail(o.ID, suspect, remedy, "%s, and CONTAINERD_CONFIG is %s: the container toolkit configures another containerd, %s reads files in %s", e.unread, orDefault(e.config, defaultConfig), where, c.Config[0])
	case e.config == "" && e.dropIn == "" && c.FindsRuntimes:
	case e.dropIn != "":
		b.Fail(o.ID, suspect, remedy, "RUNTIME_DROP_IN_CONFIG is %s and CONTAINERD_CONFIG is %s: the container toolkit configures another containerd, %s reads files in %s", e.dropIn, orDefault(e.config, defaultConfig), where, c.Config[0])
	default:
		b.Fail(o.ID, suspect, remedy, "CONTAINERD_CONFIG is %s: the container toolkit configures another containerd, %s reads files in %s", orDefault(e.config, defaultConfig), where, c.Config[0])
	}
}

func wanted(c distribution.Containerd) string {
	text := "and CONTAINERD_CONFIG or, from GPU Operator v" + sinceRuntimeConfig + " on, RUNTIME_DROP_IN_CONFIG to a file in " + c.Config[0]
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
