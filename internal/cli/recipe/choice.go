package recipe

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/impact"
	"github.com/firstlight/firstlight/internal/recipe/tree"
	"github.com/firstlight/firstlight/internal/schedule"
)

// scheduleChoice says which recipes are tested.
type scheduleChoice struct {
	all           bool
	tier          int
	base, head    string
	shards, shard int
	namesFile     string
}

func (c *scheduleChoice) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.BoolVar(&c.all, "all", false, "test every recipe; the same as --tier 3")
	flags.IntVar(&c.tier, "tier", 0, "test tier 1 (generic), 2 (what changes since --base affect) or 3 (all)")
	flags.StringVar(&c.base, "base", "", "with --tier 2: what the changes are against; the merge-base with it counts (default origin/main, or main)")
	flags.StringVar(&c.head, "head", "worktree", "with --tier 2: the commit with the changes, or worktree")
	flags.StringVar(&c.namesFile, "names-file", "", "file that names the recipes to test, one a line")
	if err := flags.MarkHidden("names-file"); err != nil {
		panic(err) // the flag was added a line above
	}
	flags.IntVar(&c.shards, "shards", 1, "test only one of so many parts of what is chosen")
	flags.IntVar(&c.shard, "shard-index", 0, "with --shards: which part, from 0")
}

// check finds everything that is wrong with the flags and names.
func (c *scheduleChoice) check(names []string) error {
	ways := 0
	for _, is := range []bool{len(names) > 0, c.namesFile != "", c.all, c.tier != 0} {
		if is {
			ways++
		}
	}
	switch {
	case ways == 0:
		return usage("which recipes? Name some (firstlight recipe list), or give --all, or --tier 1, 2 or 3")
	case ways > 1:
		return usage("names, --all and --tier exclude each other: give one of them")
	case c.tier < 0 || c.tier > 3:
		return usage("--tier %d: there are 1 (generic), 2 (affected by a change) and 3 (all)", c.tier)
	case c.base != "" && c.tier != 2:
		return usage("--base is for --tier 2: what the changes are against")
	case c.shards < 1 || c.shard < 0 || c.shard >= c.shards:
		return usage("--shards %d --shard-index %d: the index goes from 0 to one less than the number of shards", c.shards, c.shard)
	case len(slices.Compact(slices.Sorted(slices.Values(names)))) != len(names):
		return usage("a recipe is named twice")
	}
	return nil
}

// choose makes the cases to test. Why says why there are none.
func (c *scheduleChoice) choose(ctx context.Context, source *schedule.Source, dir string, names []string) (s schedule.Selection, why string, err error) {
	if err := c.check(names); err != nil {
		return s, "", err
	}
	level := c.tier
	switch {
	case c.all || c.tier == 3:
		level, names = 3, source.Names()
		why = source.Tree().Label + " has no recipe"
	case c.tier == 1:
		names = generic(source.Tree())
		why = source.Tree().Label + " has no generic recipe: none with a service and without an accelerator"
	case c.tier == 2:
		if names, why, err = c.affected(ctx, dir); err != nil {
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
	if level == 1 || level == 2 {
		s = schedule.OnePerClass(level, cases)
	} else {
		s = schedule.Each(level, cases)
	}
	if c.shards > 1 {
		s = s.Shard(c.shard, c.shards)
		why = fmt.Sprintf("shard %d of %d has no recipe: there are fewer", c.shard, c.shards)
	}
	return s, why, nil
}

// generic are the recipes of tier 1.
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

// affected are the recipes of tier 2, the generic ones among them.
func (c *scheduleChoice) affected(ctx context.Context, dir string) (names []string, why string, err error) {
	compared := compareFlags{dir: cmp.Or(dir, "recipes"), base: c.base, head: c.head}
	in, err := compared.run(ctx, impact.PullRequest)
	if err != nil {
		return nil, "", err
	}
	p, err := impact.Make(ctx, in)
	if err != nil {
		return nil, "", usage("%w", err)
	}
	for _, s := range p.Recipes {
		if slices.ContainsFunc(s.Reasons, func(r impact.Reason) bool { return r.Via != impact.ViaGeneric }) {
			names = append(names, s.Recipe)
		}
	}
	return names, "the changes affect no recipe: firstlight recipe plan says what was compared", nil
}

func casesOf(source *schedule.Source, names []string) ([]schedule.Case, error) {
	var out []schedule.Case
	for _, name := range names {
		made, err := source.Case(name)
		if err != nil {
			return nil, usage("%w", err)
		}
		out = append(out, made)
	}
	return out, nil
}

// command is what of the choice is not the default.
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
	if c.shards > 1 {
		out = append(out, "--shards", strconv.Itoa(c.shards), "--shard-index", strconv.Itoa(c.shard))
	}
	return out
}
