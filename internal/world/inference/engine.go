package inference

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/firstlight/firstlight/internal/world"
)

// sequence is one request in the engine.
type sequence struct {
	ctx    context.Context //nolint:containedctx // the client's: a disconnect drops the sequence
	prompt int             // tokens
	limit  int             // tokens to generate
	text   func(i int) string
	tokens chan string // closed when the sequence ends

	made     int
	blocks   int
	prefill  bool      // the prompt is not in the cache
	arrived  time.Time // at the server
	queued   time.Time // due time of the entry into the engine
	started  time.Time
	lastSeen time.Time
}

// engine implements continuous batching: each step prefills admitted sequences and generates a
// token for every running one.
//
// A step begins at the due time of the previous one, not when a busy machine got to run it: later
// steps make up for a delay, and the server's metrics have the times of the simulated GPUs.
type engine struct {
	figures   world.HardwareInference
	modifiers func() world.Inference
	now       func() time.Time
	metrics   *metrics
	blocks    int // size of the cache

	mu      sync.Mutex
	waiting []*sequence
	running []*sequence
	used    int // blocks
	wake    chan struct{}
}

func newEngine(c Config, cacheTokens int, m *metrics) *engine {
	return &engine{
		figures: c.Figures, modifiers: c.Modifiers, now: c.Now, metrics: m,
		blocks: cacheTokens / blockTokens, wake: make(chan struct{}, 1),
	}
}

// submit queues a sequence.
func (e *engine) submit(s *sequence) {
	s.prefill = true
	e.mu.Lock()
	e.waiting = append(e.waiting, s)
	e.mu.Unlock()
	select {
	case e.wake <- struct{}{}:
	default:
	}
}

// run steps until ctx ends and then drops remaining sequences.
func (e *engine) run(ctx context.Context) {
	defer e.abandon()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for at := e.now(); ; {
		begin, d, busy := e.plan(at)
		if !busy {
			select {
			case <-ctx.Done():
				return
			case <-e.wake:
			}
			continue
		}
		at = begin.Add(d)
		timer.Reset(at.Sub(e.now()))
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		e.metrics.late(e.now().Sub(at))
		e.deliver(at)
	}
}

// plan admits the sequences that fit at the time at, or, if the engine was idle, when the first was
// queued. It returns when the next step begins and how long it takes.
func (e *engine) plan(at time.Time) (begin time.Time, step time.Duration, busy bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	m := e.modifiers()
	e.dropDisconnected()
	if len(e.running) == 0 && len(e.waiting) > 0 && e.waiting[0].queued.After(at) {
		at = e.waiting[0].queued
	}
	e.admit(at, m)
	e.report()
	if len(e.running) == 0 {
		return at, 0, false
	}
	return at, e.stepTime(m), true
}

// dropDisconnected drops the sequences of clients that have disconnected.
func (e *engine) dropDisconnected() {
	gone := func(s *sequence) bool {
		if s.ctx.Err() == nil {
			return false
		}
		e.free(s)
		e.metrics.finished("abort")
		close(s.tokens)
		return true
	}
	e.running = slices.DeleteFunc(e.running, gone)
	e.waiting = slices.DeleteFunc(e.waiting, gone)
}

// admit moves the sequences that are queued at a time, and that fit, to the running batch.
func (e *engine) admit(at time.Time, m world.Inference) {
	most := e.figures.MaxNumSeqs
	if m.MaxNumSeqs > 0 {
		most = m.MaxNumSeqs
	}
	for len(e.waiting) > 0 && len(e.running) < most {
		s := e.waiting[0]
		if s.queued.After(at) || !e.grow(s, s.prompt+s.made+1) {
			break
		}
		e.waiting = e.waiting[1:]
		if s.started.IsZero() {
			s.started = at
			e.metrics.queued(at.Sub(s.queued))
		}
		e.running = append(e.running, s)
	}
}

// stepTime of the running batch: prefills plus one decode step.
func (e *engine) stepTime(m world.Inference) time.Duration {
	f := e.figures
	prompts := 0
	for _, s := range e.running {
		if s.prefill {
			prompts += s.prompt + s.made
		}
	}
	decode := (f.TPOTMs + f.TPOTPerSequenceMs*float64(len(e.running)-1)) * m.TPOTFactor / 1000
	seconds := float64(prompts)/f.PrefillTokensPerSecond + decode
	return time.Duration(seconds * float64(time.Second))
}

// deliver ends a step at the time it was due: one token for every running sequence.
func (e *engine) deliver(now time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, s := range slices.Clone(e.running) {
		if !slices.Contains(e.running, s) {
			continue // just preempted
		}
		s.prefill = false
		s.tokens <- s.text(s.made) // never blocks: the channel holds limit tokens
		s.made++
		e.metrics.token(s, now)
		if s.made >= s.limit {
			e.drop(s)
			e.metrics.done(s, now)
			close(s.tokens)
			continue
		}
		for !e.grow(s, s.prompt+s.made+1) {
			if !e.preempt(s) {
				break
			}
		}
	}
	e.report()
}

// grow extends the sequence's cache blocks to tokens.
func (e *engine) grow(s *sequence, tokens int) bool {
	want := (tokens + blockTokens - 1) / blockTokens
	if e.used+want-s.blocks > e.blocks {
		return false
	}
	e.used += want - s.blocks
	s.blocks = want
	return true
}

// preempt moves the youngest running sequence back to the queue without its cache. It reports
// whether s is still running.
func (e *engine) preempt(s *sequence) bool {
	victim := e.running[len(e.running)-1]
	e.drop(victim)
	victim.prefill = true
	e.waiting = append([]*sequence{victim}, e.waiting...)
	e.metrics.preemptions.Inc()
	return victim != s
}

func (e *engine) drop(s *sequence) {
	e.free(s)
	e.running = slices.DeleteFunc(e.running, func(o *sequence) bool { return o == s })
}

func (e *engine) free(s *sequence) {
	e.used -= s.blocks
	s.blocks = 0
}

func (e *engine) report() {
	e.metrics.running.Set(float64(len(e.running)))
	e.metrics.waiting.Set(float64(len(e.waiting)))
	e.metrics.cacheUsage.Set(float64(e.used) / float64(e.blocks))
}

func (e *engine) abandon() {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, s := range append(e.running, e.waiting...) {
		close(s.tokens)
	}
	e.running, e.waiting, e.used = nil, nil, 0
}
