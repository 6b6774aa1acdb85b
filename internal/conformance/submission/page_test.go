package submission

import (
	"os"
	"strings"
	"testing"
)

// TestThePageHasEveryRule: docs/conformance.md lists every rule.
func TestThePageHasEveryRule(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../docs/conformance.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range Rules() {
		if !strings.Contains(string(page), "\n| `"+r.Name+"` | "+r.Summary) {
			t.Errorf("docs/conformance.md does not have the rule %s: %s", r.Name, r.Summary)
		}
	}
	product := string(page)[strings.Index(string(page), "```yaml\n")+8:]
	product, _, _ = strings.Cut(product, "```")
	if _, err := ReadProduct("docs/conformance.md", []byte(product), checklist(t)); err != nil {
		t.Errorf("cannot read the product file of the page: %v", err)
	}
}
