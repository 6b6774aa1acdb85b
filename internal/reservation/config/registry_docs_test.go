package config_test

import (
	"os"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/reservation/config"
)

func TestRegistryRulesAreDocumented(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../docs/reservations.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, rule := range config.RegistryRules() {
		if !strings.Contains(string(page), "`"+rule.Name+"`") {
			t.Errorf("docs/reservations.md does not have rule %s", rule.Name)
		}
	}
}
