package attest

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	intoto "github.com/in-toto/attestation/go/v1"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/evidence"
	"github.com/firstlight/firstlight/internal/evidence/evidencetest"
	"github.com/firstlight/firstlight/internal/plan"
)

func TestASignedRunVerifies(t *testing.T) {
	t.Parallel()
	dir := evidencetest.Finished(t)
	s := sign(t, dir)
	r := verify(t, dir)
	if r.Outcome() != OK || r.SignedBy == "" || r.State != Finished || r.Verdict != check.Failed || r.Simulated != evidence.HardwareSimulated {
		t.Fatalf("%+v\n%s", r, r)
	}
	if len(r.Checks) != len(order) || r.Checks[len(order)-2].Detail != "5 of 5 verdicts replayed" {
		t.Errorf("checks %+v", r.Checks)
	}
	var names []string
	for _, subject := range s.Subject {
		names = append(names, subject.Name)
	}
	want := "run:" + filepath.Base(dir) + " recipe:h100-lab-training cluster:" + evidencetest.Cluster
	if got := strings.Join(names, " "); got != want {
		t.Errorf("subjects %s", got)
	}
	if problems, err := evidence.Verify(dir); err != nil || len(problems) > 0 {
		t.Errorf("a signed run is no longer intact: %s, %v", problems, err)
	}
}

// Other in-toto tools can read the statement.
func TestTheStatementIsOneOfInToto(t *testing.T) {
	t.Parallel()
	data, err := json.Marshal(sign(t, evidencetest.Finished(t)))
	if err != nil {
		t.Fatal(err)
	}
	var s intoto.Statement
	if err := protojson.Unmarshal(data, &s); err != nil {
		t.Fatal(err)
	}
	if err := s.Validate(); err != nil {
		t.Error(err)
	}
	if got := s.GetPredicate().GetFields()["counts"].GetStructValue().GetFields()["passed"].GetNumberValue(); got != 2 {
		t.Errorf("passed %v", got)
	}
}

func TestAnInterruptedRunIsMarked(t *testing.T) {
	t.Parallel()
	dir := evidencetest.Interrupted(t)
	s := sign(t, dir)
	p := s.Predicate
	if p.State != Interrupted || p.CompleteUpTo != "b" || strings.Join(p.Missing, " ") != "c d" || strings.Join(p.Begun, " ") != "c" {
		t.Errorf("stated %+v", p)
	}
	r := verify(t, dir)
	if r.Outcome() != OK || r.Verdict != check.Unobserved {
		t.Fatalf("%+v\n%s", r, r)
	}
	if got := r.Progress(); got != "interrupted, complete up to step b; missing: c, d" {
		t.Errorf("progress %q", got)
	}
	// Resuming and finishing the run removes the attestation.
	run, err := evidence.Open(dir, evidence.Options{Clock: evidencetest.Clock()})
	if err != nil {
		t.Fatal(err)
	}
	w := plan.Executor{Plan: evidencetest.Plan(), Store: run, Earlier: run.Results()}
	out, err := w.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := run.Finish(out, nil); err != nil {
		t.Fatal(err)
	}
	// The files that the run had when it was signed are not compared with those that it has now.
	if r := verify(t, dir); r.Outcome() != Wrong || !strings.Contains(r.String(), "sign it again") || strings.Contains(r.String(), "inventory") {
		t.Errorf("finished since: %s", r)
	}
	if _, err := Sign(t.Context(), dir, key(t, 'k'), SignOptions{ChecksFor: evidencetest.ChecksFor}); !errors.Is(err, evidence.ErrAttested) {
		t.Errorf("signed over the earlier one: %v", err)
	}
	if _, err := Sign(t.Context(), dir, key(t, 'k'), SignOptions{ChecksFor: evidencetest.ChecksFor, Replace: true}); err != nil {
		t.Fatal(err)
	}
	if r := verify(t, dir); r.Outcome() != OK || r.State != Finished {
		t.Errorf("signed again: %s", r)
	}
}

func TestWithoutKeyTheSignatureIsNotChecked(t *testing.T) {
	t.Parallel()
	dir := evidencetest.Finished(t)
	sign(t, dir)
	for name, tt := range map[string]struct {
		o    Options
		want Outcome
	}{
		"no key":                           {Options{}, NotChecked},
		"no key wanted":                    {Options{Unsigned: true}, OK},
		"one of two keys":                  {Options{Keys: []PublicKey{key(t, 'x').Public(), key(t, 'k').Public()}}, OK},
		"another key":                      {Options{Keys: []PublicKey{key(t, 'x').Public()}}, Wrong},
		"another key, unsigned is allowed": {Options{Keys: []PublicKey{key(t, 'x').Public()}, Unsigned: true}, Wrong},
	} {
		tt.o.ChecksFor = evidencetest.ChecksFor
		r, err := Verify(t.Context(), dir, tt.o)
		if err != nil || r.Outcome() != tt.want {
			t.Errorf("%s: %s, %v: %+v", name, r.Outcome(), err, r)
		}
	}
	if r, err := Verify(t.Context(), dir, Options{Keys: []PublicKey{key(t, 'k').Public()}}); err != nil || r.Outcome() != NotChecked {
		t.Errorf("without checks to judge with: %s, %v", r.Outcome(), err)
	}
	if _, err := Verify(t.Context(), filepath.Join(dir, "run.json"), Options{}); err == nil {
		t.Error("a file was verified")
	}
}

func TestAnUnsignedRun(t *testing.T) {
	t.Parallel()
	dir := evidencetest.Finished(t)
	for name, tt := range map[string]struct {
		o    Options
		want Outcome
	}{
		"signature wanted, no key": {Options{}, NotChecked},
		"not wanted":               {Options{Unsigned: true}, OK},
		"key":                      {Options{Keys: []PublicKey{key(t, 'k').Public()}}, Wrong},
	} {
		tt.o.ChecksFor = evidencetest.ChecksFor
		if r, err := Verify(t.Context(), dir, tt.o); err != nil || r.Outcome() != tt.want {
			t.Errorf("%s: %s, %v: %+v", name, r.Outcome(), err, r)
		}
	}
	interrupted := evidencetest.Interrupted(t)
	if r, err := Verify(t.Context(), interrupted, Options{Unsigned: true, ChecksFor: evidencetest.ChecksFor}); err != nil || r.Outcome() != Wrong {
		t.Errorf("nothing vouches for an interrupted run that is not signed, yet: %s, %v", r.Outcome(), err)
	}
}

func TestSignRefuses(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change func(t *testing.T, dir string)
		want   string
	}{
		"a changed file":    {func(t *testing.T, dir string) { swap(t, dir, "site.yaml", "lab", "prod") }, "files: site.yaml: changed"},
		"a changed verdict": {func(t *testing.T, dir string) { swap(t, dir, "verdicts.json", `"failed"`, `"passed"`); renew(t, dir) }, "verdicts: verdicts.json verdict: has \"passed\", the journal has \"failed\""},
		"a verdict that is not reached": {func(t *testing.T, dir string) {
			swap(t, dir, observation(t, dir, "a"), `"value": 1`, `"value": 7`)
			renew(t, dir)
		}, "replay: a: verdict passed, now failed"},
		"no plan": {func(t *testing.T, dir string) { remove(t, dir, "plan.json"); renew(t, dir) }, "plan.json"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := evidencetest.Finished(t)
			tt.change(t, dir)
			_, err := Sign(t.Context(), dir, key(t, 'k'), SignOptions{ChecksFor: evidencetest.ChecksFor})
			if _, ok := errors.AsType[*RefusedError](err); !ok || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("refused with %v", err)
			}
			if _, err := os.Stat(filepath.Join(dir, evidence.AttestationFile)); err == nil {
				t.Error("it left an attestation")
			}
		})
	}
	t.Run("run with an unknown check", func(t *testing.T) {
		t.Parallel()
		_, err := Sign(t.Context(), evidencetest.Finished(t), key(t, 'k'), SignOptions{})
		if err == nil || !strings.Contains(err.Error(), "replay: not checked") {
			t.Errorf("refused with %v", err)
		}
	})
	t.Run("a run that is being written", func(t *testing.T) {
		t.Parallel()
		run, err := evidence.Create(t.TempDir(), evidencetest.Start(evidencetest.Plan()), evidence.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Sign(t.Context(), run.Dir(), key(t, 'k'), SignOptions{ChecksFor: evidencetest.ChecksFor}); !errors.Is(err, evidence.ErrLocked) {
			t.Errorf("refused with %v", err)
		}
	})
}

// observation is the file of the first one of a step.
func observation(t *testing.T, dir, step string) string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "observations", "*-"+step+"-*.json"))
	if err != nil || len(names) == 0 {
		t.Fatalf("observation of %s not found: %v", step, err)
	}
	rel, err := filepath.Rel(dir, names[0])
	if err != nil {
		t.Fatal(err)
	}
	return rel
}

func remove(t *testing.T, dir, name string) {
	t.Helper()
	if err := os.Remove(filepath.Join(dir, name)); err != nil {
		t.Fatal(err)
	}
}

// A file written between the check and the signature was signed unchecked.
func TestSignSignsTheCheckedStatement(t *testing.T) {
	t.Parallel()
	dir := evidencetest.Finished(t)
	_, err := Sign(t.Context(), dir, key(t, 'k'), SignOptions{
		ChecksFor: func(b *evidence.Bundle) (evidence.Derived, error) {
			swap(t, dir, "site.yaml", "lab", "another")
			renew(t, dir)
			return evidencetest.ChecksFor(b)
		},
	})
	if !errors.Is(err, errChanged) {
		t.Errorf("signed: %v", err)
	}
	if _, err := evidence.Attestation(dir); err == nil {
		t.Error("there is an attestation")
	}
}
