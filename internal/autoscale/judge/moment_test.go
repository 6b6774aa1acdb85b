package judge

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/autoscale/snapshot"
	"github.com/firstlight/firstlight/internal/check"
)

// eventAbout is an event about a pod with a reason.
func eventAbout(t *testing.T, st *snapshot.State, pod, reason, from string) *snapshot.Event {
	t.Helper()
	i := slices.IndexFunc(st.Events, func(e snapshot.Event) bool { return e.About.Name == pod && e.Reason == reason && e.From == from })
	if i < 0 {
		t.Fatalf("no event %s about %s", reason, pod)
	}
	return &st.Events[i]
}

func TestAHopHappensWhenItsLastObjectDoes(t *testing.T) {
	t.Parallel()
	for hop, tt := range map[string]struct {
		at      float64
		objects []string
		delay   func(st *snapshot.State, name string, to time.Time)
	}{
		snapshot.HopPlaced: {9.5, []string{"worker-a", "holder"}, func(st *snapshot.State, n string, to time.Time) { podNamed(st, n).ReadyAt = to }},
		snapshot.HopLoad:   {21.9, []string{"load-0", "load-3"}, func(st *snapshot.State, n string, to time.Time) { podNamed(st, n).ReadyAt = to }},
		snapshot.HopPods:   {24.2, []string{"worker-b", "worker-c"}, func(st *snapshot.State, n string, to time.Time) { podNamed(st, n).First = to }},
		snapshot.HopUnschedulable: {24.3, []string{"worker-b", "worker-c"}, func(st *snapshot.State, n string, to time.Time) {
			eventAbout(t, st, n, "FailedScheduling", "default-scheduler").First = to
		}},
		snapshot.HopNodeClaim:  {24.7, []string{"node-b", "node-c"}, func(st *snapshot.State, n string, to time.Time) { claimNamed(st, n).First = to }},
		snapshot.HopRegistered: {24.9, []string{"node-b", "node-c"}, func(st *snapshot.State, n string, to time.Time) { nodeNamed(st, n).First = to }},
		snapshot.HopReady:      {25.2, []string{"node-b", "node-c"}, func(st *snapshot.State, n string, to time.Time) { nodeNamed(st, n).Conditions[0].Seen = to }},
		snapshot.HopBound:      {25.9, []string{"worker-b", "worker-c"}, func(st *snapshot.State, n string, to time.Time) { podNamed(st, n).ReadyAt = to }},
		snapshot.HopPodsGone:   {40, []string{"worker-b", "worker-c"}, func(st *snapshot.State, n string, to time.Time) { podNamed(st, n).Deleted = to }},
		snapshot.HopNodesGone:  {55.5, []string{"node-b", "node-c"}, func(st *snapshot.State, n string, to time.Time) { nodeNamed(st, n).Deleted = to }},
		snapshot.HopClaimsGone: {56.5, []string{"node-b", "node-c"}, func(st *snapshot.State, n string, to time.Time) { claimNamed(st, n).Deleted = to }},
		snapshot.HopGangBound:  {64.5, []string{"gang-0", "gang-2"}, func(st *snapshot.State, n string, to time.Time) { podNamed(st, n).BoundAt = to }},
	} {
		for _, object := range tt.objects {
			st := until(phaseOf(t, hop))
			tt.delay(&st, object, at(tt.at))
			if r := Hop(hop, setup(), st); r.Verdict != check.Passed || !r.At.Equal(at(tt.at)) {
				t.Errorf("hop %s with a late %s is %s at %.1f s, want %.1f s: %s", hop, object, r.Verdict, r.At.Sub(t0).Seconds(), tt.at, r.Reason)
			}
		}
	}
}

func TestTheLastRefusalForTheLimitCounts(t *testing.T) {
	t.Parallel()
	st := until(snapshot.PhaseControl)
	again := *eventAbout(t, &st, "zero", "FailedScheduling", "karpenter")
	again.First = at(13)
	st.Events = append(st.Events, again)
	if r := Hop(snapshot.HopLimitZero, setup(), st); r.Verdict != check.Passed || !r.At.Equal(at(13)) {
		t.Errorf("%s at %s: %s", r.Verdict, r.At, r.Reason)
	}
}

func TestTheFirstReadingOfTheEndCounts(t *testing.T) {
	t.Parallel()
	st := until(snapshot.PhaseDown)
	st.API = append(st.API, snapshot.Reading{At: at(36), Value: 60}, snapshot.Reading{At: at(37), Value: 61})
	if r := Hop(snapshot.HopMetricFalls, setup(), st); r.Verdict != check.Passed || !r.At.Equal(at(35.2)) {
		t.Errorf("%s at %s: %s", r.Verdict, r.At, r.Reason)
	}
	st.Desired = append(st.Desired, snapshot.Desired{At: at(39), Current: 1, Desired: 1})
	if r := Hop(snapshot.HopHPADown, setup(), st); r.Verdict != check.Passed || !r.At.Equal(at(38)) {
		t.Errorf("%s at %s: %s", r.Verdict, r.At, r.Reason)
	}
}

// Objects without a UID have no identity: they are ignored.
func TestObjectsWithoutIdentityAreIgnored(t *testing.T) {
	t.Parallel()
	for hop, tt := range map[string]struct {
		says   string
		change func(st *snapshot.State)
	}{
		snapshot.HopGangBound: {"it needed no new node", func(st *snapshot.State) {
			for i := range 3 {
				nodeNamed(st, "node-g"+string(rune('0'+i))).UID = ""
			}
		}},
		snapshot.HopNodesGone:  {"no nodes were added", func(st *snapshot.State) { nodeNamed(st, "node-b").UID, nodeNamed(st, "node-c").UID = "", "" }},
		snapshot.HopClaimsGone: {"no claims were created", func(st *snapshot.State) { claimNamed(st, "node-b").UID, claimNamed(st, "node-c").UID = "", "" }},
		snapshot.HopPodsGone:   {"no pods were created", func(st *snapshot.State) { podNamed(st, "worker-b").UID, podNamed(st, "worker-c").UID = "", "" }},
		snapshot.HopRegistered: {"1 node node-c", func(st *snapshot.State) { nodeNamed(st, "node-b").UID = "" }},
		snapshot.HopLoad:       {"the load holds 3 of 4 GPUs", func(st *snapshot.State) { podNamed(st, "load-1").UID = "" }},
	} {
		st := until(phaseOf(t, hop))
		tt.change(&st)
		if r := Hop(hop, setup(), st); r.Verdict != check.Failed || !strings.Contains(r.Reason, tt.says) {
			if hop == snapshot.HopRegistered && r.Verdict == check.Failed {
				continue // the claim's own reason comes first
			}
			t.Errorf("hop %s is %s: %s", hop, r.Verdict, r.Reason)
		}
	}
}

func TestALimitOfJustEnoughIsEnough(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		limit, used, perReplica int
		own                     bool
		want                    check.Verdict
	}{
		{2, 0, 1, true, check.Passed}, {1, 0, 1, true, check.Failed},
		{4, 2, 1, false, check.Passed}, {3, 2, 1, false, check.Failed},
		{3, 2, 1, true, check.Passed},
		{8, 0, 4, true, check.Passed}, {7, 0, 4, true, check.Failed},
		{2, 0, 0, true, check.Passed}, {1, 0, 0, true, check.Failed},
		{0, 0, 1, true, check.Failed},
	} {
		s, st := setup(), until(snapshot.PhaseBefore)
		s.Pool.Own, s.Scale.GPUs = tt.own, tt.perReplica
		st.Pools[0].GPULimit, st.Pools[0].GPUs = tt.limit, tt.used
		if r := Hop(snapshot.HopPool, s, st); r.Verdict != tt.want {
			t.Errorf("%+v: %s: %s", tt, r.Verdict, r.Reason)
		}
	}
}

// findingsOf judges a hop in a changed state.
func findingsOf(t *testing.T, hop string, change func(s *snapshot.Setup, st *snapshot.State)) []string {
	t.Helper()
	s, st := setup(), until(phaseOf(t, hop))
	change(&s, &st)
	var out []string
	for _, f := range Hop(hop, s, st).Findings {
		out = append(out, f.Suspect+": "+f.Message)
	}
	return out
}

func TestAReasonIsGivenOnce(t *testing.T) {
	t.Parallel()
	const limit = "all available instance types exceed limits for nodepool (NodePool=" + own + ")"
	for name, tt := range map[string]struct {
		hop    string
		change func(s *snapshot.Setup, st *snapshot.State)
		want   []string // substrings, one for each finding
	}{
		"two pods, one limit": {snapshot.HopNodeClaim, func(_ *snapshot.Setup, st *snapshot.State) {
			unplaced(st, "worker-b", "node-b", limit)
			unplaced(st, "worker-c", "node-c", limit)
		}, []string{"NodePool limit reached"}},
		"two pods, two reasons": {snapshot.HopNodeClaim, func(_ *snapshot.Setup, st *snapshot.State) {
			unplaced(st, "worker-b", "node-b", limit)
			unplaced(st, "worker-c", "node-c", "")
		}, []string{"NodePool limit reached", "has neither created a node for pod"}},
		"two pods without a scheduler": {snapshot.HopPlaced, func(_ *snapshot.Setup, st *snapshot.State) {
			for _, n := range []string{"worker-a", "holder"} {
				p := podNamed(st, n)
				p.Node, p.ReadyAt, p.Conditions = "", time.Time{}, nil
			}
			st.Events = nil
		}, []string{"no scheduler has evaluated", "no scheduler has evaluated"}},
		"a load that has ended": {snapshot.HopLoad, func(_ *snapshot.Setup, st *snapshot.State) {
			podNamed(st, "load-0").Phase, podNamed(st, "load-1").Phase = "Succeeded", "Failed"
		}, []string{"has ended: Succeeded", "has ended: Failed"}},
		"Karpenter's word on the load is not asked for": {snapshot.HopLoad, func(_ *snapshot.Setup, st *snapshot.State) {
			unplaced(st, "load-0", "none", limit)
			podNamed(st, "load-0").Node = ""
		}, []string{"of the load is not running"}},
		"an HPA that does not react to a high value": {snapshot.HopHPA, func(_ *snapshot.Setup, st *snapshot.State) {
			value := 380.0
			st.Desired = append(st.Desired[:1:1], snapshot.Desired{At: at(23.8), Current: 1, Desired: 1, Value: &value})
		}, []string{"the HPA has not reacted to the value"}},
		"an API without a condition": {snapshot.HopAdapter, func(_ *snapshot.Setup, st *snapshot.State) { st.APIs[0].Conditions = nil }, []string{"has no Available condition"}},
		"an API and its adapter": {snapshot.HopAdapter, func(_ *snapshot.Setup, st *snapshot.State) {
			st.APIs[0].Conditions = []snapshot.Condition{not("Available", "False", "FailedDiscoveryCheck", "timeout")}
			st.Programs[0].Ready = 0
		}, []string{"0 of 1 pods ready", "is not Available: FailedDiscoveryCheck"}},
		"two nodes that stay for one reason of their pool": {snapshot.HopNodesGone, func(_ *snapshot.Setup, st *snapshot.State) {
			nodeNamed(st, "node-b").Deleted, nodeNamed(st, "node-c").Deleted = time.Time{}, time.Time{}
			st.Pools[0].ConsolidateAfter = "Never"
		}, []string{"consolidateAfter of NodePool " + own + " is Never"}},
		"two nodes with pods of others": {snapshot.HopNodesGone, func(_ *snapshot.Setup, st *snapshot.State) {
			for _, n := range []string{"node-b", "node-c"} {
				nodeNamed(st, n).Deleted = time.Time{}
				nodeNamed(st, n).Holders = []snapshot.Holder{{Ref: stranger("on-" + n).Ref}, {Ref: stranger("daemon").Ref, Daemon: true}}
			}
		}, []string{"node-b remains: pod research/on-node-b, which is not of this run", "node-c remains: pod research/on-node-c, which is not of this run"}},
		"a budget of no percent": {snapshot.HopNodesGone, func(_ *snapshot.Setup, st *snapshot.State) {
			nodeNamed(st, "node-b").Deleted, st.Pools[0].Budgets = time.Time{}, []string{"10%", "0%"}
		}, []string{"is 0 nodes (budgets: 10%, 0%)"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := findingsOf(t, tt.hop, tt.change)
			if len(got) != len(tt.want) {
				t.Fatalf("%d findings, want %d: %q", len(got), len(tt.want), got)
			}
			for i, want := range tt.want {
				if !strings.Contains(got[i], want) {
					t.Errorf("finding %q, want %q", got[i], want)
				}
			}
		})
	}
}

// The adapter's relist interval is a reason only if it is shorter than the scrapes, and values
// were missing meanwhile.
func TestRelistIsAReasonForGapsAlone(t *testing.T) {
	t.Parallel()
	judge := func(relist, scrape time.Duration, err string) bool {
		got := findingsOf(t, snapshot.HopServed, func(s *snapshot.Setup, st *snapshot.State) {
			for i := range s.Settings {
				switch s.Settings[i].Name {
				case snapshot.SettingRelist:
					s.Settings[i].Value.Duration = relist
				case snapshot.SettingScrape:
					s.Settings[i].Value.Duration = scrape
				}
			}
			st.API[len(st.API)-2].Err = err
			st.API[len(st.API)-1].Value = 5000
		})
		return slices.ContainsFunc(got, func(f string) bool { return strings.Contains(f, "the adapter relists every") })
	}
	for _, tt := range []struct {
		relist, scrape time.Duration
		err            string
		want           bool
	}{
		{time.Second, 2 * time.Second, "not found", true},
		{2 * time.Second, 2 * time.Second, "not found", false}, {3 * time.Second, 2 * time.Second, "not found", false},
		{0, 2 * time.Second, "not found", false}, {time.Second, 2 * time.Second, "", false},
	} {
		if got := judge(tt.relist, tt.scrape, tt.err); got != tt.want {
			t.Errorf("relist %s, scrape %s, error %q: %t", tt.relist, tt.scrape, tt.err, got)
		}
	}
}

func TestAnUnreadableSourceComesBeforeAnUnclearState(t *testing.T) {
	t.Parallel()
	st := until(snapshot.PhaseControl)
	st.Events, st.Problems = nil, map[string]string{snapshot.ProblemEvents: "forbidden"}
	if r := Hop(snapshot.HopLimitZero, setup(), st); r.Verdict != check.Unobserved || !strings.Contains(r.Reason, "forbidden") {
		t.Errorf("%s: %s", r.Verdict, r.Reason)
	}
}
