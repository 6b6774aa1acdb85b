package submission

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/conformance/catalog"
	"github.com/firstlight/firstlight/internal/diag"
	"github.com/firstlight/firstlight/internal/evidence"
	"github.com/firstlight/firstlight/internal/golden"
)

// mixedRun has a requirement of every status.
func mixedRun(t *testing.T) Run {
	t.Helper()
	run := wholeRun(t)
	set := func(id string, change func(*Shown)) {
		s := run.Shown[id]
		change(&s)
		run.Shown[id] = s
	}
	set("gpu_sharing", func(s *Shown) { s.Verdict, s.Reason = check.Failed, "no node offers a share of a GPU" })
	set("virtualized_accelerator", func(s *Shown) {
		s.Verdict, s.Reason, s.Files = check.NotApplicable, "these GPUs have no vGPU", nil
	})
	set("robust_controller", func(s *Shown) {
		s.Verdict, s.Partial, s.Reason = check.Unobserved, true, PartlyShown+"the controller was not killed: --disruptive was not given"
	})
	return run
}

func TestSubmissionOfPassedRunIsValid(t *testing.T) {
	t.Parallel()
	dir := written(t, compose(t, wholeRun(t), false))
	report, err := Validate(t.Context(), dir, Options{Client: aWeb()})
	if err != nil {
		t.Fatal(err)
	}
	if !report.Valid() || len(report.Problems) > 0 || len(report.Unchecked) > 0 || report.Version != "1.36" || len(report.Requirements) != 14 {
		t.Errorf("%+v", report)
	}
}

func TestGoldens(t *testing.T) {
	t.Parallel()
	s := compose(t, mixedRun(t), false)
	for _, f := range s.Files {
		if f.Name == productFile || f.Name == junitFile {
			golden.Compare(t, "testdata/golden/"+f.Name, f.Content)
		}
	}
	run := mixedRun(t)
	run.Simulated, run.SimulatedWhy = evidence.HardwareSimulated, "nodes carry kwok.x-k8s.io/node"
	delete(run.Shown, "ai_inference")
	draft := compose(t, run, true)
	for _, f := range draft.Files {
		if f.Name == productFile || f.Name == junitFile || f.Name == draftFile || f.Name == "gang_scheduling.md" {
			golden.Compare(t, "testdata/golden/draft/"+f.Name, f.Content)
		}
	}
}

func TestTheStatusIsNeverBetterThanTheVerdict(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		shown   Shown
		status  Status
		refused string
	}{
		{"passed", Shown{Verdict: check.Passed}, Implemented, ""},
		{"passed in part", Shown{Verdict: check.Passed, Partial: true}, PartiallyImplemented, ""},
		{"a half was not run", Shown{Verdict: check.Unobserved, Partial: true}, PartiallyImplemented, ""},
		{"failed", Shown{Verdict: check.Failed}, NotImplemented, ""},
		{"failed in part", Shown{Verdict: check.Failed, Partial: true}, NotImplemented, ""},
		{"not applicable", Shown{Verdict: check.NotApplicable, Reason: "no GPU is virtual"}, NotApplicable, ""},
		{"not applicable without a reason", Shown{Verdict: check.NotApplicable, Reason: " "}, "", "ai_inference is not applicable without a reason"},
		{"unobserved", Shown{Verdict: check.Unobserved, Reason: "no gateway answered"}, "", "ai_inference could not be observed: no gateway answered"},
		{"blocked", Shown{Verdict: check.Blocked, Reason: "health failed"}, "", "ai_inference was blocked: health failed"},
		{"blocked in part", Shown{Verdict: check.Blocked, Partial: true}, "", "ai_inference was blocked"},
		{"no verdict", Shown{}, "", "ai_inference has no verdict"},
		{"an unknown verdict", Shown{Verdict: "fine"}, "", "ai_inference has no verdict"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			run := wholeRun(t)
			tt.shown.Files = run.Shown["ai_inference"].Files
			run.Shown["ai_inference"] = tt.shown
			s, err := Compose(checklist(t), product(t), run, false)
			if tt.refused != "" {
				refused, ok := errors.AsType[*RefusedError](err)
				if !ok || len(refused.Reasons) != 1 || !strings.HasPrefix(refused.Reasons[0], tt.refused) {
					t.Errorf("%v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			i := slices.IndexFunc(s.Entries, func(e Filled) bool { return e.ID == "ai_inference" })
			if s.Entries[i].Status != tt.status {
				t.Errorf("status %q, want %q", s.Entries[i].Status, tt.status)
			}
		})
	}
}

// A SHOULD without a result stays open: the program accepts a submission with it.
func TestMissingSHOULDStaysOpen(t *testing.T) {
	t.Parallel()
	run := wholeRun(t)
	delete(run.Shown, "gpu_sharing")
	s, err := Compose(checklist(t), product(t), run, false)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range s.Entries {
		if e.ID == "gpu_sharing" && (e.Status != "" || len(e.Evidence) > 0) {
			t.Errorf("%+v", e)
		}
	}
	report, err := Validate(t.Context(), written(t, s), Options{Client: aWeb()})
	if err != nil || !report.Valid() {
		t.Errorf("%+v, %v", report.Problems, err)
	}
}

// A SHOULD that is not in the run keeps the notes of the product file, and files are in the
// order of their names.
func TestAMissingSHOULDKeepsItsNotes(t *testing.T) {
	t.Parallel()
	run := wholeRun(t)
	delete(run.Shown, "gpu_sharing")
	p := product(t)
	p.Requirements = maps.Clone(p.Requirements)
	if p.Requirements == nil {
		p.Requirements = map[string]Addition{}
	}
	p.Requirements["gpu_sharing"] = Addition{Notes: "planned"}
	s, err := Compose(checklist(t), p, run, false)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range s.Entries {
		if e.ID == "gpu_sharing" && e.Notes != "planned" {
			t.Errorf("%+v", e)
		}
	}
	if !slices.IsSortedFunc(s.Files, func(a, b File) int { return strings.Compare(a.Name, b.Name) }) {
		t.Error("the files are not in order")
	}
}

// A SHOULD with insufficient observations stays open, has the reason in its notes and links
// no evidence: a status would be a guess.
func TestUnobservedSHOULDStaysOpen(t *testing.T) {
	t.Parallel()
	for name, shown := range map[string]Shown{
		"unobserved": {Verdict: check.Unobserved, Reason: "no GPU was free"},
		"blocked":    {Verdict: check.Blocked, Reason: "no GPU was free"},
		"no verdict": {Reason: "no GPU was free"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run := wholeRun(t)
			shown.Files = run.Shown["gpu_sharing"].Files
			run.Shown["gpu_sharing"] = shown
			s, err := Compose(checklist(t), product(t), run, false)
			if err != nil {
				t.Fatal(err)
			}
			e := s.Entries[slices.IndexFunc(s.Entries, func(e Filled) bool { return e.ID == "gpu_sharing" })]
			if e.Status != "" || len(e.Evidence) > 0 || !strings.HasPrefix(e.Notes, "left open: gpu_sharing ") {
				t.Errorf("%+v", e)
			}
			report, err := Validate(t.Context(), written(t, s), Options{Client: aWeb()})
			if err != nil || !report.Valid() {
				t.Errorf("%+v, %v", report.Problems, err)
			}
			junit := string(s.Files[slices.IndexFunc(s.Files, func(f File) bool { return f.Name == junitFile })].Content)
			if !strings.Contains(junit, `errors="0" skipped="1"`) || !strings.Contains(junit, `type="left open"`) {
				t.Error(junit)
			}
		})
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		change func(*Run)
		want   []string
	}{
		"missing":            {func(r *Run) { delete(r.Shown, "ai_inference") }, []string{"ai_inference is not in the run"}},
		"simulated":          {func(r *Run) { r.Simulated, r.SimulatedWhy = evidence.HardwareSimulated, "kwok" }, []string{"the hardware is simulated: kwok"}},
		"not identified":     {func(r *Run) { r.Simulated = evidence.HardwareUnknown }, []string{"the cluster was not identified: whether its hardware is simulated is unknown"}},
		"unfinished":         {func(r *Run) { r.Incomplete = "it has no manifest" }, []string{"the run is incomplete: it has no manifest"}},
		"of another version": {func(r *Run) { r.Kubernetes = "v1.35.9" }, []string{"the cluster runs Kubernetes v1.35.9, and the submission is for 1.36"}},
		"no evidence":        {func(r *Run) { r.Shown["gpu_sharing"] = Shown{Verdict: check.Passed} }, []string{"gpu_sharing has a verdict without stored observations"}},
		"all of these":       {func(r *Run) { r.Simulated, r.Shown = evidence.HardwareSimulated, nil }, append([]string{"the hardware is simulated: "}, allMissing(t)...)},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run := wholeRun(t)
			tt.change(&run)
			_, err := Compose(checklist(t), product(t), run, false)
			refused, ok := errors.AsType[*RefusedError](err)
			if !ok {
				t.Fatalf("not refused: %v", err)
			}
			if diff := cmp.Diff(tt.want, refused.Reasons); diff != "" {
				t.Error(diff)
			}
			s := compose(t, run, true)
			if diff := cmp.Diff(append([]string{"a draft was requested"}, tt.want...), s.Draft); diff != "" {
				t.Error(diff)
			}
			report, err := Validate(t.Context(), written(t, s), Options{Client: aWeb()})
			if err != nil || report.Valid() {
				t.Errorf("the draft is valid: %v", err)
			}
		})
	}
}

func allMissing(t *testing.T) []string {
	t.Helper()
	var out []string
	for _, r := range checklist(t).Requirements {
		if r.Level == catalog.Must {
			out = append(out, r.ID+" is not in the run")
		}
	}
	return out
}

// TestDraftIsNeverValid: a draft stays invalid when its marks are removed one by one.
func TestDraftIsNeverValid(t *testing.T) {
	t.Parallel()
	run := wholeRun(t)
	run.Simulated = evidence.HardwareSimulated
	dir := written(t, compose(t, run, true))
	drafts := func() diag.List {
		report, err := Validate(t.Context(), dir, Options{Client: aWeb()})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range report.Problems {
			if p.Rule != ruleDraft.Name {
				t.Errorf("another problem: %v", p)
			}
		}
		return report.Problems
	}
	declared := len(drafts())
	if err := os.Remove(filepath.Join(dir, draftFile)); err != nil {
		t.Fatal(err)
	}
	marked := len(drafts())
	text, err := os.ReadFile(filepath.Join(dir, productFile))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "\n")
	if err := os.WriteFile(filepath.Join(dir, productFile), []byte(rest), 0o600); err != nil {
		t.Fatal(err)
	}
	// the evidence of 14 requirements, and the junit.xml that each links
	if evidence := len(drafts()); declared != 1 || marked != 1 || evidence != 28 {
		t.Errorf("%d problems, then %d, then %d", declared, marked, evidence)
	}
}

func TestWriteNeverOverwrites(t *testing.T) {
	t.Parallel()
	out := t.TempDir()
	s := compose(t, wholeRun(t), false)
	dir, err := Write(out, s)
	if err != nil {
		t.Fatal(err)
	}
	if want := filepath.Join(out, "v1.36", "turbo"); dir != want {
		t.Errorf("in %s, want %s", dir, want)
	}
	if _, err := Write(out, s); !errors.Is(err, ErrExists) {
		t.Errorf("overwritten: %v", err)
	}
	left, err := os.ReadDir(filepath.Dir(dir))
	if err != nil || len(left) != 1 {
		t.Errorf("%v %v", left, err)
	}
}

func TestWriteIsAtomic(t *testing.T) {
	t.Parallel()
	out := t.TempDir()
	s := compose(t, wholeRun(t), false)
	s.Files = append(s.Files, File{Name: "junit.xml/in-a-file"})
	if _, err := Write(out, s); err == nil {
		t.Fatal("no error for a file inside a file")
	}
	left, err := os.ReadDir(filepath.Join(out, "v1.36"))
	if err != nil || len(left) != 0 {
		t.Errorf("%v %v", left, err)
	}
}

func TestNamesOfEvidence(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"../x.md", "/etc/passwd", "", "a/../../x", productFile, junitFile, draftFile, "gang_scheduling.md", "a//b"} {
		run := wholeRun(t)
		shown := run.Shown["robust_controller"]
		shown.Files = []File{{Name: name, Content: []byte("x")}}
		run.Shown["robust_controller"] = shown
		if _, err := Compose(checklist(t), product(t), run, false); err == nil {
			t.Errorf("no error for the name %q", name)
		}
	}
}
