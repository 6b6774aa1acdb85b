package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// scheduleReport is what recipe test -o json prints, as far as it is measured.
type scheduleReport struct {
	Verdict string `json:"verdict"`
	Recipes []struct {
		Recipe string `json:"recipe"`
	} `json:"recipes"`
	Covered      int     `json:"covered"`
	Pods         int     `json:"pods"`
	Seconds      float64 `json:"seconds"`
	StartSeconds float64 `json:"startSeconds"`
}

// The parts of the recipes' test that are compared with thresholds.
const (
	recipeAll       = "recipe test --all, control plane up"
	recipeGenerated = "200 generated recipes, control plane up"
	recipePlan      = "recipe plan of 10,000 overlays"
	recipePlanAll   = "recipe plan of 10,000 overlays, all affected"
)

const (
	// alone is how many recipes are tested with a control plane each, for the ratio.
	alone = 3
	// generated is how many recipes the generated tree has.
	generated = 200
)

// measureRecipes tests our tree, tier 1 of it, a bigger one, and recipes with a
// control plane each.
func (b *bench) measureRecipes(ctx context.Context) error {
	bigger := filepath.Join(b.dir, "bigger")
	if err := biggerTree(bigger, generated); err != nil {
		return err
	}
	var last scheduleReport
	for i := range b.n {
		fmt.Fprintf(os.Stderr, "bench: recipes %d of %d\n", i+1, b.n)
		all, err := b.schedule(ctx, recipeAll, "--all")
		if err != nil {
			return err
		}
		last = all
		one, err := b.schedule(ctx, "recipe test --tier 1, control plane up", "--tier", "1")
		if err != nil {
			return err
		}
		if i == 0 {
			b.say("tier 1: %d recipes tested, which stand for %d others", len(one.Recipes), one.Covered)
		}
		if _, err := b.schedule(ctx, recipeGenerated, "--all", "--recipes", bigger); err != nil {
			return err
		}
	}
	took := median(b.samples.get(b.part, recipeAll))
	b.say("%d recipes, %d pods: %.1f recipes/s, %.0f pods/s", len(last.Recipes), last.Pods, float64(len(last.Recipes))/took, float64(last.Pods)/took)
	return b.oneByOne(ctx, last, took)
}

// oneByOne compares the shared control plane with one control plane per recipe.
func (b *bench) oneByOne(ctx context.Context, all scheduleReport, took float64) error {
	const part = "one recipe, with a control plane of its own"
	step := max(1, len(all.Recipes)/alone)
	for i := 0; i < len(all.Recipes); i += step {
		name := all.Recipes[i].Recipe
		fmt.Fprintf(os.Stderr, "bench: %s alone\n", name)
		seconds, err := b.timed(ctx, nil, "recipe", "test", name, "--evidence", b.dir)
		if err != nil {
			return err
		}
		b.add(part, seconds)
	}
	each := took / float64(len(all.Recipes))
	b.say("a control plane a recipe takes %.0f times as long as a shared one", median(b.samples.get(b.part, part))/each)
	return nil
}

func (b *bench) schedule(ctx context.Context, part string, args ...string) (scheduleReport, error) {
	var out bytes.Buffer
	args = append([]string{"recipe", "test", "-o", "json", "--evidence", b.dir}, args...)
	whole, err := b.timed(ctx, &out, args...)
	if err != nil {
		return scheduleReport{}, err
	}
	var r scheduleReport
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		return scheduleReport{}, fmt.Errorf("read the report: %w", err)
	}
	b.add(part, r.Seconds-r.StartSeconds)
	b.add(part[:len(part)-len(", control plane up")]+", whole command", whole)
	return r, nil
}

// biggerTree writes a copy of our recipes with leaves for numbers of nodes, until
// it has n recipes.
func biggerTree(dir string, n int) error {
	if err := os.CopyFS(dir, os.DirFS("recipes")); err != nil {
		return fmt.Errorf("copy the recipes: %w", err)
	}
	leaves, err := filepath.Glob(filepath.Join(dir, "overlays", "*-*-*-*.yaml"))
	if err != nil {
		return fmt.Errorf("list the recipes: %w", err)
	}
	have, err := filepath.Glob(filepath.Join(dir, "overlays", "*.yaml"))
	if err != nil {
		return fmt.Errorf("list the recipes: %w", err)
	}
	slices.Sort(leaves)
	for i := range n - (len(have) - 1) { // the root is not a recipe
		name := filepath.Base(leaves[i%len(leaves)])
		if err := leafFor(dir, name[:len(name)-len(".yaml")], 8*(1+i/len(leaves))); err != nil {
			return err
		}
	}
	return nil
}
