package preflight

import (
	"context"
	"slices"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/plan"
)

// step is a check that is never run.
type step string

func (s step) Name() string                                  { return string(s) }
func (s step) Observe(context.Context, check.Recorder) error { return nil }
func (s step) Judge([]check.Observation) check.Judgement     { return check.Judgement{} }

// The gates are those that a run with the same selection walks.
func TestGates(t *testing.T) {
	t.Parallel()
	p := plan.Plan{Name: "p", Steps: []plan.Step{
		{Check: step("a")}, {Check: step("b"), Needs: []string{"a"}, NotApplicable: "no fabric"}, {Check: step("c"), Needs: []string{"b"}}, {Check: step("d"), Needs: []string{"c"}},
	}}
	for name, tt := range map[string]struct {
		from, only string
		want       []string
	}{
		"all":                 {"", "", []string{"a", "c", "d"}},
		"from":                {"c", "", []string{"c", "d"}},
		"only":                {"", "c", []string{"c"}},
		"only not applicable": {"", "b", nil},
	} {
		if got, err := Gates(p, tt.from, tt.only); err != nil || !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	for _, name := range []string{"e", "A"} {
		if got, err := Gates(p, name, ""); err == nil {
			t.Errorf("from %s: %q", name, got)
		}
		if got, err := Gates(p, "", name); err == nil {
			t.Errorf("only %s: %q", name, got)
		}
	}
}
