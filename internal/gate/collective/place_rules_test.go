package collective

import (
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/checktest"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/probe/nccl"
)

// A size without a complete row is not a point of the curve.
func TestARowWithoutBandwidthIsNotAPoint(t *testing.T) {
	t.Parallel()
	f := Figures{Runs: []nccl.Run{{Rows: []nccl.Row{{Bytes: 8}}}}}
	if got := f.points(3); len(got) != 0 {
		t.Errorf("%+v", got)
	}
}

// Nodes of several domains are found by their full names.
func TestAHostIsFoundByItsFullName(t *testing.T) {
	t.Parallel()
	p := Figures{Nodes: []string{"gpu-01.a.com", "gpu-01.b.com", "gpu-02"}}.where()
	for host, want := range map[string]string{"gpu-01.a.com": "gpu-01.a.com", "gpu-01.b.com": "gpu-01.b.com", "gpu-02": "gpu-02", "gpu-02.a.com": "gpu-02", "gpu-09": "gpu-09"} {
		if got := p.node(host); got != want {
			t.Errorf("%s: %s, want %s", host, got, want)
		}
	}
}

// The finding about a node lists its bad pairs, and the good pairs without it.
func TestANodesFindingListsItsBadPairs(t *testing.T) {
	t.Parallel()
	f := testGate(t, testSite()).nodeFinding("a", []trial{
		{id: "1", nodes: []string{"a", "b"}, ran: true, bad: true, busbw: 10}, {id: "2", nodes: []string{"c", "d"}, ran: true, busbw: 480},
		{id: "3", nodes: []string{"c", "e"}, ran: true, bad: true, busbw: 20}, {id: "4", nodes: []string{"a", "c"}, ran: true, busbw: 470},
	})
	if f.Suspect != "a" || !strings.HasSuffix(f.Message, "every pair with a is bad: a+b 10.0 GB/s; pairs without it are good: c+d 480.0 GB/s") || strings.Join(f.Observations, " ") != "1 2" {
		t.Errorf("%+v", f)
	}
}

// A job of a pair whose figures cannot be decoded is not the run over all nodes.
func TestAPairThatDidNotRunGivesNoInformation(t *testing.T) {
	t.Parallel()
	g := testGate(t, testSite())
	_, obs := observeAndJudge(t, g, cluster{})
	pair := check.Observation{ID: "pair", Kind: KindRun, Target: target(ScopePair, []string{"gpu-01", "gpu-02"}), Figures: []byte(`{"scope":"all","nodes":7}`)}
	if j := plan.Judge(g, append(obs, pair)); j.Verdict != check.Passed {
		t.Errorf("%s: %s", j.Verdict, j.Reason)
	}
	pair.Target = target(ScopeAll, nil)
	if j := plan.Judge(g, append(obs[:len(obs):len(obs)], pair)); j.Verdict != check.Unobserved {
		t.Errorf("the run over all nodes: %s: %s", j.Verdict, j.Reason)
	}
}

// TestDirectionRules: each node sends to other nodes and receives from them.
func TestDirectionRules(t *testing.T) {
	t.Parallel()
	g := testGate(t, testSite())
	_, obs := observeAndJudge(t, g, cluster{})
	checktest.Rules(t, func(obs []check.Observation) check.Judgement { return plan.Judge(g, obs) }, obs, []checktest.Rule{
		checktest.When("a node that only sends is unobserved", checktest.Set(KindRun, `.nccl.channels[*].direction`, "send")).Unobserved("gpu-01", "no channel in both directions"),
		checktest.When("a node that only receives is unobserved", checktest.Set(KindRun, `.nccl.channels[*].direction`, "receive")).Unobserved("gpu-01", "no channel in both directions"),
	})
}
