package constraint

import (
	"fmt"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/recipe/model"
)

// Result is the verdict of one constraint.
type Result struct {
	Name     string        `json:"name"`
	Expected string        `json:"expected"`
	Actual   string        `json:"actual,omitempty"`
	Verdict  check.Verdict `json:"verdict"`
	// Severity warning: the overall verdict does not depend on this constraint.
	Severity string `json:"severity"`
	// Reason explains a verdict other than passed.
	Reason      string `json:"reason,omitempty"`
	Remediation string `json:"remediation,omitempty"`
}

// Report has the verdicts of all constraints of a recipe.
type Report struct {
	Verdict check.Verdict `json:"verdict"`
	Reason  string        `json:"reason"`
	Results []Result      `json:"constraints"`
}

// Severities; empty means error.
const (
	severityError   = "error"
	severityWarning = "warning"
)

// Judge judges one constraint.
func Judge(c model.Constraint, s *Snapshot) Result {
	expected, err := Parse(c.Value)
	return judge(c, s, expected.Holds, err)
}

// judge uses holds for the comparison; unusable is the error of parsing the expression.
func judge(c model.Constraint, s *Snapshot, holds func(actual string) (bool, error), unusable error) Result {
	r := Result{Name: c.Name, Expected: c.Value, Severity: severityError, Remediation: c.Remediation, Verdict: check.Unobserved}
	if c.Severity == severityWarning {
		r.Severity = severityWarning
	}
	path, err := ParsePath(c.Name)
	if err != nil {
		r.Reason = err.Error()
		return r
	}
	if unusable != nil {
		r.Reason = unusable.Error()
		return r
	}
	if r.Actual, err = s.Get(path); err != nil {
		r.Reason = err.Error()
		return r
	}
	ok, err := holds(r.Actual)
	switch {
	case err != nil:
		r.Reason = err.Error()
	case ok:
		r.Verdict, r.Remediation = check.Passed, ""
	default:
		r.Verdict, r.Reason = check.Failed, fmt.Sprintf("%s is not %s", r.Actual, strings.TrimSpace(c.Value))
	}
	return r
}

// JudgeAll judges constraints in order. The overall verdict is failed if one failed, otherwise
// unobserved if one is unobserved or the list is empty. Constraints of severity warning do not
// count.
func JudgeAll(constraints []model.Constraint, s *Snapshot) Report {
	report := Report{Results: []Result{}}
	count := map[check.Verdict]int{}
	for _, c := range constraints {
		r := Judge(c, s)
		report.Results = append(report.Results, r)
		if r.Severity == severityError {
			count[r.Verdict]++
		}
	}
	failed, unseen, passed := count[check.Failed], count[check.Unobserved], count[check.Passed]
	switch {
	case failed > 0:
		report.Verdict, report.Reason = check.Failed, fmt.Sprintf("%d of %d constraints do not hold", failed, failed+unseen+passed)
	case unseen > 0:
		report.Verdict, report.Reason = check.Unobserved, fmt.Sprintf("%d of %d constraints are unobserved", unseen, unseen+passed)
	case passed == 0:
		report.Verdict, report.Reason = check.Unobserved, "no constraints"
	default:
		report.Verdict, report.Reason = check.Passed, fmt.Sprintf("%d constraints hold", passed)
	}
	return report
}
