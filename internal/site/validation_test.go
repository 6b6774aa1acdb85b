package site_test

import (
	"strings"
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/site"
)

func TestTwoRedfishEntriesOfOneNameAreRefusedWithBothPaths(t *testing.T) {
	t.Parallel()
	example := string(site.Example())
	const name = "- name: row-a"
	if strings.Count(example, name) != 1 {
		t.Fatalf("the example has no %q", name)
	}
	for title, tt := range map[string]struct {
		entry string
		want  []string
	}{
		"one name twice":    {"- {name: row-a, url: https://b.example.com, pdus: [x]}\n    " + name, []string{"facility.redfish.1.name", `duplicate value "row-a" (also at facility.redfish.0.name)`}},
		"one PDU twice":     {"- {name: b, url: https://b.example.com, pdus: [x, y, x]}\n    " + name, []string{"facility.redfish.0.pdus.2", `duplicate value "x" (also at facility.redfish.0.pdus.0)`}},
		"one chassis twice": {"- {name: b, url: https://b.example.com, chassis: [x, x]}\n    " + name, []string{"facility.redfish.0.chassis.1", `duplicate value "x" (also at facility.redfish.0.chassis.0)`}},
	} {
		_, err := site.Parse("s.yaml", []byte(strings.Replace(example, name, tt.entry, 1)))
		for _, want := range tt.want {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v does not contain %q", title, err, want)
			}
		}
	}
}

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
