// Package ciworkflow renders GitHub Actions workflows: those that test recipes
// (RenderRecipes) and the one that validates a cluster (RenderValidation).
//
// The workflows only call firstlight and pass on its results; every decision is made by
// firstlight. Actions are pinned by commit.
package ciworkflow

import (
	"bytes"
	"embed"
	"fmt"
	"regexp"
	"text/template"
)

//go:embed templates/*.tmpl
var templates embed.FS

var releaseTag = regexp.MustCompile(`^v\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$`)

// Source says where a workflow gets firstlight from: Own builds it from the checked-out
// repository, otherwise the release Version is installed.
type Source struct {
	Own     bool
	Version string
}

func (s Source) check() error {
	if !s.Own && !releaseTag.MatchString(s.Version) {
		return fmt.Errorf("invalid firstlight version %q: must be a release such as v1.2.3", s.Version)
	}
	return nil
}

func execute(name string, data map[string]any) ([]byte, error) {
	t, err := template.New("").Delims("[[", "]]").Option("missingkey=error").ParseFS(templates, "templates/*.tmpl")
	if err != nil {
		return nil, fmt.Errorf("parse workflow templates: %w", err)
	}
	data["use"] = actions
	var b bytes.Buffer
	if err := t.ExecuteTemplate(&b, name+".tmpl", data); err != nil {
		return nil, fmt.Errorf("render %s: %w", name, err)
	}
	return b.Bytes(), nil
}
