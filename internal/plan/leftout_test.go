package plan

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/pregate/playbook"
)

// nodesCheck observes the state of nodes: "bad", "unseen", "noted", "odd" (unlike most), or good.
// The state of "fabric" is of no node.
type nodesCheck struct {
	name  string
	nodes []string
	state map[string]string
	// observed gets the nodes of each observation.
	observed *[][]string
}

func (c nodesCheck) Name() string    { return c.name }
func (c nodesCheck) Nodes() []string { return c.nodes }

func (c nodesCheck) Excluding(nodes []string) check.Check {
	c.nodes = slices.DeleteFunc(slices.Clone(c.nodes), func(n string) bool { return slices.Contains(nodes, n) })
	return c
}

func (c nodesCheck) Observe(_ context.Context, rec check.Recorder) error {
	if c.observed != nil {
		*c.observed = append(*c.observed, c.nodes)
	}
	o, err := check.Observation{Kind: "nodes", Target: "here"}.WithFigures(stateOf(c.state))
	if err == nil {
		_, err = rec.Record(o)
	}
	return err
}

func (c nodesCheck) Judge(obs []check.Observation) check.Judgement {
	state, id, err := check.One[map[string]string](obs, "nodes")
	if err != nil || len(c.nodes) == 0 {
		return check.NotObserved("no nodes")
	}
	b := &check.Builder{}
	good := 0
	for _, n := range c.nodes {
		switch state[n] {
		case "bad":
			b.Fail(id, n+"/gpu3", "replace it", "gpu3 is broken")
		case "unseen":
			b.Unobserved(id, n, "make it reachable", "does not answer")
		case "noted":
			b.Note(id, n, "none", "is slow")
			good++
		case "odd":
			if len(c.nodes) > 1 {
				b.Fail(id, n, "install the same driver", "has another driver")
			}
		default:
			good++
		}
	}
	if state["fabric"] == "bad" {
		b.Fail(id, "fabric", "repair it", "has no master")
	}
	b.Figure(check.Figure{Name: "good nodes", Value: float64(good), Limit: float64(len(c.nodes)), Relation: "==", Unit: "nodes"})
	return b.Judgement("all nodes are good")
}

// stateOf is not null, which was not observed.
func stateOf(state map[string]string) map[string]string {
	if state == nil {
		return map[string]string{}
	}
	return state
}

func observedState(t *testing.T, state map[string]string) []check.Observation {
	t.Helper()
	o, err := check.Observation{ID: "1", Kind: "nodes"}.WithFigures(stateOf(state))
	if err != nil {
		t.Fatal(err)
	}
	return []check.Observation{o}
}

func TestFailedNodesAreLeftOut(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		state   map[string]string
		before  []string
		allowed int
		verdict check.Verdict
		leftOut []string
		nodes   int
		reason  string
	}{
		"all good":                            {nil, nil, 2, check.Passed, nil, 0, "all nodes are good"},
		"one bad":                             {map[string]string{"n2": "bad"}, nil, 1, check.Partial, []string{"n2"}, 3, "left out: n2/gpu3: gpu3 is broken"},
		"one bad, none allowed":               {map[string]string{"n2": "bad"}, nil, 0, check.Failed, nil, 0, "gpu3 is broken"},
		"two bad, one allowed":                {map[string]string{"n2": "bad", "n10": "bad"}, nil, 1, check.Failed, nil, 0, "(2 failed nodes, at most 1 may be left out)"},
		"two bad, two allowed":                {map[string]string{"n2": "bad", "n10": "bad"}, nil, 2, check.Partial, []string{"n10", "n2"}, 2, "left out: n2"},
		"one bad, another left out before":    {map[string]string{"n2": "bad"}, []string{"n1"}, 2, check.Partial, []string{"n2"}, 2, ""},
		"one bad, and the allowance used up":  {map[string]string{"n2": "bad"}, []string{"n1"}, 1, check.Failed, nil, 0, "(2 failed nodes, at most 1 may be left out)"},
		"the bad one was left out before":     {map[string]string{"n2": "bad"}, []string{"n2"}, 1, check.Passed, nil, 0, "all nodes are good"},
		"the whole site":                      {map[string]string{"fabric": "bad"}, nil, 4, check.Failed, nil, 0, "has no master"},
		"one bad, and the whole site":         {map[string]string{"n2": "bad", "fabric": "bad"}, nil, 4, check.Failed, nil, 0, ""},
		"one not observed":                    {map[string]string{"n2": "unseen"}, nil, 4, check.Unobserved, nil, 0, "does not answer"},
		"one bad, another not observed":       {map[string]string{"n1": "bad", "n2": "unseen"}, nil, 4, check.Failed, nil, 0, ""},
		"one bad, another noted":              {map[string]string{"n1": "bad", "n2": "noted"}, nil, 4, check.Partial, []string{"n1"}, 3, ""},
		"all bad":                             {map[string]string{"n1": "bad", "n2": "bad", "n3": "bad", "n10": "bad"}, nil, 4, check.Failed, nil, 0, ""},
		"one unlike the others":               {map[string]string{"n3": "odd"}, nil, 1, check.Partial, []string{"n3"}, 3, ""},
		"a node whose name begins another's":  {map[string]string{"n1": "bad"}, nil, 1, check.Partial, []string{"n1"}, 3, ""},
		"a node whose name continues another": {map[string]string{"n10": "bad"}, nil, 1, check.Partial, []string{"n10"}, 3, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := nodesCheck{name: "a", nodes: []string{"n1", "n2", "n3", "n10"}}
			j := JudgePart(c, playbook.Expected{}, observedState(t, tt.state), tt.before, tt.allowed)
			if j.Verdict != tt.verdict || !slices.Equal(j.LeftOut, tt.leftOut) || j.Nodes != tt.nodes || !strings.Contains(j.Reason, tt.reason) {
				t.Errorf("%+v", j)
			}
			for _, f := range j.Findings {
				if j.Verdict == check.Partial && tt.state[strings.TrimSuffix(f.Suspect, "/gpu3")] == "" {
					t.Errorf("a partial verdict has a finding of another node: %+v", f)
				}
			}
			if j.Verdict == check.Partial && len(j.Findings) < len(j.LeftOut) {
				t.Errorf("findings of nodes that are left out are lost: %+v", j.Findings)
			}
		})
	}
	// A check that cannot leave out nodes fails as before.
	if j := JudgePart(failing("b"), playbook.Expected{}, []check.Observation{{Kind: "x"}}, []string{"n1"}, 3); j.Verdict != check.Failed {
		t.Errorf("%+v", j)
	}
}

// Steps that need a partial one run, without the nodes that it left out; the run is partial.
func TestAPartialRun(t *testing.T) {
	t.Parallel()
	nodes := []string{"n1", "n2", "n3", "n4"}
	run := func(allowed int, bad ...map[string]string) (Outcome, [][]string) {
		var observed [][]string
		p := Plan{AllowFailed: allowed}
		for i, state := range append(bad, nil) {
			s := Step{Check: nodesCheck{name: string(rune('a' + i)), nodes: nodes, state: state, observed: &observed}}
			if i > 0 {
				s.Needs = []string{string(rune('a' + i - 1))}
			}
			p.Steps = append(p.Steps, s)
		}
		out, _ := runPlan(t, &Executor{Plan: p})
		return out, observed
	}
	out, observed := run(2, map[string]string{"n2": "bad"}, map[string]string{"n2": "bad", "n4": "bad"})
	if out.Verdict != check.Partial || len(out.Results) != 3 || out.Results[2].Verdict != check.Passed {
		t.Errorf("%+v", out)
	}
	if diff := cmp.Diff([][]string{nodes, {"n1", "n3", "n4"}, {"n1", "n3"}}, observed); diff != "" {
		t.Error(diff)
	}
	out, observed = run(1, map[string]string{"n2": "bad"}, map[string]string{"n4": "bad"})
	if out.Verdict != check.Failed || out.Results[1].Verdict != check.Failed || out.Results[2].Verdict != check.Blocked || len(observed) != 2 {
		t.Errorf("%+v, observed %v", out, observed)
	}
	partial := Outcome{Verdict: check.Partial}
	partial.AddUncleaned(errClosed)
	if partial.Verdict != check.Unobserved {
		t.Errorf("a partial run that left objects behind: %s", partial.Verdict)
	}
}

// Only the plan leaves out nodes.
func TestACheckCannotReturnPartial(t *testing.T) {
	t.Parallel()
	c := fakeCheck{name: "a", judge: func([]check.Observation) check.Judgement {
		return check.Judgement{Verdict: check.Partial, Reason: "most nodes"}
	}}
	if j := JudgePart(c, playbook.Expected{}, []check.Observation{{Kind: "x"}}, nil, 1); j.Verdict != check.Unobserved {
		t.Errorf("%+v", j)
	}
}

func TestPlansDoNotAllowANegativeNumber(t *testing.T) {
	t.Parallel()
	p := linear(fakeCheck{name: "a"})
	p.AllowFailed = -1
	if p.Validate() == nil {
		t.Error("-1 failed nodes are allowed")
	}
}
