package submission

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/conformance/catalog"
)

// FuzzValidate: for any PRODUCT.yaml, two calls return the same report, every problem has a
// rule, a position and a remedy, and a valid submission has every requirement.
func FuzzValidate(f *testing.F) {
	p := checklist(f)
	s := compose(f, wholeRun(f), false)
	for _, file := range s.Files {
		if file.Name == productFile {
			f.Add(string(file.Content))
		}
	}
	for _, seed := range []string{
		"", "metadata: {}\nspec: {}", "spec: {operator: [{}]}", "metadata: &a {<<: *a}", "spec:\n  operator:\n  - &x {id: robust_controller, evidence: [a, *y]}",
		"metadata: {productLogoUrl: 'http://[::1'}", "spec: {security: [{id: secure_accelerator_access, status: N/A, evidence: ['%2e%2e/x', 'C:\\x', 'http://a b']}]}",
	} {
		f.Add(seed)
	}
	dir := written(f, s)
	f.Fuzz(func(t *testing.T, text string) {
		putFile(t, dir, productFile, text)
		first, err := Validate(t.Context(), dir, Options{})
		if err != nil {
			t.Fatal(err)
		}
		second, err := Validate(t.Context(), dir, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(first, second); diff != "" {
			t.Errorf("two calls return different reports:\n%s", diff)
		}
		for _, found := range first.Problems {
			if found.Rule == "" || found.File == "" || found.Message == "" || found.Remedy == "" {
				t.Errorf("%+v", found)
			}
		}
		if first.Valid() && len(first.Requirements) != len(p.Requirements) {
			t.Errorf("valid with %d requirements of %d", len(first.Requirements), len(p.Requirements))
		}
	})
}

// FuzzProduct: any accepted product file makes a submission that is valid offline.
func FuzzProduct(f *testing.F) {
	p := checklist(f)
	f.Add(productText)
	f.Add("directory: a\nmetadata: {platformName: \"\\u0085\\e\"}")
	dir := written(f, compose(f, wholeRun(f), false))
	f.Fuzz(func(t *testing.T, text string) {
		product, err := ReadProduct("product.yaml", []byte(text), p)
		if err != nil {
			return
		}
		s, err := Compose(p, product, wholeRun(t), false)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range s.Files {
			if file.Name == productFile {
				putFile(t, dir, productFile, string(file.Content))
			}
		}
		report, err := Validate(t.Context(), dir, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if !report.Valid() {
			t.Errorf("the submission of an accepted product file is invalid: %v", report.Problems)
		}
	})
}

// TestUnfilledChecklistIsInvalid: no requirement and no metadata pass unfilled.
func TestUnfilledChecklistIsInvalid(t *testing.T) {
	t.Parallel()
	for _, version := range catalog.Versions() {
		p, err := catalog.Load(version)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Compose(p, Product{Directory: "turbo", Metadata: p.Placeholders}, Run{}, false); err == nil {
			t.Errorf("%s: no error for a run without results", version)
		}
		s, err := Compose(p, Product{Directory: "turbo", Metadata: p.Placeholders}, Run{}, true)
		if err != nil {
			t.Fatal(err)
		}
		report, err := Validate(t.Context(), written(t, s), Options{})
		if err != nil {
			t.Fatal(err)
		}
		rules := map[string]int{}
		for _, found := range report.Problems {
			rules[found.Rule]++
		}
		must := 0
		for _, r := range p.Requirements {
			if r.Level == catalog.Must {
				must++
			}
		}
		if rules[ruleStatus.Name] != must || rules[rulePlaceholder.Name]+rules[ruleMetadata.Name] != 10 {
			t.Errorf("%s: %v", version, rules)
		}
	}
}
