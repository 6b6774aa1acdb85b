package recipe

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/cli/cmdutil"
	"github.com/firstlight/firstlight/internal/impact"
	"github.com/firstlight/firstlight/internal/impact/compare"
	"github.com/firstlight/firstlight/internal/impact/record"
	"github.com/firstlight/firstlight/internal/recipe/tree"
	"github.com/firstlight/firstlight/internal/schedule"
)

// recordFlags make recipe test run one part of a plan and record the result.
type recordFlags struct {
	dir, plan, part string
	harness         []string

	// set by read
	planned *impact.Plan
	shard   impact.Shard
}

func (f *recordFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.dir, "record", "", "directory for the record of this commit's test, for recipe summarize and recipe promote")
	flags.StringVar(&f.plan, "plan", "", "plan to test a part of, as firstlight recipe plan --save writes it")
	flags.StringVar(&f.part, "part", "", "ID of the part of --plan, such as tier2-1-of-3")
	flags.StringArrayVar(&f.harness, "harness", nil, "pattern of additional harness files for --record, as in the plan (repeatable)")
}

// read reads the plan, if any, and returns the recipes and the tier of the part.
func (f *recordFlags) read() (names []string, level int, err error) {
	switch {
	case f.plan == "" && f.part == "":
		return nil, 0, nil
	case f.plan == "" || f.part == "":
		return nil, 0, cmdutil.UsageErrorf("--plan and --part need each other")
	}
	if f.planned, err = impact.ReadPlan(f.plan); err != nil {
		return nil, 0, cmdutil.UsageErrorf("%w", err)
	}
	if f.shard, err = f.planned.Part(f.part); err != nil {
		return nil, 0, cmdutil.UsageErrorf("%w", err)
	}
	return f.shard.Recipes, f.shard.Tier, nil
}

// begin records the state of the tested tree, which is in dir, before a test of a tier. It
// returns nil without --record.
func (f *recordFlags) begin(ctx context.Context, tested *tree.Tree, dir string, level int) (*record.Start, error) {
	if f.dir == "" {
		return nil, nil
	}
	if dir == "" {
		return nil, cmdutil.UsageErrorf("--record needs --recipes: a tree in a repository")
	}
	compared := compareFlags{dir: dir, head: compare.Worktree, harness: f.harness}
	in, err := compared.run(ctx, impact.Schedule)
	if err != nil {
		return nil, err
	}
	if in.Checkout == "" {
		return nil, cmdutil.UsageErrorf("--record needs a commit: the repository has none")
	}
	s := &record.Start{
		Tool: cmdutil.Version, Commit: in.Checkout, Dirty: in.Dirty, Event: impact.Dispatch, Tier: level, Tree: in.Tree, Harness: in.Harness.Digest,
	}
	if f.planned != nil {
		s.Event, s.Plan = f.planned.Event, f.planned.Digest
		s.Shard = &record.Shard{ID: f.shard.ID, Index: f.shard.Index, Of: f.shard.Of}
	}
	loaded := impact.Of(tested, nil)
	if s.Measured, err = loaded.Measure(ctx, loaded.Names()); err != nil {
		return nil, cmdutil.Unobserved(err)
	}
	return s, nil
}

// end writes the record; s may be nil.
func (f *recordFlags) end(s *record.Start, r schedule.Report, when time.Time) error {
	if s == nil {
		return nil
	}
	recipes := make([]record.Recipe, 0, len(r.Recipes))
	for _, one := range r.Recipes {
		result := record.Recipe{Recipe: one.Recipe, Fingerprint: one.Fingerprint, Verdict: one.Verdict, Reason: one.Reason, StandsFor: one.StandsFor}
		if f.planned != nil {
			if planned, ok := f.planned.Find(one.Recipe); ok {
				result.StandsFor = planned.StandsFor
			}
		}
		recipes = append(recipes, result)
	}
	_, err := record.Write(f.dir, s.End(when, r.Verdict, r.Reason, recipes))
	return cmdutil.Unobserved(err)
}
