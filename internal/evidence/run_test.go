package evidence

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/plan"
)

func TestCreateNamesTheRunByTimeAndChance(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := create(t, dir, testPlan())
	if r.ID() != "20261121-014233-0000" || r.Dir() != filepath.Join(dir, r.ID()) {
		t.Errorf("run %s in %s", r.ID(), r.Dir())
	}
	if _, err := Create(dir, testStart(testPlan()), testOptions()); err == nil {
		t.Error("a second run of the same name was created")
	}
	if ids, err := List(dir); err != nil || len(ids) != 1 {
		t.Errorf("runs %v, %v", ids, err)
	}
}

func TestAFailedCreateLeavesNoFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if _, err := Create(dir, testStart(plan.Plan{}), testOptions()); !errors.Is(err, plan.ErrInvalid) {
		t.Errorf("an invalid plan: %v", err)
	}
	o := testOptions()
	o.Random = strings.NewReader("")
	if _, err := Create(dir, testStart(testPlan()), o); err == nil {
		t.Error("no chance, and no error")
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 0 {
		t.Errorf("left behind: %v", entries)
	}
}

func TestLeftoversOfAKilledCreateAreRemoved(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	left := filepath.Join(dir, ".20261120-000000-beef"+tempMark)
	if err := os.MkdirAll(filepath.Join(left, observationsDir), 0o750); err != nil {
		t.Fatal(err)
	}
	create(t, dir, testPlan())
	if _, err := os.Stat(left); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("still there: %v", err)
	}
}

func TestAStoredObservationIsReadUnchanged(t *testing.T) {
	t.Parallel()
	r := create(t, t.TempDir(), testPlan())
	exit := 3
	at := time.Date(2026, 11, 21, 3, 0, 0, 5, time.FixedZone("x", 3600))
	o := check.Observation{
		Check: "b", Kind: "odd/kind", Target: "https://host:1/../x?y", Command: "cmd <&>", At: at,
		Took: metav1.Duration{Duration: 5 * time.Second}, Exit: &exit, Err: "half", Figures: json.RawMessage(`{"a": [1, 2.50]}`), Raw: []byte("\x00\xff\n"),
	}
	kept, err := r.Record(2, o)
	if err != nil {
		t.Fatal(err)
	}
	if kept.ID != "0001-b-odd-kind-https---host-1-..-x-y" {
		t.Errorf("ID %s", kept.ID)
	}
	got, err := r.Observations("b", 2)
	if err != nil || len(got) != 1 {
		t.Fatalf("%v, %v", got, err)
	}
	o.ID, o.At = kept.ID, at.UTC()
	got[0].Figures, o.Figures = compact(t, got[0].Figures), compact(t, o.Figures)
	if diff := cmp.Diff(o, got[0]); diff != "" {
		t.Errorf("(-went +came back):\n%s", diff)
	}
	if other, err := r.Observations("b", 1); err != nil || len(other) != 0 {
		t.Errorf("another attempt has %v, %v", other, err)
	}
}

func compact(t *testing.T, data json.RawMessage) json.RawMessage {
	t.Helper()
	var v any
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestAnOutputThatWasChangedIsNotReadBack(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(path string) error{
		"changed":   func(p string) error { return os.WriteFile(p, []byte("X23"), 0o600) },
		"shortened": func(p string) error { return os.Truncate(p, 1) },
		"gone":      os.Remove,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := create(t, t.TempDir(), testPlan())
			kept, err := r.Record(1, check.Observation{Check: "a", Kind: "k", Target: "t", Raw: []byte("123")})
			if err != nil {
				t.Fatal(err)
			}
			if err := change(filepath.Join(r.Dir(), observationsDir, kept.ID+".raw")); err != nil {
				t.Fatal(err)
			}
			if _, err := r.Observations("a", 1); err == nil {
				t.Error("it was read back")
			}
		})
	}
}

// unfinishedIn asks long after any run of a test.
func unfinishedIn(dir string) (path string, ok bool, err error) {
	left, err := Unfinished(dir, time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC))
	return left.Path, left.Path != "", err
}

func TestOneProcessWrites(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := create(t, dir, testPlan())
	if _, err := Open(r.Dir(), testOptions()); !errors.Is(err, ErrLocked) {
		t.Errorf("a second writer: %v", err)
	}
	if _, ok, err := unfinishedIn(dir); ok || err != nil {
		t.Errorf("a run being written is offered: %v, %v", ok, err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	path, ok, err := unfinishedIn(dir)
	if !ok || err != nil || path != r.Dir() {
		t.Errorf("unfinished %q, %v, %v", path, ok, err)
	}
	if again, err := Open(path, testOptions()); err != nil {
		t.Error(err)
	} else if err := again.Close(); err != nil {
		t.Error(err)
	}
}

func TestAFinishedRunIsNeverWrittenAgain(t *testing.T) {
	t.Parallel()
	dir := finished(t, testPlan())
	if _, err := Open(dir, testOptions()); !errors.Is(err, ErrFinished) {
		t.Errorf("opened: %v", err)
	}
	parent := filepath.Dir(dir)
	if _, ok, err := unfinishedIn(parent); ok || err != nil {
		t.Errorf("offered as unfinished: %v %v", ok, err)
	}
}

func TestNoRun(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "none")
	if _, ok, err := unfinishedIn(dir); ok || err != nil {
		t.Errorf("unfinished: %v, %v", ok, err)
	}
}

func TestResume(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := create(t, dir, testPlan())
	ctx, cancel := context.WithCancel(t.Context())
	w := plan.Executor{Plan: testPlan(), Store: r, Events: func(e plan.Event) {
		if e.Kind == plan.EventObserved && e.Step == "b" {
			cancel()
		}
	}}
	out, err := w.Run(ctx)
	if err != nil || !out.Interrupted {
		t.Fatalf("%+v, %v", out, err)
	}
	if err := r.Finish(out, nil); err != nil {
		t.Fatal(err)
	}
	seen, err := (&Bundle{Dir: r.Dir()}).Recorded()
	if err != nil {
		t.Fatal(err)
	}

	again, err := Open(r.Dir(), testOptions())
	if err != nil {
		t.Fatal(err)
	}
	stored, err := Load(r.Dir())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"b"}, stored.Interrupted()); diff != "" {
		t.Errorf("interrupted (-want +got):\n%s", diff)
	}
	out = execute(t, again, plan.Executor{Plan: testPlan(), Earlier: again.Results()})
	if err := again.Finish(out, nil); err != nil {
		t.Fatal(err)
	}
	b, err := Load(r.Dir())
	if err != nil {
		t.Fatal(err)
	}
	attempts := map[string]int{}
	for _, res := range b.Results() {
		attempts[res.Step] = res.Attempt
	}
	if diff := cmp.Diff(map[string]int{"a": 1, "b": 2, "c": 1, "d": 0, "e": 0}, attempts); diff != "" {
		t.Errorf("attempts (-want +got):\n%s", diff)
	}
	all, err := b.Recorded()
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range seen {
		if !slices.Contains(all, id) {
			t.Errorf("observation %s of the first attempt is lost", id)
		}
	}
	if replayed, err := Replay(r.Dir(), testChecks); err != nil || !replayed.Identical() {
		t.Errorf("replay %+v, %v", replayed, err)
	}
}

func TestAmend(t *testing.T) {
	t.Parallel()
	r := create(t, t.TempDir(), testPlan())
	if err := r.Amend(func(h *Header) { h.Cluster, h.Run = "uid-1", "forged" }); err != nil {
		t.Fatal(err)
	}
	b, err := Load(r.Dir())
	if err != nil {
		t.Fatal(err)
	}
	if b.Header.Cluster != "uid-1" || b.Header.Run != r.ID() || r.Header().Cluster != "uid-1" {
		t.Errorf("header %+v", b.Header)
	}
}

func TestCarry(t *testing.T) {
	t.Parallel()
	from, err := Load(finished(t, passingPlan()))
	if err != nil {
		t.Fatal(err)
	}
	p := testPlan()
	p.Steps[2].Check = counter{"c", 3, 3} // repaired
	r := create(t, t.TempDir(), p)
	earlier, err := r.Carry(from, []string{"b", "a", "unknown"})
	if err != nil {
		t.Fatal(err)
	}
	out := execute(t, r, plan.Executor{Plan: p, From: "c", Earlier: earlier})
	if out.Verdict != check.Passed {
		t.Errorf("outcome %+v", out)
	}
	if err := r.Finish(out, nil); err != nil {
		t.Fatal(err)
	}
	b, err := Load(r.Dir())
	if err != nil {
		t.Fatal(err)
	}
	was := from.Results()[0]
	if got := b.Results()[0]; got.KeptFrom != from.Header.Run || !got.At.Equal(was.At) || b.Results()[2].KeptFrom != "" {
		t.Errorf("kept as %+v, was %+v", got, was)
	}
	ids, err := b.Recorded()
	if err != nil || len(ids) != 7+3+1 {
		t.Errorf("%d observations, %v", len(ids), err)
	}
	used := map[int]bool{}
	for _, id := range ids {
		n, _ := sequence(id)
		if used[n] {
			t.Errorf("two observations have the number %d: %q", n, ids)
		}
		used[n] = true
	}
	replayed, err := Replay(r.Dir(), func(*Bundle) (Derived, error) {
		return Derived{Checks: []check.Check{p.Steps[0].Check, p.Steps[1].Check, p.Steps[2].Check, p.Steps[3].Check}}, nil
	})
	if err != nil || !replayed.Identical() {
		t.Errorf("replay %+v, %v", replayed, err)
	}
}

func TestCarryFromAChangedRunIsRefused(t *testing.T) {
	t.Parallel()
	dir := finished(t, passingPlan())
	edit(t, filepath.Join(dir, siteFile), func([]byte) []byte { return []byte("name: other\n") })
	from, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	_, err = create(t, t.TempDir(), testPlan()).Carry(from, []string{"a"})
	if _, refused := errors.AsType[*TamperedError](err); !refused {
		t.Errorf("carried over: %v", err)
	}
}

func TestFilesNamedInTheSiteAreNotRead(t *testing.T) {
	t.Parallel()
	secret := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(secret, []byte("hunter2-not-for-anybody"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := testStart(testPlan())
	s.Site = []byte("facility: {redfish: [{passwordFile: " + secret + "}]}\n")
	r, err := Create(t.TempDir(), s, testOptions())
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Finish(execute(t, r, plan.Executor{Plan: testPlan()}), nil); err != nil {
		t.Fatal(err)
	}
	for _, name := range filesOf(t, r.Dir()) {
		if data, err := os.ReadFile(filepath.Join(r.Dir(), name)); err != nil || strings.Contains(string(data), "hunter2") {
			t.Errorf("%s holds the password, or %v", name, err)
		}
	}
}
