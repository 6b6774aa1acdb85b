package plan

import (
	"context"

	"github.com/firstlight/firstlight/internal/check"
)

// run is the scheduler: one goroutine that decides, and one for each running step.
func (wk *walk) run(caller context.Context) (Outcome, error) {
	ctx, cancel := context.WithCancel(caller)
	defer cancel()
	wk.started = map[string]bool{}
	wk.keepEarlier()
	for {
		if wk.fatal == nil && ctx.Err() == nil {
			wk.decide(ctx)
		}
		if wk.fatal != nil {
			cancel()
		}
		if wk.running == 0 && !wk.claims.asking {
			break
		}
		select {
		case f := <-wk.finished:
			wk.running--
			wk.claims.release(f.step)
			wk.take(f)
		case a := <-wk.claims.answers:
			wk.claims.answered(a)
			if a.err != nil && ctx.Err() == nil {
				wk.note("", "cannot query the free GPUs; steps that claim GPUs run one at a time: %v", a.err)
			}
		}
	}
	return wk.outcome(caller.Err() != nil), wk.fatal
}

// keepEarlier copies the earlier verdicts that stay valid.
func (wk *walk) keepEarlier() {
	for _, s := range wk.order {
		r, ok := wk.w.Earlier[s.Name()]
		if !ok || wk.todo[s.Name()] || (wk.w.Only != "" && wk.w.Only != s.Name()) {
			continue
		}
		wk.results[s.Name()] = r
		wk.tell(Event{Kind: EventKept, Step: s.Name(), Result: &r})
	}
}

// decide concludes the steps that need no observation and starts those that may start.
func (wk *walk) decide(ctx context.Context) {
	waiting := false // an earlier step waits for GPUs: later claims must wait too
	for _, s := range wk.order {
		if wk.fatal != nil {
			return
		}
		name := s.Name()
		if _, done := wk.results[name]; done || !wk.todo[name] || wk.started[name] {
			continue
		}
		if s.NotApplicable != "" {
			wk.concludeUnobserved(s, NotApplicable(s.NotApplicable))
			continue
		}
		if wk.w.Only == "" {
			if wk.undecided(s) {
				continue
			}
			if j, blocked := Blocked(name, wk.needs, wk.results); blocked {
				wk.concludeUnobserved(s, j)
				continue
			}
		}
		if wk.w.Parallel > 0 && wk.running >= wk.w.Parallel {
			continue // later steps may still be concluded without observation
		}
		if s.GPUs > 0 {
			if waiting || !wk.claims.fits(ctx, wk.w.Capacity, s) {
				waiting = true
				continue
			}
			wk.claims.hold(s)
		}
		wk.started[name] = true
		wk.running++
		go func() { wk.finished <- wk.runStep(ctx, s) }()
	}
}

// undecided reports whether a need will still get a verdict.
func (wk *walk) undecided(s Step) bool {
	for _, need := range wk.before.of(s.Name(), wk.results) {
		if _, ok := wk.results[need]; !ok && wk.todo[need] {
			return true
		}
	}
	return false
}

// concludeUnobserved journals a verdict that needs no observation.
func (wk *walk) concludeUnobserved(s Step, j check.Judgement) {
	r := Result{Step: s.Name(), Judgement: j, At: wk.now()}
	if err := wk.w.Store.Conclude(r); err != nil {
		wk.take(finished{step: s, err: err})
		return
	}
	wk.take(finished{step: s, result: &r})
}

// take handles the report of a step's goroutine.
func (wk *walk) take(f finished) {
	if f.err != nil && wk.fatal == nil {
		wk.fatal = f.err
	}
	if f.result == nil {
		return
	}
	wk.results[f.step.Name()] = *f.result
	wk.tell(Event{Kind: EventVerdict, Step: f.step.Name(), Result: f.result})
}

func (wk *walk) outcome(ended bool) Outcome {
	out := Outcome{Verdict: wk.overall(), Notes: wk.notes}
	for _, s := range wk.order {
		r, ok := wk.results[s.Name()]
		switch {
		case ok:
			out.Results = append(out.Results, r)
		case wk.todo[s.Name()]:
			out.Pending = append(out.Pending, s.Name())
		default:
			out.Omitted = append(out.Omitted, s.Name())
		}
	}
	out.Interrupted = ended && len(out.Pending) > 0
	return out
}
