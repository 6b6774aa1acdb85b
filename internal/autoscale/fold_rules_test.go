package autoscale

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/autoscale/snapshot"
	"github.com/firstlight/firstlight/internal/autoscale/snapshottest"
	"github.com/firstlight/firstlight/internal/check"
)

// A hop takes the time since the hop before it, and no time if two watches report them in the wrong
// order; the next hop is then measured from the later one. Without a begin it has no duration.
func TestTheTimeOfAHop(t *testing.T) {
	t.Parallel()
	at := snapshottest.At
	for name, tt := range map[string]struct {
		before, happened, next time.Time
		took                   float64 // -1: none
	}{
		"later":           {at(1), at(3.5), at(3.5), 2.5},
		"at once":         {at(1), at(1), at(1), 0},
		"in wrong order":  {at(3), at(1), at(3), 0},
		"without a begin": {time.Time{}, at(3), at(3), -1},
	} {
		h := HopReport{At: tt.happened}
		next := h.time(tt.before)
		if !next.Equal(tt.next) || (h.Took == nil) != (tt.took < 0) || h.Took != nil && *h.Took != tt.took || !h.start.Equal(tt.before) {
			t.Errorf("%s: %+v, next %s", name, h, next)
		}
	}
	second, two := 1.0, 2.0
	for _, tt := range []struct {
		took, budget *float64
		over         bool
	}{{nil, nil, false}, {&two, nil, false}, {nil, &second, false}, {&second, &two, false}, {&second, &second, false}, {&two, &second, true}} {
		if got := (HopReport{Took: tt.took, Budget: tt.budget}).Over(); got != tt.over {
			t.Errorf("%v of %v is over: %t", tt.took, tt.budget, got)
		}
	}
}

// The report of a hop has its evidence, its budget and the time since the begin of its phase or the hop
// before, whatever the order of the observations.
func TestHopReports(t *testing.T) {
	t.Parallel()
	s := snapshottest.Setup()
	obs := chainOf(t, s, nil)
	for i := range obs {
		obs[i].ID = "id-" + obs[i].Target
	}
	reversed := slices.Clone(obs)
	slices.Reverse(reversed)
	w := fold(obs)
	if diff := cmp.Diff(w.hops, fold(reversed).hops, cmp.AllowUnexported(HopReport{})); diff != "" {
		t.Error(diff)
	}
	last := snapshottest.Until(snapshot.PhaseClean)
	begins := map[string]time.Time{
		snapshot.PhaseBefore: s.Began, snapshot.PhaseControl: last.Marks[snapshot.MarkPlaced], snapshot.PhaseUp: last.Marks[snapshot.MarkLoad],
		snapshot.PhaseDown: last.Marks[snapshot.MarkStop], snapshot.PhaseGang: last.Marks[snapshot.MarkGang], snapshot.PhaseClean: last.Marks[snapshot.MarkClean],
	}
	budgets := 0
	for i, h := range w.hops {
		before := begins[h.Phase]
		if i > 0 && w.hops[i-1].Phase == h.Phase {
			before = w.hops[i-1].At
			if w.hops[i-1].start.After(before) {
				before = w.hops[i-1].start
			}
		}
		if before.IsZero() || *h.Took != max(0, h.At.Sub(before).Seconds()) {
			t.Errorf("hop %s took %g s since %s", h.Hop, *h.Took, before)
		}
		b := budgetOf(h.Hop, s)
		if (h.Budget == nil) != (b == 0) || h.Budget != nil && *h.Budget != b.Seconds() {
			t.Errorf("hop %s has the budget %v, want %s", h.Hop, h.Budget, b)
		}
		if h.Budget != nil {
			budgets++
		}
		if !strings.Contains(h.Object, "/") && !strings.Contains(h.Object, " ") || h.Verdict != check.Passed {
			t.Errorf("%+v", h)
		}
	}
	if budgets == 0 {
		t.Error("no hop has a budget")
	}
}

// The first hop that did not pass blocks the hops after it, with its name and verdict. A hop that does
// not apply stays so, and an observation that cannot be read leaves its hop unobserved.
func TestWhatStopsAHop(t *testing.T) {
	t.Parallel()
	fails := func(of string, change func(*snapshot.State)) func(string, *snapshot.State) {
		return func(hop string, st *snapshot.State) {
			if hop == of {
				change(st)
			}
		}
	}
	hpa := fails(snapshot.HopHPA, func(st *snapshot.State) { st.HPA.Target, st.Desired = 1e6, st.Desired[:1] })
	unread := func(hops ...string) func([]check.Observation) []check.Observation {
		return func(obs []check.Observation) []check.Observation {
			for i := range obs {
				if slices.Contains(hops, obs[i].Target) {
					obs[i].Figures, obs[i].Err = nil, "forbidden"
				}
			}
			return obs
		}
	}
	drop := func(hops ...string) func([]check.Observation) []check.Observation {
		return func(obs []check.Observation) []check.Observation {
			return slices.DeleteFunc(obs, func(o check.Observation) bool { return slices.Contains(hops, o.Target) })
		}
	}
	for name, tt := range map[string]struct {
		setup  func(*snapshot.Setup)
		change func(string, *snapshot.State)
		also   func([]check.Observation) []check.Observation
		want   map[string]string // verdict and reason of hops
	}{
		"a failure": {nil, hpa, nil, map[string]string{
			snapshot.HopPods: "blocked hpa is failed", snapshot.HopBound: "blocked hpa is failed", snapshot.HopMetricFalls: "blocked hpa is failed", snapshot.HopBystanders: "blocked hpa is failed",
		}},
		"a failure in the control": {nil, nil, drop(snapshot.HopServed), map[string]string{
			snapshot.HopServed: "unobserved hop served was not observed", snapshot.HopFlat: "blocked served is unobserved", snapshot.HopLoad: "blocked served is unobserved",
			snapshot.HopGangBound: "blocked served is unobserved", snapshot.HopMetricFalls: "blocked served is unobserved",
		}},
		"a hop that does not apply stops none": {func(s *snapshot.Setup) { s.Pool.Zero = "" }, nil, nil, map[string]string{
			snapshot.HopLimitZero: "not-applicable the run uses an existing NodePool (--pool) and creates none with limit 0", snapshot.HopMetricFalls: "passed", snapshot.HopGangBound: "passed",
		}},
		"a gang that the observer left out":     {nil, hpa, drop(snapshot.HopGangBound, snapshot.HopGangNone), map[string]string{snapshot.HopGangBound: "blocked hpa is failed", snapshot.HopGangNone: "blocked gang-bound is blocked"}},
		"a gang that could not be read":         {nil, hpa, unread(snapshot.HopGangBound), map[string]string{snapshot.HopGangBound: "unobserved autoscale-hop on gang-bound: forbidden", snapshot.HopGangNone: "blocked gang-bound is unobserved"}},
		"a clean-up that the observer left out": {nil, hpa, drop(snapshot.HopClean), map[string]string{snapshot.HopClean: "unobserved hop clean was not observed"}},
		"no gang, after a failure":              {func(s *snapshot.Setup) { s.Gang, s.GangWhy = 0, "no gangs here" }, fails(snapshot.HopAdapter, func(st *snapshot.State) { st.Programs[0].Ready = 0 }), nil, map[string]string{snapshot.HopGangBound: "not-applicable no gangs here", snapshot.HopPool: "blocked adapter is failed"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := snapshottest.Setup()
			if tt.setup != nil {
				tt.setup(&s)
			}
			obs := chainOf(t, s, tt.change)
			if tt.also != nil {
				obs = tt.also(obs)
			}
			got := map[string]string{}
			for _, h := range fold(obs).hops {
				if _, ok := tt.want[h.Hop]; !ok {
					continue
				}
				verdict, reason := string(h.Verdict), h.Reason
				if got[h.Hop] = verdict + " " + reason; h.Verdict == check.Passed {
					got[h.Hop] = verdict
					continue
				}
				if h.Verdict == check.Unobserved && (len(h.Findings) != 1 || h.Findings[0].Suspect != "hop "+h.Hop || h.Findings[0].Remedy == "") {
					t.Errorf("hop %s: %+v", h.Hop, h.Findings)
				}
				if h.Verdict != check.Unobserved && h.Object != "" {
					t.Errorf("hop %s has the object %s", h.Hop, h.Object)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A hop is observed at most once, also if it could not be read. A finding without a stored observation
// names none.
func TestHopsAreObservedOnce(t *testing.T) {
	t.Parallel()
	whole := chainOf(t, snapshottest.Setup(), nil)
	unread := whole[3]
	unread.ID, unread.Figures, unread.Err = "", nil, "forbidden"
	anonymous := whole[3]
	anonymous.ID = ""
	identified := whole[3]
	identified.ID = "0004"
	for name, tt := range map[string][]check.Observation{"unread first": {unread, whole[3]}, "unread later": {identified, unread}, "twice": {identified, identified}, "without an ID": {anonymous, anonymous}} {
		w := fold(slices.Concat(whole[:3], tt, whole[4:]))
		if want := "hop " + unread.Target + " was observed twice"; w.problem != want || len(w.hops) > 0 {
			t.Errorf("%s: %q, want %q", name, w.problem, want)
		}
	}
	obs := chainOf(t, snapshottest.Setup(), func(hop string, st *snapshot.State) {
		if hop == snapshot.HopAdapter {
			st.Programs[0].Ready = 0
		}
	})
	for i := range obs {
		obs[i].ID = ""
	}
	if h := fold(obs).hops[0]; h.Verdict != check.Failed || len(h.Findings) == 0 || h.Findings[0].Observations != nil {
		t.Errorf("%+v", h)
	}
}
