package pipeline

import (
	"fmt"
	"slices"
	"strings"
)

// Obstacle is a reason why an order is impossible.
type Obstacle struct {
	Step string `json:"step"`
	// Check lacks GPUs; empty for a missing step.
	Check string `json:"check,omitempty"`
	// Wants, Free and GPUs count the claimed, the free and all GPUs.
	Wants int `json:"wants,omitempty"`
	Free  int `json:"free,omitempty"`
	GPUs  int `json:"gpus,omitempty"`
	// Holders are the earlier steps that hold GPUs.
	Holders []string `json:"holders,omitempty"`
	// Missing is a needed step that does not come before it.
	Missing string `json:"missing,omitempty"`
}

func (o Obstacle) String() string {
	switch {
	case o.Missing != "":
		return fmt.Sprintf("step %s needs %s, which does not come before it", o.Step, o.Missing)
	case len(o.Holders) > 0:
		return fmt.Sprintf("step %s cannot come after %s: its check %s takes %s, and of %s %d %s free, since %s holds the rest until the end",
			o.Step, strings.Join(o.Holders, ", "), o.Check, Count(o.Wants), Count(o.GPUs), o.Free, be(o.Free), strings.Join(o.Holders, ", "))
	default:
		return fmt.Sprintf("step %s cannot run: its check %s takes %s, and there %s %s", o.Step, o.Check, Count(o.Wants), be(o.GPUs), Count(o.GPUs))
	}
}

// Count formats a number of GPUs: "1 GPU", "2 GPUs".
func Count(n int) string {
	if n == 1 {
		return "1 GPU"
	}
	return fmt.Sprintf("%d GPUs", n)
}

func be(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

// Prove returns the obstacles of an order on a number of GPUs; none if it is possible.
// Needs outside the order are ignored: another intent has them.
func Prove(order []Step, total int) []Obstacle {
	var out []Obstacle
	free, before := total, map[string]bool{}
	var holders []string
	for i, s := range order {
		for _, need := range s.Needs {
			if !before[need] && slices.ContainsFunc(order[i+1:], func(o Step) bool { return o.Name == need }) {
				out = append(out, Obstacle{Step: s.Name, Missing: need})
			}
		}
		if wants, check := s.Most(); wants > free {
			out = append(out, Obstacle{Step: s.Name, Check: check, Wants: wants, Free: free, GPUs: total, Holders: slices.Clone(holders)})
		}
		before[s.Name] = true
		if held := s.Held(); held > 0 {
			free = max(0, free-held)
			holders = append(holders, s.Name)
		}
	}
	return out
}
