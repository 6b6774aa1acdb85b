package load

import (
	"testing"

	"github.com/firstlight/firstlight/internal/probe/corpus/growth"
)

func TestLoadsAreReadInLinearTime(t *testing.T) {
	texts := []growth.Text{
		{Name: "lines", Again: "\n"},
		{Name: "other lines", Again: "a\n"},
		{Name: "beginnings", Again: `{"format":"` + format + `"` + "\n"},
		{Name: "lines of a result", Again: `{"format":"` + format + `","kind":"` + kindBegin + `"}` + "\n"},
		{Name: "one line", Head: `{"format":"` + format + `","kind":"`, Again: "a"},
		{Name: "nested lists", Head: `{"format":"` + format + `","kind":`, Again: "["},
	}
	growth.Linear(t, "the result of a load", func(b []byte) { _, _ = Read(b, Plan{}) }, texts...)
	growth.Linear(t, "the plan of a load", func(b []byte) { _, _ = ParsePlan(string(b)) }, texts...)
}
