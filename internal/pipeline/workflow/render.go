// Package workflow renders a validation as a GitHub Actions workflow: the steps of the
// pipeline, by the same names and in the same order as firstlight validate takes them.
package workflow

import (
	"bytes"
	_ "embed" // the template
	"fmt"
	"regexp"
	"strings"
	"text/template"

	"github.com/firstlight/firstlight/internal/pipeline"
)

//go:embed validate.yaml.tmpl
var text string

// Options say what the workflow is of.
type Options struct {
	Order pipeline.Order
	// Asked: the order was asked for, and is said again.
	Asked bool
	// Own: the repository is firstlight's, and builds it. Otherwise Version is installed.
	Own     bool
	Version string
	// Runner is what GitHub calls the machine; a cluster needs one that reaches it.
	Runner string
	// Site and Recipe of a cluster; empty: the lab is validated.
	Site, Recipe string
	// Extras are what the lab has to have.
	Extras []string
}

// plain are texts that mean nothing to YAML, a shell or GitHub's expressions.
var (
	plain      = regexp.MustCompile(`^[A-Za-z0-9._/=,-]+$`)
	releaseTag = regexp.MustCompile(`^v\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$`)
)

func (o Options) check() error {
	for what, text := range map[string]string{"runner": o.Runner, "site": o.Site, "recipe": o.Recipe} {
		if text != "" && (!plain.MatchString(text) || strings.HasPrefix(text, "-")) {
			return fmt.Errorf("%s %q: write it with letters, digits, dots, dashes, slashes, commas and equals signs; it must not begin with -", what, text)
		}
	}
	switch {
	case o.Runner == "":
		return fmt.Errorf("a workflow needs a runner, such as ubuntu-24.04")
	case (o.Site == "") != (o.Recipe == ""):
		return fmt.Errorf("a cluster's site and its recipe are said together")
	case !o.Own && !releaseTag.MatchString(o.Version):
		return fmt.Errorf("firstlight %q is no release that can be installed: say which one (v1.2.3)", o.Version)
	}
	return nil
}

// FileName is what the workflow of an intent is called.
func FileName(i pipeline.Intent) string { return "validate-" + string(i) + ".yaml" }

// step is one of the template's.
type step struct {
	Name, Title string
	Last        bool
}

// Render makes the workflow.
func Render(o Options) ([]byte, error) {
	if err := o.check(); err != nil {
		return nil, fmt.Errorf("render the workflow: %w", err)
	}
	t, err := template.New("").Delims("[[", "]]").Option("missingkey=error").Parse(text)
	if err != nil {
		return nil, fmt.Errorf("render the workflow: %w", err)
	}
	var steps []step
	for i, s := range o.Order.Steps {
		steps = append(steps, step{Name: s.Name, Title: s.Title, Last: i == len(o.Order.Steps)-1})
	}
	run, command := "firstlight validate --intent "+string(o.Order.Intent), "firstlight validate workflow --intent "+string(o.Order.Intent)
	for _, flag := range []struct{ name, value string }{{"--site", o.Site}, {"--recipe", o.Recipe}, {"--order", o.asked()}} {
		if flag.value != "" {
			run += " " + flag.name + " " + flag.value
			command += " " + flag.name + " " + flag.value
		}
	}
	if o.Site == "" {
		command += fmt.Sprintf(" --gpus %d", o.Order.GPUs)
	}
	command += " --runner " + o.Runner
	if !o.Own {
		command += " --use " + o.Version
	}
	var b bytes.Buffer
	err = t.Execute(&b, map[string]any{
		"o": o, "use": Actions(), "steps": steps, "run": run, "command": command,
		"gpus": pipeline.Count(o.Order.GPUs), "extras": strings.Join(o.Extras, ","),
	})
	if err != nil {
		return nil, fmt.Errorf("render the workflow: %w", err)
	}
	return b.Bytes(), nil
}

func (o Options) asked() string {
	if !o.Asked {
		return ""
	}
	var names []string
	for _, s := range o.Order.Steps {
		names = append(names, s.Name)
	}
	return strings.Join(names, ",")
}
