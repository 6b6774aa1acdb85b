package ciworkflow

import (
	"fmt"
	"path"
	"regexp"
	"strings"

	"github.com/firstlight/firstlight/internal/impact"
)

// RecipeOptions configure the workflows that test recipes.
type RecipeOptions struct {
	Source
	// Recipes is the directory of the recipe tree, relative to the repository root.
	Recipes string
	// Harness are patterns of additional files that affect how recipes are tested.
	Harness []impact.Glob
	// Main is the branch that changes are merged to.
	Main string
}

// File is a rendered workflow. Name is its base name in .github/workflows.
type File struct {
	Name string
	Data []byte
}

// Only text that needs no quoting in YAML, a shell or a GitHub expression is accepted.
var (
	plainPath = regexp.MustCompile(`^[A-Za-z0-9._/-]+$`)
	plainGlob = regexp.MustCompile(`^[A-Za-z0-9._/*-]+$`)
)

func (o *RecipeOptions) check() error {
	for name, text := range map[string]string{"recipe directory": o.Recipes, "branch": o.Main} {
		if !plainPath.MatchString(text) || strings.HasPrefix(text, "-") || strings.HasPrefix(text, "/") || path.Clean(text) != text {
			return fmt.Errorf("invalid %s %q: must consist of letters, digits, dots, dashes and slashes and must not begin with - or /", name, text)
		}
	}
	for _, g := range o.Harness {
		if err := g.Check(); err != nil {
			return fmt.Errorf("harness: %w", err)
		}
		if !plainGlob.MatchString(string(g)) {
			return fmt.Errorf("invalid harness pattern %q: must consist of letters, digits, dots, dashes, slashes and stars", g)
		}
	}
	return o.Source.check()
}

// RenderRecipes renders the workflow for pull requests and the one for merges and nightly
// runs.
func RenderRecipes(o RecipeOptions) ([]File, error) {
	if err := o.check(); err != nil {
		return nil, fmt.Errorf("render workflows: %w", err)
	}
	var files []File
	for _, name := range []string{"recipes.yaml", "recipes-all.yaml"} {
		data, err := execute(name, map[string]any{"o": o, "command": o.command()})
		if err != nil {
			return nil, err
		}
		files = append(files, File{Name: name, Data: data})
	}
	return files, nil
}

// command is the command line that renders the same files again.
func (o *RecipeOptions) command() string {
	parts := []string{"firstlight recipe workflow"}
	if o.Recipes != "recipes" {
		parts = append(parts, "--recipes "+o.Recipes)
	}
	if o.Main != "main" {
		parts = append(parts, "--main "+o.Main)
	}
	for _, g := range o.Harness {
		parts = append(parts, "--harness '"+string(g)+"'")
	}
	if !o.Own {
		parts = append(parts, "--use "+o.Version)
	}
	return strings.Join(parts, " ")
}
