package submission

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/conformance/apilog"
	"github.com/firstlight/firstlight/internal/conformance/submission/submissiontest"
	"github.com/firstlight/firstlight/internal/evidence"
	"github.com/firstlight/firstlight/internal/golden"
)

func recorded(t *testing.T, o submissiontest.Options) string {
	t.Helper()
	dir, err := submissiontest.Write(t.Context(), t.TempDir(), "1.36", o)
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestReadRun(t *testing.T) {
	t.Parallel()
	run, err := Read(recorded(t, submissiontest.Options{
		Judgements: map[string]check.Judgement{
			"gang_scheduling":   check.Fail("part of the gang was placed", check.Finding{Suspect: "scheduler default-scheduler", Message: "3 of 4 pods were bound", Remedy: "turn gang scheduling on"}),
			"robust_controller": check.NotObserved(PartlyShown + "the controller was not killed: --disruptive was not given"),
			"ai_inference":      check.NotObserved("no gateway answered"),
		},
		Without: []string{"gpu_sharing"},
		Excused: map[string]string{"virtualized_accelerator": "these GPUs have no vGPU"},
	}), checklist(t))
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, r := range checklist(t).Requirements {
		shown, ok := run.Shown[r.ID]
		if !ok {
			got[r.ID] = "missing"
			continue
		}
		status, why := shown.Status()
		if status == Implemented {
			continue
		}
		got[r.ID] = string(status) + why
	}
	want := map[string]string{
		"gang_scheduling": "Not Implemented", "robust_controller": "Partially Implemented", "gpu_sharing": "missing", "virtualized_accelerator": "N/A",
		"ai_inference": "could not be observed: no gateway answered",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if _, ok := run.Shown["health"]; ok {
		t.Error("the step health is in the results, and is not a requirement")
	}
	if run.Incomplete != "" || run.Simulated != evidence.HardwareReal || run.ID == "" || !run.Finished.After(run.Started) || run.Shown["ai_service_metrics"].Took <= 0 {
		t.Errorf("%+v", run)
	}
}

func TestTranscript(t *testing.T) {
	t.Parallel()
	run, err := Read(recorded(t, submissiontest.Options{Judgements: map[string]check.Judgement{
		"gang_scheduling": check.Fail("part of the gang was placed", check.Finding{Suspect: "scheduler default-scheduler", Message: "3 of 4 pods were bound", Remedy: "turn gang scheduling on"}),
	}}), checklist(t))
	if err != nil {
		t.Fatal(err)
	}
	golden.Compare(t, "testdata/golden/gang_scheduling.md", run.Shown["gang_scheduling"].Files[0].Content)
	golden.Compare(t, "testdata/golden/cluster_autoscaling.md", run.Shown["cluster_autoscaling"].Files[0].Content)
}

func TestSimulatedHardwareIsRefused(t *testing.T) {
	t.Parallel()
	run, err := Read(recorded(t, submissiontest.Options{Simulated: true}), checklist(t))
	if err != nil {
		t.Fatal(err)
	}
	if run.Simulated != evidence.HardwareSimulated || !strings.Contains(string(run.Shown["gang_scheduling"].Files[0].Content), "hardware: simulated: nodes carry") {
		t.Errorf("%+v", run.Shown["gang_scheduling"])
	}
	if _, err := Compose(checklist(t), product(t), run, false); err == nil {
		t.Error("the run is accepted")
	}
}

func TestUnfinishedRunIsRefused(t *testing.T) {
	t.Parallel()
	run, err := Read(recorded(t, submissiontest.Options{Unfinished: true}), checklist(t))
	if err != nil {
		t.Fatal(err)
	}
	if run.Incomplete == "" {
		t.Errorf("%+v", run)
	}
	if _, err := Compose(checklist(t), product(t), run, false); err == nil {
		t.Error("the run is accepted")
	}
}

func TestChangedRunIsRefused(t *testing.T) {
	t.Parallel()
	dir := recorded(t, submissiontest.Options{})
	name := filepath.Join(dir, "journal.jsonl")
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(strings.Replace(string(text), "both halves were seen", "both halves were SEEN", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = Read(dir, checklist(t))
	if _, ok := errors.AsType[*evidence.TamperedError](err); !ok {
		t.Errorf("%v", err)
	}
}

func TestReadWithoutRun(t *testing.T) {
	t.Parallel()
	if _, err := Read(filepath.Join(t.TempDir(), "no"), checklist(t)); err == nil {
		t.Error("no error for a missing directory")
	}
	if _, err := Read(t.TempDir(), checklist(t)); err == nil {
		t.Error("no error for an empty directory")
	}
}

// TestLongOutputs: a transcript is bounded, and has the number of the truncated bytes.
func TestLongOutputs(t *testing.T) {
	t.Parallel()
	long := check.Observation{ID: "0001-x", Kind: "logs", Target: "pod", Raw: []byte(strings.Repeat("all is well\n", 20_000))}
	obs := make([]check.Observation, 100)
	for i := range obs {
		obs[i] = long
	}
	made, err := check.Observation{ID: "0101-x", Kind: apilog.Kind, Target: "pod"}.WithFigures([]apilog.Call{{Method: "GET", Path: "/readyz", Status: 200, Times: 1}})
	if err != nil {
		t.Fatal(err)
	}
	obs = append(obs, made)
	p := checklist(t)
	r, _ := p.Find("gang_scheduling")
	text := string(transcript(p, r, wholeRun(t), planResult("gang_scheduling"), obs))
	if len(text) > maxTranscript+2*maxOutput || !strings.Contains(text, "Truncated: the run's evidence has 207232 more bytes") || !strings.Contains(text, "### 100. logs of pod") || !strings.Contains(text, "GET /readyz: 200") {
		t.Errorf("%d bytes", len(text))
	}
}

// TestNoSecretIsPublished: the reason and the findings of a verdict are redacted as well.
func TestNoSecretIsPublished(t *testing.T) {
	t.Parallel()
	const secret = "eyJhbGciOiJSUzI1NiIsImtpZCI6IjEifQ.eyJpc3MiOiJrdWJlcm5ldGVzL3NlcnZpY2VhY2NvdW50In0.c2lnbmF0dXJlLW9mLXRoZS10b2tlbg"
	run, err := Read(recorded(t, submissiontest.Options{Judgements: map[string]check.Judgement{
		"gang_scheduling": check.Fail("Authorization: Bearer "+secret, check.Finding{Suspect: "pod", Message: "token " + secret, Remedy: "-"}),
	}}), checklist(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range compose(t, run, false).Files {
		if strings.Contains(string(f.Content), secret) {
			t.Errorf("%s contains the token", f.Name)
		}
	}
}
