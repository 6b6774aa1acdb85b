package chart

import (
	"testing"

	"github.com/firstlight/firstlight/internal/probe/corpus/growth"
)

func TestRenderedTemplatesAreReadInLinearTime(t *testing.T) {
	texts := append(growth.YAML(), growth.Text{Name: "sources", Again: "---\n# Source: a/b{n}.yaml\na: 1\n"})
	growth.Linear(t, "a rendered template", func(b []byte) {
		_, _ = split(string(b), "a")
		_ = definedKinds(b)
	}, texts...)
}
