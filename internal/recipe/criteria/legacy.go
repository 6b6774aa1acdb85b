package criteria

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/diag"
)

// LegacyVersion is the version of aicr that all legacy and compat options reproduce in reading,
// matching, merging and judging.
const LegacyVersion = "v0.11.1"

// legacyValues are the values that aicr accepts in addition to any.
var legacyValues = map[Dimension][]string{
	"service":     {"aks", "eks", "gke", "kind", "oke"},
	"accelerator": {"a100", "b200", "gb200", "h100", "l40"},
	"os":          {"amazonlinux", "cos", "rhel", "ubuntu"},
	"intent":      {"inference", "training"},
	"platform":    {"dynamo", "kubeflow"},
}

// Legacy converts a query as aicr does: self-managed matches any service.
func (c Criteria) Legacy() Criteria {
	legacy := maps.Clone(aliases)
	legacy["service"] = map[string]string{"self-managed": "", "self": "", "vanilla": ""}
	return c.normal(legacy)
}

// CheckLegacy returns an error if aicr rejects the query: an unknown value, or no stated
// criteria.
func (c Criteria) CheckLegacy() error {
	c = c.Legacy()
	if c == (Criteria{}) {
		return errors.New("the query has no criteria: state a value other than any (aicr treats a self-managed service as any service)")
	}
	var unknown []error
	for _, d := range c.Stated() {
		values, closed := legacyValues[d]
		value := c.Get(d)
		if !closed || slices.Contains(values, value) {
			continue
		}
		meant := ""
		if near := diag.Nearest(value, values); near != "" {
			meant = fmt.Sprintf("; did you mean %s?", near)
		}
		unknown = append(unknown, fmt.Errorf("unknown %s %q: aicr %s accepts %s%s", d, value, LegacyVersion, strings.Join(values, ", "), meant))
	}
	return errors.Join(unknown...)
}
