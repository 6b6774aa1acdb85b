package config

import (
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/firstlight/firstlight/internal/diag"
)

const (
	maxName  = 63  // of a DNS label
	maxText  = 256 // bytes
	maxCount = 1_000_000
)

var (
	namePattern = regexp.MustCompile(`^[a-z]([a-z0-9-]*[a-z0-9])?$`)
	slugPattern = regexp.MustCompile(`^[a-z][a-z0-9]{1,3}$`)
)

// registryValidator collects problems; at returns the position of a value, has whether the file
// contains it.
type registryValidator struct {
	at       func(path ...string) diag.Pos
	has      func(path ...string) bool
	problems diag.List
}

func (v *registryValidator) add(r diag.Rule, path []string, format string, args ...any) {
	v.problems = append(v.problems, r.At(v.at(path...), format, args...))
}

func (v *registryValidator) registry(r *Registry) {
	if len(r.Reservations) == 0 {
		v.add(ruleEmpty, []string{"reservations"}, "no reservations")
	}
	for i := range r.Reservations {
		v.row(i, &r.Reservations[i])
	}
	v.unique(r.Reservations)
	v.daytime(r.Reservations)
	v.capacities(r)
}

func (v *registryValidator) row(i int, row *Reservation) {
	at := func(key string) []string { return rowPath(i, key) }
	for _, f := range []struct{ key, value, such string }{
		{"name", row.Name, "aws-h100"}, {"slug", row.Slug, "ah1"}, {"cloud", string(row.Cloud), "aws"}, {"accelerator", row.Accelerator, "h100"},
		{"cluster-config-path", row.ClusterConfigPath, "clusters/aws/h100.yaml"}, {"test-config-dir", row.TestConfigDir, "tests/aws"},
	} {
		if f.value == "" {
			v.missing(at(f.key), rowName(i, row), f.such)
		}
	}
	if row.Name != "" && (len(row.Name) > maxName || !namePattern.MatchString(row.Name)) {
		v.add(ruleName, at("name"), "invalid name %q: must be a DNS label", row.Name)
	}
	if row.Slug != "" && !slugPattern.MatchString(row.Slug) {
		v.add(ruleSlug, at("slug"), "invalid slug %q: must be two to four lower-case letters and digits", row.Slug)
	}
	if row.Cloud != "" && !slices.Contains(Clouds(), row.Cloud) {
		v.add(ruleCloud, at("cloud"), "unknown cloud %q", row.Cloud)
	}
	v.text(at("reservation-id"), row.ReservationID)
	v.text(at("accelerator"), row.Accelerator)
	v.path(at("cluster-config-path"), row.ClusterConfigPath)
	v.path(at("test-config-dir"), row.TestConfigDir)
	if row.GPUCount == 0 && !v.has(at("gpu-count")...) {
		v.missing(at("gpu-count"), rowName(i, row), "8")
	} else {
		v.count(at("gpu-count"), row.GPUCount, "GPUs per node")
	}
	if row.NodeCount != 0 || v.has(at("node-count")...) {
		v.count(at("node-count"), row.NodeCount, "nodes")
	}
	v.intents(at, row)
}

func (v *registryValidator) count(path []string, n int, of string) {
	if n < 1 || n > maxCount {
		v.add(ruleCount, path, "invalid number of %[2]s: %[1]d", n, of)
	}
}

// text checks a value that is printed in a line and compared.
func (v *registryValidator) text(path []string, text string) {
	odd := strings.ContainsFunc(text, func(c rune) bool { return !unicode.IsGraphic(c) || unicode.IsSpace(c) })
	switch {
	case len(text) > maxText:
		v.problems = append(v.problems, ruleText.At(v.at(path...), "invalid value: it has %d bytes", len(text)).With("use at most %d", maxText))
	case odd:
		v.add(ruleText, path, "invalid value %q: must not contain spaces or control characters", text)
	case strings.HasPrefix(text, "-"):
		v.add(ruleText, path, "invalid value %q: must not start with a dash, like an option", text)
	default:
		if i := strings.IndexFunc(text, shellSpecial); i >= 0 {
			v.add(ruleText, path, "invalid value %q: must not contain %q; use letters, digits and . _ : / @ + = - ,", text, text[i:i+1])
		}
	}
}

// shellSpecial reports characters with a meaning in a shell, sed or a query: hooks put values of
// the registry into files and command lines of clouds.
func shellSpecial(c rune) bool {
	return c < unicode.MaxASCII && !unicode.IsLetter(c) && !unicode.IsDigit(c) && !strings.ContainsRune("._:/@+=-,", c)
}

func (v *registryValidator) path(path []string, name string) {
	if strings.Contains(name, `\`) {
		v.add(rulePath, path, "invalid path %q: must be inside the repository", name)
		return
	}
	before := len(v.problems)
	v.text(path, name)
	if name == "" || len(v.problems) > before {
		return
	}
	if clean := strings.TrimSuffix(name, "/"); clean == "." || !fs.ValidPath(clean) {
		v.add(rulePath, path, "invalid path %q: must be inside the repository", name)
	}
}

func (v *registryValidator) intents(at func(string) []string, row *Reservation) {
	for i, intent := range row.NightlyIntents {
		path := append(at("nightly-intents"), strconv.Itoa(i))
		switch {
		case !slices.Contains(Intents(), intent):
			v.add(ruleIntent, path, "unknown intent %q", intent)
		case slices.Contains(row.NightlyIntents[:i], intent):
			v.add(ruleIntentTwice, path, "duplicate intent %s", intent)
		}
	}
	if row.DaytimeIntent != "" && !slices.Contains(Intents(), row.DaytimeIntent) {
		v.problems = append(v.problems, ruleIntent.At(v.at(at("daytime-intent")...), "unknown intent %q", row.DaytimeIntent).
			With("use training or inference, or omit it: then nothing is deployed by day"))
	}
}

func (v *registryValidator) missing(path []string, of, such string) {
	key := path[len(path)-1]
	v.problems = append(v.problems, ruleMissing.At(v.at(path...), "the key %q of %s is missing or empty", key, of).With("add it, such as %s: %s", key, such))
}

// rowName names a row in messages.
func rowName(i int, row *Reservation) string {
	if row.Name != "" {
		return row.Name
	}
	return fmt.Sprintf("row %d", i+1)
}
