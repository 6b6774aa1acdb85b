package soak

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/evidence"
	"github.com/firstlight/firstlight/internal/evidence/evidencetest"
	"github.com/firstlight/firstlight/internal/plan"
)

// stored runs a plan into dir as a repetition of a soak. With stop it is killed while b is observed.
func stored(t *testing.T, dir, soak string, wanted int, stop bool) string {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	b := evidencetest.Sum{Step: "b", Readings: []int{1}, Wanted: 1}
	if stop {
		b.Stop = cancel
	}
	p := plan.Plan{Name: "playbook", Steps: []plan.Step{{Check: evidencetest.Sum{Step: "a", Readings: []int{1}, Wanted: wanted}}, {Check: b, After: []string{"a"}}}}
	start := evidencetest.Start(p)
	start.Header.Soak = soak
	clock := evidencetest.Clock()
	r, err := evidence.Create(dir, start, evidence.Options{Clock: clock})
	if err != nil {
		t.Fatal(err)
	}
	x := plan.Executor{Plan: p, Store: r, Clock: clock, Capacity: func(context.Context) (int, error) { return 8, nil }}
	out, err := x.Run(ctx)
	if stop {
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		return r.ID()
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Finish(out, nil); err != nil {
		t.Fatal(err)
	}
	return r.ID()
}

// listed is a failed run that the file of the soak lists.
func listed(t *testing.T, dir string) string {
	t.Helper()
	id := stored(t, dir, "s", 2, false)
	if err := os.WriteFile(filepath.Join(dir, "listed"), []byte(id), 0o600); err != nil {
		t.Fatal(err)
	}
	return id
}

func TestRepetitionsAreTheRunsOfTheSoak(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		make func(t *testing.T, dir string)
		want string
	}{
		"passed": {func(t *testing.T, dir string) { stored(t, dir, "s", 1, false) }, "passed"},
		"failed": {func(t *testing.T, dir string) { stored(t, dir, "s", 2, false) }, "failed"},
		"others": {func(t *testing.T, dir string) {
			stored(t, dir, "", 1, false)
			stored(t, dir, "another", 1, false)
		}, ""},
		"killed": {func(t *testing.T, dir string) { stored(t, dir, "s", 1, true) }, "unobserved interrupted"},
		"killed after a failed gate": {func(t *testing.T, dir string) {
			stored(t, dir, "s", 2, true)
		}, "failed interrupted"},
		"changed": {func(t *testing.T, dir string) {
			id := stored(t, dir, "s", 1, false)
			if err := os.WriteFile(filepath.Join(dir, id, "site.yaml"), []byte("name: other\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}, "unobserved"},
		"removed": {func(t *testing.T, dir string) {
			stored(t, dir, "s", 1, false)
			if err := os.RemoveAll(filepath.Join(dir, listed(t, dir))); err != nil {
				t.Fatal(err)
			}
		}, "passed unobserved"},
		"unreadable": {func(t *testing.T, dir string) {
			if err := os.Truncate(filepath.Join(dir, listed(t, dir), "run.json"), 0); err != nil {
				t.Fatal(err)
			}
		}, "unobserved"},
		"unreadable, not listed": {func(t *testing.T, dir string) {
			if err := os.Truncate(filepath.Join(dir, stored(t, dir, "s", 1, false), "run.json"), 0); err != nil {
				t.Fatal(err)
			}
		}, ""},
		"a directory without a header": {func(t *testing.T, dir string) {
			stored(t, dir, "s", 1, false)
			if err := os.Mkdir(filepath.Join(dir, "20260102-000000-abcd"), 0o700); err != nil {
				t.Fatal(err)
			}
		}, "passed"},
		"unreadable, of a time before": {func(t *testing.T, dir string) {
			id := stored(t, dir, "s", 1, false)
			if err := os.Rename(filepath.Join(dir, id), filepath.Join(dir, "20250101-000000-abcd")); err != nil {
				t.Fatal(err)
			}
			if err := os.Truncate(filepath.Join(dir, "20250101-000000-abcd", "run.json"), 0); err != nil {
				t.Fatal(err)
			}
		}, ""},
		"a copy under another name": {func(t *testing.T, dir string) {
			id := stored(t, dir, "s", 1, false)
			if err := os.Rename(filepath.Join(dir, id), filepath.Join(dir, "20260101-000000-abcd")); err != nil {
				t.Fatal(err)
			}
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			tt.make(t, dir)
			s := State{ID: "s", Started: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
			if id, err := os.ReadFile(filepath.Join(dir, "listed")); err == nil {
				s.Attempts = []Attempt{{Started: s.Started, Run: string(id), Ended: s.Started, Verdict: check.Failed}}
			}
			all, err := Repetitions(dir, s)
			if err != nil {
				t.Fatal(err)
			}
			slices.SortFunc(all, func(a, b Repetition) int { return strings.Compare(string(a.Verdict), string(b.Verdict)) })
			var got []string
			for _, r := range all {
				got = append(got, string(r.Verdict))
				if r.Interrupted {
					got = append(got, "interrupted")
				}
				if r.Verdict != check.Passed && !r.Interrupted && r.Decided == "" || r.Finished.Before(r.Started) {
					t.Errorf("%+v", r)
				}
			}
			if strings.Join(got, " ") != tt.want {
				t.Errorf("%q, want %q", strings.Join(got, " "), tt.want)
			}
		})
	}
}

// The runs of one second are in the order of their starts. Regression: in November 2026 a killed
// repetition came after the one that followed it.
func TestRepetitionsOfOneSecondAreInOrder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	at := time.Date(2026, 11, 27, 0, 0, 0, 0, time.UTC)
	var want []string
	for i, suffix := range []byte{0xff, 0x7f, 0x01} {
		start := evidencetest.Start(plan.Plan{Name: "playbook", Steps: []plan.Step{{Check: evidencetest.Sum{Step: "a"}}}})
		start.Header.Soak = "s"
		r, err := evidence.Create(dir, start, evidence.Options{Clock: func() time.Time { return at.Add(time.Duration(i) * time.Millisecond) }, Random: bytes.NewReader([]byte{suffix, 0})})
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, r.ID())
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
	all, err := Repetitions(dir, State{ID: "s"})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range all {
		got = append(got, r.Run)
	}
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
