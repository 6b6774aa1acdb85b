package defects_test

import (
	"fmt"
	"strings"
	"testing/fstest"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/diag"
	"github.com/firstlight/firstlight/internal/plan"
)

// hold returns the differences between the expected and the actual problems of lint for an
// edited tree.
func (d *defect) hold(said diag.List, files fstest.MapFS, changes []change) []string {
	var out []string
	left := append(diag.List{}, said...)
	for _, want := range d.Lint {
		i := want.find(left, files, changes)
		if i < 0 {
			out = append(out, fmt.Sprintf("lint does not say %s of %s, line %q: %q", want.Rule, want.File, want.Line, want.Says))
			continue
		}
		left = append(left[:i], left[i+1:]...)
	}
	for _, p := range left {
		out = append(out, fmt.Sprintf("lint also says: %s\n\t%s", p, p.Remedy))
	}
	return out
}

func (s said) find(problems diag.List, files fstest.MapFS, changes []change) int {
	for i, p := range problems {
		if p.Rule == s.Rule && p.File == label+"/"+s.File && strings.Contains(p.Message+"\n"+p.Remedy, s.Says) && s.at(p.Line, files, changes) {
			return i
		}
	}
	return -1
}

// at reports whether the line was edited, or contains the text of s.Line.
func (s said) at(line int, files fstest.MapFS, changes []change) bool {
	if s.Whole {
		return line == 0
	}
	if s.Line != "" {
		f, ok := files[s.File]
		if !ok {
			return false
		}
		lines := strings.Split(string(f.Data), "\n")
		return line >= 1 && line <= len(lines) && strings.Contains(lines[line-1], s.Line)
	}
	for _, c := range changes {
		if c.file == s.File && line >= c.first && line <= c.last {
			return true
		}
	}
	return false
}

// follows is in a finding that has its cause in another.
const follows = ": caused by "

// hold returns the errors in the findings of a test: the cause must be first, every other
// cause must be expected, and every finding needs a remedy.
func (o *outcome) hold(r plan.Result) []string {
	if r.Verdict != check.Failed || len(r.Findings) == 0 {
		return []string{fmt.Sprintf("the verdict is %s with %d findings: %s", r.Verdict, len(r.Findings), r.Reason)}
	}
	var out []string
	if f := r.Findings[0]; !o.Suspect.MatchString(f.Suspect) || !o.Reason.MatchString(f.Message) {
		out = append(out, fmt.Sprintf("the first finding is not of %s for %s", o.Suspect, o.Reason))
	}
	consequences := false
	for _, f := range r.Findings {
		switch {
		case strings.Contains(f.Message, follows):
			consequences = true
		case consequences:
			out = append(out, fmt.Sprintf("the cause %s comes behind consequences", f.Suspect))
		case !o.Suspect.MatchString(f.Suspect) && !o.Also.matches(f.Suspect):
			out = append(out, "a cause that is not said: "+f.Suspect)
		}
		if f.Remedy == "" {
			out = append(out, f.Suspect+" has no remedy")
		}
	}
	return out
}
