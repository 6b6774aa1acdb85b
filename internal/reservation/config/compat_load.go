package config

import (
	"slices"
	"strconv"
	"strings"

	"github.com/firstlight/firstlight/internal/diag"
)

var (
	ruleCompatMissing = diag.Rule{Name: "missing", Severity: diag.Error, Summary: "a required key is missing or empty", Remedy: "add the key"}
	ruleCompatLane    = diag.Rule{Name: "unknown-lane", Severity: diag.Error, Summary: "an unknown lane", Remedy: "use a cloud of the registry: aws, gcp, azure or kind"}
	ruleCompatIntent  = diag.Rule{Name: "unknown-intent", Severity: diag.Error, Summary: "an unknown intent", Remedy: "use training or inference"}
	ruleCompatRelease = diag.Rule{Name: "bad-release", Severity: diag.Error, Summary: "a floor that is not a stable release", Remedy: "use the first release that can pass, as vX.Y.Z; a floor that cannot be compared would hold back nothing, or everything"}
	ruleCompatTwice   = diag.Rule{Name: "floor-twice", Severity: diag.Error, Summary: "an intent has two floors on one lane", Remedy: "remove one of them"}
)

// LoadCompat reads and parses a file.
func LoadCompat(path string) (*Compat, error) {
	data, err := ReadFile(path)
	if err != nil {
		return nil, err
	}
	return ParseCompat(path, data)
}

// ParseCompat parses and validates compat.yaml; name is used in messages. An empty list holds back
// nothing. The error is a diag.List with all problems.
func ParseCompat(name string, data []byte) (*Compat, error) {
	var f Compat
	doc, problems := DecodeYAML(name, data, &f)
	if doc == nil {
		return nil, problems.Sort().Err()
	}
	v := compatValidator{at: doc.ValueAt}
	if f.Floors == nil { // a truncated file is not an empty list
		v.problems = append(v.problems, ruleCompatMissing.At(doc.ValueAt("floors"), "the key %q is missing or empty", "floors").
			With("add floors, or floors: [] for none"))
	}
	v.floors(f.Floors)
	if err := MergeProblems(problems, v.problems).Err(); err != nil {
		return nil, err
	}
	return &f, nil
}

// Validate checks the invariants that ParseCompat checks.
func (f *Compat) Validate() error {
	v := compatValidator{at: func(path ...string) diag.Pos { return diag.Pos{File: strings.Join(path, ".")} }}
	v.floors(f.Floors)
	return v.problems.Sort().Err()
}

type compatValidator struct {
	at       func(path ...string) diag.Pos
	problems diag.List
}

func (v *compatValidator) add(r diag.Rule, path []string, format string, args ...any) {
	v.problems = append(v.problems, r.At(v.at(path...), format, args...))
}

func (v *compatValidator) floors(all []Floor) {
	type gate struct {
		lane   Cloud
		intent Intent
	}
	first := map[gate][]string{}
	for i, f := range all {
		at := func(keys ...string) []string { return append([]string{"floors", strconv.Itoa(i)}, keys...) }
		v.floor(f, i, at)
		for j, intent := range f.Intents {
			path, g := at("intents", strconv.Itoa(j)), gate{f.Lane, intent}
			if !slices.Contains(Intents(), intent) {
				v.add(ruleCompatIntent, path, "unknown intent %q", intent)
				continue
			}
			if before, found := first[g]; found && f.Lane != "" {
				v.add(ruleCompatTwice, path, "%s already has a floor on %s, at %s", intent, f.Lane, v.at(before...))
				continue
			}
			first[g] = path
		}
	}
}

func (v *compatValidator) floor(f Floor, i int, at func(...string) []string) {
	for _, k := range []struct {
		key   string
		empty bool
	}{
		{"lane", f.Lane == ""}, {"intents", len(f.Intents) == 0}, {"min-release", f.MinRelease == ""}, {"reason", strings.TrimSpace(f.Reason) == ""},
	} {
		if k.empty {
			v.add(ruleCompatMissing, at(k.key), "the key %q of floor %d is missing or empty", k.key, i+1)
		}
	}
	if f.Lane != "" && !slices.Contains(Clouds(), f.Lane) {
		v.add(ruleCompatLane, at("lane"), "unknown lane %q", f.Lane)
	}
	if f.MinRelease == "" {
		return
	}
	if _, err := ParseRelease(f.MinRelease); err != nil {
		v.add(ruleCompatRelease, at("min-release"), "invalid min-release %q: must be a stable release", f.MinRelease)
	}
}
