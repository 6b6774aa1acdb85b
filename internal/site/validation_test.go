package site_test

import (
	"strings"
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/site"
)

func TestHealthWithin(t *testing.T) {
	t.Parallel()
	example := string(site.Example())
	const line = "  healthWithin: 2m"
	if !strings.Contains(example, line) {
		t.Fatalf("the example has no %q", line)
	}
	for text, want := range map[string]time.Duration{
		line:                         site.DefaultHealthWithin,
		"  healthWithin: 7m":         7 * time.Minute,
		"  {}":                       site.DefaultHealthWithin,
		"  # healthWithin: left out": site.DefaultHealthWithin,
	} {
		s, err := site.Parse("s.yaml", []byte(strings.Replace(example, line, text, 1)))
		if err != nil || s.HealthWithin() != want {
			t.Errorf("%q: %v", text, err)
			continue
		}
	}
	if _, err := site.Parse("s.yaml", []byte(strings.Replace(example, line, "  healthWithin: -2m", 1))); err == nil {
		t.Error("a negative time is taken")
	}
}
