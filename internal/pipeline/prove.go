package pipeline

import (
	"fmt"
	"slices"
	"strings"
)

// Obstacle is why an order is not possible.
type Obstacle struct {
	Step string `json:"step"`
	// Check is the one that lacks GPUs; empty where it is not about GPUs.
	Check string `json:"check,omitempty"`
	// Wants, Free and GPUs are GPUs: that it takes, that are left for it, and in all.
	Wants int `json:"wants,omitempty"`
	Free  int `json:"free,omitempty"`
	GPUs  int `json:"gpus,omitempty"`
	// Holders are the steps before it that hold the others.
	Holders []string `json:"holders,omitempty"`
	// Missing is a step that it needs and that does not come before it.
	Missing string `json:"missing,omitempty"`
}

func (o Obstacle) String() string {
	switch {
	case o.Missing != "":
		return fmt.Sprintf("step %s needs %s, which does not come before it", o.Step, o.Missing)
	case len(o.Holders) > 0:
		return fmt.Sprintf("step %s can't come after %s: its check %s takes %s, and of %s %d %s free, as %s holds the rest until the end",
			o.Step, strings.Join(o.Holders, ", "), o.Check, Count(o.Wants), Count(o.GPUs), o.Free, be(o.Free), strings.Join(o.Holders, ", "))
	default:
		return fmt.Sprintf("step %s can't be taken: its check %s takes %s, and there %s %s", o.Step, o.Check, Count(o.Wants), be(o.GPUs), Count(o.GPUs))
	}
}

// Count is a number of GPUs in words.
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

// Prove says what keeps steps from being taken in this order on a number of GPUs:
// nothing, when it is possible. needs outside the steps do not count: another intent
// has them.
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
