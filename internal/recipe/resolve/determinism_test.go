package resolve_test

import (
	"bytes"
	"testing"

	"github.com/firstlight/firstlight/internal/recipe/recipetest"
	"github.com/firstlight/firstlight/internal/recipe/resolve"
	"github.com/firstlight/firstlight/internal/recipe/tree"
	"github.com/firstlight/firstlight/internal/suite"
)

// all is everything that is known of a resolution, as bytes.
func all(tb testing.TB, r *resolve.Result) []byte {
	tb.Helper()
	doc, err := r.Document()
	if err != nil {
		tb.Fatal(err)
	}
	digest, err := r.Digest()
	if err != nil {
		tb.Fatal(err)
	}
	return encode(tb, []any{r.Recipe, doc, r.Inputs(), digest, r.Warnings})
}

// why returns the origins of all values, as bytes.
func why(tb testing.TB, r *resolve.Result) []byte {
	tb.Helper()
	values, err := r.Explain(nil)
	if err != nil {
		tb.Fatal(err)
	}
	return encode(tb, []any{values, r.Ties()})
}

// The same bytes a thousand times, with files listed in another order each time.
func TestDeterminism(t *testing.T) {
	t.Parallel()
	const explainEvery = 20 // Explain costs more than the rest of the resolution
	for compat, times := range map[bool]uint64{false: suite.Pick[uint64](100, 1000, 1000), true: suite.Pick[uint64](40, 200, 200)} {
		first := map[bool][]byte{}
		for seed := range times {
			o := resolve.Options{Compat: compat, Explain: seed%explainEvery == 0}
			loaded := load(t, recipetest.Shuffled(recipetest.Small(), seed), tree.Options{Legacy: compat})
			r := must(t, loaded, leaf, o)
			got := all(t, r)
			if o.Explain {
				got = append(got, why(t, r)...)
			}
			if first[o.Explain] == nil {
				first[o.Explain] = got
			}
			if !bytes.Equal(first[o.Explain], got) {
				t.Fatalf("compat %v: resolution %d differs from the first", compat, seed)
			}
		}
	}
}

// Nothing that is returned is the tree's: writing to it changes no later resolution.
func TestDeepCopies(t *testing.T) {
	t.Parallel()
	for _, compat := range []bool{false, true} {
		loaded := load(t, recipetest.Small(), tree.Options{Legacy: compat})
		for _, q := range []string{leaf, "service=aks,accelerator=a100,intent=inference"} {
			o := resolve.Options{Compat: compat, Explain: true}
			want := all(t, must(t, loaded, q, o))
			spoil(t, must(t, loaded, q, o))
			if got := all(t, must(t, loaded, q, o)); !bytes.Equal(want, got) {
				t.Errorf("compat %v: %s resolves differently after its first result was written to", compat, q)
			}
		}
	}
}

// spoil writes to everything that can be reached from a result.
func spoil(t *testing.T, r *resolve.Result) {
	t.Helper()
	for i := range r.ComponentRefs {
		c := &r.ComponentRefs[i]
		values, err := r.Values(c.Name)
		if err != nil {
			t.Fatal(err)
		}
		overwrite(values)
		overwrite(c.Overrides)
		for _, list := range [][]string{c.DependencyRefs, c.ManifestFiles, c.PreManifestFiles, c.Patches} {
			for j := range list {
				list[j] = "spoiled"
			}
		}
		for j := range c.ExpectedResources {
			c.ExpectedResources[j].Name = "spoiled"
		}
	}
	for i := range r.Constraints {
		r.Constraints[i].Value = "spoiled"
	}
	if p := r.Validation.Deployment; p != nil {
		for i := range p.Checks {
			p.Checks[i] = "spoiled"
		}
		for i := range p.Constraints {
			p.Constraints[i].Value = "spoiled"
		}
	}
	if p := r.Validation.Performance; p != nil && p.NodeSelection != nil {
		p.NodeSelection.Selector["role"] = "spoiled"
	}
}

func overwrite(v any) {
	switch x := v.(type) {
	case map[string]any:
		for key := range x {
			overwrite(x[key])
			x[key] = "spoiled"
		}
	case []any:
		for i := range x {
			overwrite(x[i])
			x[i] = "spoiled"
		}
	}
}
