package recipe

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/cli/cmdutil"
	"github.com/firstlight/firstlight/internal/impact"
	"github.com/firstlight/firstlight/internal/impact/compare"
	"github.com/firstlight/firstlight/internal/recipe/tree"
	"github.com/firstlight/firstlight/internal/schedule"
)

// scheduleChoice selects the recipes to test.
type scheduleChoice struct {
	all           bool
	tier          int
	base          string
	shards, shard int
	namesFile     string
}

func (c *scheduleChoice) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.BoolVar(&c.all, "all", false, "test every recipe, as --tier 3 does")
	flags.IntVar(&c.tier, "tier", 0, "test tier 1 (generic), 2 (affected by the changes since --base) or 3 (all)")
	flags.StringVar(&c.base, "base", "", "base of the changes for --tier 2, by its merge base (default: origin/main or main)")
	flags.StringVar(&c.namesFile, "names-file", "", "file with the recipes to test, one per line")
	cmdutil.HideFlags(cmd, "names-file")
	flags.IntVar(&c.shards, "shards", 1, "number of parts to split the recipes into")
	flags.IntVar(&c.shard, "shard-index", 0, "part to test with --shards, from 0")
}

// check validates the flags with the names.
func (c *scheduleChoice) check(names []string) error {
	ways := 0
	for _, is := range []bool{len(names) > 0, c.namesFile != "", c.all, c.tier != 0} {
		if is {
			ways++
		}
	}
	switch {
	case ways == 0:
		return cmdutil.UsageErrorf("no recipes selected: name some (firstlight recipe list), or give --all or --tier")
	case ways > 1:
		return cmdutil.UsageErrorf("names, --all and --tier are mutually exclusive")
	case c.tier < 0 || c.tier > 3:
		return cmdutil.UsageErrorf("invalid --tier %d: must be 1 (generic), 2 (affected by a change) or 3 (all)", c.tier)
	case c.base != "" && c.tier != 2:
		return cmdutil.UsageErrorf("--base needs --tier 2")
	case c.shards < 1 || c.shard < 0 || c.shard >= c.shards:
		return cmdutil.UsageErrorf("invalid --shards %d --shard-index %d: the index must be from 0 to shards-1", c.shards, c.shard)
	case len(slices.Compact(slices.Sorted(slices.Values(names)))) != len(names):
		return cmdutil.UsageErrorf("duplicate recipe name")
	}
	return nil
}

// choose makes the cases to test; why is the reason for an empty selection. level is the tier
// of the names; 0 where the user named them.
func (c *scheduleChoice) choose(ctx context.Context, source *schedule.Source, dir string, names []string, level int) (s schedule.Selection, why string, err error) {
	if err := c.check(names); err != nil {
		return s, "", err
	}
	switch {
	case c.all || c.tier == 3:
		level, names = impact.All, source.Names()
		why = source.Tree().Label + " has no recipe"
	case c.tier == 1:
		level = impact.Generic
		names = generic(source.Tree())
		why = source.Tree().Label + " has no generic recipe: one with a service and without an accelerator"
	case c.tier == 2:
		level = impact.Affected
		if names, why, err = c.affected(ctx, source.Tree(), dir); err != nil {
			return s, "", err
		}
	case c.namesFile != "":
		if names, err = namesIn(c.namesFile); err != nil {
			return s, "", err
		}
	}
	cases, err := casesOf(source, names)
	if err != nil {
		return s, "", err
	}
	s = schedule.Each(level, cases)
	if c.tier == impact.Generic || c.tier == impact.Affected {
		s = schedule.OnePerClass(level, cases)
	}
	if c.shards > 1 && len(cases) > 0 {
		s = s.Part(c.shard, c.shards)
		why = fmt.Sprintf("shard %d of %d is empty: fewer recipes than shards", c.shard, c.shards)
	}
	return s, why, nil
}

// generic returns the recipes of tier 1.
func generic(t *tree.Tree) []string {
	var out []string
	for _, o := range t.Recipes() {
		if o.Generic() {
			out = append(out, o.Name)
		}
	}
	slices.Sort(out)
	return out
}

// affected returns the recipes that the changes in the tested tree affect, generic ones too.
func (c *scheduleChoice) affected(ctx context.Context, tested *tree.Tree, dir string) (names []string, why string, err error) {
	if dir == "" {
		return nil, "", cmdutil.UsageErrorf("--tier 2 needs --recipes: a tree in a repository")
	}
	compared := compareFlags{dir: dir, base: c.base, head: compare.Worktree}
	in, err := compared.run(ctx, impact.PullRequest)
	if err != nil {
		return nil, "", err
	}
	p, err := impact.Make(ctx, in)
	if err != nil {
		return nil, "", cmdutil.UsageErrorf("%w", err)
	}
	if err := isPlanOf(ctx, p, tested); err != nil {
		return nil, "", err
	}
	for _, s := range p.Recipes {
		if slices.ContainsFunc(s.Reasons, func(r impact.Reason) bool { return r.Via != impact.ViaGeneric }) {
			names = append(names, s.Recipe)
		}
	}
	return names, "the changes affect no recipe: firstlight recipe plan prints what was compared", nil
}

// isPlanOf checks that a plan was made of the tested tree: its recipes have the same digests.
func isPlanOf(ctx context.Context, p *impact.Plan, tested *tree.Tree) error {
	var names, differ []string
	for _, s := range p.Recipes {
		names = append(names, s.Recipe)
	}
	measured, err := impact.Of(tested, nil).Measure(ctx, names)
	if err != nil {
		return cmdutil.Unobserved(err)
	}
	for _, s := range p.Recipes {
		if measured[s.Recipe].Digest != s.Digest {
			differ = append(differ, s.Recipe)
		}
	}
	if len(differ) > 0 {
		return cmdutil.UsageErrorf("the files of %d of %d recipes in %s differ from the plan, first %s: test the tree that the plan was made of",
			len(differ), len(names), tested.Label, differ[0])
	}
	return nil
}

func casesOf(source *schedule.Source, names []string) ([]schedule.Case, error) {
	var out []schedule.Case
	for _, name := range names {
		made, err := source.Case(name)
		if err != nil {
			return nil, cmdutil.UsageErrorf("%w", err)
		}
		out = append(out, made)
	}
	return out, nil
}

// command is the command line in the evidence.
func (c *scheduleChoice) command() []string {
	var out []string
	if c.all {
		out = append(out, "--all")
	}
	if c.tier != 0 {
		out = append(out, "--tier", strconv.Itoa(c.tier))
	}
	if c.base != "" {
		out = append(out, "--base", c.base)
	}
	if c.namesFile != "" {
		out = append(out, "--names-file", c.namesFile)
	}
	if c.shards > 1 {
		out = append(out, "--shards", strconv.Itoa(c.shards), "--shard-index", strconv.Itoa(c.shard))
	}
	return out
}
