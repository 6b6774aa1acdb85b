package schedule

import (
	"context"
	"fmt"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/schedule/judge"
	"github.com/firstlight/firstlight/internal/schedule/scenario"
	"github.com/firstlight/firstlight/internal/schedule/snapshot"
)

// Kinds of observations: the test case, and the snapshot of the control plane.
const (
	kindCase  = "recipe-case"
	kindState = "placement"
)

// Check is the scheduling test of one recipe.
type Check struct {
	// of is the recipe, with the fingerprint of the selection.
	of Member
	// make and runner are nil for a check that only judges.
	make   func() (Case, error)
	runner func(ctx context.Context, progress func(string)) (Runner, error)
}

// Judges returns a check that only judges, for replay.
func Judges(of Member) *Check { return &Check{of: of} }

// Name is the recipe's name.
func (c *Check) Name() string { return c.of.Recipe }

// Observe records the case, then the snapshot.
func (c *Check) Observe(ctx context.Context, rec check.Recorder) error {
	made, err := c.make()
	if err != nil {
		return err
	}
	if err := c.record(rec, kindCase, "firstlight recipe resolve "+c.of.Recipe, made); err != nil {
		return err
	}
	if len(made.Problems) > 0 {
		return nil
	}
	progress := func(text string) { rec.Progress("%s", text) }
	runner, err := c.runner(ctx, progress)
	if err != nil {
		return err
	}
	state, err := runner.Run(ctx, made.Scenario, progress)
	if err != nil {
		return fmt.Errorf("schedule %s: %w", c.of.Recipe, err)
	}
	return c.record(rec, kindState, "list nodes, workloads and pods of the scenario", state)
}

func (c *Check) record(rec check.Recorder, kind, command string, figures any) error {
	o, err := check.Observation{Kind: kind, Target: c.of.Recipe, Command: command}.WithFigures(figures)
	if err != nil {
		return fmt.Errorf("record the %s of %s: %w", kind, c.of.Recipe, err)
	}
	_, err = rec.Record(o)
	return err
}

// Judge decides by the only case and the only snapshot, which must be of the check's recipe.
func (c *Check) Judge(obs []check.Observation) check.Judgement {
	const rerun = "run the test again"
	var b check.Builder
	name := c.of.Recipe
	made, o, ok := check.Require[Case](&b, obs, kindCase, name, "recipe "+name, rerun)
	switch {
	case !ok:
	case made.Recipe != name:
		b.Unobserved(o.ID, "recipe "+name, rerun, "the observed case is of recipe %s", made.Recipe)
	case made.Fingerprint != c.of.Fingerprint || len(made.Problems) == 0 && made.Fingerprint != scenario.Fingerprint(made.Scenario):
		b.Unobserved(o.ID, "recipe "+name, rerun, "the observed case has the fingerprint %.12q, want %.12q as selected and as its scenario has", made.Fingerprint, c.of.Fingerprint)
	case len(made.Problems) > 0:
		return broken(made)
	}
	if !b.Clean() {
		return b.Judgement("")
	}
	state, o, ok := check.Require[snapshot.State](&b, obs, kindState, name, "pods of recipe "+name, rerun)
	if ok && state.Recipe != name {
		b.Unobserved(o.ID, "pods of recipe "+name, rerun, "the snapshot is of recipe %q", state.Recipe)
	}
	if !b.Clean() {
		return b.Judgement("")
	}
	return judge.Judge(made.Scenario, state)
}

// broken is the judgement of a recipe without a scenario.
func broken(c Case) check.Judgement {
	var findings []check.Finding
	for _, p := range c.Problems {
		findings = append(findings, check.Finding{Suspect: p.Pos.String(), Message: p.Message + " [" + p.Rule + "]", Remedy: p.Remedy})
	}
	return check.Fail(fmt.Sprintf("cannot build the recipe's pods: %s", c.Problems[0].Message), findings...)
}
