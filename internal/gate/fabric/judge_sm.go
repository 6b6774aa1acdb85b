package fabric

import (
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/infiniband"
)

const (
	suspectSM  = "subnet manager"
	remedySM   = "check the subnet manager (opensm, UFM or the managed switch): exactly one must run and be reachable from every host"
	remedySSH  = "make the host reachable and its tools runnable, then run again: firstlight accept --from fabric"
	remedyTwin = "stop one of the subnet managers, or give them different priorities so that one becomes standby"
)

// answer is one output of sminfo with its observation.
type answer struct {
	infiniband.SMInfo
	o check.Observation
}

// judgeSM returns the LID of the only master; 0 without exactly one.
func (g *Gate) judgeSM(b *check.Builder, obs []check.Observation) int {
	var all []answer
	byHost := map[string][]int{} // indices in all
	for _, o := range check.OfKind(obs, kindSM) {
		info, err := check.Decode[infiniband.SMInfo](o)
		if err != nil {
			b.Unobserved(o.ID, o.Target, remedySSH, "%v", err)
			continue
		}
		byHost[o.Target] = append(byHost[o.Target], len(all))
		all = append(all, answer{info, o})
	}
	var scans uint64
	for _, o := range check.OfKind(obs, kindDiag) {
		if !o.Failed() { // without a port it queries no manager
			scans++
		}
	}
	masters := map[string]answer{}
	for _, name := range g.asked {
		answers := byHost[name]
		if len(answers) < 2 {
			b.Unobserved("", name, remedySSH, "the subnet manager was queried %d times from %s, want 2 to observe its activity", len(answers), name)
		}
		for _, i := range answers {
			if a := all[i]; master(b, a) {
				masters[a.GUID] = a
			}
		}
		if len(answers) >= 2 {
			g.judgeSweep(b, all, answers[0], answers[len(answers)-1], scans)
		}
	}
	if len(masters) > 1 {
		var guids []string
		for guid := range masters {
			guids = append(guids, guid)
		}
		slices.Sort(guids)
		b.Fail(masters[guids[0]].o.ID, suspectSM, remedyTwin, "two subnet managers report that they are master: %s", strings.Join(guids, " and "))
		return 0
	}
	for _, a := range masters {
		return a.LID
	}
	return 0
}

// master reports whether the answer is from a master, and adds a finding if not.
func master(b *check.Builder, a answer) bool {
	switch {
	case !a.Answered:
		b.Fail(a.o.ID, suspectSM, remedySM, "no subnet manager answers %s", a.o.Target)
		return false
	case a.State == nil:
		b.Unobserved(a.o.ID, suspectSM, "install a current infiniband-diags on "+a.o.Target, "this sminfo is too old to print the subnet manager's state")
		return false
	case *a.State != infiniband.SMStateMaster:
		b.Fail(a.o.ID, suspectSM, remedySM, "the subnet manager at LID %d is in state %d, not master (%d)", a.LID, *a.State, infiniband.SMStateMaster)
		return false
	default:
		return true
	}
}
