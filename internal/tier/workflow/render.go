package workflow

import (
	"bytes"
	"embed"
	"fmt"
	"path"
	"regexp"
	"strings"
	"text/template"

	"github.com/firstlight/firstlight/internal/pipeline/workflow"
	"github.com/firstlight/firstlight/internal/tier"
)

//go:embed templates/*.tmpl
var templates embed.FS

// Options say what the workflows are of.
type Options struct {
	// Own: the repository is firstlight's, and builds it. Otherwise Version of it is
	// installed.
	Own     bool
	Version string
	// Recipes is the directory of the tree, relative to the top.
	Recipes string
	// Harness are patterns of what runs the test besides.
	Harness []tier.Glob
	// Main is the branch that changes are merged to.
	Main string
}

// File is a rendered workflow.
type File struct {
	// Name is the file's in .github/workflows.
	Name string
	Data []byte
}

// plain are texts that mean nothing to YAML, a shell or GitHub's expressions.
var (
	plainPath   = regexp.MustCompile(`^[A-Za-z0-9._/-]+$`)
	plainGlob   = regexp.MustCompile(`^[A-Za-z0-9._/*-]+$`)
	releaseTag  = regexp.MustCompile(`^v\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$`)
	errDotFirst = "it must not begin with - or /"
)

func (o *Options) check() error {
	for what, text := range map[string]string{"directory of recipes": o.Recipes, "branch": o.Main} {
		if !plainPath.MatchString(text) || strings.HasPrefix(text, "-") || strings.HasPrefix(text, "/") || path.Clean(text) != text {
			return fmt.Errorf("%s %q: write it with letters, digits, dots, dashes and slashes; %s", what, text, errDotFirst)
		}
	}
	for _, g := range o.Harness {
		if err := g.Check(); err != nil {
			return fmt.Errorf("harness: %w", err)
		}
		if !plainGlob.MatchString(string(g)) {
			return fmt.Errorf("harness %q: write it with letters, digits, dots, dashes, slashes and stars", g)
		}
	}
	if !o.Own && !releaseTag.MatchString(o.Version) {
		return fmt.Errorf("firstlight %q is no release that can be installed: say which one (v1.2.3)", o.Version)
	}
	return nil
}

// Render makes the workflows.
func Render(o Options) ([]File, error) {
	if err := o.check(); err != nil {
		return nil, fmt.Errorf("render workflows: %w", err)
	}
	t, err := template.New("").Delims("[[", "]]").Option("missingkey=error").ParseFS(templates, "templates/*.tmpl")
	if err != nil {
		return nil, fmt.Errorf("render workflows: %w", err)
	}
	var out []File
	for _, name := range []string{"recipes.yaml", "recipes-all.yaml"} {
		var b bytes.Buffer
		data := map[string]any{"o": o, "use": workflow.Actions(), "jobs": tier.MaxJobs, "command": o.command()}
		if err := t.ExecuteTemplate(&b, name+".tmpl", data); err != nil {
			return nil, fmt.Errorf("render %s: %w", name, err)
		}
		out = append(out, File{Name: name, Data: b.Bytes()})
	}
	return out, nil
}

// command is the one that renders the same again.
func (o *Options) command() string {
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
