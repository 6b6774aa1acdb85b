package autoscaling

import (
	"slices"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/autoscale/snapshot"
	"github.com/firstlight/firstlight/internal/autoscale/snapshottest"
	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/conformance"
)

// A target is the same up to a millionth, the precision of a quantity.
func TestATargetChangesBeyondAMillionth(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		created, observed float64
		changed           bool
	}{
		{100, 100, false}, {100, 100.00009, false}, {100, 99.99991, false}, {100, 100.0002, true}, {100, 99.9998, true},
		{1e6, 1e6 + 1, false}, {1e6, 1e6 + 1.5, true}, {0.5, 0.500001, true}, {0, 0, false}, {0, 0.1, true},
	} {
		setup := snapshottest.StaySetup()
		setup.Scale.Target = tt.created
		obs := observations(t, setup, func(_ string, st *snapshot.State) {
			if st.HPA != nil {
				st.HPA.Target = tt.observed
			}
		})
		_, changed := targetChanges(setup, obs)
		if want := map[bool]int{true: 1}[tt.changed]; len(changed) != want {
			t.Errorf("created with %g, observed %g: %+v", tt.created, tt.observed, changed)
		}
	}
}

func TestAnHPAThatWasNeverObserved(t *testing.T) {
	t.Parallel()
	setup := snapshottest.StaySetup()
	obs := observations(t, setup, func(_ string, st *snapshot.State) { st.HPA = nil })
	if observed, changed := targetChanges(setup, obs); observed || len(changed) > 0 {
		t.Errorf("%+v", changed)
	}
	pods := NewPods(nil, nil, conformance.Deps{})
	if j, chain := pods.Judge(obs), pods.chain(nil).Judge(obs); j.Verdict == check.Passed || chain.Verdict != check.Passed && j.Verdict != chain.Verdict {
		t.Errorf("%s: %s; the chain is %s", j.Verdict, j.Reason, chain.Verdict)
	}
}

func TestAPassHasTheGPUsOfAReplica(t *testing.T) {
	t.Parallel()
	setup := snapshottest.StaySetup()
	j := NewPods(nil, nil, conformance.Deps{}).Judge(observations(t, setup, nil))
	i := slices.IndexFunc(j.Figures, func(f check.Figure) bool { return f.Name == "GPUs per replica" })
	if i < 0 || j.Figures[i].Value != float64(setup.Scale.GPUs) {
		t.Errorf("%+v", j.Figures)
	}
}

// A failure of the chain stays one, and its reason is the chain's.
func TestAFailureOfTheChainIsKept(t *testing.T) {
	t.Parallel()
	s := snapshottest.StaySetup()
	s.Scale.GPUs, s.Scale.Why = 0, "one GPU is free"
	j := NewPods(nil, nil, conformance.Deps{}).Judge(observations(t, s, func(_ string, st *snapshot.State) {
		for i := range st.Prometheus {
			st.Prometheus[i].Value = 60
		}
	}))
	if j.Verdict != check.Failed || strings.Contains(j.Reason, "held no GPUs") {
		t.Errorf("%s: %s", j.Verdict, j.Reason)
	}
	if j := NewPods(nil, nil, conformance.Deps{}).Judge(observations(t, snapshottest.StaySetup(), nil)); j.Verdict != check.Passed || strings.Contains(j.Reason, "held no GPUs") {
		t.Errorf("%s: %s", j.Verdict, j.Reason)
	}
}

func TestASetupThatCannotBeReadIsTheChainsFinding(t *testing.T) {
	t.Parallel()
	obs := observations(t, snapshottest.StaySetup(), nil)
	for i := range obs {
		if obs[i].Kind == snapshot.KindSetup {
			obs[i].Figures, obs[i].Err = nil, "forbidden"
		}
	}
	if j := NewPods(nil, nil, conformance.Deps{}).Judge(obs); j.Verdict != check.Unobserved || !strings.Contains(j.Reason, "forbidden") {
		t.Errorf("%s: %s", j.Verdict, j.Reason)
	}
}

// Cluster autoscaling is the chain with nodes; its name and claims are its own.
func TestClusterAutoscalingIsTheChainWithNodes(t *testing.T) {
	t.Parallel()
	c := NewCluster(nil, nil, conformance.Deps{})
	obs, err := snapshottest.Observations(snapshottest.Setup(), func(string, *snapshot.State) {})
	if err != nil {
		t.Fatal(err)
	}
	if j := c.Judge(obs); j.Verdict != check.Passed {
		t.Errorf("%s: %s %+v", j.Verdict, j.Reason, j.Findings)
	}
	if pods := NewPods(nil, nil, conformance.Deps{}); c.Name() != "cluster_autoscaling" || pods.Name() != "pod_autoscaling" {
		t.Errorf("%s, %s", c.Name(), pods.Name())
	}
}
