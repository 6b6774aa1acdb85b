package plan

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/check"
)

// fakeCheck is a check by function fields; without them it sees one thing and passes.
type fakeCheck struct {
	name    string
	observe func(ctx context.Context, rec check.Recorder) error
	judge   func(obs []check.Observation) check.Judgement
}

func (f fakeCheck) Name() string { return f.name }

func (f fakeCheck) Observe(ctx context.Context, rec check.Recorder) error {
	if f.observe != nil {
		return f.observe(ctx, rec)
	}
	return see(rec, "thing")
}

func (f fakeCheck) Judge(obs []check.Observation) check.Judgement {
	if f.judge != nil {
		return f.judge(obs)
	}
	return check.Pass("seen")
}

func see(rec check.Recorder, kind string) error {
	_, err := rec.Record(check.Observation{Kind: kind, Target: "here", Figures: json.RawMessage(`{"n":1}`)})
	return err
}

func failing(name string) fakeCheck {
	return fakeCheck{name: name, judge: func([]check.Observation) check.Judgement { return check.Fail(name + " is broken") }}
}

// memStore is a store by maps; fail makes a method fail.
type memStore struct {
	mu       sync.Mutex
	attempts map[string]int
	// abandoned are attempts without a verdict.
	abandoned map[string]int
	obs       map[string][]check.Observation
	log       []string
	results   []Result
	fail      func(what, step string) error
}

func newMemStore() *memStore {
	return &memStore{attempts: map[string]int{}, abandoned: map[string]int{}, obs: map[string][]check.Observation{}}
}

func (m *memStore) note(what, step string) error {
	m.log = append(m.log, what+" "+step)
	if m.fail != nil {
		return m.fail(what, step)
	}
	return nil
}

func (m *memStore) Begin(step string, _ time.Time) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.attempts[step]++
	return m.attempts[step], m.note("begin", step)
}

func (m *memStore) Record(attempt int, o check.Observation) (check.Observation, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.note("record "+o.Kind, o.Check); err != nil {
		return o, err
	}
	key := fmt.Sprint(o.Check, attempt)
	o.ID = fmt.Sprintf("%s-%d-%d", o.Check, attempt, len(m.obs[key])+1)
	m.obs[key] = append(m.obs[key], o)
	return o, nil
}

func (m *memStore) Observations(step string, attempt int) ([]check.Observation, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.obs[fmt.Sprint(step, attempt)], m.note("read", step)
}

func (m *memStore) Abandoned(step string) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.abandoned[step]
}

func (m *memStore) Abandon(r Result) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.note(fmt.Sprintf("abandon %s %d", r.Verdict, r.Attempt), r.Step); err != nil {
		return err
	}
	m.abandoned[r.Step] = 0
	return nil
}

func (m *memStore) Conclude(r Result) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.note("conclude "+string(r.Verdict), r.Step); err != nil {
		return err
	}
	m.results = append(m.results, r)
	return nil
}

// steps makes a linear plan of checks that each need the one before.
func linear(checks ...check.Check) Plan {
	p := Plan{Name: "test"}
	for i, c := range checks {
		s := Step{Check: c}
		if i > 0 {
			s.Needs = []string{checks[i-1].Name()}
		}
		p.Steps = append(p.Steps, s)
	}
	return p
}

func runPlan(t *testing.T, w *Executor) (Outcome, *memStore) {
	t.Helper()
	store, ok := w.Store.(*memStore)
	if !ok {
		store = newMemStore()
		w.Store = store
	}
	if w.Clock == nil {
		w.Clock = fixedClock()
	}
	out, err := w.Run(t.Context())
	if err != nil {
		t.Fatalf("Run: %v", err)
	}
	return out, store
}

// fixedClock moves a second a reading.
func fixedClock() func() time.Time {
	var mu sync.Mutex
	at := time.Date(2026, 11, 21, 1, 42, 33, 0, time.UTC)
	return func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		at = at.Add(time.Second)
		return at
	}
}

func verdicts(out Outcome) map[string]check.Verdict {
	m := map[string]check.Verdict{}
	for _, r := range out.Results {
		m[r.Step] = r.Verdict
	}
	return m
}

// fakePrepare is a Prepare that prints and ends as told.
type fakePrepare struct {
	name string
	run  func(out io.Writer) (int, error)
}

func (f fakePrepare) Name() string { return f.name }

func (f fakePrepare) Run(_ context.Context, out io.Writer, _ func(string)) (int, error) {
	return f.run(out)
}

var errStore = errors.New("disk full")
