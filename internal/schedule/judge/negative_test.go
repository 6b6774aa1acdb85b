package judge_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/recipe/footprint"
	"github.com/firstlight/firstlight/internal/recipe/nodeprofile"
	"github.com/firstlight/firstlight/internal/schedule/judge"
	"github.com/firstlight/firstlight/internal/schedule/scenario"
	"github.com/firstlight/firstlight/internal/schedule/scenario/scenariotest"
	"github.com/firstlight/firstlight/internal/schedule/snapshot"
)

// broken is one defect: in the recipe or its nodes, in the scenario, or in the observed state.
type broken struct {
	name     string
	intent   string // training where it is empty
	recipe   func(n *nodeprofile.Nodes, c []footprint.Component) []footprint.Component
	scenario func(c *scenario.Scenario)
	state    func(s *snapshot.State)

	// verdict is failed where it is empty.
	verdict check.Verdict
	// suspect is that of the first finding, says is in its message or, without
	// findings, in the reason; remedy in its remedy.
	suspect, says, remedy string
	// follows are suspects that the finding explains.
	follows []string
	// alone: there is no other cause.
	alone bool
}

func TestEveryDefectIsFound(t *testing.T) {
	t.Parallel()
	all := slices.Concat(recipeDefects(), placementDefects(), stateDefects(), controlDefects())
	if len(all) < 40 {
		t.Fatalf("only %d defects", len(all))
	}
	for _, b := range all {
		t.Run(b.name, func(t *testing.T) {
			t.Parallel()
			b.judge(t)
		})
	}
}

func (b broken) judge(t *testing.T) {
	t.Helper()
	nodes, components := scenariotest.Nodes(), scenariotest.Components()
	if b.recipe != nil {
		components = b.recipe(&nodes, components)
	}
	intent := b.intent
	if intent == "" {
		intent = "training"
	}
	c := scenariotest.Build(t, intent, components, nodes)
	if b.scenario != nil {
		b.scenario(&c)
	}
	s := scenariotest.Simulate(c)
	if b.state != nil {
		b.state(&s)
	}
	j := judge.Judge(c, s)
	want := b.verdict
	if want == "" {
		want = check.Failed
	}
	if j.Verdict != want {
		t.Fatalf("%s (%s), want %s", j.Verdict, j.Reason, want)
	}
	if b.suspect == "" {
		if !regexp.MustCompile(b.says).MatchString(j.Reason) {
			t.Errorf("the reason is %q, want %q", j.Reason, b.says)
		}
		return
	}
	if len(j.Findings) == 0 {
		t.Fatalf("no findings: %s", j.Reason)
	}
	first := j.Findings[0]
	if first.Suspect != b.suspect || !regexp.MustCompile(b.says).MatchString(first.Message) || !regexp.MustCompile(b.remedy).MatchString(first.Remedy) {
		t.Errorf("first finding\n  %s\n  %s\n  %s\nwant\n  %s\n  %s\n  %s", first.Suspect, first.Message, first.Remedy, b.suspect, b.says, b.remedy)
	}
	b.others(t, j)
}

func (b broken) others(t *testing.T, j check.Judgement) {
	t.Helper()
	first, causes := j.Findings[0].Suspect, 0
	for _, f := range j.Findings {
		if !strings.Contains(f.Message, ": caused by ") {
			causes++
		}
		if f.Suspect == "" || f.Message == "" || f.Remedy == "" {
			t.Errorf("a finding says too little: %+v", f)
		}
	}
	if b.alone && causes != 1 {
		t.Errorf("%d causes: %v", causes, j.Findings)
	}
	for _, suspect := range b.follows {
		if !slices.ContainsFunc(j.Findings, func(f check.Finding) bool {
			return f.Suspect == suspect && strings.HasSuffix(f.Message, ": caused by "+first) && f.Remedy == "correct "+first+" first"
		}) {
			t.Errorf("%s does not follow from %s: %v", suspect, first, j.Findings)
		}
	}
}

// workload finds one of a recipe's.
func workload(c []footprint.Component, name string) *footprint.Workload {
	for i := range c {
		for j := range c[i].Workloads {
			if c[i].Workloads[j].Name == name {
				return &c[i].Workloads[j]
			}
		}
	}
	panic("there is no workload " + name)
}

// change makes a recipe's defect of a change to one workload.
func change(name string, do func(w *footprint.Workload)) func(*nodeprofile.Nodes, []footprint.Component) []footprint.Component {
	return func(_ *nodeprofile.Nodes, c []footprint.Component) []footprint.Component {
		do(workload(c, name))
		return c
	}
}

// without takes components out of a recipe.
func without(names ...string) func(*nodeprofile.Nodes, []footprint.Component) []footprint.Component {
	return func(_ *nodeprofile.Nodes, c []footprint.Component) []footprint.Component {
		return slices.DeleteFunc(c, func(c footprint.Component) bool { return slices.Contains(names, c.Name) })
	}
}

// nodes makes a defect of a change to the profiles.
func nodes(do func(n *nodeprofile.Nodes)) func(*nodeprofile.Nodes, []footprint.Component) []footprint.Component {
	return func(n *nodeprofile.Nodes, c []footprint.Component) []footprint.Component {
		do(n)
		return c
	}
}
