package soak

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/evidence"
	"github.com/firstlight/firstlight/internal/plan"
)

// gap is the longest time between two repetitions, beyond the interval, in which a soak counts as
// continuous: a restart of the machine that runs it.
const gap = 15 * time.Minute

// Repetition is one acceptance of a soak.
type Repetition struct {
	Run     string        `json:"run"`
	Began   time.Time     `json:"began"`
	Ended   time.Time     `json:"ended"`
	Verdict check.Verdict `json:"verdict"`
	Cluster string        `json:"cluster,omitempty"`
	// Decided is the first gate that did not pass, with its reason.
	Decided string `json:"decided,omitempty"`

	results []plan.Result
}

// RepetitionOf reads a repetition from its evidence.
func RepetitionOf(b *evidence.Bundle) Repetition {
	r := Repetition{Run: b.Header.Run, Began: b.Header.Created, Ended: b.Header.Created, Verdict: b.Verdict(), Cluster: b.Header.Cluster, results: b.Results()}
	for _, res := range r.results {
		if res.At.After(r.Ended) {
			r.Ended = res.At
		}
		if r.Decided == "" && !res.Verdict.Holds() && res.Verdict != check.NotApplicable {
			r.Decided = fmt.Sprintf("%s: %s", res.Step, res.Reason)
		}
	}
	return r
}

// Change is a difference between two repetitions: of a gate's verdict, or of a suspect.
type Change struct {
	At   time.Time `json:"at"`
	Run  string    `json:"run"`
	Gate string    `json:"gate"`
	// Text is "passed -> failed", or the suspect with its finding, or "gone".
	Suspect string `json:"suspect,omitempty"`
	Text    string `json:"text"`
}

// Spread has the values of one figure over the repetitions.
type Spread struct {
	Gate   string  `json:"gate"`
	Name   string  `json:"name"`
	Unit   string  `json:"unit"`
	Count  int     `json:"count"`
	First  float64 `json:"first"`
	Last   float64 `json:"last"`
	Least  float64 `json:"least"`
	Median float64 `json:"median"`
	Most   float64 `json:"most"`
}

// Summary is the result of a soak.
type Summary struct {
	ID       string          `json:"id"`
	Began    time.Time       `json:"began"`
	Duration metav1.Duration `json:"duration"`
	// Soaked is the time from the start of the first repetition to the end of the last.
	Soaked      metav1.Duration `json:"soaked"`
	Verdict     check.Verdict   `json:"verdict"`
	Reason      string          `json:"reason"`
	Repetitions []Repetition    `json:"repetitions"`
	// Gaps are the times without a repetition.
	Gaps    []string `json:"gaps,omitempty"`
	Changes []Change `json:"changes,omitempty"`
	Figures []Spread `json:"figures,omitempty"`
}

// Summarise judges a soak: passed if its duration is over without a gap and every repetition passed.
func Summarise(s State, all []Repetition) Summary {
	out := Summary{ID: s.ID, Began: s.Began, Duration: s.Duration, Repetitions: all, Gaps: gaps(s, all), Changes: changes(all), Figures: spreads(all)}
	if out.Repetitions == nil {
		out.Repetitions = []Repetition{}
	}
	if len(all) > 0 {
		out.Soaked.Duration = all[len(all)-1].Ended.Sub(all[0].Began)
	}
	count := map[check.Verdict]int{}
	for _, r := range all {
		count[r.Verdict]++
	}
	held := count[check.Passed] + count[check.Partial]
	switch {
	case count[check.Failed] > 0:
		out.Verdict, out.Reason = check.Failed, fmt.Sprintf("%d of %d repetitions failed", count[check.Failed], len(all))
	case len(all) == 0:
		out.Verdict, out.Reason = check.Unobserved, "no repetition came to its end"
	case held < len(all):
		out.Verdict, out.Reason = check.Unobserved, fmt.Sprintf("%d of %d repetitions were not observed", len(all)-held, len(all))
	case len(clusters(all)) > 1:
		out.Verdict, out.Reason = check.Unobserved, fmt.Sprintf("the repetitions are of %d clusters", len(clusters(all)))
	case len(out.Gaps) > 0:
		out.Verdict, out.Reason = check.Unobserved, "not observed "+out.Gaps[0]
	case !s.Ended:
		out.Verdict, out.Reason = check.Unobserved, fmt.Sprintf("the duration of %s is not over", s.Duration.Duration)
	case count[check.Partial] > 0:
		out.Verdict, out.Reason = check.Partial, fmt.Sprintf("all of %d repetitions passed, %d of them without nodes that are left out", len(all), count[check.Partial])
	default:
		out.Verdict, out.Reason = check.Passed, fmt.Sprintf("all of %d repetitions passed", len(all))
	}
	return out
}

// clusters are those of the repetitions.
func clusters(all []Repetition) map[string]bool {
	out := map[string]bool{}
	for _, r := range all {
		out[r.Cluster] = true
	}
	return out
}

// gaps are the times in which a repetition was due and none ran.
func gaps(s State, all []Repetition) []string {
	var out []string
	due := s.Began
	note := func(until time.Time) {
		if until.Sub(due) > gap {
			out = append(out, fmt.Sprintf("from %s to %s", due.UTC().Format(time.RFC3339), until.UTC().Format(time.RFC3339)))
		}
	}
	for _, r := range all {
		note(r.Began)
		due = r.Ended
		if next := r.Began.Add(s.Every.Duration); next.After(due) {
			due = next
		}
	}
	if s.Ended {
		note(s.End())
	}
	return out
}

// changes compares each repetition with the one before.
func changes(all []Repetition) []Change {
	var out []Change
	for i := 1; i < len(all); i++ {
		was, is := byStep(all[i-1].results), byStep(all[i].results)
		for _, r := range all[i].results {
			before, ok := was[r.Step]
			if !ok {
				continue
			}
			add := func(suspect, format string, args ...any) {
				out = append(out, Change{At: r.At, Run: all[i].Run, Gate: r.Step, Suspect: suspect, Text: fmt.Sprintf(format, args...)})
			}
			if before.Verdict != r.Verdict {
				add("", "%s -> %s", before.Verdict, r.Verdict)
			}
			for _, f := range r.Findings {
				if !suspects(before, f.Suspect) {
					add(f.Suspect, "%s", f.Message)
				}
			}
			for _, f := range before.Findings {
				if !suspects(is[r.Step], f.Suspect) {
					add(f.Suspect, "gone: %s", f.Message)
				}
			}
		}
	}
	return out
}

func byStep(results []plan.Result) map[string]plan.Result {
	out := map[string]plan.Result{}
	for _, r := range results {
		out[r.Step] = r
	}
	return out
}

func suspects(r plan.Result, suspect string) bool {
	return slices.ContainsFunc(r.Findings, func(f check.Finding) bool { return f.Suspect == suspect })
}

// spreads are the figures that more than one repetition has, in the order of the first.
func spreads(all []Repetition) []Spread {
	var out []Spread
	values := map[[3]string][]float64{}
	for _, rep := range all {
		for _, r := range rep.results {
			for _, f := range r.Figures {
				key := [3]string{r.Step, f.Name, f.Unit}
				if len(values[key]) == 0 {
					out = append(out, Spread{Gate: r.Step, Name: f.Name, Unit: f.Unit})
				}
				values[key] = append(values[key], f.Value)
			}
		}
	}
	out = slices.DeleteFunc(out, func(s Spread) bool { return len(values[[3]string{s.Gate, s.Name, s.Unit}]) < 2 })
	for i := range out {
		s := &out[i]
		of := values[[3]string{s.Gate, s.Name, s.Unit}]
		s.Count, s.First, s.Last = len(of), of[0], of[len(of)-1]
		sorted := slices.Clone(of)
		slices.SortFunc(sorted, cmp.Compare[float64])
		s.Least, s.Median, s.Most = sorted[0], check.Percentile(sorted, 50), sorted[len(sorted)-1]
	}
	return out
}
