package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"

	"sigs.k8s.io/yaml"

	"github.com/firstlight/firstlight/internal/recipe/recipetest"
)

// leafFor writes an overlay for a number of nodes, based on a leaf of the tree.
func leafFor(dir, leaf string, nodes int) error {
	data, err := os.ReadFile(filepath.Join(dir, "overlays", leaf+".yaml"))
	if err != nil {
		return fmt.Errorf("read a recipe: %w", err)
	}
	var base struct {
		Spec struct {
			Criteria map[string]any `json:"criteria"`
		} `json:"spec"`
	}
	if err := yaml.Unmarshal(data, &base); err != nil {
		return fmt.Errorf("read recipe %s: %w", leaf, err)
	}
	base.Spec.Criteria["nodes"] = nodes
	name := fmt.Sprintf("%s-%d", leaf, nodes)
	data, err = yaml.Marshal(map[string]any{
		"apiVersion": "aicr.run/v1beta1", "kind": "RecipeMetadata", "metadata": map[string]any{"name": name},
		"spec": map[string]any{"base": leaf, "criteria": base.Spec.Criteria},
	})
	if err != nil {
		return fmt.Errorf("write recipe %s: %w", name, err)
	}
	return os.WriteFile(filepath.Join(dir, "overlays", name+".yaml"), data, 0o600)
}

// planned is how many overlays selection is measured on.
const planned = 10_000

// measurePlan chooses what the change of one leaf affects, in a repository of its own.
func (b *bench) measurePlan(ctx context.Context) error {
	repo := filepath.Join(b.dir, "repository")
	tree := recipetest.Generate(planned, 1)
	if err := os.CopyFS(filepath.Join(repo, "recipes"), tree); err != nil {
		return fmt.Errorf("write a tree: %w", err)
	}
	leaf, err := deepest(tree)
	if err != nil {
		return err
	}
	steps := [][]string{{"init", "-q", "-b", "main"}, {"add", "."}, {"commit", "-q", "-m", "tree"}}
	for _, args := range steps {
		if err := git(ctx, repo, args...); err != nil {
			return err
		}
	}
	for part, change := range map[string]struct{ file, text string }{
		recipePlan:    {leaf, "    - name: component-11\n      version: 9.9.9\n"},
		recipePlanAll: {"overlays/base.yaml", "  validation: {readiness: {timeout: 3m}}\n"},
	} {
		if err := b.planChange(ctx, repo, part, filepath.Join(repo, "recipes", change.file), change.text); err != nil {
			return err
		}
	}
	return nil
}

// planChange commits a text at the end of a file, and times the plan for that.
func (b *bench) planChange(ctx context.Context, repo, part, file, text string) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("read a recipe: %w", err)
	}
	if err := os.WriteFile(file, append(data, text...), 0o600); err != nil {
		return fmt.Errorf("change a recipe: %w", err)
	}
	if err := git(ctx, repo, "commit", "-q", "-a", "-m", "change"); err != nil {
		return err
	}
	for range b.n {
		took, err := b.timedIn(ctx, repo, nil, "recipe", "plan", "--base", "HEAD~1", "--head", "HEAD", "--recipes", "recipes", "-o", "json")
		if err != nil {
			return err
		}
		b.add(part, took)
	}
	return nil
}

// deepest is the file of an overlay with the longest name: a leaf.
func deepest(tree fs.FS) (string, error) {
	files, err := fs.Glob(tree, "overlays/*.yaml")
	if err != nil {
		return "", fmt.Errorf("list the tree: %w", err)
	}
	longest := ""
	for _, f := range files {
		if len(f) > len(longest) {
			longest = f
		}
	}
	if longest == "" {
		return "", errors.New("the generated tree has no overlays")
	}
	return longest, nil
}

func git(ctx context.Context, dir string, args ...string) error {
	cmd := exec.CommandContext(ctx, "git", append([]string{"-c", "user.name=bench", "-c", "user.email=bench@localhost"}, args...)...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("git %v: %w\n%s", args, err, out)
	}
	return nil
}
