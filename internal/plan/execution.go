package plan

import (
	"context"

	"github.com/firstlight/firstlight/internal/check"
)

// run is the scheduler: one goroutine that decides, and one for each running step.
func (x *execution) run(caller context.Context) (Outcome, error) {
	ctx, cancel := context.WithCancel(caller)
	defer cancel()
	x.started = map[string]bool{}
	x.keepEarlier()
	for {
		if x.fatal == nil && ctx.Err() == nil {
			x.decide(ctx)
		}
		if x.fatal != nil {
			cancel()
		}
		if x.running == 0 && !x.claims.asking {
			break
		}
		select {
		case f := <-x.finished:
			x.running--
			x.claims.release(f.step)
			x.take(f)
		case a := <-x.claims.answers:
			x.claims.answered(a)
			if a.err != nil && ctx.Err() == nil {
				x.note("", "cannot query the free GPUs; steps that claim GPUs run one at a time: %v", a.err)
			}
		}
	}
	return x.outcome(caller.Err() != nil), x.fatal
}

// keepEarlier copies the earlier verdicts that stay valid.
func (x *execution) keepEarlier() {
	for _, s := range x.order {
		r, ok := x.executor.Earlier[s.Name()]
		if !ok || x.todo[s.Name()] || (x.executor.Only != "" && x.executor.Only != s.Name()) {
			continue
		}
		x.results[s.Name()] = r
		x.tell(Event{Kind: EventKept, Step: s.Name(), Result: &r})
	}
}

// decide concludes the steps that need no observation and starts those that may start.
func (x *execution) decide(ctx context.Context) {
	waiting := false // an earlier step waits for GPUs: later claims must wait too
	for _, s := range x.order {
		if x.fatal != nil {
			return
		}
		name := s.Name()
		if _, done := x.results[name]; done || !x.todo[name] || x.started[name] {
			continue
		}
		if s.NotApplicable != "" {
			x.concludeUnobserved(s, NotApplicable(s.NotApplicable))
			continue
		}
		if x.executor.Only == "" {
			if x.undecided(s) {
				continue
			}
			if j, blocked := Blocked(name, x.needs, x.results); blocked {
				x.concludeUnobserved(s, j)
				continue
			}
		}
		if x.executor.Parallel > 0 && x.running >= x.executor.Parallel {
			continue // later steps may still be concluded without observation
		}
		if s.GPUs > 0 {
			if waiting || !x.claims.fits(ctx, x.executor.Capacity, s) {
				waiting = true
				continue
			}
			x.claims.hold(s)
		}
		x.started[name] = true
		x.running++
		leftOut := x.needs.LeftOut(name, x.results)
		go func() { x.finished <- x.runStep(ctx, s, leftOut) }()
	}
}

// undecided reports whether a need will still get a verdict.
func (x *execution) undecided(s Step) bool {
	for _, need := range x.before.of(s.Name(), x.results) {
		if _, ok := x.results[need]; !ok && x.todo[need] {
			return true
		}
	}
	return false
}

// concludeUnobserved journals a verdict that needs no observation.
func (x *execution) concludeUnobserved(s Step, j check.Judgement) {
	r := Result{Step: s.Name(), Judgement: j, At: x.now()}
	if err := x.executor.Store.Conclude(r); err != nil {
		x.take(finished{step: s, err: err})
		return
	}
	x.take(finished{step: s, result: &r})
}

// take handles the report of a step's goroutine.
func (x *execution) take(f finished) {
	if f.err != nil && x.fatal == nil {
		x.fatal = f.err
	}
	if f.result == nil {
		return
	}
	x.results[f.step.Name()] = *f.result
	x.tell(Event{Kind: EventVerdict, Step: f.step.Name(), Result: f.result})
}

func (x *execution) outcome(ended bool) Outcome {
	out := Outcome{Verdict: x.overall(), Notes: x.notes}
	for _, s := range x.order {
		r, ok := x.results[s.Name()]
		switch {
		case ok:
			out.Results = append(out.Results, r)
		case x.todo[s.Name()]:
			out.Pending = append(out.Pending, s.Name())
		default:
			out.Omitted = append(out.Omitted, s.Name())
		}
	}
	out.Interrupted = ended && len(out.Pending) > 0
	return out
}
