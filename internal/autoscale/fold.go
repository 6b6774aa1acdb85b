package autoscale

import (
	"fmt"
	"slices"
	"time"

	"github.com/firstlight/firstlight/internal/autoscale/judge"
	"github.com/firstlight/firstlight/internal/autoscale/snapshot"
	"github.com/firstlight/firstlight/internal/check"
)

// HopReport is the result of one hop.
type HopReport struct {
	Hop     string        `json:"hop"`
	Phase   string        `json:"phase"`
	Verdict check.Verdict `json:"verdict"`
	// At is when it happened; absent when it did not.
	At time.Time `json:"at,omitzero"`
	// Took is since the hop before it in its phase, in seconds; for the first one
	// of a phase since the phase began. Absent when it did not happen.
	Took *float64 `json:"took,omitempty"`
	// Budget is the worst case of the settings found, in seconds; absent where no
	// setting bears on the hop.
	Budget *float64 `json:"budget,omitempty"`
	// Object is what it happened to: its kind, namespace and name; and its UID.
	Object   string          `json:"object,omitempty"`
	UID      string          `json:"uid,omitempty"`
	Reason   string          `json:"reason"`
	Findings []check.Finding `json:"findings"`

	// start is when the hop before it happened.
	start time.Time
}

// Over says that the hop took longer than its budget.
func (h HopReport) Over() bool { return h.Took != nil && h.Budget != nil && *h.Took > *h.Budget }

// decoded are the observations of a chain, decoded and judged.
type decoded struct {
	setup snapshot.Setup
	hops  []HopReport
	// states of the hops that were observed, and the last of them.
	states map[string]snapshot.State
	last   snapshot.State
	// problem keeps the whole from being judged.
	problem string
}

// fold judges the hops in order. A hop after a hop that did not pass is blocked; a gang needs
// only the hops before the load, and cleanup needs none.
func fold(obs []check.Observation) decoded {
	w := decoded{states: map[string]snapshot.State{}}
	ids, unread := w.decode(obs)
	if w.problem != "" {
		return w
	}
	stopped := map[string]string{} // by chain of phases: the hop that is not passed
	for _, phase := range snapshot.Chain() {
		before := w.began(phase.Name)
		for _, hop := range phase.Hops {
			r := HopReport{Hop: hop, Phase: phase.Name, Findings: []check.Finding{}}
			by := blocker(phase.Name, stopped)
			if _, observed := w.states[hop]; by == "" && !observed && unread[hop] == "" && phase.Name == snapshot.PhaseGang {
				by = anyOf(stopped) // the observer ended the chain there
			}
			res := w.judge(hop, by, unread[hop])
			r.Verdict, r.Reason, r.At = res.Verdict, res.Reason, res.At
			if res.Object.Name != "" {
				r.Object, r.UID = res.Object.String(), res.Object.UID
			}
			for _, f := range res.Findings {
				f.Observations = ids[hop]
				r.Findings = append(r.Findings, f)
			}
			if b := budgetOf(hop, w.setup); b > 0 {
				s := b.Seconds()
				r.Budget = &s
			}
			if r.Verdict == check.Passed {
				before = r.time(before)
			} else if !clears(r.Verdict) && stopped[phase.Name] == "" {
				stopped[phase.Name] = hop + " is " + string(r.Verdict)
			}
			w.hops = append(w.hops, r)
		}
	}
	return w
}

func clears(v check.Verdict) bool { return v == check.Passed || v == check.NotApplicable }

// time sets how long the hop took after the one before it, and returns when the
// next begins. Two watches may tell of things in the wrong order.
func (h *HopReport) time(before time.Time) time.Time {
	if before.IsZero() {
		return h.At
	}
	h.start = before
	took := max(0, h.At.Sub(before)).Seconds()
	h.Took = &took
	if h.At.Before(before) {
		return before
	}
	return h.At
}

// needs of a phase: those that have to be passed before it.
var needs = map[string][]string{
	snapshot.PhaseBefore:  {snapshot.PhaseBefore},
	snapshot.PhaseControl: {snapshot.PhaseBefore, snapshot.PhaseControl},
	snapshot.PhaseUp:      {snapshot.PhaseBefore, snapshot.PhaseControl, snapshot.PhaseUp},
	snapshot.PhaseDown:    {snapshot.PhaseBefore, snapshot.PhaseControl, snapshot.PhaseUp, snapshot.PhaseDown},
	snapshot.PhaseGang:    {snapshot.PhaseBefore, snapshot.PhaseControl, snapshot.PhaseGang},
	snapshot.PhaseClean:   nil,
}

// blocker is why a hop of the phase can not be judged; empty when it can.
func blocker(phase string, stopped map[string]string) string {
	for _, p := range needs[phase] {
		if stopped[p] != "" {
			return stopped[p]
		}
	}
	return ""
}

// anyOf is the first hop of the chain that stopped it.
func anyOf(stopped map[string]string) string {
	for _, p := range snapshot.Chain() {
		if stopped[p.Name] != "" {
			return stopped[p.Name]
		}
	}
	return ""
}

// judge judges one hop.
func (w *decoded) judge(hop, blockedBy, unread string) judge.Result {
	st, observed := w.states[hop]
	why, excused := judge.NotApplicable(hop, w.setup)
	switch {
	case excused:
		return judge.Result{Judgement: check.Judgement{Verdict: check.NotApplicable, Reason: why}}
	case blockedBy != "":
		return judge.Result{Judgement: check.Judgement{Verdict: check.Blocked, Reason: blockedBy}}
	case unread != "":
		return unseen(hop, unread)
	case !observed:
		return unseen(hop, "hop "+hop+" was not observed")
	default:
		return judge.Hop(hop, w.setup, st)
	}
}

func unseen(hop, why string) judge.Result {
	return judge.Result{Judgement: check.NotObserved(why, check.Finding{
		Suspect: "hop " + hop, Message: why, Remedy: "run the chain again: firstlight autoscale",
	})}
}

// decode sorts the observations. It returns the IDs of each hop's, and why a
// hop's could not be read. Anything but exactly one setup and at most one state
// of each known hop is a problem.
func (w *decoded) decode(obs []check.Observation) (ids map[string][]string, unread map[string]string) {
	ids, unread = map[string][]string{}, map[string]string{}
	setups := check.OfKind(obs, snapshot.KindSetup)
	if len(setups) != 1 {
		w.problem = fmt.Sprintf("the chain has %d setups, want one", len(setups))
		return ids, unread
	}
	setup, err := check.Decode[snapshot.Setup](setups[0])
	if err != nil {
		w.problem = "cannot read the setup: " + err.Error()
		return ids, unread
	}
	w.setup = setup
	known := hopNames()
	for _, o := range check.OfKind(obs, snapshot.KindHop) {
		if !slices.Contains(known, o.Target) {
			w.problem = fmt.Sprintf("unknown hop %q", o.Target)
			return ids, unread
		}
		if _, read := w.states[o.Target]; read || unread[o.Target] != "" {
			w.problem = fmt.Sprintf("hop %s was observed twice", o.Target)
			return ids, unread
		}
		st, err := check.Decode[snapshot.State](o)
		if err != nil {
			unread[o.Target] = err.Error()
			continue
		}
		w.states[o.Target] = st
		if o.ID != "" {
			ids[o.Target] = []string{o.ID}
		}
		if !st.At.Before(w.last.At) {
			w.last = st
		}
	}
	return ids, unread
}

func hopNames() []string {
	var out []string
	for _, p := range snapshot.Chain() {
		out = append(out, p.Hops...)
	}
	return out
}

// began is when a phase began: the mark of its first deed.
func (w *decoded) began(phase string) time.Time {
	marks := map[string]string{
		snapshot.PhaseControl: snapshot.MarkPlaced, snapshot.PhaseUp: snapshot.MarkLoad, snapshot.PhaseDown: snapshot.MarkStop,
		snapshot.PhaseGang: snapshot.MarkGang, snapshot.PhaseClean: snapshot.MarkClean,
	}
	if phase == snapshot.PhaseBefore {
		return w.setup.Began
	}
	return w.last.Marks[marks[phase]]
}
