package recipe

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/impact"
	"github.com/firstlight/firstlight/internal/impact/compare"
	"github.com/firstlight/firstlight/internal/impact/record"
	"github.com/firstlight/firstlight/internal/schedule"
)

// recordFlags make recipe test one part of a plan, and keep what came of it.
type recordFlags struct {
	dir, plan, part string
	harness         []string

	// of the plan, once it was read
	planned *impact.Plan
	shard   impact.Shard
}

func (f *recordFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.dir, "record", "", "keep what came of the test of this commit below this directory, for recipe summarize and recipe promote")
	flags.StringVar(&f.plan, "plan", "", "test a part of this plan, as firstlight recipe plan --save wrote it")
	flags.StringVar(&f.part, "part", "", "with --plan: id of the part, such as tier2-1-of-3")
	flags.StringArrayVar(&f.harness, "harness", nil, "with --record: pattern of more files of the harness, as the plan was given it (may be repeated)")
}

// read reads the plan, when there is one. It comes back with the names of the part's
// recipes and its tier.
func (f *recordFlags) read() (names []string, level int, err error) {
	switch {
	case f.plan == "" && f.part == "":
		return nil, 0, nil
	case f.plan == "" || f.part == "":
		return nil, 0, usage("--plan and --part go together: the plan, and which part of it")
	}
	if f.planned, err = impact.ReadPlan(f.plan); err != nil {
		return nil, 0, usage("%w", err)
	}
	if f.shard, err = f.planned.Part(f.part); err != nil {
		return nil, 0, usage("%w", err)
	}
	return f.shard.Recipes, f.shard.Tier, nil
}

// begin looks at what is about to be tested: dir is the tree's directory, level the
// tier. nil: nothing is to be kept.
func (f *recordFlags) begin(ctx context.Context, dir string, level int) (*record.Start, error) {
	if f.dir == "" {
		return nil, nil //nolint:nilnil // there is nothing to keep, and nothing wrong
	}
	if dir == "" {
		return nil, usage("--record is of a commit: give the tree in its repository with --recipes")
	}
	compared := compareFlags{dir: dir, head: compare.Worktree, harness: f.harness}
	in, err := compared.run(ctx, impact.Schedule)
	if err != nil {
		return nil, err
	}
	if in.Checkout == "" {
		return nil, usage("--record is of a commit, and nothing is committed yet")
	}
	s := &record.Start{
		Tool: version, Commit: in.Checkout, Dirty: in.Dirty, Event: impact.Dispatch, Tier: level, Tree: in.Tree, Harness: in.Harness.Digest,
	}
	if f.planned != nil {
		s.Event, s.Plan = f.planned.Event, f.planned.Digest
		s.Shard = &record.Shard{ID: f.shard.ID, Index: f.shard.Index, Of: f.shard.Of}
	}
	loaded := impact.Load(in.Head, nil)
	if s.Measured, err = loaded.Measure(ctx, loaded.Names()); err != nil {
		return nil, infrastructure(err)
	}
	return s, nil
}

// end keeps what came of it; s may be nil.
func (f *recordFlags) end(s *record.Start, r schedule.Report, when time.Time) error {
	if s == nil {
		return nil
	}
	recipes := make([]record.Recipe, 0, len(r.Recipes))
	for _, one := range r.Recipes {
		kept := record.Recipe{Recipe: one.Recipe, Fingerprint: one.Fingerprint, Verdict: one.Verdict, Reason: one.Reason, StandsFor: one.StandsFor}
		if f.planned != nil {
			if planned, ok := f.planned.Find(one.Recipe); ok {
				kept.StandsFor = planned.StandsFor
			}
		}
		recipes = append(recipes, kept)
	}
	_, err := record.Write(f.dir, s.End(when, r.Verdict, r.Reason, recipes))
	return infrastructure(err)
}
