package judge

import (
	"fmt"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/recipe/footprint"
	"github.com/firstlight/firstlight/internal/schedule/scenario"
	"github.com/firstlight/firstlight/internal/schedule/snapshot"
)

// undetected maps each control to the defect that the test cannot detect if the control passes.
var undetected = map[string]string{
	scenario.DropToleration: "pods that do not tolerate the GPU taint",
	scenario.DropSelector:   "a DaemonSet without its selector",
	scenario.HalfGPUs:       "nodes with too few GPUs",
	scenario.WrongArch:      "nodes of another architecture",
	scenario.HalfGang:       "a gang that is bound in part",
}

// gangWaits is in the scheduler's message for a gang pod that fits while others of the
// gang do not.
const gangWaits = "minCount pods from a gang"

// judgeControl requires that the control fails on its nodes for its reason. Otherwise the
// test cannot detect the defect that the control stands for.
func (v *view) judgeControl(c scenario.Control) {
	if c.NotApplicable != "" {
		return
	}
	why, remedy := v.checkControl(c)
	if why == "" {
		return
	}
	v.controlsPassed++
	probe := v.expected[len(v.expected)-1]
	if strings.HasPrefix(why, otherReason) && c.Of == "" && len(probe.Nodes) == 0 {
		// Its pod is a copy of the probe's, and so is the reason for the rejection.
		v.found.addFollowing(v.rootCause(v.noMatchingNode(probe)), snapshot.OwnerControl+"/"+c.Name, "%s", why)
		return
	}
	what, known := undetected[c.Name]
	if !known {
		what = "its defect"
	}
	v.found.add(cause{
		key: "control " + c.Name, suspect: snapshot.OwnerControl + "/" + c.Name,
		message: fmt.Sprintf("%s: the test would not detect %s", why, what), remedy: remedy,
	})
}

// otherReason starts the message for a control that failed for a wrong reason.
const otherReason = "failed for another reason: "

const rerunRemedy = "run the test again; if it persists, inspect the control's pods in the evidence"

// checkControl is empty when the control was rejected as required.
func (v *view) checkControl(c scenario.Control) (why, remedy string) {
	o := ownerOf(snapshot.OwnerControl, "", c.Name)
	if list := v.workloads[o]; len(list) != 1 {
		return fmt.Sprintf("was not run: it has %d workloads", len(list)), rerunRemedy
	} else if list[0].Trouble != "" {
		return "was not run: its controller cannot create pods: " + list[0].Trouble, "correct the cause that the controller reports"
	}
	if c.Workload.Kind == scenario.DaemonSet {
		return v.checkSpread(c, v.pods[o])
	}
	pods := v.pods[o]
	if want := int(c.Workload.Replicas); len(pods) != want {
		return fmt.Sprintf("was not run: %d of %d pods exist", len(pods), want), rerunRemedy
	}
	for _, p := range pods {
		if p.Node != "" {
			return fmt.Sprintf("passed: its pod was bound to %s", p.Node), fmt.Sprintf("correct what should have rejected it: the profile %s, or the control's nodes", v.shapeOf(footprint.Accelerated))
		}
	}
	return v.checkRefusals(c, pods)
}

// checkRefusals compares the scheduler's messages with the control's reason: each of its
// nodes must report that reason and no other.
func (v *view) checkRefusals(c scenario.Control, pods []*snapshot.Pod) (why, remedy string) {
	refused := 0
	for _, p := range pods {
		r, _ := ParseRefusal(p.Message)
		switch {
		case r.NodesWith(c.Reason) == len(c.Nodes) && len(r.OwnReasons()) == 1:
			refused++
		case c.Gang && strings.Contains(p.Message, gangWaits):
		case p.Message == "":
			return "was not rejected: the scheduler has reported nothing", rerunRemedy
		default:
			return fmt.Sprintf(otherReason+"%s, want %d %q", schedulerText(p.Message), len(c.Nodes), c.Reason), "correct the cause that the scheduler reports; until then the control proves nothing"
		}
	}
	if refused == 0 {
		return fmt.Sprintf(otherReason+"none of its pods was rejected for %q", c.Reason), rerunRemedy
	}
	if !c.Gang {
		return "", ""
	}
	gangs := v.gangs(snapshot.OwnerControl, c.Name)
	if len(gangs) != 1 {
		return fmt.Sprintf("was not run: it has %d pod groups", len(gangs)), rerunRemedy
	}
	if gangs[0].Scheduled != "False" {
		return fmt.Sprintf("its pod group reports scheduled %s: %s", gangs[0].Scheduled, gangMessage(gangs[0])), rerunRemedy
	}
	return "", ""
}

// checkSpread requires that a DaemonSet for GPU nodes without its selector runs on exactly
// the nodes that its tolerations allow, including other nodes.
func (v *view) checkSpread(c scenario.Control, pods []*snapshot.Pod) (why, remedy string) {
	var want, got, off []string
	for _, name := range c.Nodes {
		n, _ := v.node(name)
		if _, tainted := scenario.Untolerated(c.Workload, n.Taints); !tainted && scenario.Selects(c.Workload.Pod, name, v.has(name)) {
			want = append(want, name)
		}
	}
	for _, p := range pods {
		if p.Node == "" || !phaseOK(p) {
			return fmt.Sprintf(otherReason+"its pod %s is %s: %s", p.Name, p.Phase, schedulerText(p.Message)), rerunRemedy
		}
		got = append(got, p.Node)
		if n, _ := v.node(p.Node); !allowed(c.Workload.Class, n) {
			off = append(off, p.Node)
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	switch {
	case len(off) == 0:
		return fmt.Sprintf("passed: %s without its selector ran on no wrong node", c.Of), "find out what else keeps it off system nodes: a taint, or an admission policy that adds a selector"
	case !slices.Equal(want, got):
		return fmt.Sprintf("ran on %s, want %s", v.at(got), v.at(want)), rerunRemedy
	default:
		return "", ""
	}
}
