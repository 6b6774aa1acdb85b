package soak

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/check"
)

// Summary is the result of a soak.
type Summary struct {
	ID       string          `json:"id"`
	Started  time.Time       `json:"started"`
	Duration metav1.Duration `json:"duration"`
	Every    metav1.Duration `json:"every"`
	// Covered is the time in which a repetition ran.
	Covered     metav1.Duration `json:"covered"`
	Verdict     check.Verdict   `json:"verdict"`
	Reason      string          `json:"reason"`
	Repetitions []Repetition    `json:"repetitions"`
	// Gaps are the times without a repetition that are longer than allowed.
	Gaps    []Gap    `json:"gaps"`
	Changes []Change `json:"changes"`
	Figures []Spread `json:"figures"`
}

// Gap is a time in which a repetition was due and none ran.
type Gap struct {
	From time.Time `json:"from"`
	To   time.Time `json:"to"`
}

func (g Gap) String() string {
	return fmt.Sprintf("from %s to %s", g.From.UTC().Format(time.RFC3339), g.To.UTC().Format(time.RFC3339))
}

// Summarise judges a soak. It passed if its duration is over, no time without a repetition was
// longer than allowed, and every repetition passed that was not interrupted. allowed is the most
// nodes that may be left out, over all repetitions.
func Summarise(s State, all []Repetition, allowed int) Summary {
	out := Summary{
		ID: s.ID, Started: s.Started, Duration: s.Duration, Every: s.Every, Repetitions: all,
		Gaps: gaps(s, all), Changes: changes(all), Figures: spreads(all),
	}
	if out.Repetitions == nil {
		out.Repetitions = []Repetition{}
	}
	failed, partial, passed, interrupted, unobserved := 0, 0, 0, 0, 0
	clusters, leftOut := map[string]bool{}, map[string]bool{}
	for _, r := range all {
		out.Covered.Duration += r.Finished.Sub(r.Started)
		for _, host := range r.LeftOut {
			leftOut[host] = true
		}
		switch {
		case r.Verdict == check.Failed:
			failed++
		case r.Interrupted:
			interrupted++
			continue // its cluster may not have been identified yet
		case r.Verdict == check.Passed:
			passed++
		case r.Verdict == check.Partial:
			partial++
		default:
			unobserved++
		}
		clusters[r.Cluster] = true
	}
	whole, others := len(all)-interrupted, ""
	if interrupted > 0 { // each may have ended before a failure had its verdict
		others = fmt.Sprintf("; %d more ended before their verdict", interrupted)
	}
	switch {
	case failed > 0:
		out.Verdict, out.Reason = check.Failed, fmt.Sprintf("%d of %d repetitions failed", failed, len(all))
	case len(leftOut) > allowed:
		out.Verdict, out.Reason = check.Failed, fmt.Sprintf("over all repetitions %d nodes failed, at most %d are allowed: %s", len(leftOut), allowed, strings.Join(slices.Sorted(maps.Keys(leftOut)), ", "))
	case passed+partial == 0:
		out.Verdict, out.Reason = check.Unobserved, "no repetition passed"
	case unobserved > 0:
		out.Verdict, out.Reason = check.Unobserved, fmt.Sprintf("%d of %d repetitions were not observed", unobserved, len(all))
	case clusters[""]:
		out.Verdict, out.Reason = check.Unobserved, "the cluster of a repetition was not identified"
	case len(clusters) > 1:
		out.Verdict, out.Reason = check.Unobserved, fmt.Sprintf("the repetitions are of %d clusters", len(clusters))
	case len(out.Gaps) > 0:
		out.Verdict, out.Reason = check.Unobserved, "no repetition ran "+out.Gaps[0].String()
	case !s.Complete:
		out.Verdict, out.Reason = check.Unobserved, fmt.Sprintf("the duration of %s is not over", s.Duration.Duration)
	case partial > 0:
		out.Verdict, out.Reason = check.Partial, fmt.Sprintf("all of %d repetitions passed, %d of them without nodes that are left out%s", whole, partial, others)
	default:
		out.Verdict, out.Reason = check.Passed, fmt.Sprintf("all of %d repetitions passed%s", whole, others)
	}
	return out
}

// gaps are the times in which a repetition was due and none ran, if they are longer than allowed.
func gaps(s State, all []Repetition) []Gap {
	out := []Gap{}
	due := s.Started
	note := func(until time.Time) {
		if until.Sub(due) > s.maxGap() {
			out = append(out, Gap{From: due, To: until})
		}
	}
	for _, r := range all {
		note(r.Started)
		due = r.Finished
		if next := r.Started.Add(s.Every.Duration); next.After(due) && !r.Interrupted {
			due = next
		}
	}
	if s.Complete {
		note(s.End())
	}
	return out
}
