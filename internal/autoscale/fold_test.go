package autoscale

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/autoscale/snapshot"
	"github.com/firstlight/firstlight/internal/autoscale/snapshottest"
	"github.com/firstlight/firstlight/internal/check"
)

func chainOf(t *testing.T, s snapshot.Setup, change func(hop string, st *snapshot.State)) []check.Observation {
	t.Helper()
	obs, err := snapshottest.Observations(s, change)
	if err != nil {
		t.Fatal(err)
	}
	return obs
}

func judged(obs []check.Observation) check.Judgement { return (&Chain{}).Judge(obs) }

func TestAHealthyChainPasses(t *testing.T) {
	t.Parallel()
	obs := chainOf(t, snapshottest.Setup(), nil)
	j := judged(obs)
	if j.Verdict != check.Passed || len(j.Findings) > 0 || !strings.Contains(j.Reason, "up in 4.5 s, down in 26.0 s") {
		t.Fatalf("%s: %s %+v", j.Verdict, j.Reason, j.Findings)
	}
	want := map[string]float64{"up path": 4.5, "down path": 26, "whole chain": 95}
	for _, f := range j.Figures {
		if d := f.Value - want[f.Name]; d > 1e-6 || d < -1e-6 {
			t.Errorf("%s is %g, want %g", f.Name, f.Value, want[f.Name])
		}
		delete(want, f.Name)
	}
	if len(want) > 0 {
		t.Errorf("no figures for %v", want)
	}
	hops, err := judgedHops(obs)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, h := range hops {
		names = append(names, h.Hop)
		if h.Verdict != check.Passed || h.At.IsZero() || h.Took == nil || *h.Took < 0 || h.Object == "" || h.Findings == nil {
			t.Errorf("%+v", h)
		}
	}
	if !slices.Equal(names, hopNames()) {
		t.Errorf("hops %v", names)
	}
}

// sum of the hops' times is the path's: none is counted twice or lost.
func TestHopsAddUpToTheirPath(t *testing.T) {
	t.Parallel()
	r, err := NewReport(chainOf(t, snapshottest.Setup(), nil))
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Paths) != 2 {
		t.Fatalf("%d paths", len(r.Paths))
	}
	for _, p := range r.Paths {
		sum := 0.0
		for _, h := range p.Hops {
			sum += *h.Took
		}
		if d := sum - p.Took.Seconds(); !p.Whole || d > 1e-6 || d < -1e-6 {
			t.Errorf("%s: hops take %g s, the path %s", p.Phase, sum, p.Took)
		}
	}
}

func TestWhatComesAfterAFailureIsBlocked(t *testing.T) {
	t.Parallel()
	drop := func(hops ...string) func(obs []check.Observation) []check.Observation {
		return func(obs []check.Observation) []check.Observation {
			return slices.DeleteFunc(obs, func(o check.Observation) bool { return slices.Contains(hops, o.Target) })
		}
	}
	tests := map[string]struct {
		change func(hop string, st *snapshot.State)
		also   func([]check.Observation) []check.Observation
		want   map[string]check.Verdict // of hops that do not pass, and some that do
		whole  check.Verdict
	}{
		"in the up path": {
			change: func(hop string, st *snapshot.State) {
				if hop == snapshot.HopHPA {
					st.HPA.Target, st.Desired = 1e6, st.Desired[:1]
				}
			},
			want: map[string]check.Verdict{
				snapshot.HopMetricsAPI: check.Passed, snapshot.HopHPA: check.Failed, snapshot.HopPods: check.Blocked, snapshot.HopBound: check.Blocked,
				snapshot.HopMetricFalls: check.Blocked, snapshot.HopBystanders: check.Blocked, snapshot.HopGangBound: check.Passed, snapshot.HopGangNone: check.Passed, snapshot.HopClean: check.Passed,
			},
			whole: check.Failed,
		},
		"before": {
			change: func(hop string, st *snapshot.State) {
				if hop == snapshot.HopAdapter {
					st.Programs[0].Ready = 0
				}
			},
			want: map[string]check.Verdict{
				snapshot.HopAdapter: check.Failed, snapshot.HopPool: check.Blocked, snapshot.HopPlaced: check.Blocked, snapshot.HopLoad: check.Blocked, snapshot.HopGangBound: check.Blocked, snapshot.HopClean: check.Passed,
			},
			whole: check.Failed,
		},
		"in the gang": {
			change: func(hop string, st *snapshot.State) {
				if hop == snapshot.HopGangBound {
					st.Nodes = nil
				}
			},
			want:  map[string]check.Verdict{snapshot.HopBystanders: check.Passed, snapshot.HopGangBound: check.Failed, snapshot.HopGangNone: check.Blocked, snapshot.HopClean: check.Passed},
			whole: check.Failed,
		},
		"in the clean-up": {
			change: func(hop string, st *snapshot.State) {
				if hop == snapshot.HopClean {
					st.Left = []snapshot.Ref{{Kind: "Node", Name: "node-b"}}
				}
			},
			want:  map[string]check.Verdict{snapshot.HopGangNone: check.Passed, snapshot.HopClean: check.Failed},
			whole: check.Failed,
		},
		"a hop is missing": {
			also:  drop(snapshot.HopServed),
			want:  map[string]check.Verdict{snapshot.HopPlaced: check.Passed, snapshot.HopServed: check.Unobserved, snapshot.HopFlat: check.Blocked, snapshot.HopClean: check.Passed},
			whole: check.Unobserved,
		},
		"no cleanup": {
			also: drop(snapshot.HopClean), want: map[string]check.Verdict{snapshot.HopGangNone: check.Passed, snapshot.HopClean: check.Unobserved}, whole: check.Unobserved,
		},
		"a gang that was left out after a failure": {
			change: func(hop string, st *snapshot.State) {
				if hop == snapshot.HopHPA {
					st.Desired = nil
				}
			},
			also: drop(snapshot.HopGangBound, snapshot.HopGangNone),
			want: map[string]check.Verdict{snapshot.HopHPA: check.Failed, snapshot.HopGangBound: check.Blocked, snapshot.HopGangNone: check.Blocked, snapshot.HopClean: check.Passed}, whole: check.Failed,
		},
		"a gang that was left out": {
			also: drop(snapshot.HopGangBound, snapshot.HopGangNone),
			want: map[string]check.Verdict{snapshot.HopBystanders: check.Passed, snapshot.HopGangBound: check.Unobserved, snapshot.HopGangNone: check.Blocked}, whole: check.Unobserved,
		},
		"blocked hops need no observation": {
			change: func(hop string, st *snapshot.State) {
				if hop == snapshot.HopGangBound {
					st.Nodes = nil
				}
			},
			also: drop(snapshot.HopGangNone), want: map[string]check.Verdict{snapshot.HopGangBound: check.Failed, snapshot.HopGangNone: check.Blocked}, whole: check.Failed,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			obs := chainOf(t, snapshottest.Setup(), tt.change)
			if tt.also != nil {
				obs = tt.also(obs)
			}
			hops, err := judgedHops(obs)
			if err != nil {
				t.Fatal(err)
			}
			for _, h := range hops {
				if want, ok := tt.want[h.Hop]; ok && h.Verdict != want {
					t.Errorf("hop %s is %s (%s), want %s", h.Hop, h.Verdict, h.Reason, want)
				}
				if h.Verdict == check.Failed && (len(h.Findings) == 0 || len(h.Findings[0].Observations) != 1) {
					t.Errorf("hop %s does not name its evidence: %+v", h.Hop, h.Findings)
				}
			}
			if j := judged(obs); j.Verdict != tt.whole || (tt.whole == check.Failed && (len(j.Findings) == 0 || !strings.Contains(j.Reason, "hop "))) {
				t.Errorf("the whole is %s: %s %+v", j.Verdict, j.Reason, j.Findings)
			}
		})
	}
}

func TestHopsThatDoNotConcernTheChain(t *testing.T) {
	t.Parallel()
	s := snapshottest.Setup()
	s.Gang, s.GangWhy, s.Keep = 0, "no gangs here", true
	obs := slices.DeleteFunc(chainOf(t, s, nil), func(o check.Observation) bool {
		return o.Target == snapshot.HopGangBound || o.Target == snapshot.HopGangNone || o.Target == snapshot.HopClean
	})
	if j := judged(obs); j.Verdict != check.Passed {
		t.Errorf("%s: %s", j.Verdict, j.Reason)
	}
	s.GangWhy = ""
	if j := judged(chainOf(t, s, nil)); j.Verdict == check.Passed {
		t.Error("a gang that is left out without a reason passes")
	}
}

func TestObservationsThatAreNoChainAreUnobserved(t *testing.T) {
	t.Parallel()
	whole := chainOf(t, snapshottest.Setup(), nil)
	for name, obs := range map[string][]check.Observation{
		"nothing":          nil,
		"no setup":         whole[1:],
		"two setups":       append([]check.Observation{whole[0]}, whole...),
		"a hop twice":      append(slices.Clone(whole), whole[4]),
		"an unknown hop":   append(slices.Clone(whole), check.Observation{Kind: snapshot.KindHop, Target: "hopp", Figures: json.RawMessage(`{}`)}),
		"a broken setup":   append([]check.Observation{{Kind: snapshot.KindSetup, Figures: json.RawMessage(`[]`)}}, whole[1:]...),
		"a setup with err": append([]check.Observation{{Kind: snapshot.KindSetup, Err: "forbidden"}}, whole[1:]...),
	} {
		if j := judged(obs); j.Verdict != check.Unobserved || len(j.Findings) == 0 {
			t.Errorf("%s is %s: %s", name, j.Verdict, j.Reason)
		}
		if _, err := judgedHops(obs); err == nil {
			t.Errorf("%s has hops", name)
		}
	}
	unread := slices.Clone(whole)
	unread[3].Figures, unread[3].Err = nil, "forbidden"
	hops, err := judgedHops(unread)
	if err != nil || hops[2].Verdict != check.Unobserved || !strings.Contains(hops[2].Reason, "forbidden") {
		t.Errorf("a hop that could not be read is %+v, %v", hops, err)
	}
}

func TestBudgetsAreTheSettingsOfTheHop(t *testing.T) {
	t.Parallel()
	known := []string{settingWindow}
	for _, s := range snapshottest.Setup().Settings {
		known = append(known, s.Name)
	}
	known = append(known, snapshot.SettingTermination, snapshot.SettingNomination)
	used := map[string]bool{}
	for hop, list := range costs {
		if !slices.Contains(hopNames(), hop) {
			t.Errorf("there is no hop %s", hop)
		}
		for _, c := range list {
			used[c.Setting] = true
			if !slices.Contains(known, c.Setting) || c.Why == "" {
				t.Errorf("hop %s: %+v", hop, c)
			}
		}
	}
	for _, name := range known {
		if !used[name] && name != snapshot.SettingBatchIdle { // part of the batch's maximum
			t.Errorf("setting %s costs no hop time", name)
		}
	}
	if got, want := budgetOf(snapshot.HopNodesGone, snapshottest.Setup()), 26*time.Second; got != want {
		t.Errorf("the budget of nodes-gone is %s, want %s", got, want)
	}
	nominated := snapshottest.Setup()
	nominated.Settings = append(nominated.Settings, snapshot.Setting{Name: snapshot.SettingNomination, Value: metav1.Duration{Duration: 20 * time.Second}})
	if got, want := budgetOf(snapshot.HopNodesGone, nominated), 46*time.Second; got != want {
		t.Errorf("the budget of nodes-gone with a nomination window is %s, want %s", got, want)
	}
	if got, in := slowest(snapshot.PhaseDown, snapshottest.Setup()); got.Name != snapshot.SettingValidation || !slices.Equal(in, []string{snapshot.HopNodesGone}) {
		t.Errorf("the slowest setting down is %s in %v", got.Name, in)
	}
	if got, _ := slowest(snapshot.PhaseUp, snapshottest.Setup()); got.Name != snapshot.SettingWindow {
		t.Errorf("the slowest setting up is %s", got.Name)
	}
}

// FuzzJudge: no stored evidence makes the judge panic, and evidence without a complete chain
// never passes.
func FuzzJudge(f *testing.F) {
	obs, err := snapshottest.Observations(snapshottest.Setup(), nil)
	if err != nil {
		f.Fatal(err)
	}
	for _, o := range obs[1:] {
		f.Add([]byte(obs[0].Figures), o.Target, []byte(o.Figures))
	}
	f.Fuzz(func(t *testing.T, setup []byte, hop string, state []byte) {
		j := judged([]check.Observation{
			{Kind: snapshot.KindSetup, Figures: setup}, {Kind: snapshot.KindHop, Target: hop, Figures: state},
		})
		if j.Verdict == check.Passed {
			t.Errorf("one hop is a whole chain: %s", j.Reason)
		}
		(&Chain{}).Charts([]check.Observation{{Kind: snapshot.KindSetup, Figures: setup}, {Kind: snapshot.KindHop, Target: hop, Figures: state}})
	})
}

// judgedHops judges every hop of a chain from its observations, in order. The error
// says that they are not those of a chain.
func judgedHops(obs []check.Observation) ([]HopReport, error) {
	w := fold(obs)
	if w.problem != "" {
		return nil, fmt.Errorf("judge the hops: %s", w.problem)
	}
	return w.hops, nil
}
