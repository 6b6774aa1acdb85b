package schedule

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/firstlight/firstlight/internal/evidence"
	"github.com/firstlight/firstlight/internal/plan"
)

// PlanName is the plan's name in the evidence of a test.
const PlanName = "recipes"

// Options of a test.
type Options struct {
	// Selection to test: at least one recipe, no duplicates.
	Selection Selection
	// Open starts a control plane.
	Open StartControlPlane
	// Jobs is the number of concurrent recipes, PerPlane the maximum number of recipes for
	// one control plane.
	Jobs, PerPlane int

	// EvidenceDir receives the run's evidence with the Header.
	EvidenceDir string
	Header      evidence.Header

	Events func(plan.Event)
	Clock  func() time.Time
}

// Outcome is the result of a test.
type Outcome struct {
	plan.Outcome
	Run      string
	Evidence string
	// Began is the start of the first recipe.
	Began time.Time
	// Starting is the total start time of the control planes.
	Starting time.Duration
}

// Test runs the scheduling test of recipes. The error reports that the test could not run;
// verdicts are in the outcome.
func Test(ctx context.Context, o Options) (out Outcome, err error) {
	if err := o.check(); err != nil {
		return Outcome{}, err
	}
	recipes := o.Selection.Names()
	controlPlanes := newControlPlanes(o.Open, shardSizes(len(recipes), o.PerPlane), o.Clock)
	defer func() { err = errors.Join(err, controlPlanes.closeAll(context.WithoutCancel(ctx))) }()
	p := plan.Plan{Name: PlanName}
	for i, one := range o.Selection.Cases {
		p.Steps = append(p.Steps, plan.Step{Check: &Check{
			of:   one.member(),
			make: func() (Case, error) { return one, nil },
			runner: func(ctx context.Context, progress func(string)) (Runner, error) {
				return controlPlanes.runner(ctx, i/o.PerPlane, progress)
			},
		}})
	}
	input, err := json.MarshalIndent(o.Selection.Choice, "", "  ")
	if err != nil {
		return Outcome{}, fmt.Errorf("encode %s: %w", InputFile, err)
	}
	start := evidence.Start{Header: o.Header, Plan: p, Inputs: map[string][]byte{InputFile: append(input, '\n')}}
	run, err := evidence.Create(o.EvidenceDir, start, evidence.Options{Clock: o.Clock})
	if err != nil {
		return Outcome{}, fmt.Errorf("create evidence: %w", err)
	}
	shardOf := map[string]int{}
	for i, name := range recipes {
		shardOf[name] = i / o.PerPlane
	}
	executor := plan.Executor{
		Plan: p, Store: run, Clock: o.Clock, Events: o.Events, Parallel: o.Jobs,
		Cleanup: func(ctx context.Context, step string) error {
			controlPlanes.done(ctx, shardOf[step])
			return nil
		},
	}
	began := controlPlanes.clock()
	outcome, err := executor.Run(ctx)
	if err != nil {
		return Outcome{}, errors.Join(err, run.Close(append(outcome.Notes, err.Error())...))
	}
	if err := run.Finish(outcome, nil); err != nil {
		return Outcome{}, err
	}
	return Outcome{Outcome: outcome, Run: run.ID(), Evidence: run.Dir(), Began: began, Starting: controlPlanes.starting()}, nil
}

func (o *Options) check() error {
	names := o.Selection.Names()
	if len(names) == 0 {
		return errors.New("no recipes selected; refusing to report a pass")
	}
	slices.Sort(names)
	if len(slices.Compact(names)) != len(o.Selection.Cases) {
		return errors.New("invalid selection: duplicate recipe")
	}
	if o.Jobs < 1 || o.PerPlane < 1 {
		return fmt.Errorf("invalid limits: %d concurrent recipes, %d recipes per control plane: must be at least 1", o.Jobs, o.PerPlane)
	}
	return nil
}
