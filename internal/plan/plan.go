package plan

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/pregate/playbook"
)

// Prepare is an action before a step is observed. Its output is stored as evidence; neither
// its exit code nor its error decides the verdict.
type Prepare interface {
	Name() string
	// Run calls progress, until it returns, with what the action waits for.
	Run(ctx context.Context, out io.Writer, progress func(text string)) (exit int, err error)
}

// ObservingPrepare is a Prepare whose result is judged with its step: it is observed instead of run.
type ObservingPrepare interface {
	Prepare
	// Observe does the action without the nodes leftOut, and records observations of the kinds of
	// package playbook, or of kinds that begin with PreparedPrefix. Later preparations and the step's
	// check follow only if proceed is true.
	Observe(ctx context.Context, rec check.Recorder, leftOut []string) (proceed bool, err error)
}

// Step is one Check of a Plan.
type Step struct {
	Check check.Check
	// Needs are the names of steps that must be passed first. A step that is not applicable
	// is replaced by its own needs.
	Needs []string
	// After are the names of steps that must have a verdict first. A step that is not
	// applicable is replaced by the steps that it waits for.
	After []string
	// GPUs is the number of GPUs that it claims while observing.
	GPUs int
	// Recommended excludes the step's verdict from the overall verdict; it must have one. A
	// run of this step alone has its verdict.
	Recommended bool
	// NotApplicable is the site's reason to skip the step; it is then neither prepared nor
	// observed.
	NotApplicable string
	// Prepare runs in order before observing.
	Prepare []Prepare
	// Playbooks is what is required of the playbooks of Prepare.
	Playbooks playbook.Expected
	// Describe lists the commands and requests for a dry run, one per line.
	Describe []string
}

// Name is the name of the step's Check.
func (s Step) Name() string {
	if s.Check == nil {
		return ""
	}
	return s.Check.Name()
}

// before are the steps that must have a verdict before s starts.
func (s Step) before() []string { return slices.Concat(s.Needs, s.After) }

// Plan is a graph of steps, in declared order.
type Plan struct {
	Name  string
	Steps []Step
	// AllowFailed is the most failed nodes that the plan leaves out; see JudgePart.
	AllowFailed int
}

// ErrInvalid is the error of an invalid plan, or of a selection of unknown steps.
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
	if p.AllowFailed < 0 {
		problems = append(problems, fmt.Errorf("%w: plan %q allows %d failed nodes: must not be negative", ErrInvalid, p.Name, p.AllowFailed))
	}
	if len(p.Steps) == 0 {
		problems = append(problems, fmt.Errorf("%w: plan %q has no steps", ErrInvalid, p.Name))
	}
	for i, s := range p.Steps {
		name := s.Name()
		switch {
		case name == "":
			problems = append(problems, fmt.Errorf("%w: step %d must have a check with a name", ErrInvalid, i+1))
		case seen[name]:
			problems = append(problems, fmt.Errorf("%w: two steps are named %q", ErrInvalid, name))
		}
		seen[name] = true
		if s.GPUs < 0 {
			problems = append(problems, fmt.Errorf("%w: step %q claims %d GPUs: must not be negative", ErrInvalid, name, s.GPUs))
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
			problems = append(problems, fmt.Errorf("%w: the steps %v form a cycle", ErrInvalid, rest))
		}
	}
	return errors.Join(problems...)
}

// Order is the order of execution: needs first, then the declared order.
func (p Plan) Order() ([]Step, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	order, _ := p.sort()
	return order, nil
}

// sort returns the steps in order, and the names of those in a cycle.
func (p Plan) sort() (order []Step, cycle []string) {
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
			cycle = append(cycle, s.Name())
		}
	}
	return order, cycle
}

// nextAfter is the first declared step that is not done and whose needs are done.
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
