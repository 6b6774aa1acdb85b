package schedule

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/schedule/judge"
)

// Report is the result of a test; its JSON is the -o json object.
type Report struct {
	Verdict check.Verdict `json:"verdict"`
	// Reason in one line.
	Reason string `json:"reason"`
	// Tree of the recipes, and the Tier that selected them (0 where they were named).
	Tree string `json:"tree"`
	Tier int    `json:"tier,omitempty"`
	// Recipes tested, by name.
	Recipes []Result `json:"recipes"`
	// Covered is the number of untested recipes that a tested one of their class stands for.
	Covered int `json:"covered"`
	Totals
	// Seconds from the first recipe to the last, including StartSeconds to start control
	// planes.
	Seconds      float64 `json:"seconds"`
	StartSeconds float64 `json:"startSeconds"`
	// Run and Evidence locate the observations; several when shards were joined.
	Run      string   `json:"run,omitempty"`
	Evidence []string `json:"evidence,omitempty"`
	Notes    []string `json:"notes,omitempty"`
}

// Totals are sums over recipes.
type Totals struct {
	// Pods bound, of components and probes; Controls that failed as required.
	Pods     int `json:"pods"`
	Nodes    int `json:"nodes"`
	Controls int `json:"controls"`
}

// Result is the result of one recipe.
type Result struct {
	Recipe      string        `json:"recipe"`
	Verdict     check.Verdict `json:"verdict"`
	Reason      string        `json:"reason"`
	Fingerprint string        `json:"fingerprint,omitempty"`
	// Digest of the recipe's inputs.
	Digest string `json:"digest,omitempty"`
	// StandsFor are the untested recipes of its class.
	StandsFor []string `json:"standsFor,omitempty"`
	Totals
	Seconds  float64         `json:"seconds"`
	Findings []check.Finding `json:"findings"`
}

// ResultOf converts one verdict.
func ResultOf(r plan.Result) Result {
	out := Result{
		Recipe: r.Step, Verdict: r.Verdict, Reason: r.Reason, Seconds: r.Duration().Seconds(),
		Findings: append([]check.Finding{}, r.Findings...),
	}
	for _, f := range r.Figures {
		switch f.Name {
		case judge.FigurePods:
			out.Pods = int(f.Value)
		case judge.FigureNodes:
			out.Nodes = int(f.Value)
		case judge.FigureControls:
			out.Controls = int(f.Value)
		}
	}
	return out
}

// Conclude sets verdict, reason and totals of a report from its recipes. A recipe that is
// expected but missing, duplicate or not expected keeps the report from passing.
func (r *Report) Conclude(expected []string) {
	slices.SortFunc(r.Recipes, func(a, b Result) int { return cmp.Compare(a.Recipe, b.Recipe) })
	r.Totals, r.Covered = Totals{}, 0
	var verdicts []check.Verdict
	count := map[string]int{}
	byVerdict := map[check.Verdict][]string{}
	for _, res := range r.Recipes {
		verdicts = append(verdicts, res.Verdict)
		count[res.Recipe]++
		byVerdict[res.Verdict] = append(byVerdict[res.Verdict], res.Recipe)
		r.Pods += res.Pods
		r.Nodes += res.Nodes
		r.Controls += res.Controls
		r.Covered += len(res.StandsFor)
	}
	r.Verdict = check.Overall(verdicts)
	var reasons []string
	for _, v := range []check.Verdict{check.Failed, check.Unobserved, check.Blocked, check.NotApplicable} {
		if names := byVerdict[v]; len(names) > 0 {
			reasons = append(reasons, fmt.Sprintf("%d %s: %s", len(names), v, some(names)))
		}
	}
	if r.Verdict == check.Passed && len(byVerdict[check.NotApplicable]) > 0 {
		r.Verdict = check.Unobserved // every recipe can be tested
	}
	if wrong := notAsExpected(count, expected); wrong != "" {
		reasons = append(reasons, wrong)
		if r.Verdict == check.Passed {
			r.Verdict = check.Unobserved
		}
	}
	switch {
	case len(r.Recipes) == 0:
		r.Reason = "no recipe was tested"
	case len(reasons) == 0 && len(r.Recipes) == 1:
		r.Reason = "1 recipe passed"
	case len(reasons) == 0:
		r.Reason = fmt.Sprintf("%d recipes passed", len(r.Recipes))
	default:
		r.Reason = strings.Join(reasons, "; ")
	}
}

func notAsExpected(count map[string]int, expected []string) string {
	var missing, odd []string
	left := map[string]int{}
	maps.Copy(left, count)
	for _, name := range expected {
		if left[name] == 0 {
			missing = append(missing, name)
			continue
		}
		left[name]--
	}
	for name, n := range left {
		if n > 0 {
			odd = append(odd, name)
		}
	}
	slices.Sort(odd)
	var out []string
	if len(missing) > 0 {
		out = append(out, fmt.Sprintf("%d without a result: %s", len(missing), some(missing)))
	}
	if len(odd) > 0 {
		out = append(out, fmt.Sprintf("%d unexpected or duplicate: %s", len(odd), some(odd)))
	}
	return strings.Join(out, "; ")
}

func some(names []string) string { return check.JoinNames(names, 5) }

// Join merges the reports of shards, for the recipes expected of all shards.
func Join(shards []Report, expected []string) Report {
	var out Report
	for i, s := range shards {
		if i == 0 {
			out.Tree, out.Tier = s.Tree, s.Tier
		}
		out.Recipes = append(out.Recipes, s.Recipes...)
		out.Evidence = append(out.Evidence, s.Evidence...)
		out.Notes = append(out.Notes, s.Notes...)
		out.Seconds = max(out.Seconds, s.Seconds)
	}
	out.Conclude(expected)
	return out
}
