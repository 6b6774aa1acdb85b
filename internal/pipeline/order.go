package pipeline

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// ErrImpossible marks an order that can't be taken on the GPUs that there are.
var ErrImpossible = errors.New("impossible on these GPUs")

// Order is the steps of an intent, in an order that was proved possible.
type Order struct {
	Intent Intent `json:"intent"`
	// GPUs is on how many.
	GPUs  int    `json:"gpus"`
	Steps []Step `json:"steps"`
	// Moved are the obstacles of the order in which the steps are declared: why this one
	// is another.
	Moved []Obstacle `json:"moved,omitempty"`
}

// Needs are those of a step that the order has, with those that need not have passed
// marked so.
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

// Of are the steps of an intent, as they are declared.
func Of(steps []Step, intent Intent) []Step {
	var out []Step
	for _, s := range steps {
		if len(s.For) == 0 || slices.Contains(s.For, intent) {
			out = append(out, s)
		}
	}
	return out
}

// Derive finds the first order that is possible on a number of GPUs: of those that
// heed needs, the nearest to the order in which the steps are declared. When none is,
// the error says what is in the way of each step, in the order that comes furthest.
func Derive(steps []Step, intent Intent, total int) (Order, error) {
	own := Of(steps, intent)
	if len(own) == 0 {
		return Order{}, fmt.Errorf("no step is for the intent %q", intent)
	}
	order, furthest := search(nil, own, total)
	if order == nil {
		return Order{}, impossible(Prove(furthest, total))
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

// Asked proves the order that somebody asked for; it has to have exactly the steps of
// the intent.
func Asked(steps []Step, intent Intent, total int, names []string) (Order, error) {
	own := Of(steps, intent)
	var order []Step
	for _, name := range names {
		i := slices.IndexFunc(own, func(s Step) bool { return s.Name == name })
		if i < 0 {
			return Order{}, fmt.Errorf("the intent %s has no step %q: there are %s", intent, name, strings.Join(namesOf(own), ", "))
		}
		if slices.ContainsFunc(order, func(s Step) bool { return s.Name == name }) {
			return Order{}, fmt.Errorf("step %s is asked for twice", name)
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

// search goes on from steps that are possible with those that are left, in declared
// order, and comes back from where nothing goes on. It returns the whole order; else
// nil and, of those tried, what came furthest, with the rest behind it.
func search(taken, left []Step, total int) (whole, furthest []Step) {
	if len(left) == 0 {
		return taken, nil
	}
	for i, s := range left {
		if slices.ContainsFunc(left, func(o Step) bool { return slices.Contains(s.Needs, o.Name) }) {
			continue
		}
		next := append(taken[:len(taken):len(taken)], s)
		rest := slices.Delete(slices.Clone(left), i, i+1)
		far := append(next[:len(next):len(next)], rest...)
		if len(Prove(next, total)) == 0 {
			if whole, far = search(next, rest, total); whole != nil {
				return whole, nil
			}
		}
		if furthest == nil || len(Prove(far, total)) < len(Prove(furthest, total)) {
			furthest = far
		}
	}
	return nil, furthest
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
