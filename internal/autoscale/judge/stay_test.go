package judge

import (
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/autoscale/snapshot"
	"github.com/firstlight/firstlight/internal/autoscale/snapshottest"
	"github.com/firstlight/firstlight/internal/check"
)

// Replicas that stay are judged by their nodes; hops of new nodes are not applicable, and all
// other hops are.
func TestReplicasThatStay(t *testing.T) {
	t.Parallel()
	for _, p := range snapshot.Chain() {
		for _, hop := range p.Hops {
			st := until(p.Name)
			snapshottest.Stay(&st)
			r := Hop(hop, snapshottest.StaySetup(), st)
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
		change    func(st *snapshot.State)
	}{
		"the first one on a node that came": {snapshot.HopPlaced, "which did not exist before", func(st *snapshot.State) { podNamed(st, "worker-a").Node = "node-new" }},
		"a new one on a node that came":     {snapshot.HopBound, "which did not exist before", func(st *snapshot.State) { podNamed(st, "worker-b").Node = "node-new" }},
		"no room": {snapshot.HopBound, "no scheduler has evaluated", func(st *snapshot.State) {
			*podNamed(st, "worker-b") = snapshottest.Pod(snapshot.RoleWorker, "worker-b", "", 24, 0)
		}},
		"no replica": {snapshot.HopPods, "0 of 2 new pods", func(st *snapshot.State) {
			st.Pods = only(st.Pods, func(p snapshot.Pod) bool { return p.Name != "worker-b" && p.Name != "worker-c" })
		}},
		"a metric that stays as it is": {snapshot.HopPrometheus, "want above", func(st *snapshot.State) {
			for i := range st.Prometheus {
				st.Prometheus[i].Value = 60
			}
		}},
		"a desire that passed": {snapshot.HopHPA, "HPA", func(st *snapshot.State) { st.Desired = st.Desired[:1] }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			st := until(snapshot.PhaseUp)
			snapshottest.Stay(&st)
			tt.change(&st)
			r := Hop(tt.hop, snapshottest.StaySetup(), st)
			if clears(r.Verdict) || !strings.Contains(r.Reason, tt.says) {
				t.Errorf("%s: %s %+v", r.Verdict, r.Reason, r.Findings)
			}
		})
	}
}
