package soak

import (
	"fmt"
	"slices"
	"time"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/plan"
)

// Change is a difference between two repetitions: of the verdict of a gate, or of its suspects.
type Change struct {
	At   time.Time `json:"at"`
	Run  string    `json:"run"`
	Gate string    `json:"gate"`
	// Suspect is empty for a change of the verdict.
	Suspect string `json:"suspect,omitempty"`
	// Gone: the suspect is no longer one.
	Gone bool `json:"gone,omitempty"`
	// Text is "passed -> failed", or the message of the finding.
	Text string `json:"text"`
}

// Spread has the values of one figure over the repetitions.
type Spread struct {
	Gate   string  `json:"gate"`
	Name   string  `json:"name"`
	Unit   string  `json:"unit"`
	Count  int     `json:"count"`
	First  float64 `json:"first"`
	Last   float64 `json:"last"`
	Min    float64 `json:"min"`
	Median float64 `json:"median"`
	Max    float64 `json:"max"`
}

// changes compares the result of each gate with the one before.
func changes(all []Repetition) []Change {
	out := []Change{}
	last := map[string]plan.Result{}       // by gate
	lastJudged := map[string]plan.Result{} // those that were observed: a blocked gate has no suspects
	for _, rep := range all {
		for _, r := range rep.results {
			add := func(suspect string, gone bool, format string, args ...any) {
				out = append(out, Change{At: r.At, Run: rep.Run, Gate: r.Step, Suspect: suspect, Gone: gone, Text: fmt.Sprintf(format, args...)})
			}
			if before, ok := last[r.Step]; ok && before.Verdict != r.Verdict {
				add("", false, "%s -> %s", before.Verdict, r.Verdict)
			}
			last[r.Step] = r
			if !r.Verdict.Holds() && r.Verdict != check.Failed {
				continue
			}
			if before, ok := lastJudged[r.Step]; ok {
				for _, f := range r.Findings {
					if !suspects(before, f.Suspect) {
						add(f.Suspect, false, "%s", f.Message)
					}
				}
				for _, f := range before.Findings {
					if !suspects(r, f.Suspect) {
						add(f.Suspect, true, "%s", f.Message)
					}
				}
			}
			lastJudged[r.Step] = r
		}
	}
	return out
}

func suspects(r plan.Result, suspect string) bool {
	return slices.ContainsFunc(r.Findings, func(f check.Finding) bool { return f.Suspect == suspect })
}

// spreads are the figures that more than one repetition has, in the order of the first.
func spreads(all []Repetition) []Spread {
	out := []Spread{}
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
		sorted := slices.Sorted(slices.Values(of))
		s.Min, s.Median, s.Max = sorted[0], check.Percentile(sorted, 50), sorted[len(sorted)-1]
	}
	return out
}
