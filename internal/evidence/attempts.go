package evidence

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/pregate/playbook"
)

// Abandoned are the judgements of the attempts that ended without a verdict, in the order of the journal.
func (b *Bundle) Abandoned() []plan.Result {
	var out []plan.Result
	for _, e := range b.Entries {
		if e.Type == EntryAbandoned && e.Result != nil {
			out = append(out, *e.Result)
		}
	}
	return out
}

// EarlierAttempts is a line for each attempt of a step before the attempt that has its verdict. A step
// that is repeated until it passes has one for each of the others.
func (b *Bundle) EarlierAttempts() []string {
	var out []string
	before := map[string]*plan.Result{}
	for _, e := range b.Entries {
		switch e.Type {
		case EntryAbandoned:
			if e.Result != nil {
				out = append(out, abandoned(*e.Result))
			}
		case EntryVerdict, EntryKept:
			before[e.Step] = e.Result
		case EntryBegun:
			if r := before[e.Step]; r != nil {
				out = append(out, fmt.Sprintf("%s was observed again: it was %s at %s (%s)", e.Step, r.Verdict, stamp(r.At), r.Reason))
			}
			delete(before, e.Step)
		case EntryCreated, EntryResumed, EntryInterrupted, EntryFinished:
		}
	}
	return out
}

func abandoned(r plan.Result) string {
	where := ""
	if r.KeptFrom != "" {
		where = " in run " + r.KeptFrom
	}
	text := fmt.Sprintf("%s was begun more than once: attempt %d%s ended without a verdict", r.Step, r.Attempt, where)
	switch n := len(r.Observations); n {
	case 0:
		return text + " and without an observation"
	case 1:
		text += ", its observation is judged "
	default:
		text += fmt.Sprintf(", its %d observations are judged ", n)
	}
	text += string(r.Verdict) + ": " + r.Reason
	if suspects := suspectsOf(r.Findings); r.Verdict == check.Failed && len(suspects) > 0 {
		text += " (" + strings.Join(suspects, ", ") + ")"
	}
	return text
}

// namedSuspects is the most suspects in a line.
const namedSuspects = 5

func suspectsOf(findings []check.Finding) []string {
	var out []string
	for _, f := range findings {
		if len(out) == namedSuspects {
			return append(out, fmt.Sprintf("and %d more", len(findings)-namedSuspects))
		}
		out = append(out, f.Suspect)
	}
	return out
}

// replayAbandoned judges the attempts without a verdict again.
func (b *Bundle) replayAbandoned(index attempts, checks map[string]check.Check, expected map[string]playbook.Expected, results map[string]plan.Result) ([]ReplayedStep, error) {
	var out []ReplayedStep
	for _, was := range b.Abandoned() {
		c, ok := checks[was.Step]
		if !ok {
			return nil, fmt.Errorf("this firstlight has no check %q", was.Step)
		}
		obs, err := b.Observations(index.of(was))
		if err != nil {
			return nil, err
		}
		again := plan.JudgePart(c, expected[was.Step], obs, b.Plan.needs().LeftOut(was.Step, results), b.Plan.AllowFailed)
		differ := difference(was.Judgement, again)
		if err := index.compare(was); err != nil {
			differ = strings.TrimPrefix(differ+"; "+err.Error(), "; ")
		}
		out = append(out, ReplayedStep{Step: fmt.Sprintf("%s, attempt %d", was.Step, was.Attempt), Stored: was.Judgement, Again: again, Difference: differ})
	}
	return out, nil
}

// carryAbandoned copies the attempts without a verdict of a step whose verdict is kept.
func (r *Run) carryAbandoned(from *Bundle, step string) error {
	for _, res := range from.Abandoned() {
		if res.Step != step {
			continue
		}
		if err := r.copyObservations(from, res.Observations); err != nil {
			return err
		}
		if res.KeptFrom == "" {
			res.KeptFrom, res.KeptOf = from.Header.Run, from.Header.Cluster
		}
		if err := r.append(Entry{Type: EntryAbandoned, Step: step, Result: &res}); err != nil {
			return err
		}
	}
	return nil
}

// copyObservations copies observations of another run, with their IDs.
func (r *Run) copyObservations(from *Bundle, ids []string) error {
	for _, id := range ids {
		s, err := readObservation(filepath.Join(from.Dir, observationsDir), id)
		if err != nil {
			return err
		}
		if err := writeObservation(filepath.Join(r.dir, observationsDir), s.Attempt, withoutSecrets(s.Observation)); err != nil {
			return err
		}
		n, _ := sequence(id)
		r.lastSeq = max(r.lastSeq, n)
	}
	return nil
}
