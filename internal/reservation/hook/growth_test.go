package hook

import (
	"testing"

	"github.com/firstlight/firstlight/internal/probe/corpus/growth"
)

func TestHooksAreReadInLinearTime(t *testing.T) {
	texts := append(growth.YAML(),
		growth.Text{Name: "hooks", Head: "hooks:\n", Again: "- {cloud: aws, command: [a]}\n"},
		growth.Text{Name: "environment", Head: "hooks:\n- cloud: aws\n  environment:\n", Again: "  - A{n}\n"},
		growth.Text{Name: "containers", Head: "apiVersion: batch/v1\nkind: Job\nspec:\n  template:\n    spec:\n      containers:\n", Again: "      - {name: a{n}}\n"},
	)
	growth.Linear(t, "a hooks file", func(b []byte) { _, _ = Parse("a", b) }, texts...)
	growth.Linear(t, "a Job", func(b []byte) { _, _ = parseJob(b, "a") }, texts...)
}
