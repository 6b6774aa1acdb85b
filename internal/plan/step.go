package plan

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/firstlight/firstlight/internal/check"
)

// runStep runs one step, without the nodes that earlier steps left out, from its start to its
// verdict.
func (x *execution) runStep(ctx context.Context, s Step, leftOut []string) finished {
	name := s.Name()
	if err := x.judgeAbandoned(s, leftOut); err != nil {
		return finished{step: s, err: err}
	}
	begun := x.now()
	attempt, err := x.executor.Store.Begin(name, begun)
	if err != nil {
		return finished{step: s, err: fmt.Errorf("begin %s: %w", name, err)}
	}
	x.tell(Event{Kind: EventStarted, Step: name})
	rec := &recorder{run: x, step: name, attempt: attempt}
	proceed := x.prepare(ctx, s, rec, leftOut)
	if proceed && ctx.Err() == nil && rec.broken() == nil {
		if err := observeSafely(ctx, without(s.Check, leftOut), rec); err != nil && ctx.Err() == nil {
			x.recordError(rec, err)
		}
	}
	rec.close()
	x.cleanUp(ctx, name)
	switch {
	case rec.broken() != nil:
		return finished{step: s, err: fmt.Errorf("record an observation of %s: %w", name, rec.broken())}
	case ctx.Err() != nil:
		return finished{step: s} // interrupted: no verdict
	}
	obs, err := x.executor.Store.Observations(name, attempt)
	if err != nil {
		return finished{step: s, err: fmt.Errorf("read back the observations of %s: %w", name, err)}
	}
	done := x.now()
	r := Result{Step: name, Judgement: JudgePart(s.Check, s.Playbooks, obs, leftOut, x.executor.Plan.AllowFailed), Started: begun, Finished: done, At: done, Attempt: attempt}
	for _, o := range obs {
		r.Observations = append(r.Observations, o.ID)
	}
	if err := x.executor.Store.Conclude(r); err != nil {
		return finished{step: s, err: fmt.Errorf("journal the verdict of %s: %w", name, err)}
	}
	return finished{step: s, result: &r}
}

// judgeAbandoned judges and journals the attempt of a step that was begun and not finished, before the
// step is observed again. Without it a step that ends before its verdict can be repeated until it passes,
// and the run does not show the observations that fail.
func (x *execution) judgeAbandoned(s Step, leftOut []string) error {
	name := s.Name()
	attempt := x.executor.Store.Abandoned(name)
	if attempt == 0 {
		return nil
	}
	obs, err := x.executor.Store.Observations(name, attempt)
	if err != nil {
		return fmt.Errorf("read back the observations of attempt %d of %s: %w", attempt, name, err)
	}
	r := Result{Step: name, Judgement: JudgePart(s.Check, s.Playbooks, obs, leftOut, x.executor.Plan.AllowFailed), At: x.now(), Attempt: attempt}
	for _, o := range obs {
		r.Observations = append(r.Observations, o.ID)
	}
	if err := x.executor.Store.Abandon(r); err != nil {
		return fmt.Errorf("journal attempt %d of %s: %w", attempt, name, err)
	}
	return nil
}

// observeSafely turns a panic of the check into an error.
func observeSafely(ctx context.Context, c check.Check, rec check.Recorder) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("observing %s panicked: %v\n%s", c.Name(), p, debug.Stack())
		}
	}()
	return c.Observe(ctx, rec)
}

// recordError stores the error of Observe as an observation.
func (x *execution) recordError(rec *recorder, err error) {
	text, _, _ := bytes.Cut([]byte(err.Error()), []byte("\ngoroutine "))
	_, _ = rec.store(check.Observation{ // rec keeps the store's error
		Kind: KindError, Target: rec.step, Command: "observe", At: x.now(),
		Err: string(text), Raw: []byte(err.Error()),
	})
}

// prepare runs the site's preparations and stores their output. The step is not observed if it returns
// false.
func (x *execution) prepare(ctx context.Context, s Step, rec *recorder, leftOut []string) (proceed bool) {
	for _, p := range s.Prepare {
		if ctx.Err() != nil || rec.broken() != nil {
			return false
		}
		x.tell(Event{Kind: EventPrepare, Step: s.Name(), Text: p.Name()})
		if o, ok := p.(ObservingPrepare); ok {
			proceed, err := observePrepareSafely(ctx, o, rec, leftOut)
			if err != nil && ctx.Err() == nil {
				x.recordError(rec, err)
			}
			if err != nil || !proceed {
				return false
			}
			continue
		}
		o := check.Observation{Kind: KindPrepare, Target: p.Name(), Command: p.Name(), At: x.now()}
		out := &bounded{limit: maxPrepareOutput}
		exit, err := prepareSafely(ctx, p, out, func(text string) { rec.Progress("%s", text) })
		o.Took.Duration, o.Raw, o.Exit = x.now().Sub(o.At), out.bytes(), &exit
		if err != nil {
			o.Err = err.Error()
		}
		_, _ = rec.store(o)
		if why := failure(o); why != "" {
			x.note(s.Name(), "preparation %s of %s failed: %s", o.Command, s.Name(), why)
		}
	}
	return true
}

func observePrepareSafely(ctx context.Context, p ObservingPrepare, rec *recorder, leftOut []string) (proceed bool, err error) {
	defer func() {
		if r := recover(); r != nil {
			proceed, err = false, fmt.Errorf("preparing %s panicked: %v", p.Name(), r)
		}
	}()
	return p.Observe(ctx, prepareRecorder{rec}, leftOut)
}

func prepareSafely(ctx context.Context, p Prepare, out *bounded, progress func(string)) (exit int, err error) {
	defer func() {
		if r := recover(); r != nil {
			exit, err = -1, fmt.Errorf("preparing %s panicked: %v", p.Name(), r)
		}
	}()
	return p.Run(ctx, out, progress)
}

// cleanUp removes the objects that a step created, also after the context has ended.
func (x *execution) cleanUp(ctx context.Context, step string) {
	if x.executor.Cleanup == nil {
		return
	}
	limit := cmp.Or(x.executor.CleanupTimeout, defaultCleanupTimeout)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
	defer cancel()
	if err := x.executor.Cleanup(ctx, step); err != nil {
		x.note(step, "clean up after %s: %v", step, err)
	}
}

// errClosed is the error of a record after Observe has returned.
var errClosed = errors.New("cannot record: the step is over")

// checkFigures refuses figures that cannot be decoded.
func checkFigures(o check.Observation) error {
	if len(o.Figures) > 0 && !json.Valid(o.Figures) {
		return fmt.Errorf("invalid figures of %s on %s: must be JSON", o.Kind, o.Target)
	}
	return nil
}
