package autoscaling

import (
	"slices"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/autoscale/snapshot"
	"github.com/firstlight/firstlight/internal/autoscale/snapshottest"
	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/conformance"
	"github.com/firstlight/firstlight/internal/conformance/submission"
)

// observations are a healthy check's, as change leaves them.
func observations(t *testing.T, s snapshot.Setup, change func(hop string, st *snapshot.State)) []check.Observation {
	t.Helper()
	obs, err := snapshottest.Observations(s, func(hop string, st *snapshot.State) {
		snapshottest.Stay(st)
		if change != nil {
			change(hop, st)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return obs
}

func TestHealthy(t *testing.T) {
	t.Parallel()
	j := NewPods(nil, nil, conformance.Deps{}).Judge(observations(t, snapshottest.StaySetup(), nil))
	if j.Verdict != check.Passed || !strings.Contains(j.Reason, "no node was created") || len(j.Findings) > 0 {
		t.Errorf("%s: %s %+v", j.Verdict, j.Reason, j.Findings)
	}
}

// The requirement is about pods that use accelerators: without them it is partially shown.
func TestReplicasWithoutGPUs(t *testing.T) {
	t.Parallel()
	s := snapshottest.StaySetup()
	s.Scale.GPUs, s.Scale.Why = 0, "one GPU is free"
	j := NewPods(nil, nil, conformance.Deps{}).Judge(observations(t, s, nil))
	if j.Verdict != check.Unobserved || !strings.HasPrefix(j.Reason, submission.PartlyShown) || !strings.Contains(j.Reason, "held no GPUs: one GPU is free") {
		t.Errorf("%s: %s", j.Verdict, j.Reason)
	}
}

func TestNegatives(t *testing.T) {
	t.Parallel()
	worker := func(p snapshot.Pod) bool { return p.Name == "worker-b" || p.Name == "worker-c" }
	for name, tt := range map[string]struct {
		verdict check.Verdict
		says    string
		setup   func(*snapshot.Setup)
		change  func(hop string, st *snapshot.State)
	}{
		"the target moves, not the metric": {check.Failed, "the metric must move, not the target", nil, func(hop string, st *snapshot.State) {
			if hop == snapshot.HopHPADown {
				st.HPA.Target = 999999
			}
		}},
		"the metric is constant": {check.Failed, "want above", nil, func(_ string, st *snapshot.State) {
			for i := range st.Prometheus {
				st.Prometheus[i].Value = 60
			}
		}},
		"constant and always above the target": {check.Failed, "without load, above the target", nil, func(_ string, st *snapshot.State) {
			for i := range st.API {
				st.API[i].Value = 380
			}
			for i := range st.Prometheus {
				st.Prometheus[i].Value = 380
			}
		}},
		"desired and never created": {check.Failed, "0 of 2 new pods exist", nil, func(_ string, st *snapshot.State) {
			st.Pods = slices.DeleteFunc(st.Pods, worker)
		}},
		"created and never running": {check.Failed, "worker-b", nil, func(_ string, st *snapshot.State) {
			for i := range st.Pods {
				if p := &st.Pods[i]; worker(*p) {
					*p = snapshottest.Pod(snapshot.RoleWorker, p.Name, "", 24, 0)
				}
			}
		}},
		"it scales without load": {check.Failed, "without load", nil, func(_ string, st *snapshot.State) {
			st.Desired = append(st.Desired, snapshot.Desired{At: snapshottest.At(15), Current: 1, Desired: 3})
		}},
		"it never comes down": {check.Failed, "still desires more", nil, func(_ string, st *snapshot.State) {
			st.Desired = slices.DeleteFunc(st.Desired, func(d snapshot.Desired) bool { return d.At.After(snapshottest.At(30)) })
		}},
		"others end than those that came": {check.Failed, "was deleted instead of a new one", nil, func(hop string, st *snapshot.State) {
			if hop == snapshot.HopPodsGone {
				for i := range st.Pods {
					if st.Pods[i].Name == "worker-a" {
						st.Pods[i].Life = snapshottest.Ended(6.1, 39)
					}
				}
			}
		}},
		"the metrics API cannot be asked": {check.Unobserved, "metrics-api could not be read", nil, func(_ string, st *snapshot.State) {
			st.API, st.Problems = nil, map[string]string{snapshot.ProblemMetricsAPI: "connection refused"}
		}},
		"a chain with nodes": {check.Unobserved, "of another check", func(s *snapshot.Setup) { s.Pool = snapshottest.Setup().Pool }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := snapshottest.StaySetup()
			if tt.setup != nil {
				tt.setup(&s)
			}
			j := NewPods(nil, nil, conformance.Deps{}).Judge(observations(t, s, tt.change))
			if j.Verdict != tt.verdict || !strings.Contains(j.Reason, tt.says) {
				t.Errorf("%s: %s %+v", j.Verdict, j.Reason, j.Findings)
			}
		})
	}
}

func TestNothingIsNoPass(t *testing.T) {
	t.Parallel()
	if j := NewPods(nil, nil, conformance.Deps{}).Judge(nil); j.Verdict != check.Unobserved {
		t.Errorf("%s: %s", j.Verdict, j.Reason)
	}
	obs := observations(t, snapshottest.StaySetup(), nil)
	if j := NewPods(nil, nil, conformance.Deps{}).Judge(obs[:len(obs)-8]); j.Verdict == check.Passed {
		t.Errorf("an interrupted chain passed: %s", j.Reason)
	}
	for i := range obs {
		obs[i].Figures, obs[i].Err = nil, "not seen"
	}
	if j := NewPods(nil, nil, conformance.Deps{}).Judge(obs); j.Verdict != check.Unobserved {
		t.Errorf("%s: %s", j.Verdict, j.Reason)
	}
}
