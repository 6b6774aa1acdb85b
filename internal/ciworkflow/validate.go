package ciworkflow

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/firstlight/firstlight/internal/pipeline"
)

// ValidationOptions configure the workflow that validates a cluster.
type ValidationOptions struct {
	Source
	Order pipeline.Order
	// ExplicitOrder repeats the order in the rendered command line.
	ExplicitOrder bool
	// Runner is the label of the GitHub runner. A real cluster needs one that reaches it.
	Runner string
	// Site and Recipe of a real cluster; both empty: the lab is validated.
	Site, Recipe string
	// Extras are the optional components that the lab installs.
	Extras []string
}

var plainArgument = regexp.MustCompile(`^[A-Za-z0-9._/=,-]+$`)

func (o *ValidationOptions) check() error {
	for name, text := range map[string]string{"runner": o.Runner, "site": o.Site, "recipe": o.Recipe} {
		if text != "" && (!plainArgument.MatchString(text) || strings.HasPrefix(text, "-")) {
			return fmt.Errorf("invalid %s %q: must consist of letters, digits, dots, dashes, slashes, commas and equals signs and must not begin with -", name, text)
		}
	}
	switch {
	case o.Runner == "":
		return fmt.Errorf("runner is required, for example ubuntu-24.04")
	case (o.Site == "") != (o.Recipe == ""):
		return fmt.Errorf("site and recipe must be given together")
	}
	return o.Source.check()
}

type workflowStep struct {
	Name, Title string
	Last        bool
}

// RenderValidation renders the workflow that validates a cluster, with one workflow step
// for each pipeline step, in the same order.
func RenderValidation(o ValidationOptions) ([]byte, error) {
	if err := o.check(); err != nil {
		return nil, fmt.Errorf("render workflow: %w", err)
	}
	var steps []workflowStep
	var names []string
	for i, s := range o.Order.Steps {
		steps = append(steps, workflowStep{Name: s.Name, Title: s.Title, Last: i == len(o.Order.Steps)-1})
		names = append(names, s.Name)
	}
	args := " --intent " + string(o.Order.Intent)
	if o.Site != "" {
		args += " --site " + o.Site + " --recipe " + o.Recipe
	}
	if o.ExplicitOrder {
		args += " --order " + strings.Join(names, ",")
	}
	command := "firstlight validate workflow" + args
	if o.Site == "" {
		command += fmt.Sprintf(" --gpus %d", o.Order.GPUs)
	}
	command += " --runner " + o.Runner
	if !o.Own {
		command += " --use " + o.Version
	}
	return execute("validate.yaml", map[string]any{
		"o": o, "steps": steps, "run": "firstlight validate" + args, "command": command,
		"gpus": pipeline.Count(o.Order.GPUs), "extras": strings.Join(o.Extras, ","),
	})
}
