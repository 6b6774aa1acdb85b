package gpustack

import (
	"fmt"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
)

// judgeProvider requires that a node has the properties of the site's provider.
func (g *Gate) judgeProvider(b *check.Builder, o check.Observation, n nodeFigures, of installed) {
	p, ok := g.provider()
	if !ok {
		return
	}
	if n.Provider == nil {
		b.Unobserved(o.ID, n.Name, "run the gate again with this site", "whether it is a node of %s was not observed", p.What)
		return
	}
	if !strings.HasPrefix(n.Provider.ID, p.ProviderID) {
		b.Fail(o.ID, n.Name, "correct gpustack.provider in the site file, or the inventory", "its providerID is %q: nodes of %s have one that begins with %s", n.Provider.ID, p.What, p.ProviderID)
		return
	}
	// A node whose distribution was not observed has a finding of its own.
	if p.Distribution != "" && of.Name != "" && of.Found.Name != p.Distribution {
		shown := "no mark of a known distribution"
		if of.Known() {
			shown = "the mark of " + of.Found.Name + " (" + of.Mark + ")"
		}
		b.Fail(o.ID, n.Name, "correct gpustack.provider in the site file, or the inventory; on machines of this cloud without its Kubernetes leave provider out", "its kubelet is %q, with %s: nodes of %s are of %s", of.Kubelet, shown, p.What, p.Distribution)
	}
	for _, l := range p.Labels {
		if !l.On(n.Provider.Labels) {
			b.Fail(o.ID, n.Name, l.Remedy, "lacks the label %s of GPU nodes of %s", l, p.What)
		}
	}
	for _, l := range p.Without {
		if l.On(n.Provider.Labels) {
			b.Fail(o.ID, n.Name, l.Remedy, "has the label %s, with which %s installs no device plugin", l, p.What)
		}
	}
	if len(p.Conditions) > 0 && len(n.Provider.Conditions) == 0 {
		b.Note(o.ID, n.Name, "none is necessary: this gate judges the node's GPUs, and gate telemetry the series of DCGM", "reports none of the conditions %s: the node problem detector, which some node pools of %s do not have, is absent", strings.Join(p.Conditions, " and "), p.What)
		return
	}
	for _, name := range p.Conditions {
		switch c, there := n.Provider.Conditions[name]; {
		case !there:
			b.Unobserved(o.ID, n.Name, "look at the node problem detector of the node (kubectl describe node "+n.Name+")", "does not report the condition %s, which has the state of GPU components of %s", name, p.What)
		case c.Status != "False":
			b.Fail(o.ID, n.Name, "kubectl describe node "+n.Name+"; recreate the node if the component does not recover", "has condition %s (%s, %s: %s)", name, c.Status, c.Reason, c.Message)
		}
	}
}

// judgeDriverPods requires that nothing installs a driver on nodes whose image has one.
func (g *Gate) judgeDriverPods(b *check.Builder, obs []check.Observation) {
	p, ok := g.provider()
	if !ok || !p.DriverInImage {
		return
	}
	pods, o, ok := check.Require[[]nodePod](b, obs, kindDriverPods, "", "the pods that install drivers", readRemedy(obs, kindDriverPods))
	if !ok {
		return
	}
	for _, pod := range pods {
		if !pod.Terminating {
			b.Fail(o.ID, pod.Node+"/driver", p.DriverRemedy, "pod %s/%s (%s) installs a driver on %s, whose image has one: %s", pod.Namespace, pod.Pod, strings.Join(pod.Images, ", "), pod.Node, p.What)
		}
	}
}

// undeclaredPlugins describes the plugins for GPUs on a node that are not DaemonSets of the site's operands. The kubelet
// takes the devices of any plugin: the nodes offer GPUs, but by another program than the declared one.
func (g *Gate) undeclaredPlugins(pods []nodePod, images []pluginImage, node string) []string {
	var out []string
	for _, p := range pods {
		offers := false
		for _, image := range p.Images {
			is, _ := gpuPlugin(images, image)
			offers = offers || is
		}
		if offers && p.Node == node && !p.Terminating && !g.operand(p) {
			set := "no DaemonSet"
			if p.DaemonSet != "" {
				set = "DaemonSet " + p.DaemonSet
			}
			out = append(out, fmt.Sprintf("%s/%s (%s)", p.Namespace, p.Pod, set))
		}
	}
	return out
}
