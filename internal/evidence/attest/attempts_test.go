package attest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/evidence"
	"github.com/firstlight/firstlight/internal/evidence/evidencetest"
	"github.com/firstlight/firstlight/internal/plan"
)

// resumed is a run whose step c was interrupted after its observation, and passed when it was resumed.
func resumed(t *testing.T, end func(r *evidence.Run, out plan.Outcome) error) string {
	t.Helper()
	dir := evidencetest.Interrupted(t)
	clock := evidencetest.Clock()
	r, err := evidence.Open(dir, evidence.Options{Clock: clock})
	if err != nil {
		t.Fatal(err)
	}
	w := plan.Executor{Plan: evidencetest.Plan(), Store: r, Clock: clock, Earlier: r.Results()}
	out, err := w.Run(t.Context())
	if err == nil {
		err = end(r, out)
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// The statement and the report of verify name an attempt that ended without a verdict, with its judgement,
// which is replayed like a verdict.
func TestTheStatementNamesEarlierAttempts(t *testing.T) {
	t.Parallel()
	dir := resumed(t, func(r *evidence.Run, out plan.Outcome) error { return r.Finish(out, nil) })
	const want = "c was begun more than once: attempt 1 ended without a verdict, its observation is judged failed: the sum is 4, not 9"
	s := sign(t, dir)
	if got := s.Predicate.EarlierAttempts; len(got) != 1 || !strings.HasPrefix(got[0], want) {
		t.Errorf("the statement has %q", got)
	}
	r := verify(t, dir)
	if r.Outcome() != OK || !slices.ContainsFunc(r.NarrowedBy, func(line string) bool { return strings.HasPrefix(line, want) }) {
		t.Errorf("%s, narrowed by %q: %v", r.Outcome(), r.NarrowedBy, r)
	}
	swap(t, dir, "journal.jsonl", `"type":"abandoned","step":"c","result":{"step":"c","verdict":"failed"`, `"type":"abandoned","step":"c","result":{"step":"c","verdict":"passed"`)
	renew(t, dir)
	if r := verify(t, dir); !strings.Contains(r.String(), "c, attempt 1: verdict passed, now failed") {
		t.Errorf("a changed judgement is accepted: %v", r)
	}
}

// A run that was killed while it removed its objects does not pass, although each of its steps has.
func TestARunThatWasKilledDuringItsCleanUpDoesNotPass(t *testing.T) {
	t.Parallel()
	p := plan.Plan{Name: "playbook", Steps: evidencetest.Plan().Steps[:2]}
	checks := func(*evidence.Bundle) (evidence.Derived, error) {
		var out evidence.Derived
		for _, s := range p.Steps {
			out.Checks = append(out.Checks, s.Check)
		}
		return out, nil
	}
	clock := evidencetest.Clock()
	r, err := evidence.Create(t.TempDir(), evidencetest.Start(p), evidence.Options{Clock: clock})
	if err != nil {
		t.Fatal(err)
	}
	w := plan.Executor{Plan: p, Store: r, Clock: clock}
	if out, err := w.Run(t.Context()); err != nil || out.Verdict != check.Passed {
		t.Fatalf("%+v, %v", out, err)
	}
	killed := filepath.Join(t.TempDir(), r.ID()) // the process still has the lock of the other
	if err := os.CopyFS(killed, os.DirFS(r.Dir())); err != nil {
		t.Fatal(err)
	}
	s, err := Sign(t.Context(), killed, key(t, 'k'), SignOptions{ChecksFor: checks, Clock: later})
	if err != nil || s.Predicate.Verdict != check.Unobserved || s.Predicate.Counts.Passed != 2 {
		t.Errorf("the statement says %s: %v", s.Predicate.Verdict, err)
	}
	v, err := Verify(t.Context(), killed, Options{Keys: []PublicKey{key(t, 'k').Public()}, ChecksFor: checks})
	if err != nil || v.Verdict != check.Unobserved || !slices.Contains(v.NarrowedBy, "the end of the run and its clean-up were not recorded") {
		t.Errorf("verify says %s, narrowed by %q: %v", v.Verdict, v.NarrowedBy, err)
	}
	if err := r.Close("the Lease was lost"); err != nil {
		t.Fatal(err)
	}
	if b, err := evidence.Load(r.Dir()); err != nil || b.Verdict() != check.Unobserved {
		t.Errorf("closed without its end: %s, %v", b.Verdict(), err)
	}
}
