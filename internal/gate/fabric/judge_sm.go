package fabric

import (
	"fmt"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/infiniband"
)

const (
	suspectSM  = "subnet manager"
	remedySM   = "look at the subnet manager (opensm, UFM or the managed switch): it must run, once, and be reachable from every host"
	remedySSH  = "make the host reachable and its tools runnable, then walk again: firstlight accept --from fabric"
	remedyTwin = "stop one of the subnet managers, or give them different priorities so that one becomes standby"
)

// answer is one sminfo with its observation.
type answer struct {
	infiniband.SMInfo
	o check.Observation
}

// judgeSM returns the LID of the one master; 0 when there is none to go by.
func (g *Gate) judgeSM(v *verdict, obs []check.Observation) int {
	byHost := map[string][]answer{}
	for _, o := range check.OfKind(obs, kindSM) {
		info, err := check.Decode[infiniband.SMInfo](o)
		if err != nil {
			v.miss(o, o.Target, err.Error(), remedySSH)
			continue
		}
		byHost[o.Target] = append(byHost[o.Target], answer{info, o})
	}
	masters := map[string]answer{}
	for _, name := range g.smHosts() {
		answers := byHost[name]
		if len(answers) < 2 {
			v.miss(check.Observation{}, name, fmt.Sprintf("the subnet manager was asked %d times from %s, twice is needed to see it work", len(answers), name), remedySSH)
		}
		for _, a := range answers {
			if master(v, a) {
				masters[a.GUID] = a
			}
		}
		if len(answers) >= 2 {
			advances(v, answers[0], answers[len(answers)-1])
		}
	}
	if len(masters) > 1 {
		var guids []string
		for guid := range masters {
			guids = append(guids, guid)
		}
		slices.Sort(guids)
		v.fail(masters[guids[0]].o, suspectSM, "two subnet managers say they are master: "+strings.Join(guids, " and "), remedyTwin)
		return 0
	}
	for _, a := range masters {
		return a.LID
	}
	return 0
}

// master says that the answer is of a master, and notes why not.
func master(v *verdict, a answer) bool {
	switch {
	case !a.Answered:
		v.fail(a.o, suspectSM, "no subnet manager answers "+a.o.Target, remedySM)
		return false
	case a.State == nil:
		v.miss(a.o, suspectSM, "this sminfo is too old to print the subnet manager's state", "install a current infiniband-diags on "+a.o.Target)
		return false
	case *a.State != infiniband.SMStateMaster:
		v.fail(a.o, suspectSM, fmt.Sprintf("the subnet manager at LID %d is in state %d, not master (%d)", a.LID, *a.State, infiniband.SMStateMaster), remedySM)
		return false
	default:
		return true
	}
}

// advances: a frozen subnet manager still says that it is master.
func advances(v *verdict, first, last answer) {
	if !first.Answered || !last.Answered || first.GUID != last.GUID {
		return
	}
	if last.Activity <= first.Activity {
		v.fail(last.o, suspectSM, fmt.Sprintf("the subnet manager says master, but its activity count stands still at %d over %s",
			last.Activity, last.o.At.Sub(first.o.At).Round(1e8)), remedySM)
	}
}
