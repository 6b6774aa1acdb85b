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

// byNodes is a check whose judgement depends on its nodes: their names, joined.
type byNodes struct {
	nodes []string
	by    map[string]check.Judgement
}

func (c byNodes) Name() string                                  { return "a" }
func (c byNodes) Nodes() []string                               { return c.nodes }
func (c byNodes) Observe(context.Context, check.Recorder) error { return nil }
func (c byNodes) Judge([]check.Observation) check.Judgement     { return c.by[strings.Join(c.nodes, " ")] }
func (c byNodes) Excluding(nodes []string) check.Check {
	c.nodes = slices.DeleteFunc(slices.Clone(c.nodes), func(n string) bool { return slices.Contains(nodes, n) })
	return c
}

// A node is left out only if it fails alone, and the check passes without it and without all suspects.
// The findings are those of the nodes that are left out, then those of the others, each once.
func TestWhichNodesAreLeftOut(t *testing.T) {
	t.Parallel()
	judgement := func(v check.Verdict, suspects ...string) check.Judgement {
		j := check.Judgement{Verdict: v, Reason: string(v)}
		for _, s := range suspects {
			j.Findings = append(j.Findings, check.Finding{Suspect: s, Message: "slow", Remedy: "repair it"})
		}
		return j
	}
	const passed, failed, unseen = check.Passed, check.Failed, check.Unobserved
	for name, tt := range map[string]struct {
		by       map[string]check.Judgement
		want     check.Verdict
		leftOut  string
		findings string
	}{
		"fails alone":               {map[string]check.Judgement{"1 2 3": judgement(failed, "1"), "2 3": judgement(passed)}, check.Partial, "1", "1"},
		"two findings of a node":    {map[string]check.Judgement{"1 2 3": judgement(failed, "1/gpu0", "1/gpu1"), "2 3": judgement(passed)}, check.Partial, "1", "1/gpu0 1/gpu1"},
		"a note of another":         {map[string]check.Judgement{"1 2 3": judgement(failed, "1", "2", "site"), "2 3": judgement(passed, "2", "site"), "1 3": judgement(failed, "1"), "3": judgement(passed)}, check.Partial, "1", "1 2 site"},
		"passes as a whole":         {map[string]check.Judgement{"1 2 3": judgement(passed, "1", "2"), "2 3": judgement(passed), "1 3": judgement(failed), "3": judgement(passed)}, passed, "", "1 2"},
		"fails without all":         {map[string]check.Judgement{"1 2 3": judgement(failed, "1", "2"), "2 3": judgement(passed), "1 3": judgement(failed), "3": judgement(unseen)}, failed, "", "1 2"},
		"one is unobserved alone":   {map[string]check.Judgement{"1 2 3 4": judgement(failed, "1", "2", "3"), "4": judgement(passed), "1 4": judgement(failed), "2 4": judgement(unseen), "3 4": judgement(passed), "2 3 4": judgement(passed)}, failed, "", "1 2 3"},
		"fail only together":        {map[string]check.Judgement{"1 2 3": judgement(failed, "1", "2"), "2 3": judgement(passed), "1 3": judgement(passed), "3": judgement(passed)}, failed, "", "1 2"},
		"one alone, two together":   {map[string]check.Judgement{"1 2 3 4": judgement(failed, "1", "2", "3"), "4": judgement(passed), "1 4": judgement(failed), "2 4": judgement(passed), "3 4": judgement(passed), "2 3 4": judgement(failed)}, failed, "", "1 2 3"},
		"a finding without suspect": {map[string]check.Judgement{"1 2 3": judgement(failed, ""), "2 3": judgement(passed)}, failed, "", ""},
		"a part of no node":         {map[string]check.Judgement{"1 2 3": judgement(failed, "/dev/sda"), "2 3": judgement(passed)}, failed, "", "/dev/sda"},
	} {
		for _, allowed := range []int{0, 3} {
			nodes := strings.Fields("1 2 3")
			if tt.by["1 2 3 4"].Verdict != "" {
				nodes = append(nodes, "4")
			}
			j := JudgePart(byNodes{nodes: nodes, by: tt.by}, playbook.Expected{}, []check.Observation{{Check: "a", Kind: "x"}}, nil, allowed)
			want, leftOut := tt.want, tt.leftOut
			if allowed == 0 && want == check.Partial {
				want, leftOut = failed, ""
			}
			var suspects []string
			for _, f := range j.Findings {
				suspects = append(suspects, f.Suspect)
			}
			if j.Verdict != want || strings.Join(j.LeftOut, " ") != leftOut || strings.Join(suspects, " ") != tt.findings {
				t.Errorf("%s, %d allowed: %+v", name, allowed, j)
			}
			if want == failed && strings.Contains(j.Reason, "may be left out") {
				t.Errorf("%s, %d allowed: %s", name, allowed, j.Reason)
			}
		}
	}
}

// The nodes that the needed steps left out are known to a step, sorted and each once. A check that
// leaves out no nodes is the check itself.
func TestNodesLeftOutBefore(t *testing.T) {
	t.Parallel()
	needs := Needs{"d": {"c", "b"}, "c": {"a"}, "b": {"a"}, "e": nil}
	left := func(nodes ...string) Result { return Result{Judgement: check.Judgement{LeftOut: nodes}} }
	results := map[string]Result{"a": left("n3", "n1"), "b": left("n2"), "c": left("n1", "n4"), "d": left("n9"), "e": left("n8")}
	for step, want := range map[string][]string{"d": {"n1", "n2", "n3", "n4"}, "c": {"n1", "n3"}, "a": nil, "e": nil} {
		if diff := cmp.Diff(want, needs.LeftOut(step, results)); diff != "" {
			t.Errorf("%s: %s", step, diff)
		}
	}
	c := &unexcluded{}
	if got := without(c, nil); got != check.Check(c) {
		t.Errorf("%+v", got)
	}
}

// unexcluded is a check that makes another one even without nodes.
type unexcluded struct{ byNodes }

func (*unexcluded) Excluding([]string) check.Check { return byNodes{} }
