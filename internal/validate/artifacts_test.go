package validate

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/conformance"
	"github.com/firstlight/firstlight/internal/evidence"
	"github.com/firstlight/firstlight/internal/pipeline"
	"github.com/firstlight/firstlight/internal/plan"
)

func contains(text, part string) bool { return strings.Contains(text, part) }

// seen is a check that sees one thing, and judges it so.
type seen struct {
	name    string
	verdict check.Verdict
	// blind: it passes, and has recorded nothing.
	blind bool
}

func (s seen) Name() string { return s.name }

func (s seen) Observe(_ context.Context, rec check.Recorder) error {
	if s.blind {
		return nil
	}
	_, err := rec.Record(check.Observation{Kind: "thing", Target: s.name, Raw: []byte("it exists")})
	return err
}

func (s seen) Judge([]check.Observation) check.Judgement {
	if s.verdict == check.Failed {
		return check.Fail("it is broken")
	}
	return check.Pass("it exists")
}

// finished runs a plan of the case's own checks, each of which sees something, and
// returns the report. Steps in failing fail, the one in blind sees nothing; with until
// the run is left unfinished.
func finished(t *testing.T, c Case, until, blind string, failing ...string) Report {
	t.Helper()
	s, p := labSite(t)
	made, err := c.Plan(s, p, conformance.Deps{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range made.Steps {
		verdict := check.Passed
		for _, name := range failing {
			if made.Steps[i].Name() == name {
				verdict = check.Failed
			}
		}
		made.Steps[i].Check, made.Steps[i].GPUs = seen{made.Steps[i].Name(), verdict, made.Steps[i].Name() == blind}, 0
	}
	input, err := c.Encode()
	if err != nil {
		t.Fatal(err)
	}
	run, err := evidence.Create(t.TempDir(), evidence.Start{
		Header: evidence.Header{Site: s.Name, Profile: p.Name, Tool: "test"}, Plan: made, Site: []byte("site"), Profile: []byte("profile"),
		Recipe: []byte("recipe"), Inputs: map[string][]byte{InputFile: input},
	}, evidence.Options{})
	if err != nil {
		t.Fatal(err)
	}
	outcome, err := (&plan.Executor{Plan: made, Store: run, Parallel: 1, Until: until}).Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if until != "" {
		err = run.Close()
	} else {
		err = run.Finish(outcome, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	return Report{Run: run.ID(), Verdict: outcome.Verdict, Evidence: run.Dir()}
}

func TestCollect(t *testing.T) {
	t.Parallel()
	c := caseFor(t, pipeline.Training, 32)
	r := finished(t, c, "", "")
	dir := filepath.Join(t.TempDir(), "a", "b")
	r, err := Collect(r, c, dir)
	if err != nil {
		t.Fatal(err)
	}
	last := r.Steps[len(r.Steps)-1]
	if r.Verdict != check.Passed || last.Name != "artifacts" || last.Verdict != check.Passed || last.Number != 7 {
		t.Errorf("%s %+v", r.Verdict, last)
	}
	var m manifest
	data, err := os.ReadFile(filepath.Join(dir, ManifestFile))
	if err != nil || json.Unmarshal(data, &m) != nil {
		t.Fatal(err)
	}
	there := map[string]bool{}
	for _, f := range m.Files {
		there[f.Path] = true
		if info, err := os.Stat(filepath.Join(dir, f.Path)); err != nil || info.Size() != int64(f.Size) || len(f.SHA256) != 64 {
			t.Errorf("%+v: %v", f, err)
		}
	}
	for _, want := range []string{ResultFile, "ctrf.json", "junit.xml", EvidenceDir + "/gang_scheduling.md", EvidenceDir + "/robust_controller.md"} {
		if !there[want] {
			t.Errorf("%s is not among %v", want, there)
		}
	}
	if _, err := Collect(r, c, dir); err == nil {
		t.Error("artifacts are written over others")
	}
}

// The artifacts take the place of an empty directory, and of nothing else.
func TestWriteTakesAnEmptyDirectory(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "artifacts")
	if err := os.WriteFile(dir, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := write(dir, map[string][]byte{"a": nil}); err == nil {
		t.Error("a file was replaced")
	}
	if err := errors.Join(os.Remove(dir), os.Mkdir(dir, 0o700), write(dir, map[string][]byte{"a": nil})); err != nil {
		t.Error(err)
	}
	if there, err := os.ReadDir(filepath.Dir(dir)); err != nil || len(there) != 1 {
		t.Errorf("%d entries, %v: a temporary directory is left", len(there), err)
	}
}

// A run with fewer results than the plan is not uploadable, and the error names the missing results.
func TestLessThanPromised(t *testing.T) {
	t.Parallel()
	c := caseFor(t, pipeline.Training, 32)
	for name, tt := range map[string]struct {
		until, blind string
		spoil        func(t *testing.T, dir string)
		// says is in the step's reason; tampered: the run is refused instead.
		says     string
		tampered bool
	}{
		"the run was ended":        {"health", "", nil, "no verdict of gang_scheduling", false},
		"a verdict without a look": {"", "gang_scheduling", nil, "gang_scheduling is unobserved without an observation", false},
		"a report is missing":      {"", "", func(t *testing.T, dir string) { remove(t, dir, "ctrf.json") }, "", true},
		"another journal":          {"", "", func(t *testing.T, dir string) { edit(t, dir, "journal.jsonl") }, "", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := finished(t, c, tt.until, tt.blind)
			if tt.spoil != nil {
				tt.spoil(t, r.Evidence)
			}
			got, err := Collect(r, c, filepath.Join(t.TempDir(), "out"))
			if (err != nil) != tt.tampered {
				t.Fatalf("%v, %+v", err, got)
			}
			if err == nil && (got.Verdict == check.Passed || !strings.Contains(got.Steps[0].Reason, tt.says)) {
				t.Errorf("%s: %+v", got.Verdict, got.Steps)
			}
		})
	}
}

func remove(t *testing.T, dir, name string) {
	t.Helper()
	if err := os.Remove(filepath.Join(dir, name)); err != nil {
		t.Fatal(err)
	}
}

// edit takes the observations out of the verdicts.
func edit(t *testing.T, dir, name string) {
	t.Helper()
	path := filepath.Join(dir, name)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(strings.ReplaceAll(string(data), `"observations":[`, `"observationz":[`)), 0o600); err != nil {
		t.Fatal(err)
	}
}

// A failed health check fails the run, conformance is still recorded, and steps that need
// health are blocked.
func TestHealthFailedAndConformanceRecorded(t *testing.T) {
	t.Parallel()
	c := caseFor(t, pipeline.Training, 32)
	r := finished(t, c, "", "", "health")
	b, err := evidence.Load(r.Evidence)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]check.Verdict{}
	for _, res := range b.Results() {
		got[res.Step] = res.Verdict
	}
	if r.Verdict != check.Failed || got["health"] != check.Failed || got["gang_scheduling"] != check.Passed || got["training"] != check.Blocked {
		t.Errorf("%s: %v", r.Verdict, got)
	}
	back, ok, err := CaseOf(b)
	if err != nil || !ok || back.Version != c.Version || len(back.Health) != len(c.Health) || len(back.Resources) != len(c.Resources) || len(back.Order.Steps) != len(c.Order.Steps) {
		t.Errorf("the case comes back as %+v, %v", back, err)
	}
	data := string(b.Inputs[InputFile])
	for name, text := range map[string]string{
		"a key twice":    strings.Replace(data, `"version":`, `"version": "0", "version":`, 1),
		"text behind it": data + "{}",
		"an unknown key": strings.Replace(data, `"version":`, `"versions":`, 1),
	} {
		b.Inputs[InputFile] = []byte(text)
		if c, _, err := CaseOf(b); err == nil {
			t.Errorf("%s: it is read as %+v", name, c)
		}
	}
}
