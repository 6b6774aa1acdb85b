package schedule

import (
	"context"
	"fmt"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/schedule/judge"
	"github.com/firstlight/firstlight/internal/schedule/snapshot"
)

// Kinds of observations: the test case, and the snapshot of the control plane.
const (
	kindCase  = "recipe-case"
	kindState = "placement"
)

// Check is the scheduling test of one recipe.
type Check struct {
	name string
	// make and runner are nil for a check that only judges.
	make   func() (Case, error)
	runner func(ctx context.Context, progress func(string)) (Runner, error)
}

var _ check.Check = (*Check)(nil)

// Judges returns a check that only judges, for replay.
func Judges(recipe string) *Check { return &Check{name: recipe} }

// Name is the recipe's name.
func (c *Check) Name() string { return c.name }

// Observe records the case, then the snapshot.
func (c *Check) Observe(ctx context.Context, rec check.Recorder) error {
	made, err := c.make()
	if err != nil {
		return err
	}
	o, err := check.Observation{Kind: kindCase, Target: c.name, Command: "firstlight recipe resolve " + c.name}.WithFigures(made)
	if err != nil {
		return fmt.Errorf("record the case of %s: %w", c.name, err)
	}
	if _, err := rec.Record(o); err != nil {
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
		return fmt.Errorf("schedule %s: %w", c.name, err)
	}
	o, err = check.Observation{Kind: kindState, Target: c.name, Command: "list nodes, workloads and pods of the scenario"}.WithFigures(state)
	if err != nil {
		return fmt.Errorf("record the snapshot of %s: %w", c.name, err)
	}
	_, err = rec.Record(o)
	return err
}

// Judge decides by the newest case and snapshot.
func (c *Check) Judge(obs []check.Observation) check.Judgement {
	cases, states := check.OfKind(obs, kindCase), check.OfKind(obs, kindState)
	if len(cases) == 0 {
		return check.NotObserved("the recipe was not observed")
	}
	made, err := check.Decode[Case](cases[len(cases)-1])
	if err != nil {
		return check.NotObserved(err.Error())
	}
	if len(made.Problems) > 0 {
		return broken(made)
	}
	if len(states) == 0 {
		return check.NotObserved("the recipe's pods were not observed")
	}
	state, err := check.Decode[snapshot.State](states[len(states)-1])
	if err != nil {
		return check.NotObserved(err.Error())
	}
	made.Scenario.Recipe = made.Recipe
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
