package recipe

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/display"
	"github.com/firstlight/firstlight/internal/recipe/criteria"
	"github.com/firstlight/firstlight/internal/recipe/model"
	"github.com/firstlight/firstlight/internal/recipe/resolve"
)

func printRecipe(w io.Writer, r *resolve.Result, digest string) {
	if r.Compat() {
		fmt.Fprintf(w, "compat    aicr %s\n", criteria.LegacyVersion)
	}
	fmt.Fprintf(w, "criteria  %s\n", r.Criteria)
	fmt.Fprintf(w, "overlays  %s\n", strings.Join(r.Metadata.AppliedOverlays, " < "))
	if m := r.Metadata.AppliedMixins; len(m) > 0 {
		fmt.Fprintf(w, "mixins    %s\n", strings.Join(m, ", "))
	}
	if p := r.Metadata.SelectedProfile; p != nil {
		fmt.Fprintf(w, "profile   %s=%s\n", p.Name, p.Value)
	}
	fmt.Fprintf(w, "digest    sha256:%s\n", digest)
	for _, e := range r.Metadata.ExcludedOverlays {
		fmt.Fprintf(w, "excluded  %s: %s\n", e.Name, e.Reason)
	}
	printComponents(w, r)
	if len(r.Constraints) > 0 {
		fmt.Fprint(w, "\nCONSTRAINTS\n")
		printConstraints(w, r.Constraints, "  ")
	}
	if r.Validation != nil {
		fmt.Fprint(w, "\nVALIDATION\n")
		for _, name := range model.PhaseNames() {
			if phase := *r.Validation.Phase(name); phase != nil {
				fmt.Fprintf(w, "  %s: %s\n", name, strings.Join(phase.Checks, ", "))
				printConstraints(w, phase.Constraints, "    ")
			}
		}
	}
}

func printConstraints(w io.Writer, list []model.Constraint, indent string) {
	for _, c := range list {
		note := ""
		if c.Severity == "warning" {
			note = " (warning)"
		}
		fmt.Fprintf(w, "%s%s %s%s\n", indent, c.Name, strings.TrimSpace(c.Value+" "+c.Unit), note)
	}
}

// printComponents prints the components in deployment order, disabled ones last.
func printComponents(w io.Writer, r *resolve.Result) {
	fmt.Fprint(w, "\n")
	table := display.NewTable(w, "#", "COMPONENT", "VERSION", "NAMESPACE", "SOURCE", "AFTER")
	for i, name := range r.DeploymentOrder {
		c, ok := r.Component(name)
		if !ok {
			continue
		}
		from, at := c.Source, c.Version
		switch {
		case c.Type == model.Kustomize:
			from, at = c.Source+"//"+c.Path, c.Tag
		case from == "":
			from = "manifests"
		case c.Chart != "":
			from = strings.TrimSuffix(from, "/") + "/" + c.Chart
		}
		table.Row(i+1, name, at, c.Namespace, from, strings.Join(c.DependencyRefs, ", "))
	}
	for i := range r.ComponentRefs {
		if c := &r.ComponentRefs[i]; !r.Deploys(c) {
			table.Line("-", c.Name, "disabled", "", "", "")
		}
	}
	table.Flush()
}

// printExplained prints each value with the layers that set it, the effective one first.
func printExplained(w io.Writer, values []resolve.Value, inputs []resolve.Input) {
	fmt.Fprint(w, "\nVALUES\n")
	for _, v := range values {
		printValue(w, v)
	}
	if len(inputs) == 0 {
		return
	}
	fmt.Fprint(w, "\nMADE OF\n")
	table := display.NewTable(w)
	for _, in := range inputs {
		table.Row("  "+in.Path, in.Part, in.Why, fmt.Sprintf("%.12s", in.Digest))
	}
	table.Flush()
}

func printValue(w io.Writer, v resolve.Value) {
	fmt.Fprintf(w, "  %s = %s\n", v.Name, inline(v.Value))
	for i, s := range slices.Backward(v.Set) {
		fmt.Fprint(w, "      ")
		if i < len(v.Set)-1 {
			fmt.Fprintf(w, "over %s ", inline(s.Value))
		}
		fmt.Fprintf(w, "by %s", s.Layer)
		if s.At != nil {
			fmt.Fprintf(w, "  %s", s.At)
		}
		fmt.Fprintln(w)
	}
}

// inline formats a value as JSON on one line.
func inline(v any) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return fmt.Sprint(v)
	}
	return strings.TrimSpace(b.String())
}
