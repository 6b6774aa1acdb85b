package judge

import (
	"fmt"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/recipe/footprint"
	"github.com/firstlight/firstlight/internal/schedule/scenario"
	"github.com/firstlight/firstlight/internal/schedule/snapshot"
)

// unnoticed is what a test would not notice whose control does not fail.
var unnoticed = map[string]string{
	scenario.DropToleration: "that pods do not tolerate the GPU taint",
	scenario.DropSelector:   "that a DaemonSet has lost its selector",
	scenario.HalfGPUs:       "that nodes have too few GPUs",
	scenario.WrongArch:      "that nodes are of another architecture",
	scenario.HalfGang:       "that a gang is bound in part",
}

// gangWaits is in what the scheduler says of a gang's pod that would fit, while
// others of the gang do not.
const gangWaits = "minCount pods from a gang"

// judgeControl: it must be seen to fail, on its nodes, for its reason. One that does
// not shows that the test can't see what it is for.
func (v *view) judgeControl(c scenario.Control) {
	if c.NotApplicable != "" {
		return
	}
	why, remedy := v.failsAsItMust(c)
	if why == "" {
		return
	}
	v.passed++
	probe := v.expected[len(v.expected)-1]
	if strings.HasPrefix(why, another) && c.Of == "" && len(probe.Nodes) == 0 {
		// Its pod is the probe's, and so is what keeps it off its nodes.
		v.found.because(v.rootOf(v.nowhere(probe)), snapshot.OwnerControl+"/"+c.Name, "%s", why)
		return
	}
	what, known := unnoticed[c.Name]
	if !known {
		what = "what it is for"
	}
	v.found.add(cause{
		key: "control " + c.Name, suspect: snapshot.OwnerControl + "/" + c.Name,
		message: fmt.Sprintf("%s: the test would not notice %s", why, what), remedy: remedy,
	})
}

// another begins what is said of a control that failed, and not for its reason.
const another = "failed for another reason: "

const lookAgain = "run the test again; if it stays, the control's pods in the evidence say what was made of it"

// failsAsItMust is empty when the control was refused as it must be.
func (v *view) failsAsItMust(c scenario.Control) (why, remedy string) {
	o := ownerOf(snapshot.OwnerControl, "", c.Name)
	if list := v.workloads[o]; len(list) != 1 {
		return fmt.Sprintf("was not run: %d workloads are there for it", len(list)), lookAgain
	} else if list[0].Trouble != "" {
		return "was not run: its controller can't make pods: " + list[0].Trouble, "remove what the controller names"
	}
	if c.Workload.Kind == scenario.DaemonSet {
		return v.spills(c, v.pods[o])
	}
	pods := v.pods[o]
	if want := int(c.Workload.Replicas); len(pods) != want {
		return fmt.Sprintf("was not run: %d of %d pods are there", len(pods), want), lookAgain
	}
	for _, p := range pods {
		if p.Node != "" {
			return fmt.Sprintf("passed: its pod was bound to %s", p.Node), fmt.Sprintf("correct what should have refused it: the profile %s, or the control's nodes", v.shapeOf(footprint.Accelerated))
		}
	}
	return v.refusedFor(c, pods)
}

// refusedFor holds the scheduler's words against the control's reason: every node
// that it is held to, that reason and no other.
func (v *view) refusedFor(c scenario.Control, pods []*snapshot.Pod) (why, remedy string) {
	refused := 0
	for _, p := range pods {
		r, ok := ParseRefusal(p.Message)
		switch {
		case ok && r.Says(c.Reason) == len(c.Nodes) && len(r.Own()) == 1:
			refused++
		case c.Gang && strings.Contains(p.Message, gangWaits):
		case p.Message == "":
			return "was not refused: the scheduler has said nothing", lookAgain
		default:
			return fmt.Sprintf(another+"%s, and not %d %q", words(p.Message), len(c.Nodes), c.Reason), "correct what the scheduler names; only then the control shows anything"
		}
	}
	if refused == 0 {
		return fmt.Sprintf(another+"none of its pods was refused for %q", c.Reason), lookAgain
	}
	if !c.Gang {
		return "", ""
	}
	gangs := v.gangs(snapshot.OwnerControl, c.Name)
	if len(gangs) != 1 {
		return fmt.Sprintf("was not run: %d pod groups are there for it", len(gangs)), lookAgain
	}
	if gangs[0].Scheduled != "False" {
		return fmt.Sprintf("its pod group says scheduled %s: %s", gangs[0].Scheduled, say(gangs[0])), lookAgain
	}
	return "", ""
}

// spills: a DaemonSet for GPU nodes that has lost its selector must be found on
// other nodes, exactly where its tolerations let it.
func (v *view) spills(c scenario.Control, pods []*snapshot.Pod) (why, remedy string) {
	var want, got, off []string
	for _, name := range c.Nodes {
		n, ok := v.node(name)
		if _, tainted := scenario.Untolerated(c.Workload, n.Taints); ok && !tainted && scenario.Selects(c.Workload.Pod, name, v.has(name)) {
			want = append(want, name)
		}
	}
	for _, p := range pods {
		if p.Node == "" || !up(p) {
			return fmt.Sprintf(another+"its pod %s is %s: %s", p.Name, p.Phase, words(p.Message)), lookAgain
		}
		got = append(got, p.Node)
		if n, ok := v.node(p.Node); ok && !allowed(c.Workload.Class, n) {
			off = append(off, p.Node)
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	switch {
	case len(off) == 0:
		return fmt.Sprintf("passed: %s without its selector was found on no node that it does not belong on", c.Of), "look for what else keeps it off system nodes: a taint there, or an admission that adds a selector"
	case !slices.Equal(want, got):
		return fmt.Sprintf("was found on %s, and not on %s", v.at(got), v.at(want)), lookAgain
	default:
		return "", ""
	}
}
