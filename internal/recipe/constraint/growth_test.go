package constraint_test

import (
	"testing"

	"github.com/firstlight/firstlight/internal/probe/corpus/growth"
	"github.com/firstlight/firstlight/internal/recipe/constraint"
)

func TestExpressionsAreReadInLinearTime(t *testing.T) {
	texts := []growth.Text{
		{Name: "alternatives", Head: "a", Again: " || >= 1.2"},
		{Name: "terms", Head: ">= 1", Again: " < 2"},
		{Name: "operators", Again: ">="},
		{Name: "bars", Again: "|"},
		{Name: "digits", Again: "1"},
		{Name: "parts of a version", Head: ">= 1", Again: ".1"},
		{Name: "blanks", Head: "a", Again: " "},
	}
	growth.Linear(t, "a constraint", func(b []byte) {
		if e, err := constraint.Parse(string(b)); err == nil {
			_, _ = e.Holds("1.2.3")
			_, _ = e.Holds(string(b))
		}
	}, texts...)
	growth.Linear(t, "a snapshot", func(b []byte) { _, _ = constraint.ParseSnapshot("a", b) }, append(growth.YAML(),
		growth.Text{Name: "measurements", Head: "kind: Snapshot\nmeasurements:\n", Again: "- {type: K8s, subtypes: [{subtype: a{n}, data: {b: c}}]}\n"},
		growth.Text{Name: "data", Head: "kind: Snapshot\nmeasurements:\n- type: K8s\n  subtypes:\n  - subtype: a\n    data:\n", Again: "      a{n}: b\n"},
	)...)
}
