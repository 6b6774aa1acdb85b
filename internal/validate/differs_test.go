package validate

import (
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/firstlight/firstlight/internal/pipeline"
)

// A case that demands less than the site, the profile and the recipe of its run is named. Regression: a node
// that never joined, or a component that is not healthy, was taken out of validation.json, and the run was
// judged again without it, signed and verified.
func TestACaseThatDemandsLessIsNamed(t *testing.T) {
	t.Parallel()
	s, p := labSite(t)
	doc, err := labRecipe(t).Document()
	if err != nil {
		t.Fatal(err)
	}
	resolved, err := yaml.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(c *Case){
		"":                      func(*Case) {},
		"nodes are":             func(c *Case) { c.Snapshot.Nodes = c.Snapshot.Nodes[1:] },
		"GPUs of a node are 1,": func(c *Case) { c.Snapshot.GPUs = 1 },
		"products are":          func(c *Case) { c.Snapshot.Products = append([]string{"NVIDIA T4"}, c.Snapshot.Products...) },
		"withoutDRA are true":   func(c *Case) { c.Snapshot.WithoutDRA = true },
		"components are":        func(c *Case) { c.Health = c.Health[1:] },
	} {
		c := caseFor(t, pipeline.Training, 32)
		change(&c)
		found, unchecked := c.Differs(s, p, resolved)
		got := strings.Join(found, "\n")
		if unchecked != "" || (got == "") != (want == "") || !strings.HasPrefix(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got, unchecked := caseFor(t, pipeline.Training, 32).Differs(s, p, []byte("[")); len(got) != 1 || unchecked != "" {
		t.Errorf("without a recipe: %q, %q", got, unchecked)
	}
	// Regression: the redaction of an earlier version made a recipe unreadable, and its run was NOT intact.
	broken := append([]byte("url: [redacted: credentials in a URL]@host\n"), resolved...)
	c := caseFor(t, pipeline.Training, 32)
	if got, unchecked := c.Differs(s, p, broken); len(got) != 0 || !strings.HasPrefix(unchecked, "components not compared: ") {
		t.Errorf("a recipe with a mark: %q, %q", got, unchecked)
	}
	c.Snapshot.Nodes = c.Snapshot.Nodes[1:]
	if got, unchecked := c.Differs(s, p, broken); len(got) != 1 || unchecked == "" {
		t.Errorf("a recipe with a mark, and fewer nodes: %q, %q", got, unchecked)
	}
}
