package plan

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/firstlight/firstlight/internal/check"
)

// Prepare is something to do before a step is observed. Its output is kept as
// evidence; neither its exit code nor its error is ever the criterion.
type Prepare interface {
	Name() string
	Run(ctx context.Context, out io.Writer) (exit int, err error)
}

// Step is one Check of a Plan.
type Step struct {
	Check check.Check
	// Needs names the steps that must be passed or not applicable first.
	Needs []string
	// After names steps that must have their verdict first, whatever it is.
	After []string
	// GPUs is how many it holds while observing.
	GPUs int
	// Recommended says that its verdict is no part of the walk's: it has to have one,
	// whatever it is. A walk of this step alone has its verdict all the same.
	Recommended bool
	// NotApplicable is the reason why the site does not want it; it is then
	// neither prepared nor observed.
	NotApplicable string
	// Prepare is done in order before observing.
	Prepare []Prepare
	// Describe says what would be run, a line each, for people.
	Describe []string
}

// Name is the name of the step's Check.
func (s Step) Name() string {
	if s.Check == nil {
		return ""
	}
	return s.Check.Name()
}

// before are the steps that have to be decided before it is begun.
func (s Step) before() []string { return slices.Concat(s.Needs, s.After) }

// Plan is a graph of steps, in declared order.
type Plan struct {
	Name  string
	Steps []Step
}

// ErrInvalid marks a plan that can not be walked, or a walk that asks for a
// step that the plan does not have.
var ErrInvalid = errors.New("invalid plan")

// Step finds a step by name.
func (p Plan) Step(name string) (Step, bool) {
	for _, s := range p.Steps {
		if s.Name() == name {
			return s, true
		}
	}
	return Step{}, false
}

// Validate reports every problem of the plan.
func (p Plan) Validate() error {
	var problems []error
	seen := map[string]bool{}
	if len(p.Steps) == 0 {
		problems = append(problems, fmt.Errorf("%w: plan %q has no steps", ErrInvalid, p.Name))
	}
	for i, s := range p.Steps {
		name := s.Name()
		switch {
		case name == "":
			problems = append(problems, fmt.Errorf("%w: step %d has no check or no name", ErrInvalid, i+1))
		case seen[name]:
			problems = append(problems, fmt.Errorf("%w: two steps are named %q", ErrInvalid, name))
		}
		seen[name] = true
		if s.GPUs < 0 {
			problems = append(problems, fmt.Errorf("%w: step %q claims %d GPUs", ErrInvalid, name, s.GPUs))
		}
	}
	for _, s := range p.Steps {
		for _, need := range s.before() {
			if !seen[need] {
				problems = append(problems, fmt.Errorf("%w: step %q needs %q, which is not in the plan", ErrInvalid, s.Name(), need))
			}
		}
	}
	if len(problems) == 0 {
		if _, rest := p.sort(); len(rest) > 0 {
			problems = append(problems, fmt.Errorf("%w: these steps need each other in a circle: %v", ErrInvalid, rest))
		}
	}
	return errors.Join(problems...)
}

// Order is the order in which steps are walked: what is needed comes first,
// and the declared order decides the rest.
func (p Plan) Order() ([]Step, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	order, _ := p.sort()
	return order, nil
}

// sort returns the steps in order, and the names of those in circles.
func (p Plan) sort() (order []Step, circle []string) {
	done := map[string]bool{}
	for len(order) < len(p.Steps) {
		next, ok := p.nextAfter(done)
		if !ok {
			break
		}
		done[next.Name()] = true
		order = append(order, next)
	}
	for _, s := range p.Steps {
		if !done[s.Name()] {
			circle = append(circle, s.Name())
		}
	}
	return order, circle
}

// nextAfter is the first declared step that is not done and whose needs are.
func (p Plan) nextAfter(done map[string]bool) (Step, bool) {
	for _, s := range p.Steps {
		if done[s.Name()] {
			continue
		}
		ready := true
		for _, need := range s.before() {
			ready = ready && done[need]
		}
		if ready {
			return s, true
		}
	}
	return Step{}, false
}
