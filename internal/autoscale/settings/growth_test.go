package settings

import (
	"testing"

	"github.com/firstlight/firstlight/internal/probe/corpus/growth"
)

func TestRulesAreReadInLinearTime(t *testing.T) {
	texts := append(growth.YAML(),
		growth.Text{Name: "rules", Head: "rules:\n", Again: "- {seriesQuery: a{n}, metricsQuery: b, name: {as: c}}\n"},
		growth.Text{Name: "windows", Head: "rules:\n- metricsQuery: 'a", Again: "[1m:", Tail: "'\n"},
		growth.Text{Name: "closed windows", Head: "rules:\n- metricsQuery: 'a", Again: "[1m]", Tail: "'\n"},
	)
	growth.Linear(t, "rules of the adapter", func(b []byte) {
		rules, _ := ParseRules(string(b))
		for _, r := range rules {
			r.Window()
		}
	}, texts...)
}
