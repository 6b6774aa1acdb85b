package plan

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// Executor runs one Plan once.
type Executor struct {
	Plan  Plan
	Store Store
	// Capacity returns the number of free GPUs. It is called only before a step that claims
	// GPUs starts while none are claimed, and may wait for the cluster. If it is nil or
	// fails, such steps run one at a time. A claim beyond the capacity runs alone: the step
	// itself observes that GPUs are missing.
	Capacity func(ctx context.Context) (int, error)
	// Parallel limits the number of concurrent steps; 0 is no limit.
	Parallel int
	// Clock defaults to time.Now.
	Clock func() time.Time
	// Events may be nil. Calls do not overlap; it must not block.
	Events func(Event)
	// From runs this step and all later ones of the order again; Only runs this step alone
	// and ignores its needs. Both empty: every step without a verdict in Earlier.
	From, Only string
	// Until ends the run after this step; the later steps of the order are omitted.
	Until string
	// Earlier are verdicts to keep: of the journal for a resumed run (without From, since the
	// journal already has the repeated steps), of an earlier run for From.
	Earlier map[string]Result
	// Cleanup removes the objects that the step created, and no others, since other steps
	// may be running. It is called after every observation, also after an interruption. May
	// be nil.
	Cleanup func(ctx context.Context, step string) error
	// CleanupTimeout limits one Cleanup; defaults to 2 minutes.
	CleanupTimeout time.Duration
}

const defaultCleanupTimeout = 2 * time.Minute

// Run runs the plan. It returns an error if the plan or the selection is invalid (ErrInvalid)
// or the store fails, and never for the verdict of a step.
func (e *Executor) Run(ctx context.Context) (Outcome, error) {
	order, err := e.Plan.Order()
	if err != nil {
		return Outcome{}, err
	}
	if e.Store == nil {
		return Outcome{}, fmt.Errorf("%w: Executor.Store must be set", ErrInvalid)
	}
	todo, err := e.choose(order)
	if err != nil {
		return Outcome{}, err
	}
	x := &execution{executor: e, order: order, todo: todo, needs: Needs{}, before: Needs{}, results: map[string]Result{}, finished: make(chan finished)}
	for _, s := range order {
		x.needs[s.Name()], x.before[s.Name()] = s.Needs, s.before()
	}
	return x.run(ctx)
}

// choose returns the steps to run.
func (e *Executor) choose(order []Step) (map[string]bool, error) {
	for _, name := range []string{e.From, e.Only, e.Until} {
		if _, ok := e.Plan.Step(name); name != "" && !ok {
			return nil, fmt.Errorf("%w: %q has no step %q", ErrInvalid, e.Plan.Name, name)
		}
	}
	if e.From != "" && e.Only != "" {
		return nil, fmt.Errorf("%w: from %q and only %q exclude each other", ErrInvalid, e.From, e.Only)
	}
	if e.Until != "" && e.Only != "" {
		return nil, fmt.Errorf("%w: until %q and only %q exclude each other", ErrInvalid, e.Until, e.Only)
	}
	for name := range e.Earlier {
		if _, ok := e.Plan.Step(name); !ok {
			return nil, fmt.Errorf("%w: %q has no step %q of an earlier verdict", ErrInvalid, e.Plan.Name, name)
		}
	}
	return e.todo(order), nil
}

func (e *Executor) todo(order []Step) map[string]bool {
	todo := map[string]bool{}
	reached, beyond := false, false
	for _, s := range order {
		name := s.Name()
		reached = reached || name == e.From
		_, kept := e.Earlier[name]
		switch {
		case beyond:
			todo[name] = false
		case e.Only != "":
			todo[name] = name == e.Only && !kept
		case e.From != "":
			todo[name] = reached
		default:
			todo[name] = !kept
		}
		beyond = beyond || name == e.Until
	}
	return todo
}

// execution is the state of one Run. Only the goroutine of run uses the fields not guarded by mu.
type execution struct {
	executor *Executor
	order    []Step
	todo     map[string]bool
	needs    Needs
	before   Needs // needs and the steps to wait for
	results  map[string]Result
	started  map[string]bool
	running  int
	finished chan finished
	claims   claims
	fatal    error

	mu    sync.Mutex // events and notes
	notes []string
}

// finished is the report of a step's goroutine. A nil result means an interrupted step.
type finished struct {
	step   Step
	result *Result
	err    error // of the store
}

func (x *execution) now() time.Time {
	if x.executor.Clock == nil {
		return time.Now()
	}
	return x.executor.Clock()
}

func (x *execution) tell(e Event) {
	if x.executor.Events == nil {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	e.At = x.now()
	x.executor.Events(e)
}

func (x *execution) note(step, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	x.mu.Lock()
	x.notes = append(x.notes, text)
	x.mu.Unlock()
	x.tell(Event{Kind: EventNote, Step: step, Text: text})
}
