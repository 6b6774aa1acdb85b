package schedule

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/evidence"
	"github.com/firstlight/firstlight/internal/plan"
)

// PlanName is the name of the plan of a test, by which its evidence is told from others'.
const PlanName = "recipes"

// Options of a test.
type Options struct {
	// Selection to test: at least one recipe, none twice.
	Selection Selection
	// Open starts a control plane.
	Open OpenPlane
	// Jobs is how many recipes are under way at one time; PerPlane the most that
	// one control plane takes before it is thrown away.
	Jobs, PerPlane int

	// EvidenceDir keeps the run; Header says what it is of.
	EvidenceDir string
	Header      evidence.Header

	Events func(plan.Event)
	Clock  func() time.Time
}

// Test runs the scheduling test of recipes. The error is for what kept it from
// being run; what it found is in the outcome.
func Test(ctx context.Context, o Options) (out Outcome, err error) {
	if err := o.check(); err != nil {
		return Outcome{}, err
	}
	recipes := o.Selection.Names()
	planes := newPlanes(o.Open, shardSizes(len(recipes), o.PerPlane), o.Clock)
	defer func() { err = errors.Join(err, planes.closeAll(context.WithoutCancel(ctx))) }()
	p := plan.Plan{Name: PlanName}
	for i, name := range recipes {
		p.Steps = append(p.Steps, plan.Step{Check: &Check{
			name: name,
			make: func() (Case, error) { return o.Selection.Case(name) },
			arena: func(ctx context.Context, progress func(string)) (Arena, error) {
				return planes.arena(ctx, i/o.PerPlane, progress)
			},
		}})
	}
	run, err := evidence.Create(o.EvidenceDir, evidence.Start{Header: o.Header, Plan: p}, evidence.Options{Clock: o.Clock})
	if err != nil {
		return Outcome{}, fmt.Errorf("keep evidence: %w", err)
	}
	shardOf := map[string]int{}
	for i, name := range recipes {
		shardOf[name] = i / o.PerPlane
	}
	walker := plan.Walker{
		Plan: p, Store: run, Clock: o.Clock, Events: o.Events, Parallel: o.Jobs,
		Cleanup: func(ctx context.Context, step string) error {
			planes.done(ctx, shardOf[step])
			return nil
		},
	}
	began := planes.clock()
	walked, err := walker.Walk(ctx)
	if err != nil {
		return Outcome{}, errors.Join(err, run.Close(append(walked.Notes, err.Error())...))
	}
	if err := run.Finish(walked, nil); err != nil {
		return Outcome{}, err
	}
	return Outcome{Outcome: walked, Run: run.ID(), Evidence: run.Dir(), Began: began, Starting: planes.starting()}, nil
}

func (o *Options) check() error {
	names := o.Selection.Names()
	if len(names) == 0 {
		return errors.New("no recipe is to be tested: that is no pass")
	}
	slices.Sort(names)
	if len(slices.Compact(names)) != len(o.Selection.Cases) {
		return errors.New("a recipe is to be tested twice")
	}
	if o.Jobs < 1 || o.PerPlane < 1 {
		return fmt.Errorf("%d recipes at one time, %d a control plane: both must be 1 or more", o.Jobs, o.PerPlane)
	}
	return nil
}

// Replay makes the checks of a run that is on disk.
func Replay(b *evidence.Bundle) []check.Check {
	var out []check.Check
	for _, s := range b.Plan.Steps {
		out = append(out, Judges(s.Name))
	}
	return out
}
