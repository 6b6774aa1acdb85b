package judge

import (
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/autoscale/snapshot"
	"github.com/firstlight/firstlight/internal/check"
)

// Values and times at a limit have another verdict than those beyond it.
func TestLimits(t *testing.T) {
	t.Parallel()
	window := func(seconds ...float64) func(*snapshot.Setup, *snapshot.State) {
		return func(_ *snapshot.Setup, st *snapshot.State) {
			st.API = nil
			for _, s := range seconds {
				st.API = append(st.API, snapshot.Reading{At: at(s), Value: 60})
			}
		}
	}
	underLoad := func(readings func(*snapshot.State) []snapshot.Reading, value float64) func(*snapshot.Setup, *snapshot.State) {
		return func(_ *snapshot.Setup, st *snapshot.State) {
			list := readings(st)
			for i, r := range list {
				if r.At.After(st.Marks[snapshot.MarkLoad]) {
					list[i].Value = value
				}
			}
		}
	}
	exporter := func(st *snapshot.State) []snapshot.Reading { return st.Exporter }
	prom := func(st *snapshot.State) []snapshot.Reading { return st.Prometheus }
	api := func(st *snapshot.State) []snapshot.Reading { return st.API }
	after := func(value float64) func(*snapshot.Setup, *snapshot.State) {
		return func(_ *snapshot.Setup, st *snapshot.State) { st.API[len(st.API)-1].Value = value }
	}
	withoutTarget := func(s *snapshot.Setup, _ *snapshot.State) { s.Scale.Target = 0 }
	desired := func(value float64) func(*snapshot.Setup, *snapshot.State) {
		return func(_ *snapshot.Setup, st *snapshot.State) {
			for i, d := range st.Desired {
				if d.Desired > 1 {
					st.Desired[i].Value = &value
				}
			}
		}
	}
	limit := func(own bool, each, atMost, used int) func(*snapshot.Setup, *snapshot.State) {
		return func(s *snapshot.Setup, st *snapshot.State) {
			s.Pool.Own, s.Scale.GPUs, st.Pools[0].GPULimit, st.Pools[0].GPUs = own, each, atMost, used
		}
	}
	for _, tt := range []struct {
		name, hop string
		change    func(*snapshot.Setup, *snapshot.State)
		want      check.Verdict
	}{
		{"three readings with a gap of half the window", snapshot.HopFlat, window(15, 16, 18), check.Passed},
		{"a longer gap at the beginning", snapshot.HopFlat, window(15.1, 16, 18), check.Unobserved},
		{"a longer gap between readings", snapshot.HopFlat, window(11, 12, 17.1, 18), check.Unobserved},
		{"a longer gap at the end", snapshot.HopFlat, window(11, 12, 14.9), check.Unobserved},
		{"two readings", snapshot.HopFlat, window(13.3, 16.6), check.Unobserved},
		{"power that rises by half", snapshot.HopExporter, underLoad(exporter, 90), check.Failed},
		{"power that rises by more than half", snapshot.HopExporter, underLoad(exporter, 90.1), check.Passed},
		{"Prometheus at the target and its tolerance", snapshot.HopPrometheus, underLoad(prom, 220), check.Failed},
		{"Prometheus above both", snapshot.HopPrometheus, underLoad(prom, 220.1), check.Passed},
		{"Prometheus without a target", snapshot.HopPrometheus, withoutTarget, check.Failed},
		{"the metrics API at the target and its tolerance", snapshot.HopMetricsAPI, underLoad(api, 220), check.Failed},
		{"the metrics API above both", snapshot.HopMetricsAPI, underLoad(api, 220.1), check.Passed},
		{"the metrics API without a target", snapshot.HopMetricsAPI, withoutTarget, check.Failed},
		{"a value that falls to the target", snapshot.HopMetricFalls, after(200), check.Passed},
		{"a value that stays above it", snapshot.HopMetricFalls, after(200.1), check.Failed},
		{"an HPA that scales at its target", snapshot.HopHPA, desired(200), check.Failed},
		{"an HPA that scales above its target", snapshot.HopHPA, desired(200.1), check.Passed},
		{"a sample of two scrapes and the skew", snapshot.HopServed, func(_ *snapshot.Setup, st *snapshot.State) { st.Made[0].At = st.At.Add(-4 * time.Second) }, check.Passed},
		{"an older sample", snapshot.HopServed, func(_ *snapshot.Setup, st *snapshot.State) { st.Made[0].At = st.At.Add(-4001 * time.Millisecond) }, check.Failed},
		{"a NodePool with room for a replica more", snapshot.HopPool, limit(true, 1, 2, 0), check.Passed},
		{"a NodePool without it", snapshot.HopPool, limit(true, 1, 1, 0), check.Failed},
		{"a NodePool with room for replicas of two GPUs", snapshot.HopPool, limit(true, 2, 4, 0), check.Passed},
		{"a NodePool without room for them", snapshot.HopPool, limit(true, 2, 3, 0), check.Failed},
		{"replicas without a number of GPUs", snapshot.HopPool, limit(true, 0, 1, 0), check.Failed},
		{"another's NodePool in use, with room", snapshot.HopPool, limit(false, 1, 8, 6), check.Passed},
		{"another's NodePool in use, without", snapshot.HopPool, limit(false, 1, 8, 7), check.Failed},
		{"the run's NodePool in use", snapshot.HopPool, limit(true, 1, 8, 7), check.Passed},
		{"a NodePool without a limit", snapshot.HopPool, limit(true, 1, -1, 0), check.Failed},
		{"a load of fewer GPUs", snapshot.HopLoad, func(s *snapshot.Setup, _ *snapshot.State) { s.Scale.LoadGPUs = 5 }, check.Failed},
		{"a load of any number of GPUs", snapshot.HopLoad, func(s *snapshot.Setup, _ *snapshot.State) { s.Scale.LoadGPUs = 0 }, check.Passed},
	} {
		s, st := setup(), until(phaseOf(t, tt.hop))
		tt.change(&s, &st)
		if r := Hop(tt.hop, s, st); r.Verdict != tt.want {
			t.Errorf("%s: %s, want %s: %s", tt.name, r.Verdict, tt.want, r.Reason)
		}
	}
}

// A value agrees with Prometheus within a tenth of its range, and within 1.
func TestValuesAgreeWithinATenth(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		value float64
		prom  []float64
		want  bool
	}{
		{54, []float64{60}, true},
		{53.9, []float64{60}, false},
		{66, []float64{60}, true},
		{66.1, []float64{60}, false},
		{54, []float64{80, 60, 70}, true},
		{88, []float64{70, 80, 60}, true},
		{88.1, []float64{80, 60, 70}, false},
		{6, []float64{5}, true},
		{6.1, []float64{5}, false},
		{-22, []float64{-20}, true},
		{-22.1, []float64{-20}, false},
	} {
		var prom []snapshot.Reading
		for _, v := range tt.prom {
			prom = append(prom, snapshot.Reading{Value: v})
		}
		if got := (lookup{}).agrees(tt.value, prom); got != tt.want {
			t.Errorf("%g of %v: %t", tt.value, tt.prom, got)
		}
	}
}

// An adapter that relists more often than Prometheus scrapes explains missing values, and only them.
func TestRelistingExplainsMissingValues(t *testing.T) {
	t.Parallel()
	missing := snapshot.Reading{At: at(22), Err: "not found"}
	for _, tt := range []struct {
		relist, scrape time.Duration
		readings       []snapshot.Reading
		want           int
	}{
		{time.Second, 30 * time.Second, []snapshot.Reading{missing}, 1},
		{30 * time.Second, 30 * time.Second, []snapshot.Reading{missing}, 0},
		{0, 30 * time.Second, []snapshot.Reading{missing}, 0},
		{time.Second, 30 * time.Second, []snapshot.Reading{{At: at(22), Value: 1}}, 0},
		{time.Second, 30 * time.Second, []snapshot.Reading{{At: at(20), Err: "not found"}}, 0},
	} {
		s := snapshot.Setup{Settings: []snapshot.Setting{
			{Name: snapshot.SettingRelist, Value: metav1.Duration{Duration: tt.relist}}, {Name: snapshot.SettingScrape, Value: metav1.Duration{Duration: tt.scrape}},
		}}
		l := lookup{setup: s, st: snapshot.State{API: tt.readings, Marks: map[string]time.Time{snapshot.MarkLoad: at(21)}}}
		if got := l.relistFindings(snapshot.MarkLoad); len(got) != tt.want {
			t.Errorf("%s, %s, %+v: %+v", tt.relist, tt.scrape, tt.readings, got)
		}
	}
}

// A rule without matches is the cause where series exist and the API answers without the metric.
func TestAMetricThatIsNotListed(t *testing.T) {
	t.Parallel()
	name := setup().Metric.Name
	for _, tt := range []struct {
		fresh  int
		listed []string
		err    string
		want   bool
	}{
		{8, []string{"another"}, "", true},
		{8, nil, "404", true},
		{8, nil, "", false},
		{0, []string{"another"}, "404", false},
		{8, []string{"another", name}, "404", false},
	} {
		l := lookup{setup: setup(), st: snapshot.State{Coverage: []snapshot.Coverage{{Fresh: tt.fresh}}, Listed: tt.listed, API: []snapshot.Reading{{Err: tt.err}}}}
		if got := l.notListed(); got != tt.want {
			t.Errorf("%+v: %t", tt, got)
		}
	}
}

// The autoscaler's events are known by their sender, their reason or their first words.
func TestEventsOfTheAutoscaler(t *testing.T) {
	t.Parallel()
	for e, want := range map[snapshot.Event]bool{
		{Reason: "FailedScheduling", From: "karpenter", Message: "x"}:                               true,
		{Reason: "FailedScheduling", Message: "Failed to schedule pod, x"}:                          true,
		{Reason: "NotTriggerScaleUp", From: "cluster-autoscaler", Message: "x"}:                     true,
		{Reason: "FailedScheduling", From: "default-scheduler", Message: "0/3 nodes are available"}: false,
	} {
		if got := (lookup{}).fromAutoscaler(e); got != want {
			t.Errorf("%+v: %t", e, got)
		}
	}
	for message, want := range map[string]bool{
		`limits have been exhausted for nodepool: "a"`:                                           true,
		`limits have been exhausted for nodepool: "b"`:                                           false,
		"limits have been exhausted for nodepool":                                                true,
		"all available instance types exceed limits for nodepool (NodePool=a)":                   true,
		"no instance type met the requirements (NodePool=a)":                                     false,
		"x (NodePool=a); all available instance types exceed limits for nodepool (NodePool=a-2)": false,
	} {
		if got := limitOf(message, "a"); got != want {
			t.Errorf("%q: %t", message, got)
		}
	}
}

// Without a pool's name no node is of the pool.
func TestAReplicaIsOnANodeOfThePool(t *testing.T) {
	t.Parallel()
	for i, tt := range []struct {
		pool, node string
		want       bool
	}{
		{"gpu", "mine", true},
		{"gpu", "theirs", false},
		{"gpu", "old", true},
		{"gpu", "gone", false},
		{"", "system", false},
		{"gpu", "system", false},
	} {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			l := lookup{
				setup: snapshot.Setup{Pool: snapshot.PoolPlan{Name: tt.pool}, Before: []snapshot.Ref{ref("Node", "old"), ref("Node", "system")}, BeforePools: map[string]string{"old": "gpu", "gone": "gpu"}},
				st:    snapshot.State{Nodes: []snapshot.Node{{Ref: ref("Node", "mine"), Pool: "gpu"}, {Ref: ref("Node", "theirs"), Pool: "other"}}},
			}
			if got := l.inPool(snapshot.Pod{Node: tt.node}); got != tt.want {
				t.Errorf("%s of pool %q: %t", tt.node, tt.pool, got)
			}
		})
	}
}
