package config

import (
	"slices"
	"strconv"
	"strings"

	"github.com/firstlight/firstlight/internal/diag"
)

var (
	ruleCompatMissing = diag.Rule{Name: "missing", Severity: diag.Error, Summary: "a key that must be there is not, or is empty", Remedy: "write it"}
	ruleCompatLane    = diag.Rule{Name: "unknown-lane", Severity: diag.Error, Summary: "a lane that is not known", Remedy: "write a cloud of the registry: aws, gcp, azure or kind"}
	ruleCompatIntent  = diag.Rule{Name: "unknown-intent", Severity: diag.Error, Summary: "an intent that is not known", Remedy: "write training or inference"}
	ruleCompatRelease = diag.Rule{Name: "bad-release", Severity: diag.Error, Summary: "a floor that is no stable release", Remedy: "write the first release that can pass, as vX.Y.Z; a floor that can't be compared would hold nothing back, or everything"}
	ruleCompatTwice   = diag.Rule{Name: "floor-twice", Severity: diag.Error, Summary: "an intent has two floors on one lane", Remedy: "keep one of them"}
)

// Rules is the catalogue of what is checked of floors, beside their being readable.
func CompatRules() []diag.Rule {
	return []diag.Rule{ruleCompatMissing, ruleCompatLane, ruleCompatIntent, ruleCompatRelease, ruleCompatTwice}
}

// Load is Parse of a file.
func LoadCompat(path string) (*Compat, error) {
	data, err := ReadFile(path)
	if err != nil {
		return nil, err //nolint:wrapcheck // names the file
	}
	return ParseCompat(path, data)
}

// Parse reads floors and validates them; name is for messages. An empty list is
// one: nothing is held back. The error is a diag.List, with everything that is
// wrong.
func ParseCompat(name string, data []byte) (*Compat, error) {
	var f Compat
	doc, problems := DecodeYAML(name, data, &f)
	if doc == nil {
		return nil, problems.Sort().Err()
	}
	v := compatValidator{at: doc.ValueAt}
	if f.Floors == nil { // a file that was cut off is not one that holds nothing back
		v.problems = append(v.problems, ruleCompatMissing.At(doc.ValueAt("floors"), "the key %q is missing or empty", "floors").
			With("write floors, or floors: [] for none"))
	}
	v.floors(f.Floors)
	if err := MergeProblems(problems, v.problems).Err(); err != nil {
		return nil, err
	}
	return &f, nil
}

// Validate holds floors against the invariants that those that were read have
// been held against.
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
				v.add(ruleCompatIntent, path, "the intent %q is unknown", intent)
				continue
			}
			if before, found := first[g]; found && f.Lane != "" {
				v.add(ruleCompatTwice, path, "%s has a floor on %s already, at %s", intent, f.Lane, v.at(before...))
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
		v.add(ruleCompatLane, at("lane"), "the lane %q is unknown", f.Lane)
	}
	if f.MinRelease == "" {
		return
	}
	if _, err := ParseRelease(f.MinRelease); err != nil {
		v.add(ruleCompatRelease, at("min-release"), "min-release %q is no stable release", f.MinRelease)
	}
}
