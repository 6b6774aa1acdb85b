package schedule

import (
	"context"
	"fmt"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/schedule/judge"
	"github.com/firstlight/firstlight/internal/schedule/snapshot"
)

// Kinds of observations: what is put on a control plane, and what came of it.
const (
	kindCase  = "recipe-case"
	kindState = "placement"
)

// Check is the scheduling test of one recipe.
type Check struct {
	name string
	// make and arena are nil where it only judges.
	make  func() (Case, error)
	arena func(ctx context.Context, progress func(string)) (Arena, error)
}

var _ check.Check = (*Check)(nil)

// Judges is a check that only judges, to replay what was seen.
func Judges(recipe string) *Check { return &Check{name: recipe} }

// Name is the recipe's.
func (c *Check) Name() string { return c.name }

// Observe records the case, then what came of it.
func (c *Check) Observe(ctx context.Context, rec check.Recorder) error {
	made, err := c.make()
	if err != nil {
		return err
	}
	o, err := check.Observation{Kind: kindCase, Target: c.name, Command: "firstlight recipe resolve " + c.name}.WithFigures(made)
	if err != nil {
		return fmt.Errorf("keep the case of %s: %w", c.name, err)
	}
	if _, err := rec.Record(o); err != nil {
		return err
	}
	if len(made.Problems) > 0 {
		return nil
	}
	progress := func(text string) { rec.Progress("%s", text) }
	arena, err := c.arena(ctx, progress)
	if err != nil {
		return err
	}
	state, err := arena.Run(ctx, made.Scenario, progress)
	if err != nil {
		return fmt.Errorf("schedule %s: %w", c.name, err)
	}
	o, err = check.Observation{Kind: kindState, Target: c.name, Command: "list nodes, workloads and pods of the cell"}.WithFigures(state)
	if err != nil {
		return fmt.Errorf("keep what came of %s: %w", c.name, err)
	}
	_, err = rec.Record(o)
	return err
}

// Judge decides by the newest case and state.
func (c *Check) Judge(obs []check.Observation) check.Judgement {
	cases, states := check.OfKind(obs, kindCase), check.OfKind(obs, kindState)
	if len(cases) == 0 {
		return check.CouldNotObserve("the recipe could not be looked at")
	}
	made, err := check.Decode[Case](cases[len(cases)-1])
	if err != nil {
		return check.CouldNotObserve(err.Error())
	}
	if len(made.Problems) > 0 {
		return broken(made)
	}
	if len(states) == 0 {
		return check.CouldNotObserve("what came of the recipe's pods could not be seen")
	}
	state, err := check.Decode[snapshot.State](states[len(states)-1])
	if err != nil {
		return check.CouldNotObserve(err.Error())
	}
	made.Scenario.Recipe = made.Recipe
	return judge.Judge(made.Scenario, state)
}

// broken is the judgement of a recipe that no cell could be made of.
func broken(c Case) check.Judgement {
	var findings []check.Finding
	for _, p := range c.Problems {
		findings = append(findings, check.Finding{Suspect: p.Pos.String(), Message: p.Message + " [" + p.Rule + "]", Remedy: p.Remedy})
	}
	return check.Fail(fmt.Sprintf("no pods can be made of the recipe: %s", c.Problems[0].Message), findings...)
}
