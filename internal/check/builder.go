package check

import (
	"fmt"
	"slices"
	"strings"
)

// Builder collects the findings and figures of a Judge and builds its Judgement. The zero
// value is ready to use.
//
// The id of an observation is empty if no single observation shows the finding.
type Builder struct {
	failed     []Finding
	lasting    []int // indices of failed
	unobserved []Finding
	notes      []Finding
	figures    []Figure
}

// Fail adds a finding that fails the check.
func (b *Builder) Fail(id, suspect, remedy, format string, args ...any) {
	b.failed = append(b.failed, NewFinding(id, suspect, remedy, format, args...))
}

// FailLasting adds a finding that fails the check, of a defect that does not pass by itself: a
// judge of repeated observations needs no second one.
func (b *Builder) FailLasting(id, suspect, remedy, format string, args ...any) {
	b.lasting = append(b.lasting, len(b.failed))
	b.Fail(id, suspect, remedy, format, args...)
}

// Findings are the findings of a Builder by their effect. Lasting ones are not in Failed.
type Findings struct{ Failed, Lasting, Unobserved, Notes []Finding }

// Findings lists what was added, each finding by itself: before MergeSuspects.
func (b *Builder) Findings() Findings {
	out := Findings{Unobserved: b.unobserved, Notes: b.notes}
	for i, f := range b.failed {
		if slices.Contains(b.lasting, i) {
			out.Lasting = append(out.Lasting, f)
		} else {
			out.Failed = append(out.Failed, f)
		}
	}
	return out
}

// Unobserved adds a finding about missing information that the criterion needs.
func (b *Builder) Unobserved(id, suspect, remedy, format string, args ...any) {
	b.unobserved = append(b.unobserved, NewFinding(id, suspect, remedy, format, args...))
}

// Note adds a finding that changes no verdict.
func (b *Builder) Note(id, suspect, remedy, format string, args ...any) {
	b.notes = append(b.notes, NewFinding(id, suspect, remedy, format, args...))
}

// AddFailed adds findings that fail the check.
func (b *Builder) AddFailed(findings ...Finding) { b.failed = append(b.failed, findings...) }

// AddUnobserved adds findings about missing information.
func (b *Builder) AddUnobserved(findings ...Finding) {
	b.unobserved = append(b.unobserved, findings...)
}

// Figure adds headline numbers.
func (b *Builder) Figure(figures ...Figure) { b.figures = append(b.figures, figures...) }

// HasFailed reports whether a finding fails the check.
func (b *Builder) HasFailed() bool { return b.Failures() > 0 }

// Failures is the number of findings that fail the check, before MergeSuspects.
func (b *Builder) Failures() int { return len(b.failed) }

// Clean reports whether nothing failed and nothing was unobserved so far.
func (b *Builder) Clean() bool { return len(b.failed) == 0 && len(b.unobserved) == 0 }

// MergeSuspects merges findings of the same suspect: distinct messages joined by "; ", and
// their observations. The remedy is that of the first finding, since later findings are
// often its consequence.
func (b *Builder) MergeSuspects() {
	b.lasting = nil
	b.failed, b.unobserved, b.notes = mergeSuspects(b.failed), mergeSuspects(b.unobserved), mergeSuspects(b.notes)
}

// OmitUnobservedIfFailed drops the unobserved findings if a finding fails the check: for a
// check of one job, missing output is usually a consequence of its failure.
func (b *Builder) OmitUnobservedIfFailed() {
	if b.HasFailed() {
		b.unobserved = nil
	}
}

// Judgement is failed if any finding fails the check, else unobserved if information is
// missing, else passed with the given reason. An empty reason is unobserved: a pass states
// what was measured. The reason of a failure is its first finding and the number of others.
func (b *Builder) Judgement(passed string) Judgement {
	j := Judgement{Figures: b.figures, Findings: slices.Concat(b.failed, b.unobserved, b.notes)}
	switch {
	case len(b.failed) > 0:
		j.Verdict, j.Reason = Failed, Summary(b.failed)
	case len(b.unobserved) > 0:
		j.Verdict, j.Reason = Unobserved, Summary(b.unobserved)
	case passed == "":
		j.Verdict, j.Reason = Unobserved, "nothing was measured"
	default:
		j.Verdict, j.Reason = Passed, passed
	}
	return j
}

// NewFinding is a finding with the observation that shows it.
func NewFinding(id, suspect, remedy, format string, args ...any) Finding {
	f := Finding{Suspect: suspect, Message: fmt.Sprintf(format, args...), Remedy: remedy}
	if id != "" {
		f.Observations = []string{id}
	}
	return f
}

// Summary is the first finding with its suspect, and the number of other findings, in one line.
func Summary(findings []Finding) string {
	if len(findings) == 0 {
		return ""
	}
	text := findings[0].Message
	if !strings.Contains(text, findings[0].Suspect) {
		text = findings[0].Suspect + ": " + text
	}
	if more := len(findings) - 1; more > 0 {
		text += fmt.Sprintf(" (and %d more)", more)
	}
	return text
}

func mergeSuspects(findings []Finding) []Finding {
	var out []Finding
	at := map[string]int{}
	messages := map[[2]string]bool{}
	for _, f := range findings {
		key := [2]string{f.Suspect, f.Message}
		i, known := at[f.Suspect]
		switch {
		case !known:
			at[f.Suspect] = len(out)
			f.Observations = slices.Clone(f.Observations)
			out = append(out, f)
		default:
			if !messages[key] {
				out[i].Message += "; " + f.Message
			}
			for _, id := range f.Observations {
				if !slices.Contains(out[i].Observations, id) {
					out[i].Observations = append(out[i].Observations, id)
				}
			}
		}
		messages[key] = true
	}
	return out
}

// Require decodes the only observation of a kind and target; target "" is any. Any other
// number of observations is unobserved. A check that polls until a condition holds, or that
// records the same kind again, reads with RequireLast. If ok is false, b has an unobserved
// finding about subject.
func Require[T any](b *Builder, obs []Observation, kind, target, subject, remedy string) (v T, o Observation, ok bool) {
	o, ok = b.require(ofTarget(obs, kind, target), subject, remedy, true, &v)
	return v, o, ok
}

// RequireLast is Require for repeated observations: the last one decides.
func RequireLast[T any](b *Builder, obs []Observation, kind, target, subject, remedy string) (v T, o Observation, ok bool) {
	o, ok = b.require(ofTarget(obs, kind, target), subject, remedy, false, &v)
	return v, o, ok
}

// require is not generic: its code is in the binary once, not once a type of figures.
func (b *Builder) require(found []Observation, subject, remedy string, single bool, figures any) (o Observation, ok bool) {
	switch {
	case len(found) == 0:
		b.Unobserved("", subject, remedy, "was not observed")
		return o, false
	case single && len(found) > 1:
		b.Unobserved(found[0].ID, subject, remedy, "was observed %d times, want exactly one observation", len(found))
		return o, false
	}
	o = found[len(found)-1]
	err := decode(o, figures)
	if err != nil {
		b.Unobserved(o.ID, subject, remedy, "could not be observed: %v", err)
	}
	return o, err == nil
}

func ofTarget(obs []Observation, kind, target string) []Observation {
	out := OfKind(obs, kind)
	if target == "" {
		return out
	}
	return slices.DeleteFunc(out, func(o Observation) bool { return o.Target != target })
}
