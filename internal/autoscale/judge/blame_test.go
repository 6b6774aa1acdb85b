package judge

import (
	"slices"
	"testing"

	"github.com/firstlight/firstlight/internal/autoscale/snapshot"
	"github.com/firstlight/firstlight/internal/check"
)

// blameNegatives are failures of which another object could be blamed.
func blameNegatives() []negative {
	return []negative{
		{name: "before its mark nothing is placed", hop: snapshot.HopPlaced, suspect: "namespace " + ns, says: "need one of each", change: func(_ *snapshot.Setup, st *snapshot.State) {
			delete(st.Marks, snapshot.MarkPlaced)
		}},
		{name: "a metric without an API", hop: snapshot.HopAdapter, suspect: "APIService", says: "was not observed", change: func(s *snapshot.Setup, _ *snapshot.State) {
			s.Metric.API = ""
		}},
		{name: "an APIService that was not observed is not blamed", hop: snapshot.HopMetricsAPI, suspect: "external metric", says: "returns 150 W", change: func(_ *snapshot.Setup, st *snapshot.State) {
			st.APIs, st.API = nil, st.API[:len(st.API)-1]
		}},
		{name: "an HPA that is gone", hop: snapshot.HopHPA, suspect: "HorizontalPodAutoscaler", says: "HPA not found", change: func(_ *snapshot.Setup, st *snapshot.State) {
			st.HPA = nil
		}},
		{name: "the holder waits for no new node", hop: snapshot.HopPlaced, suspect: "pod .*holder", says: "no scheduler has evaluated", change: func(_ *snapshot.Setup, st *snapshot.State) {
			*podNamed(st, "holder") = pod(snapshot.RoleHolder, "holder", "", 6.1, 0)
			st.Programs[1].Ready = 0
		}},
		{name: "the window that has not ended lasts until now", hop: snapshot.HopFlat, verdict: check.Unobserved, suspect: "NodeClaim claim-late", says: "was created without load", change: func(_ *snapshot.Setup, st *snapshot.State) {
			delete(st.Marks, snapshot.MarkWindowTo)
			st.Claims = append(st.Claims, snapshot.Claim{Ref: ref("NodeClaim", "claim-late"), Life: life(20.2), Pool: own, Ours: true})
		}},
		{name: "an autoscaler that is absent keeps no node", hop: snapshot.HopNodesGone, suspect: "node node-c", says: "remains for no known reason", change: func(_ *snapshot.Setup, st *snapshot.State) {
			stays(st)
			st.Programs[1].Absent = true
		}},
		{name: "an autoscaler that was not observed keeps no node", hop: snapshot.HopNodesGone, suspect: "node node-c", says: "remains for no known reason", change: func(_ *snapshot.Setup, st *snapshot.State) {
			stays(st)
			st.Programs = st.Programs[:1]
		}},
	}
}

func TestWhatIsAddedAfterTheWindowIsNotOfTheWindow(t *testing.T) {
	t.Parallel()
	st := until(snapshot.PhaseControl)
	st.Claims = append(st.Claims, snapshot.Claim{Ref: ref("NodeClaim", "claim-late"), Life: life(20.2), Pool: own, Ours: true})
	if r := Hop(snapshot.HopFlat, setup(), st); r.Verdict != check.Passed {
		t.Errorf("%s: %s", r.Verdict, r.Reason)
	}
}

// With --keep only the clean-up is not judged.
func TestKeptObjectsExcuseNoOtherHop(t *testing.T) {
	t.Parallel()
	s := setup()
	s.Keep = true
	for _, p := range snapshot.Chain() {
		for _, hop := range p.Hops {
			if _, excused := NotApplicable(hop, s); excused != (hop == snapshot.HopClean) {
				t.Errorf("hop %s: excused %t", hop, excused)
			}
		}
	}
}

// Readings from before the load are not those of the load.
func TestNothingRisesBeforeTheLoad(t *testing.T) {
	t.Parallel()
	for _, hop := range []string{snapshot.HopLoad, snapshot.HopExporter, snapshot.HopPrometheus, snapshot.HopMetricsAPI, snapshot.HopHPA, snapshot.HopPods} {
		st := until(snapshot.PhaseUp)
		delete(st.Marks, snapshot.MarkLoad)
		if r := Hop(hop, setup(), st); r.Verdict != check.Failed {
			t.Errorf("hop %s: %s: %s", hop, r.Verdict, r.Reason)
		}
	}
}

// A claim without a provider ID has the node that it names.
func TestTheNodeOfAClaim(t *testing.T) {
	t.Parallel()
	a, b := snapshot.Node{Ref: ref("Node", "a")}, snapshot.Node{Ref: ref("Node", "b")}
	c := snapshot.Node{Ref: ref("Node", "c"), ProviderID: "id-c"}
	l := lookup{st: snapshot.State{Nodes: []snapshot.Node{a, b, c}}}
	for name, tt := range map[string]struct {
		claim snapshot.Claim
		want  string
	}{
		"by name":                {snapshot.Claim{Node: "a"}, "a"},
		"by provider ID":         {snapshot.Claim{Node: "a", ProviderID: "id-c"}, "c"},
		"by name, with an ID":    {snapshot.Claim{Node: "a", ProviderID: "id-a"}, "a"},
		"of another provider ID": {snapshot.Claim{Node: "c", ProviderID: "id-d"}, ""},
		"of neither":             {snapshot.Claim{}, ""},
	} {
		if n, ok := l.nodeOf(tt.claim); n.Name != tt.want || ok != (tt.want != "") {
			t.Errorf("%s: %q, want %q", name, n.Name, tt.want)
		}
	}
}

// Taints of new nodes count where there is no NodePool that declares them.
func TestTaintsOfANodeGroup(t *testing.T) {
	t.Parallel()
	tainted := snapshot.Node{Ref: ref("Node", "n"), Ours: true, Taints: []string{"gpu=h100:NoSchedule"}}
	theirs := snapshot.Node{Ref: ref("Node", "m"), Taints: []string{"other=x:NoSchedule"}}
	for autoscaler, want := range map[string]int{"cluster-autoscaler": 1, karpenter: 0} {
		s := setup()
		s.Pool.Autoscaler = autoscaler
		l := lookup{setup: s, st: snapshot.State{Nodes: []snapshot.Node{tainted, theirs}}}
		if got := l.taintFindings([]snapshot.Pod{pod(snapshot.RoleWorker, "worker-b", "", 24, 0)}); len(got) != want {
			t.Errorf("%s: %+v", autoscaler, got)
		}
	}
}

// Gangs of one pod, and of clusters without NodePools, need no node to be used first.
func TestAGangWithoutOtherNodes(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(s *snapshot.Setup, st *snapshot.State){
		"one pod": func(s *snapshot.Setup, st *snapshot.State) {
			s.Gang = 1
			st.Pods = slices.DeleteFunc(st.Pods, func(p snapshot.Pod) bool { return p.Name == "short-0" || p.Name == "short-1" })
		},
		"a node group": func(s *snapshot.Setup, st *snapshot.State) {
			s.Pool.Autoscaler, st.Claims = "cluster-autoscaler", nil
		},
	} {
		s, st := setup(), until(snapshot.PhaseGang)
		change(&s, &st)
		if r := Hop(snapshot.HopGangNone, s, st); r.Verdict != check.Passed {
			t.Errorf("%s: %s: %s", name, r.Verdict, r.Reason)
		}
	}
}

func TestTheLastGPUThatRisesIsTheTimeOfTheHop(t *testing.T) {
	t.Parallel()
	st := until(snapshot.PhaseUp)
	st.Exporter[len(st.Exporter)-1].At = at(22.5)
	if r := Hop(snapshot.HopExporter, setup(), st); r.Verdict != check.Passed || !r.At.Equal(at(22.5)) {
		t.Errorf("%s at %s: %s", r.Verdict, r.At, r.Reason)
	}
}

func TestWhatWasTrueBeforeTheRunIsTrueSinceItWasRead(t *testing.T) {
	t.Parallel()
	st := until(snapshot.PhaseBefore)
	st.APIs[0].Conditions = []snapshot.Condition{is("Available", -100)}
	if r := Hop(snapshot.HopAdapter, setup(), st); r.Verdict != check.Passed || !r.At.Equal(st.At) {
		t.Errorf("%s at %s: %s", r.Verdict, r.At, r.Reason)
	}
}

// A claim that is nominated for two pods is one claim.
func TestClaimsOfPodsAreListedOnce(t *testing.T) {
	t.Parallel()
	st := until(snapshot.PhaseUp)
	for i, e := range st.Events {
		if e.About.Name == "worker-c" && e.Reason == "Nominated" {
			st.Events[i].Message = "Pod should schedule on: nodeclaim/claim-node-b"
		}
	}
	st.Claims = slices.DeleteFunc(st.Claims, func(c snapshot.Claim) bool { return c.Name == "claim-node-c" })
	l := lookup{setup: setup(), st: st}
	if got := l.claimsOf([]snapshot.Pod{*podNamed(&st, "worker-b"), *podNamed(&st, "worker-c")}); len(got) != 1 {
		t.Errorf("%+v", got)
	}
}

// The same reason of two pods is given once, two reasons of a pod are both given.
func TestEachReasonOfPendingPodsIsGiven(t *testing.T) {
	t.Parallel()
	var list []snapshot.Pod
	st := until(snapshot.PhaseUp)
	st.Events = nil
	for _, name := range []string{"worker-x", "worker-y"} {
		p := pod(snapshot.RoleWorker, name, "", 24, 0)
		p.Tolerates = nil
		list = append(list, p)
		st.Events = append(st.Events, snapshot.Event{About: p.Ref, Reason: "FailedScheduling", From: "karpenter", Message: "Failed to schedule pod, something else", First: at(25)})
	}
	l := lookup{setup: setup(), st: st}
	if got := l.poolState(list); len(got) != 1 {
		t.Errorf("refusals: %+v", got)
	}
	if got := l.whyPending(list); len(got) != 2 || got[0].Suspect != got[1].Suspect {
		t.Errorf("reasons: %+v", got)
	}
}

// An HPA that reports its target, or that has reached its minimum, is not held up by either.
func TestAnHPAAtItsLimits(t *testing.T) {
	t.Parallel()
	for value, want := range map[float64]int{200: 0, 200.1: 1} {
		st := until(snapshot.PhaseDown)
		st.Desired[len(st.Desired)-1].Value = &value
		if got := (lookup{setup: setup(), st: st}).whyNotDown(); len(got) != want {
			t.Errorf("value %g: %+v", value, got)
		}
	}
	for reason, want := range map[string]int{"TooManyReplicas": 1, "TooFewReplicas": 0} {
		h := *until(snapshot.PhaseUp).HPA
		h.Conditions = append(h.Conditions, not("ScalingLimited", "True", reason, "limited"))
		if got := (lookup{setup: setup()}).hpaSpecChanges(h); len(got) != want {
			t.Errorf("%s: %+v", reason, got)
		}
	}
}
