package judge

import (
	"fmt"

	"github.com/firstlight/firstlight/internal/schedule/scenario"
	"github.com/firstlight/firstlight/internal/schedule/snapshot"
)

// judgeGang requires that the pods of a training probe are one gang, bound as a whole.
func (v *view) judgeGang() {
	probe := v.expected[len(v.expected)-1]
	gangs := v.gangs(snapshot.OwnerProbe, "")
	if v.scenario.Probe.Kind != scenario.Gang {
		return
	}
	pods := v.podsOf(probe.Expected)
	left := len(waiting(pods))
	wrong := func(message string) {
		v.found.add(cause{
			key: probe.id() + " " + message, suspect: probe.id(), message: message,
			remedy: "run the test again; if it persists, see the scheduler's log in the evidence",
		})
	}
	if len(gangs) != 1 {
		wrong(fmt.Sprintf("its pods have %d pod groups, want one", len(gangs)))
		return
	}
	switch g := gangs[0]; {
	case left > 0 && left < len(pods):
		wrong(fmt.Sprintf("was bound in part: %d of %d pods; a gang must be bound as a whole", len(pods)-left, len(pods)))
	case left == 0 && g.Scheduled != "True":
		wrong(fmt.Sprintf("its pods are bound, but its pod group reports scheduled %s: %s", g.Scheduled, gangMessage(g)))
	case left > 0 && g.Scheduled == "True":
		wrong("its pod group reports that it is scheduled, but no pod is bound")
	}
}

// gangs lists the pod groups of an owner, or of one control by name.
func (v *view) gangs(owner, name string) []snapshot.Gang {
	var out []snapshot.Gang
	for _, g := range v.state.Gangs {
		if g.Owner == owner && (name == "" || g.Name == name) {
			out = append(out, g)
		}
	}
	return out
}

func gangMessage(g snapshot.Gang) string {
	switch {
	case g.Message != "":
		return g.Message
	case g.Reason != "":
		return g.Reason
	default:
		return "no message"
	}
}

// judgeUnexpectedObjects requires that every object belongs to the recipe.
func (v *view) judgeUnexpectedObjects() {
	known := map[owner]bool{}
	for _, e := range v.expected {
		known[e.owner()] = true
	}
	gangs := map[string]bool{}
	if v.scenario.Probe.Kind == scenario.Gang {
		gangs[snapshot.OwnerProbe] = true
	}
	for _, control := range v.scenario.Controls {
		if control.NotApplicable == "" {
			known[ownerOf(snapshot.OwnerControl, "", control.Name)] = true
			gangs[snapshot.OwnerControl+"/"+control.Name] = control.Gang
		}
	}
	unexpectedObject := func(o owner, what, name string) {
		v.found.add(cause{
			key: o.component + "/" + o.name + " stranger", suspect: o.component + "/" + o.name,
			message: fmt.Sprintf("%s %s exists and is not part of the recipe", what, name),
			remedy:  "run the test again; if it persists, find out what creates it, or add it to the footprint",
		})
	}
	for _, w := range v.state.Workloads {
		if o := ownerOf(w.Component, w.Kind, w.Name); !known[o] && o.component != snapshot.OwnerBarrier {
			unexpectedObject(o, "the "+w.Kind, w.Name)
		}
	}
	for _, p := range v.state.Pods {
		if o := ownerOf(p.Component, p.Kind, p.Workload); !known[o] && o.component != snapshot.OwnerBarrier {
			unexpectedObject(o, "the pod", p.Name)
		}
	}
	for _, g := range v.state.Gangs {
		of := g.Owner
		if of == snapshot.OwnerControl {
			of += "/" + g.Name
		}
		if !gangs[of] {
			unexpectedObject(owner{component: g.Owner, name: g.Name}, "the pod group", g.Name)
		}
	}
}
