package check

import (
	"fmt"
	"slices"
	"strings"
)

// groupRecorder records observations of a group.
type groupRecorder struct {
	Recorder
	group string
}

// RecordGroup returns a recorder of observations of a group, with its name before the progress.
func RecordGroup(rec Recorder, group string) Recorder { return groupRecorder{rec, group} }

// Record implements Recorder.
func (r groupRecorder) Record(o Observation) (Observation, error) {
	o.Group = r.group
	return r.Recorder.Record(o)
}

// Progress implements Recorder.
func (r groupRecorder) Progress(format string, args ...any) {
	r.Recorder.Progress("%s: %s", r.group, fmt.Sprintf(format, args...))
}

// OfGroup are the observations of a group.
func OfGroup(obs []Observation, group string) []Observation {
	var out []Observation
	for _, o := range obs {
		if o.Group == group {
			out = append(out, o)
		}
	}
	return out
}

// Combine judges each group of observations by itself. It passes if every group passes; a group without
// observations is unobserved. Reasons and figures have the name of their group.
func Combine(groups []string, obs []Observation, judge func(i int, of []Observation) Judgement) Judgement {
	for _, o := range obs {
		if !slices.Contains(groups, o.Group) {
			return NotObserved(fmt.Sprintf("observation %s is of group %q, which the site does not have", o.ID, o.Group))
		}
	}
	by := map[Verdict][]Judgement{}
	var figures []Figure
	for i, group := range groups {
		j := NotObserved("nothing was observed")
		if of := OfGroup(obs, group); len(of) > 0 {
			j = judge(i, of)
		}
		if j.Verdict != Passed && j.Verdict != Failed {
			j.Verdict = Unobserved
		}
		j.Reason = group + ": " + j.Reason
		for _, f := range j.Figures {
			f.Name = group + ": " + f.Name
			figures = append(figures, f)
		}
		by[j.Verdict] = append(by[j.Verdict], j)
	}
	out := Judgement{Figures: figures}
	for _, v := range []Verdict{Failed, Unobserved, Passed} { // the first that a group has
		var reasons []string
		for _, j := range by[v] {
			reasons, out.Findings = append(reasons, j.Reason), append(out.Findings, j.Findings...)
		}
		if out.Verdict == "" && len(reasons) > 0 {
			out.Verdict, out.Reason = v, strings.Join(reasons, "; ")
		}
	}
	return out
}
