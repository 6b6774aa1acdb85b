package defects_test

import (
	"strings"
	"testing"
)

// Every defect has a description of one sentence and an expected detection, and the defects
// cover every kind of file.
func TestData(t *testing.T) {
	t.Parallel()
	seen, kinds := map[string]bool{}, map[string]int{}
	for _, d := range all(t) {
		if d.Name == "" || seen[d.Name] {
			t.Errorf("name %q is empty or duplicate", d.Name)
		}
		seen[d.Name] = true
		if !strings.HasSuffix(d.About, ".") {
			t.Errorf("%s: about must be a sentence: %q", d.Name, d.About)
		}
		if len(d.Edits) == 0 || len(d.Lint) == 0 && d.Test == nil {
			t.Errorf("%s: %d edits, and nothing has to catch it", d.Name, len(d.Edits))
		}
		if o := d.Test; o != nil && (o.Recipe == "" || o.Suspect.Regexp == nil || o.Reason.Regexp == nil) {
			t.Errorf("%s: its test lacks recipe, suspect or reason", d.Name)
		}
		for _, e := range d.Edits {
			kind, _, _ := strings.Cut(e.File, "/")
			kinds[kind]++
		}
	}
	for _, kind := range []string{"overlays", "components", "nodes", "footprints", "registry.yaml"} {
		if kinds[kind] == 0 {
			t.Errorf("no defect is in %s", kind)
		}
	}
}
