package judge

import (
	"fmt"

	"github.com/firstlight/firstlight/internal/schedule/scenario"
	"github.com/firstlight/firstlight/internal/schedule/snapshot"
)

// judgeGang: training's pods are one gang, and it was bound whole.
func (v *view) judgeGang() {
	probe := v.expected[len(v.expected)-1]
	gangs := v.gangs(snapshot.OwnerProbe, "")
	if v.cell.Probe.Kind != scenario.Gang {
		return
	}
	pods := v.podsOf(probe.Expected)
	left := len(waiting(pods))
	wrong := func(message string) {
		v.found.add(cause{
			key: probe.id() + " " + message, suspect: probe.id(), message: message,
			remedy: "run the test again; if it stays, the scheduler's log in the evidence says why",
		})
	}
	if len(gangs) != 1 {
		wrong(fmt.Sprintf("%d pod groups are there for its pods, and there has to be one", len(gangs)))
		return
	}
	switch g := gangs[0]; {
	case left > 0 && left < len(pods):
		wrong(fmt.Sprintf("was bound in part: %d of %d pods; a gang is bound whole or not at all", len(pods)-left, len(pods)))
	case left == 0 && g.Scheduled != "True":
		wrong(fmt.Sprintf("its pods are bound, and its pod group says scheduled %s: %s", g.Scheduled, say(g)))
	case left > 0 && g.Scheduled == "True":
		wrong("its pod group says that it is scheduled, and no pod is bound")
	}
}

// gangs of an owner; of a control those of its name.
func (v *view) gangs(owner, name string) []snapshot.Gang {
	var out []snapshot.Gang
	for _, g := range v.state.Gangs {
		if g.Owner == owner && (name == "" || g.Name == name) {
			out = append(out, g)
		}
	}
	return out
}

func say(g snapshot.Gang) string {
	switch {
	case g.Message != "":
		return g.Message
	case g.Reason != "":
		return g.Reason
	default:
		return "nothing more"
	}
}

// judgeStrangers: nothing is there that the recipe does not have.
func (v *view) judgeStrangers() {
	known := map[owner]bool{}
	for _, e := range v.expected {
		known[e.owner()] = true
	}
	gangs := map[string]bool{}
	if v.cell.Probe.Kind == scenario.Gang {
		gangs[snapshot.OwnerProbe] = true
	}
	for _, control := range v.cell.Controls {
		if control.NotApplicable == "" {
			known[ownerOf(snapshot.OwnerControl, "", control.Name)] = true
			gangs[snapshot.OwnerControl+"/"+control.Name] = control.Gang
		}
	}
	stranger := func(o owner, what, name string) {
		v.found.add(cause{
			key: o.component + "/" + o.name + " stranger", suspect: o.component + "/" + o.name,
			message: fmt.Sprintf("%s %s is there, and is none of the recipe's", what, name),
			remedy:  "run the test again; if it stays, look for what makes it, or add it to the footprint",
		})
	}
	for _, w := range v.state.Workloads {
		if o := ownerOf(w.Component, w.Kind, w.Name); !known[o] && o.component != snapshot.OwnerBarrier {
			stranger(o, "the "+w.Kind, w.Name)
		}
	}
	for _, p := range v.state.Pods {
		if o := ownerOf(p.Component, p.Kind, p.Workload); !known[o] && o.component != snapshot.OwnerBarrier {
			stranger(o, "the pod", p.Name)
		}
	}
	for _, g := range v.state.Gangs {
		of := g.Owner
		if of == snapshot.OwnerControl {
			of += "/" + g.Name
		}
		if !gangs[of] {
			stranger(owner{component: g.Owner, name: g.Name}, "the pod group", g.Name)
		}
	}
}
