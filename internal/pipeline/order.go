package pipeline

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// ErrImpossible marks an order that is impossible on the available GPUs.
var ErrImpossible = errors.New("impossible on these GPUs")

// Order is the steps of an intent in an order that was proved possible.
type Order struct {
	Intent Intent `json:"intent"`
	// GPUs is the number of GPUs that the order was proved for.
	GPUs  int    `json:"gpus"`
	Steps []Step `json:"steps"`
	// Moved has the obstacles of the declared order; empty if it is this order.
	Moved []Obstacle `json:"moved,omitempty"`
}

// Needs returns the needs of a step that are in the order, with a mark on those that need
// not pass.
func (o Order) Needs(s Step) []string {
	var out []string
	for _, need := range s.Needs {
		if !slices.ContainsFunc(o.Steps, func(other Step) bool { return other.Name == need }) {
			continue
		}
		if slices.Contains(s.ContinueOnFailure, need) {
			need += " (whatever its verdict)"
		}
		out = append(out, need)
	}
	return out
}

// Earlier is steps as earlier versions declared them: conformance did not run after a failed step autoscaling.
func Earlier(steps []Step) []Step {
	out := slices.Clone(steps)
	for i, s := range out {
		if s.Name == "conformance" {
			out[i].Needs, out[i].ContinueOnFailure = []string{"autoscaling", "health"}, []string{"health"}
		}
	}
	return out
}

// Of returns the steps of an intent in declared order.
func Of(steps []Step, intent Intent) []Step {
	var out []Step
	for _, s := range steps {
		if len(s.For) == 0 || slices.Contains(s.For, intent) {
			out = append(out, s)
		}
	}
	return out
}

// Derive returns the possible order that is nearest to the declared order. If no order is
// possible, the error has the obstacles of the order with the fewest.
func Derive(steps []Step, intent Intent, total int) (Order, error) {
	own := Of(steps, intent)
	if len(own) == 0 {
		return Order{}, fmt.Errorf("no steps for the intent %q", intent)
	}
	order, closest := search(nil, own, total)
	if order == nil {
		return Order{}, impossible(Prove(closest, total))
	}
	return Order{Intent: intent, GPUs: total, Steps: order, Moved: Prove(own, total)}, nil
}

// OrderFor is the order with these names, proved possible, or the derived order if names
// is empty.
func OrderFor(intent Intent, gpus int, names []string) (Order, error) {
	steps, err := Steps()
	if err != nil {
		return Order{}, err
	}
	if len(names) > 0 {
		return Asked(steps, intent, gpus, names)
	}
	return Derive(steps, intent, gpus)
}

// Asked proves a requested order. It must have exactly the steps of the intent.
func Asked(steps []Step, intent Intent, total int, names []string) (Order, error) {
	own := Of(steps, intent)
	var order []Step
	for _, name := range names {
		i := slices.IndexFunc(own, func(s Step) bool { return s.Name == name })
		if i < 0 {
			return Order{}, fmt.Errorf("the intent %s has no step %q: want one of %s", intent, name, strings.Join(namesOf(own), ", "))
		}
		if slices.ContainsFunc(order, func(s Step) bool { return s.Name == name }) {
			return Order{}, fmt.Errorf("duplicate step %s", name)
		}
		order = append(order, own[i])
	}
	for _, s := range own {
		if !slices.Contains(names, s.Name) {
			return Order{}, fmt.Errorf("step %s is missing: the intent %s has %s", s.Name, intent, strings.Join(namesOf(own), ", "))
		}
	}
	if obstacles := Prove(order, total); len(obstacles) > 0 {
		return Order{}, impossible(obstacles)
	}
	return Order{Intent: intent, GPUs: total, Steps: order}, nil
}

// search extends a possible order with the steps that are left, in declared order, with
// backtracking. It returns the whole order, or nil and the attempt with the fewest
// obstacles.
func search(taken, left []Step, total int) (whole, closest []Step) {
	if len(left) == 0 {
		return taken, nil
	}
	for i, s := range left {
		if slices.ContainsFunc(left, func(o Step) bool { return slices.Contains(s.Needs, o.Name) }) {
			continue
		}
		next := append(taken[:len(taken):len(taken)], s)
		rest := slices.Delete(slices.Clone(left), i, i+1)
		attempt := append(next[:len(next):len(next)], rest...)
		if len(Prove(next, total)) == 0 {
			if whole, attempt = search(next, rest, total); whole != nil {
				return whole, nil
			}
		}
		if closest == nil || len(Prove(attempt, total)) < len(Prove(closest, total)) {
			closest = attempt
		}
	}
	return nil, closest
}

func impossible(obstacles []Obstacle) error {
	var lines []string
	for _, o := range obstacles {
		lines = append(lines, o.String())
	}
	return fmt.Errorf("%w: %s", ErrImpossible, strings.Join(lines, "; "))
}

func namesOf(steps []Step) []string {
	var out []string
	for _, s := range steps {
		out = append(out, s.Name)
	}
	return out
}
