package schedule

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/evidence"
	"github.com/firstlight/firstlight/internal/recipe"
	"github.com/firstlight/firstlight/internal/recipe/tree"
)

// A shipped recipe's case has the same fingerprint after it was stored: redaction and the
// encoding change nothing that the scheduler reads.
func TestStoredCasesKeepTheirFingerprints(t *testing.T) {
	t.Parallel()
	loaded, problems, err := recipe.Open("", tree.Options{})
	if err != nil || problems.Err() != nil {
		t.Fatal(err, problems)
	}
	source, problems := Open(loaded)
	if problems.Err() != nil {
		t.Fatal(problems)
	}
	var cases []Case
	for _, name := range source.Names() {
		c, err := source.Case(name)
		if err != nil {
			t.Fatal(err)
		}
		cases = append(cases, c)
	}
	o := options(t, simulated, cases...)
	o.Selection = OnePerClass(2, cases).Part(1, 3)
	o.Header.Command = []string{"firstlight", "recipe", "test", "--tier", "2", "--shards", "3", "--shard-index", "1"}
	out, err := Test(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if len(out.Results) == 0 {
		t.Error("no recipe was tested")
	}
	for _, r := range out.Results {
		if r.Verdict == check.Unobserved {
			t.Errorf("%s: %s", r.Step, r.Reason)
		}
	}
	replayed, err := evidence.Replay(out.Evidence, Derive)
	if err != nil || !replayed.Identical() || !replayed.Planned {
		t.Errorf("replayed: %v, %v", err, replayed.Plan)
	}
}

func TestThePlanFollowsFromTheSelection(t *testing.T) {
	t.Parallel()
	cases := []Case{passing(t, "a"), passing(t, "b"), passing(t, "c")}
	all := []string{"firstlight", "recipe", "test", "--all", "--recipes", "--tier"}
	bundle := func() *evidence.Bundle {
		b := &evidence.Bundle{Header: evidence.Header{Command: all}, Inputs: map[string][]byte{}}
		b.Plan.Name = PlanName
		for _, c := range cases {
			b.Plan.Steps = append(b.Plan.Steps, evidence.PlanStep{Name: c.Recipe})
		}
		return b
	}
	for name, tt := range map[string]struct {
		selection Selection
		change    func(b *evidence.Bundle)
		want      string
	}{
		"the whole":                   {Each(3, cases), func(*evidence.Bundle) {}, ""},
		"a recipe less in the plan":   {Each(3, cases), func(b *evidence.Bundle) { b.Plan.Steps = b.Plan.Steps[1:] }, "a: the inputs require this step"},
		"another recipe in the plan":  {Each(3, cases), func(b *evidence.Bundle) { b.Plan.Steps[2].Name = "d" }, "d: the plan has this step, the inputs do not"},
		"no selection":                {Each(3, cases), func(b *evidence.Bundle) { b.Inputs = nil }, "selection.json: missing"},
		"an empty selection":          {Each(3, nil), func(*evidence.Bundle) {}, "selects no recipe"},
		"a recipe twice":              {Each(3, append(cases, cases...)), func(*evidence.Bundle) {}, `duplicate recipe "a"`},
		"one of each class":           {OnePerClass(2, cases), func(*evidence.Bundle) {}, "onePerClass is true, the command says false"},
		"another tier":                {Each(0, cases), func(*evidence.Bundle) {}, "tier is 0, the command says 3"},
		"a part":                      {Each(3, cases).Part(0, 2), func(*evidence.Bundle) {}, "shard is 0 of 2, the command says 0 of 1"},
		"no such part":                {Each(3, cases).Part(2, 2), func(*evidence.Bundle) {}, "invalid shard 2 of 2"},
		"recipes that were not named": {Each(0, cases), func(b *evidence.Bundle) { b.Header.Command = append(all[:3:3], "a", "b") }, "recipes is [a b c], the command says [a b]"},
		"a part of a plan": {Each(2, cases), func(b *evidence.Bundle) {
			b.Header.Command = append(all[:3:3], "--plan", "p.json", "--part", "tier2-1-of-1")
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := bundle()
			data, err := json.Marshal(tt.selection.Choice)
			if err != nil {
				t.Fatal(err)
			}
			b.Inputs[InputFile] = data
			tt.change(b)
			d, err := Derive(b)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, p := range b.ComparePlan(d) {
				got = append(got, p.String())
			}
			if text := strings.Join(got, "; "); tt.want == "" && text != "" || !strings.Contains(text, tt.want) {
				t.Errorf("got %q, want %q", text, tt.want)
			}
		})
	}
}
