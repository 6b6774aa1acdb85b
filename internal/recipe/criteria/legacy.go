package criteria

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/diag"
)

// LegacyVersion is the version of aicr that everything called legacy or compat
// stands for: how it reads a tree, matches criteria, merges and judges.
const LegacyVersion = "v0.11.1"

// legacyValues are the criteria that it knows, besides any; it refuses others.
var legacyValues = map[Dimension][]string{
	"service":     {"aks", "eks", "gke", "kind", "oke"},
	"accelerator": {"a100", "b200", "gb200", "h100", "l40"},
	"os":          {"amazonlinux", "cos", "rhel", "ubuntu"},
	"intent":      {"inference", "training"},
	"platform":    {"dynamo", "kubeflow"},
}

// Legacy is a query as aicr reads it: a self-managed cluster is any cluster.
func (c Criteria) Legacy() Criteria {
	legacy := maps.Clone(aliases)
	legacy["service"] = map[string]string{"self-managed": "", "self": "", "vanilla": ""}
	return c.normal(legacy)
}

// CheckLegacy is an error when aicr refuses a query: it states a value that aicr
// does not know, or nothing.
func (c Criteria) CheckLegacy() error {
	c = c.Legacy()
	if c == (Criteria{}) {
		return errors.New("the query states no criteria: give one that is not any (to aicr a self-managed service is any service)")
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
		unknown = append(unknown, fmt.Errorf("unknown %s %q: aicr %s knows %s%s", d, value, LegacyVersion, strings.Join(values, ", "), meant))
	}
	return errors.Join(unknown...)
}
