package plan

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func step(name string, needs ...string) Step {
	return Step{Check: fakeCheck{name: name}, Needs: needs}
}

func names(steps []Step) []string {
	var out []string
	for _, s := range steps {
		out = append(out, s.Name())
	}
	return out
}

func TestOrder(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		steps []Step
		want  []string
	}{
		"declared order without needs":     {[]Step{step("c"), step("a"), step("b")}, []string{"c", "a", "b"}},
		"needs come first":                 {[]Step{step("c", "a"), step("b"), step("a")}, []string{"b", "a", "c"}},
		"seven and eight after six":        {[]Step{step("6"), step("8", "6"), step("7", "6")}, []string{"6", "8", "7"}},
		"the first that can go, each time": {[]Step{step("a", "z"), step("b"), step("z"), step("c")}, []string{"b", "z", "a", "c"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := Plan{Name: "p", Steps: tt.steps}.Order()
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, names(got)); diff != "" {
				t.Errorf("order (-want +got):\n%s", diff)
			}
		})
	}
}

func TestValidate(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		steps []Step
		want  []string
	}{
		"no steps":           {nil, []string{"no steps"}},
		"no check":           {[]Step{{}}, []string{"step 1 must have a check"}},
		"two of one name":    {[]Step{step("a"), step("a")}, []string{`two steps are named "a"`}},
		"unknown need":       {[]Step{step("a", "b")}, []string{`"a" needs "b"`}},
		"circle":             {[]Step{step("a"), step("b", "c"), step("c", "b")}, []string{"the steps [b c] form a cycle"}},
		"needs itself":       {[]Step{step("a", "a")}, []string{"the steps [a] form a cycle"}},
		"negative claim":     {[]Step{{Check: fakeCheck{name: "a"}, GPUs: -1}}, []string{"claims -1 GPUs"}},
		"all problems given": {[]Step{step("a", "x"), step("a", "y")}, []string{`needs "x"`, `needs "y"`, "two steps"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := Plan{Name: "p", Steps: tt.steps}.Validate()
			if !errors.Is(err, ErrInvalid) {
				t.Fatalf("error %v is not ErrInvalid", err)
			}
			for _, want := range tt.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q does not say %q", err, want)
				}
			}
		})
	}
}
