package watch

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/drift"
	"github.com/firstlight/firstlight/internal/evidence/redact"
	"github.com/firstlight/firstlight/internal/gate/node"
)

// Options of a watch.
type Options struct {
	Accepted Accepted
	// Gates are gate node of each group of nodes.
	Gates []*node.LowLoad
	// Declared are the profiles and images of the site now.
	Declared drift.Stack
	// Every is the time from the start of a round to the next.
	Every time.Duration
	// Dir is the directory of the journal: see the function Dir.
	Dir string
	// Command accepts what has changed. It is a whole acceptance: one --from a gate keeps no verdict of
	// another profile or image, nor one of last month.
	Command string
	// Report gets each transition, in order, once it is in the journal.
	Report func(Transition) error
	// Clock and Random (from 0 to 1) are the real ones if nil.
	Clock  clock.Clock
	Random func() float64
}

// Watch observes the nodes of an accepted cluster. Its methods Collect and Describe may be called
// at any time, the others by one goroutine.
type Watch struct {
	o        Options
	settings settings
	journal  *journal
	tracker  *Tracker
	observer *observer
	previous []check.Observation

	mu   sync.Mutex
	seen seen
}

// Open opens the journal of the accepted run, or creates it, and continues from its states.
func Open(o Options) (*Watch, error) {
	if len(o.Gates) == 0 || len(o.Accepted.Machines) == 0 || o.Every <= 0 {
		return nil, fmt.Errorf("open the watch: gates, accepted nodes and an interval are required")
	}
	s, err := loadSettings()
	if err != nil {
		return nil, err
	}
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	if o.Random == nil {
		o.Random = rand.Float64 // no secret: it spreads the rounds
	}
	j, transitions, err := openJournal(o.Dir, o.Accepted.Header)
	if err != nil {
		return nil, err
	}
	host := min(s.HostTimeout.Value, time.Duration(s.HostFraction.Value*float64(o.Every)))
	w := &Watch{
		o: o, settings: s, journal: j, tracker: NewTracker(s.rules()),
		observer: &observer{gates: o.Gates, round: o.Every, host: host, busy: map[string]bool{}},
		seen:     newSeen(),
	}
	for _, t := range transitions {
		w.tracker.Restore(t)
		w.seen.count(t)
	}
	if w.previous, err = w.readKept(transitions); err != nil {
		return nil, errors.Join(err, j.close())
	}
	return w, nil
}

// Journal is the path of the journal.
func (w *Watch) Journal() string { return w.journal.path() }

// Transitions is the number of transitions in the journal.
func (w *Watch) Transitions() int { return w.journal.next - 1 }

// Close closes the journal.
func (w *Watch) Close() error { return w.journal.close() }

// Run runs rounds until ctx ends. Its error is of a file of the watch or of Report.
func (w *Watch) Run(ctx context.Context) error {
	for ctx.Err() == nil {
		began := w.o.Clock.Now()
		if err := w.Round(ctx); err != nil {
			return err
		}
		shift := w.settings.Jitter.Value * (2*w.o.Random() - 1)
		next := began.Add(time.Duration((1 + shift) * float64(w.o.Every)))
		timer := w.o.Clock.NewTimer(max(0, next.Sub(w.o.Clock.Now())))
		select {
		case <-timer.C():
		case <-ctx.Done():
			timer.Stop()
		}
	}
	return nil
}

// Round runs one round. A round that ctx interrupts shows nothing.
func (w *Watch) Round(ctx context.Context) error {
	obs, missed := w.observer.observe(ctx)
	select {
	case <-ctx.Done():
		return nil
	default:
	}
	return w.apply(obs, missed)
}

// apply judges and records the observations of a round.
func (w *Watch) apply(obs []check.Observation, missed map[string]string) error {
	at := w.o.Clock.Now()
	round := w.judge(obs, missed)
	w.mu.Lock()
	w.seen.round(at, round, obs, missed)
	w.mu.Unlock()
	for _, t := range w.tracker.Observe(at, round) {
		if err := w.record(t, obs); err != nil {
			return err
		}
	}
	// After the journal: if the process is killed in between, the next round shows the transition again.
	return w.writeKept()
}

// judge returns the readings of a round.
func (w *Watch) judge(obs []check.Observation, missed map[string]string) []Reading {
	var out []Reading
	now := map[string]node.Machine{}
	for _, m := range node.Inventory(obs) {
		now[m.Host] = m
	}
	for _, g := range w.o.Gates {
		of := slices.DeleteFunc(slices.Clone(obs), func(o check.Observation) bool { return !slices.Contains(g.Nodes(), o.Target) })
		out = append(out, readings(g.Nodes(), g.Kinds(), judgeSafely(g, w.previous, of), missed)...)
	}
	w.previous = w.keep(w.previous, obs)
	ids := map[string][]string{}
	for _, o := range obs {
		ids[o.Target] = append(ids[o.Target], o.ID)
	}
	for _, was := range w.o.Accepted.Machines {
		out = append(out, compareMachine(w.o.Accepted.Run, was, now[was.Host], ids[was.Host]))
	}
	return append(out, compareDeclared(w.o.Accepted.Run, w.o.Accepted.Declared, w.o.Declared))
}

// judgeSafely turns a panic into findings: no check of the gate was judged.
func judgeSafely(g *node.LowLoad, previous, obs []check.Observation) (out []node.HostFinding) {
	defer func() {
		p := recover()
		if p == nil {
			return
		}
		out = nil
		for _, name := range g.Nodes() {
			for _, kind := range g.Kinds() {
				f := check.NewFinding("", name, "this is a defect of the gate: report it with the observations", "judging the nodes panicked: %v", p)
				out = append(out, node.HostFinding{Node: name, Kind: kind, Verdict: check.Unobserved, Finding: f})
			}
		}
	}()
	return g.Judge(previous, obs)
}

// record appends a transition to the journal, then reports it.
func (w *Watch) record(t Transition, obs []check.Observation) error {
	t.At, t.Since = t.At.UTC(), t.Since.UTC()
	for i := range t.Findings {
		t.Findings[i].Message = redact.String(t.Findings[i].Message)
	}
	if t.To == Changed {
		t.Accept = w.o.Command
	}
	of := slices.DeleteFunc(slices.Clone(obs), func(o check.Observation) bool { return o.Target != t.Node })
	t, err := w.journal.append(t, of)
	if err != nil {
		return err
	}
	w.mu.Lock()
	w.seen.count(t)
	w.mu.Unlock()
	return w.o.Report(t)
}
