package evidence

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/plan"
)

// A verdict without a note covers the whole plan in one execution: every reduction is
// named.
func TestNarrowedBy(t *testing.T) {
	t.Parallel()
	morning := time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)
	steps := []PlanStep{{Name: "a"}, {Name: "b"}, {Name: "c", Recommended: true}}
	verdict := func(step string, v check.Verdict, change ...func(*plan.Result)) Entry {
		r := plan.Result{Step: step, Judgement: check.Judgement{Verdict: v, Reason: "seen"}, At: morning}
		for _, f := range change {
			f(&r)
		}
		return Entry{Type: EntryVerdict, Step: step, Result: &r}
	}
	// without are the results of a gate that left out nodes; another node has a note.
	without := func(step string, v check.Verdict, nodes int, leftOut ...string) Entry {
		return verdict(step, v, func(r *plan.Result) {
			r.LeftOut, r.Nodes = leftOut, nodes
			for _, n := range append([]string{"n22", "x"}, leftOut...) {
				r.Findings = append(r.Findings, check.Finding{Suspect: n, Message: "7 of 8 GPUs"}, check.Finding{Suspect: n + "/gpu3", Message: "gone"})
			}
		})
	}
	abandoned := func(attempt int, v check.Verdict, suspect string, observations ...string) Entry {
		return Entry{Type: EntryAbandoned, Step: "a", Result: &plan.Result{
			Step: "a", Attempt: attempt, Observations: observations, Judgement: check.Judgement{Verdict: v, Reason: "why", Findings: []check.Finding{{Suspect: suspect}}},
		}}
	}
	whole := []Entry{verdict("a", check.Passed), verdict("b", check.Passed), verdict("c", check.Passed)}
	for name, tt := range map[string]struct {
		header  Header
		entries []Entry
		open    bool
		want    []string
	}{
		"the whole plan":                         {entries: whole},
		"ended before its clean-up was recorded": {entries: whole, open: true, want: []string{"the end of the run and its clean-up were not recorded"}},
		"one alone":                              {header: Header{Only: "b"}, entries: whole[1:2], want: []string{"only b was selected: 1 of 3 checks"}},
		"left out":                               {entries: whole[1:], want: []string{"left out: a"}},
		"unfinished":                             {entries: whole[:2], open: true, want: []string{"no verdict yet: c"}},
		"kept from another run": {
			entries: append([]Entry{verdict("a", check.Passed, func(r *plan.Result) { r.KeptFrom = "R1" })}, whole[1:]...),
			want:    []string{"kept from run R1: a of 2026-11-21T08:00:00Z"},
		},
		"kept when it was resumed": {
			header:  Header{Run: "R2"},
			entries: []Entry{whole[0], {Type: EntryResumed, At: morning.Add(time.Hour)}, whole[1], whole[2]},
			want:    []string{"resumed at 2026-11-21T09:00:00Z, kept of run R2 as it was: a of 2026-11-21T08:00:00Z"},
		},
		"observed again after it was resumed": {
			entries: []Entry{whole[0], {Type: EntryResumed}, {Type: EntryBegun, Step: "a"}, whole[0], whole[1], whole[2]},
			want:    []string{"a was observed again: it was passed at 2026-11-21T08:00:00Z (seen)"},
		},
		"begun twice, of a version that did not judge the first": {
			entries: []Entry{{Type: EntryBegun, Step: "a", Attempt: 1}, {Type: EntryResumed}, {Type: EntryBegun, Step: "a", Attempt: 2}, whole[0], whole[1], whole[2]},
		},
		"begun and not finished": {
			entries: []Entry{
				{Type: EntryBegun, Step: "a", Attempt: 1}, {Type: EntryResumed}, abandoned(1, check.Failed, "x/gpu3", "1"),
				{Type: EntryBegun, Step: "a", Attempt: 2}, {Type: EntryResumed}, abandoned(2, check.Unobserved, "x", "1", "2"),
				{Type: EntryBegun, Step: "a", Attempt: 3}, {Type: EntryResumed}, abandoned(3, check.Unobserved, "x"),
				{Type: EntryBegun, Step: "a", Attempt: 4}, whole[0], whole[1], whole[2],
			},
			want: []string{
				"a was begun more than once: attempt 1 ended without a verdict, its observation is judged failed: why (x/gpu3)",
				"a was begun more than once: attempt 2 ended without a verdict, its 2 observations are judged unobserved: why",
				"a was begun more than once: attempt 3 ended without a verdict and without an observation",
			},
		},
		"not applicable": {
			entries: []Entry{whole[0], verdict("b", check.NotApplicable, func(r *plan.Result) { r.Reason = "no fabric" }), whole[2]},
			want:    []string{"not applicable: b (no fabric)"},
		},
		"lowered": {
			entries: []Entry{verdict("a", check.Passed, func(r *plan.Result) { r.Lowered = []string{"minMFU 0.1, profile 0.36"} }), whole[1], whole[2]},
			want:    []string{"lowered by the site: a: minMFU 0.1, profile 0.36"},
		},
		"only recommended": {
			entries: []Entry{whole[0], whole[1], verdict("c", check.Failed)},
			want:    []string{"not counted: c is failed, and only recommended"},
		},
		"nodes left out": {
			entries: []Entry{without("a", check.Partial, 3, "n2"), whole[1], whole[2]},
			want:    []string{"passed on 3 of 4 nodes, 1 left out (at most 3 allowed)", "left out: n2, which failed gate a: n2: 7 of 8 GPUs (and 1 more)"},
		},
		"nodes left out by two gates": {
			entries: []Entry{without("a", check.Partial, 3, "n2"), without("b", check.Partial, 1, "n1", "n4"), whole[2]},
			want: []string{
				"passed on 1 of 4 nodes, 3 left out (at most 3 allowed)", "left out: n2, which failed gate a: n2: 7 of 8 GPUs (and 1 more)",
				"left out: n1, which failed gate b: n1: 7 of 8 GPUs (and 1 more)", "left out: n4, which failed gate b: n4: 7 of 8 GPUs (and 1 more)",
			},
		},
		"nodes left out, a gate failed": {
			entries: []Entry{without("a", check.Partial, 3, "n2"), verdict("b", check.Failed), whole[2]},
			want:    []string{"judged on 3 of 4 nodes, 1 left out (at most 3 allowed)", "left out: n2, which failed gate a: n2: 7 of 8 GPUs (and 1 more)"},
		},
		"new nodes left out": {
			header:  Header{AddedTo: "R1"},
			entries: []Entry{without("a", check.Partial, 3, "n2"), whole[1], whole[2]},
			want: []string{
				"adds nodes to the accepted run R1: of the gates, only node and collective were run",
				"of the new nodes, passed on 3 of 4 nodes, 1 left out (at most 3 allowed)", "left out: n2, which failed gate a: n2: 7 of 8 GPUs (and 1 more)",
			},
		},
		"a cluster that was not identified": {header: Header{Simulated: HardwareUnknown}, entries: whole, want: []string{"the cluster was not identified: whether its hardware is simulated is unknown"}},
		"a cluster without nodes":           {header: Header{Cluster: "uid"}, entries: whole, want: []string{"the cluster has no nodes: whether its hardware is simulated is unknown"}},
		"notes": {
			entries: append(whole[:3:3], Entry{Type: EntryFinished, Notes: []string{"not cleaned up"}}),
			want:    []string{"1 note about an error outside the verdicts"},
		},
		"several notes": {
			entries: append(whole[:3:3], Entry{Type: EntryFinished, Notes: []string{"late", "late again"}}),
			want:    []string{"2 notes about errors outside the verdicts"},
		},
		"a clean-up that failed": {
			entries: append(whole[:3:3], Entry{Type: EntryFinished, Uncleaned: []string{"pod a is left"}}),
			want:    []string{"clean-up failed: pod a is left"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if !strings.HasPrefix(name, "a cluster") {
				tt.header.Simulated = HardwareReal
			}
			b := &Bundle{Header: tt.header, Plan: PlanFile{Steps: steps, AllowFailed: 3}, Entries: tt.entries, Finished: !tt.open}
			if diff := cmp.Diff(tt.want, b.NarrowedBy()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
