package plan

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/firstlight/firstlight/internal/check"
)

// Executor walks one Plan once.
type Executor struct {
	Plan  Plan
	Store Store
	// Capacity is how many GPUs are free for this walk. It is asked only when a
	// step that claims GPUs is about to start and none is held, and may wait for a
	// cluster to come up. Nil, or an error, lets such steps run one at a time.
	// A claim beyond the capacity runs alone: that GPUs are missing is for the
	// step to observe.
	Capacity func(ctx context.Context) (int, error)
	// Parallel is how many steps may be under way at one time; 0: as many as may start.
	Parallel int
	// Clock is time.Now when nil.
	Clock func() time.Time
	// Events may be nil. Calls never overlap; it must not block for long.
	Events func(Event)
	// From re-runs this step and all later ones of the order; Only runs just this
	// step whatever it needs. Empty: every step that Earlier has no verdict for.
	From, Only string
	// Until ends the walk behind this step: what comes after it in the order is left for
	// another walk. Empty: nothing is.
	Until string
	// Earlier are verdicts to keep as they are: those of the journal when a run
	// is resumed (then without From: what it re-ran is in the journal), those of
	// an earlier run for From.
	Earlier map[string]Result
	// Interrupted are steps that were begun and never concluded: they are cleaned
	// up after before anything starts.
	Interrupted []string
	// Cleanup removes what the step created, and nothing else: other steps may be
	// running. It runs after every observation, also when the walk is interrupted.
	// May be nil.
	Cleanup func(ctx context.Context, step string) error
	// CleanupTimeout bounds one Cleanup; 2 minutes when 0.
	CleanupTimeout time.Duration
}

const defaultCleanupTimeout = 2 * time.Minute

// Walk walks. It returns an error when the plan or the selection is invalid
// (ErrInvalid) or the store fails, and never because of what a step found.
func (w *Executor) Run(ctx context.Context) (Outcome, error) {
	order, err := w.Plan.Order()
	if err != nil {
		return Outcome{}, err
	}
	if w.Store == nil {
		return Outcome{}, fmt.Errorf("%w: a walk needs a store", ErrInvalid)
	}
	todo, err := w.choose(order)
	if err != nil {
		return Outcome{}, err
	}
	wk := &walk{w: w, order: order, todo: todo, results: map[string]Result{}, finished: make(chan finished)}
	return wk.run(ctx)
}

// choose says which steps are to be walked.
func (w *Executor) choose(order []Step) (map[string]bool, error) {
	for _, name := range []string{w.From, w.Only, w.Until} {
		if _, ok := w.Plan.Step(name); name != "" && !ok {
			return nil, fmt.Errorf("%w: %q has no step %q", ErrInvalid, w.Plan.Name, name)
		}
	}
	if w.From != "" && w.Only != "" {
		return nil, fmt.Errorf("%w: from %q and only %q exclude each other", ErrInvalid, w.From, w.Only)
	}
	if w.Until != "" && w.Only != "" {
		return nil, fmt.Errorf("%w: until %q and only %q exclude each other", ErrInvalid, w.Until, w.Only)
	}
	for name := range w.Earlier {
		if _, ok := w.Plan.Step(name); !ok {
			return nil, fmt.Errorf("%w: %q has no step %q that an earlier verdict is kept for", ErrInvalid, w.Plan.Name, name)
		}
	}
	return w.todo(order), nil
}

func (w *Executor) todo(order []Step) map[string]bool {
	todo := map[string]bool{}
	reached, beyond := false, false
	for _, s := range order {
		name := s.Name()
		reached = reached || name == w.From
		_, kept := w.Earlier[name]
		switch {
		case beyond:
			todo[name] = false
		case w.Only != "":
			todo[name] = name == w.Only && !kept
		case w.From != "":
			todo[name] = reached
		default:
			todo[name] = !kept
		}
		beyond = beyond || name == w.Until
	}
	return todo
}

// walk is the state of one Walk. Only the goroutine of run touches what is
// not under mu.
type walk struct {
	w        *Executor
	order    []Step
	todo     map[string]bool
	results  map[string]Result
	started  map[string]bool
	running  int
	finished chan finished
	claims   claims
	fatal    error

	mu    sync.Mutex // events and notes
	notes []string
}

// finished is what a step's goroutine reports. A nil result: no verdict.
type finished struct {
	step   Step
	result *Result
	err    error // the store's
}

func (wk *walk) now() time.Time {
	if wk.w.Clock == nil {
		return time.Now()
	}
	return wk.w.Clock()
}

func (wk *walk) tell(e Event) {
	if wk.w.Events == nil {
		return
	}
	wk.mu.Lock()
	defer wk.mu.Unlock()
	e.At = wk.now()
	wk.w.Events(e)
}

func (wk *walk) note(step, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	wk.mu.Lock()
	wk.notes = append(wk.notes, text)
	wk.mu.Unlock()
	wk.tell(Event{Kind: EventNote, Step: step, Text: text})
}

// overall is the verdict over the steps that this walk is about. Those that are only
// recommended have to have one, whatever it is.
func (wk *walk) overall() check.Verdict {
	var verdicts []check.Verdict
	for _, s := range wk.order {
		r, ok := wk.results[s.Name()]
		switch {
		case ok && s.Recommended && wk.w.Only == "":
		case ok:
			verdicts = append(verdicts, r.Verdict)
		case wk.w.Only == "" || wk.w.Only == s.Name():
			verdicts = append(verdicts, check.Unobserved)
		}
		if s.Name() == wk.w.Until {
			break
		}
	}
	return check.Overall(verdicts)
}
