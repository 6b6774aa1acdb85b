package settings

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/common/model"
	"go.yaml.in/yaml/v3"

	"github.com/firstlight/firstlight/internal/probe/guard"
	"github.com/firstlight/firstlight/internal/yamlstrict"
)

// Rule is a rule of the Prometheus adapter.
type Rule struct {
	External bool
	// Series is the seriesQuery, Name the metric's name, Query the metricsQuery template.
	Series, Name, Query string
}

// ParseRules reads the adapter's configuration file.
func ParseRules(text string) ([]Rule, error) {
	return guard.Parse("adapter's rules", func() ([]Rule, error) { return parseRules(text) })
}

func parseRules(text string) ([]Rule, error) {
	type entry struct {
		Series string `yaml:"seriesQuery"`
		Name   struct {
			As string `yaml:"as"`
		} `yaml:"name"`
		Query string `yaml:"metricsQuery"`
	}
	var file struct {
		Rules         []entry `yaml:"rules"`
		ExternalRules []entry `yaml:"externalRules"`
	}
	if err := yamlstrict.Unique([]byte(text)); err != nil {
		return nil, fmt.Errorf("read the adapter's rules: %w", err)
	}
	if err := yaml.Unmarshal([]byte(text), &file); err != nil {
		return nil, fmt.Errorf("read the adapter's rules: %w", err)
	}
	var out []Rule
	for _, list := range []struct {
		entries  []entry
		external bool
	}{{file.ExternalRules, true}, {file.Rules, false}} {
		for _, e := range list.entries {
			out = append(out, Rule{External: list.external, Series: e.Series, Name: e.Name.As, Query: e.Query})
		}
	}
	return out, nil
}

// RuleOf returns the rule of a metric.
func RuleOf(rules []Rule, external bool, name string) (Rule, bool) {
	i := slices.IndexFunc(rules, func(r Rule) bool { return r.External == external && r.Name == name })
	if i < 0 {
		return Rule{}, false
	}
	return rules[i], true
}

var window = regexp.MustCompile(`\[\s*([0-9a-z]+)\s*(?::[0-9a-z\s]*)?\]`)

// Window is the longest range in the rule's query; 0 without one: its value is instantaneous.
func (r Rule) Window() time.Duration {
	var longest time.Duration
	for _, g := range window.FindAllStringSubmatch(r.Query, -1) {
		if d, err := model.ParseDuration(g[1]); err == nil {
			longest = max(longest, time.Duration(d))
		}
	}
	return longest
}

// String is the rule in a line.
func (r Rule) String() string {
	kind := "custom"
	if r.External {
		kind = "external"
	}
	return fmt.Sprintf("%s %s: %s of %s", kind, r.Name, strings.TrimSpace(r.Query), r.Series)
}

// mostRules bounds the text of the rules.
const mostRules = 16 << 10

// Text formats the rules, one per line.
func Text(rules []Rule) string {
	var b strings.Builder
	for _, r := range rules {
		if b.Len() > mostRules {
			fmt.Fprintf(&b, "... (%d rules)\n", len(rules))
			break
		}
		fmt.Fprintln(&b, r)
	}
	return b.String()
}
