package prom

import (
	"slices"

	"github.com/prometheus/alertmanager/pkg/labels"

	"github.com/firstlight/firstlight/internal/probe/guard"
)

// Inhibitions are the inhibition rules of Alertmanager's configuration.
type Inhibitions []inhibition

type inhibition struct {
	source labels.Matchers
	equal  []string
}

// By are the source matchers of the rules by which an alert with these labels can mute another one.
// A rule that demands equal values of one of own, labels that other alerts have not got with this
// value, mutes no other alert. Neither does a rule without source matchers and equal, such as that of
// kube-prometheus-stack for InfoInhibitor: any active alert mutes its targets already.
func (i Inhibitions) By(alert map[string]string, own ...string) []string {
	var out []string
	for _, rule := range i {
		if len(rule.source)+len(rule.equal) == 0 {
			continue
		}
		if matchAll(rule.source, alert) && !slices.ContainsFunc(rule.equal, func(name string) bool { return slices.Contains(own, name) }) {
			out = append(out, rule.source.String())
		}
	}
	return out
}

// ParseInhibitions parses the inhibition rules in the response of /api/v2/status.
func ParseInhibitions(raw []byte) (Inhibitions, error) {
	return guard.Parse("status", func() (Inhibitions, error) { return parseInhibitions(raw) })
}

func parseInhibitions(raw []byte) (Inhibitions, error) {
	var config struct {
		Rules []struct {
			Match    map[string]string `yaml:"source_match"`
			MatchRE  map[string]string `yaml:"source_match_re"`
			Matchers []string          `yaml:"source_matchers"`
			Equal    []string          `yaml:"equal"`
		} `yaml:"inhibit_rules"`
	}
	if err := parseStatus(raw, &config); err != nil {
		return nil, err
	}
	var out Inhibitions
	for _, r := range config.Rules {
		source, err := matchersOf(r.Match, r.MatchRE, r.Matchers)
		if err != nil {
			return nil, err
		}
		out = append(out, inhibition{source: source, equal: r.Equal})
	}
	return out, nil
}
