package judge

import (
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/autoscale/seen"
	"github.com/firstlight/firstlight/internal/autoscale/seentest"
	"github.com/firstlight/firstlight/internal/check"
)

// Replicas that stay are judged by where they are; what is about nodes that come is
// not applicable, and nothing else is.
func TestReplicasThatStay(t *testing.T) {
	t.Parallel()
	for _, p := range seen.Chain() {
		for _, hop := range p.Hops {
			st := until(p.Name)
			seentest.Stay(&st)
			r := Hop(hop, seentest.StaySetup(), st)
			want := check.Passed
			for _, h := range ofNodes() {
				if h == hop {
					want = check.NotApplicable
				}
			}
			if r.Verdict != want {
				t.Errorf("hop %s is %s: %s %+v", hop, r.Verdict, r.Reason, r.Findings)
			}
		}
	}
}

func TestReplicasThatShouldStay(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		hop, says string
		change    func(st *seen.State)
	}{
		"the first one on a node that came": {seen.HopPlaced, "which was not there before", func(st *seen.State) { podNamed(st, "worker-a").Node = "node-new" }},
		"a new one on a node that came":     {seen.HopBound, "which was not there before", func(st *seen.State) { podNamed(st, "worker-b").Node = "node-new" }},
		"no room":                           {seen.HopBound, "no scheduler has looked at", func(st *seen.State) { *podNamed(st, "worker-b") = seentest.Pod(seen.RoleWorker, "worker-b", "", 24, 0) }},
		"no replica": {seen.HopPods, "0 of 2 new pods", func(st *seen.State) {
			st.Pods = only(st.Pods, func(p seen.Pod) bool { return p.Name != "worker-b" && p.Name != "worker-c" })
		}},
		"a metric that stays as it is": {seen.HopPrometheus, "has to rise above", func(st *seen.State) {
			for i := range st.Prometheus {
				st.Prometheus[i].Value = 60
			}
		}},
		"a desire that passed": {seen.HopHPA, "HPA", func(st *seen.State) { st.Desired = st.Desired[:1] }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			st := until(seen.PhaseUp)
			seentest.Stay(&st)
			tt.change(&st)
			r := Hop(tt.hop, seentest.StaySetup(), st)
			if clears(r.Verdict) || !strings.Contains(r.Reason, tt.says) {
				t.Errorf("%s: %s %+v", r.Verdict, r.Reason, r.Findings)
			}
		})
	}
}
