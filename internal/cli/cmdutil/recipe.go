package cmdutil

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/diag"
	"github.com/firstlight/firstlight/internal/recipe"
	"github.com/firstlight/firstlight/internal/recipe/criteria"
	"github.com/firstlight/firstlight/internal/recipe/resolve"
	"github.com/firstlight/firstlight/internal/recipe/tree"
)

// RecipeFlags select the recipe tree and how it is read.
type RecipeFlags struct {
	Dir    string
	Compat string
}

// CompatAicr is the value of --compat.
const CompatAicr = "aicr"

// Add adds --recipes to a command.
func (f *RecipeFlags) Add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.Dir, "recipes", "", "directory of a recipe tree (default: the tree that ships with firstlight)")
}

// AddCompat adds --compat to a command.
func (f *RecipeFlags) AddCompat(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.Compat, "compat", "", "aicr: resolve as aicr "+criteria.LegacyVersion+" does, to compare before a migration")
}

// Open loads the tree. An invalid tree is an error; warnings are counted on standard error.
func (f *RecipeFlags) Open(s Streams) (*tree.Tree, error) {
	if f.Compat != "" && f.Compat != CompatAicr && f.Compat != CompatAicr+"@"+criteria.LegacyVersion {
		return nil, UsageErrorf("invalid --compat %q: must be %s or %[2]s@%[3]s, the version to compare with", f.Compat, CompatAicr, criteria.LegacyVersion)
	}
	t, problems, err := recipe.Open(f.Dir, tree.Options{Legacy: f.Compat != ""})
	if err != nil {
		return nil, UsageErrorf("%w", err)
	}
	if err := problems.Err(); err != nil {
		return nil, UsageErrorf("%w\ncannot use %s: %s", err, t.Label, Count(problems.Count(diag.Error), "problem"))
	}
	if f.Compat != "" {
		for _, p := range problems { // the strict lint does not show them
			fmt.Fprintf(s.Err, "firstlight: %s\n", p)
		}
		return t, nil
	}
	if n := problems.Count(diag.Warning); n > 0 {
		fmt.Fprintf(s.Err, "firstlight: %s has %s: firstlight recipe lint shows them\n", t.Label, Count(n, "warning"))
	}
	return t, nil
}

// RecipeRef is a parsed RECIPE argument: criteria, or the file of a resolved recipe.
type RecipeRef struct {
	Criteria criteria.Criteria
	File     string
}

// ParseRecipe reads a RECIPE argument: the name of an overlay, criteria, or a file.
func ParseRecipe(t *tree.Tree, ref string) (RecipeRef, error) {
	if o, ok := t.Overlay(ref); ok {
		if !o.Applies || o.Criteria.Specificity() == 0 {
			return RecipeRef{}, UsageErrorf("overlay %s states no criteria: it is a part of recipes, not a recipe", ref)
		}
		return RecipeRef{Criteria: o.Criteria}, nil
	}
	if info, err := os.Stat(ref); err == nil && info.Mode().IsRegular() {
		return RecipeRef{File: ref}, nil
	}
	if strings.Contains(ref, "=") {
		q, err := criteria.Parse(ref)
		if err != nil {
			return RecipeRef{}, UsageErrorf("%w", err)
		}
		return RecipeRef{Criteria: q}, nil
	}
	var names []string
	for _, o := range t.Recipes() {
		names = append(names, o.Name)
	}
	if near := diag.Nearest(ref, names); near != "" {
		return RecipeRef{}, UsageErrorf("recipe %q not found: did you mean %s?", ref, near)
	}
	return RecipeRef{}, UsageErrorf("recipe %q not found: firstlight recipe list shows all %d", ref, len(names))
}

// Resolve resolves the recipe.
func (r RecipeRef) Resolve(t *tree.Tree, o resolve.Options) (*resolve.Result, error) {
	if r.File == "" {
		return Resolved(resolve.Resolve(t, r.Criteria, o))
	}
	data, err := os.ReadFile(r.File)
	if err != nil {
		return nil, UsageErrorf("cannot read recipe: %w", err)
	}
	return Resolved(resolve.Load(t, r.File, data))
}

// Resolved makes an error of resolving a usage error.
func Resolved(r *resolve.Result, err error) (*resolve.Result, error) {
	if err == nil {
		return r, nil
	}
	if list, ok := errors.AsType[diag.List](err); ok {
		return nil, UsageErrorf("%w\ncannot resolve the recipe: %s", err, Count(list.Count(diag.Error), "problem"))
	}
	return nil, UsageErrorf("%w", err)
}

// OpenRecipe opens the tree and resolves the recipe that a RECIPE argument names.
func (f *RecipeFlags) OpenRecipe(s Streams, ref string, o resolve.Options) (*tree.Tree, *resolve.Result, error) {
	t, err := f.Open(s)
	if err != nil {
		return nil, nil, err
	}
	n, err := ParseRecipe(t, ref)
	if err != nil {
		return nil, nil, err
	}
	r, err := n.Resolve(t, o)
	return t, r, err
}
