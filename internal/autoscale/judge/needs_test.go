package judge

import (
	"slices"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/autoscale/snapshot"
	"github.com/firstlight/firstlight/internal/autoscale/snapshottest"
	"github.com/firstlight/firstlight/internal/check"
)

// Without Karpenter its kinds are neither served nor permitted, and no hop reads them.
func TestWithoutKarpenterItsKindsNeedNotBeReadable(t *testing.T) {
	t.Parallel()
	ofKarpenter := []string{snapshot.ProblemClaims, snapshot.ProblemPools}
	for _, p := range snapshot.Chain() {
		for _, hop := range p.Hops {
			st := until(p.Name)
			snapshottest.Stay(&st)
			st.Sources = slices.DeleteFunc(st.Sources, func(s string) bool { return slices.Contains(ofKarpenter, s) })
			st.Problems = map[string]string{snapshot.ProblemClaims: "forbidden", snapshot.ProblemPools: "forbidden"}
			if r := Hop(hop, snapshottest.StaySetup(), st); !clears(r.Verdict) {
				t.Errorf("hop %s is %s: %s", hop, r.Verdict, r.Reason)
			}
			s := setup()
			s.Pool = snapshot.PoolPlan{Autoscaler: "cluster-autoscaler", Name: "gpu", GPULimit: -1}
			if r := Hop(hop, s, st); strings.Contains(r.Reason, "forbidden") || strings.Contains(r.Reason, "no complete list") {
				t.Errorf("hop %s with a node group is %s: %s", hop, r.Verdict, r.Reason)
			}
		}
	}
}

func TestAFailedActionOfTheChainIsReportedAsSuchAndNeverPasses(t *testing.T) {
	t.Parallel()
	for _, p := range snapshot.Chain() {
		for _, hop := range p.Hops {
			st := until(p.Name)
			st.ActionError = "create job load: forbidden"
			r := Hop(hop, setup(), st)
			if r.Verdict != check.Unobserved || !strings.Contains(r.Reason, st.ActionError) || strings.Contains(r.Reason, "read") {
				t.Errorf("hop %s is %s: %s", hop, r.Verdict, r.Reason)
			}
		}
	}
}

func TestWhatACleanUpLeftIsReportedWithTheErrorAndTheCommandThatRemovesIt(t *testing.T) {
	t.Parallel()
	st := until(snapshot.PhaseClean)
	st.Left, st.ActionError = []snapshot.Ref{ref("Pod", "load-0"), ref("NodePool", own)}, "remove 1 pods: timed out"
	r := Hop(snapshot.HopClean, setup(), st)
	if r.Verdict != check.Failed || len(r.Findings) != 3 || !strings.Contains(r.Findings[2].Message, "timed out") {
		t.Fatalf("%s: %s %+v", r.Verdict, r.Reason, r.Findings)
	}
	for i, command := range []string{"kubectl delete pod load-0 -n " + ns, "kubectl delete nodepool " + own} {
		if !strings.Contains(r.Findings[i].Remedy, command) {
			t.Errorf("%q does not contain %q", r.Findings[i].Remedy, command)
		}
	}
}
