package rule_test

import (
	"regexp"
	"testing"

	"github.com/firstlight/firstlight/internal/diag"
	"github.com/firstlight/firstlight/internal/recipe/rule"
)

func TestRulesAreComplete(t *testing.T) {
	t.Parallel()
	name := regexp.MustCompile(`^[a-z]+(-[a-z]+)*$`)
	names := map[string]bool{}
	for _, r := range rule.All() {
		if !name.MatchString(r.Name) || names[r.Name] {
			t.Errorf("rule name %q is malformed or duplicate", r.Name)
		}
		names[r.Name] = true
		if r.Summary == "" || r.Remedy == "" {
			t.Errorf("rule %s lacks its summary or remedy", r.Name)
		}
		switch r.Severity {
		case diag.Error, diag.Warning, diag.Note:
		default:
			t.Errorf("rule %s has severity %q", r.Name, r.Severity)
		}
	}
}
