package evidence

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/cli/cmdutil"
	"github.com/firstlight/firstlight/internal/evidence"
	"github.com/firstlight/firstlight/internal/evidence/evidencetest"
	"github.com/firstlight/firstlight/internal/plan"
)

// editJSON changes a JSON file of a run.
func editJSON[T any](t *testing.T, dir, name string, change func(*T)) {
	t.Helper()
	path := filepath.Join(dir, name)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var v T
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	change(&v)
	writeJSONFile(t, path, v)
}

func writeJSONFile(t *testing.T, path string, v any) {
	t.Helper()
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, append(data, '\n'), 0o600); err != nil {
		t.Fatal(err)
	}
}

// editJournal changes the entries of a journal and renumbers them; drop removes an entry.
func editJournal(t *testing.T, dir string, change func(*evidence.Entry) (drop bool)) {
	t.Helper()
	b, err := evidence.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, e := range b.Entries {
		if change(&e) {
			continue
		}
		e.Seq = len(lines) + 1
		data, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, string(data)+"\n")
	}
	if err := os.WriteFile(filepath.Join(dir, "journal.jsonl"), []byte(strings.Join(lines, "")), 0o600); err != nil {
		t.Fatal(err)
	}
}

// reseal updates verdicts.json and the manifest to match the run.
func reseal(t *testing.T, dir string) {
	t.Helper()
	b, err := evidence.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	writeJSONFile(t, filepath.Join(dir, evidence.VerdictsFileName), b.Summary())
	m, err := evidence.Inventory(dir)
	if err != nil {
		t.Fatal(err)
	}
	writeJSONFile(t, filepath.Join(dir, evidence.ManifestFileName), m)
}

func planned(t *testing.T, dir string, change func(*evidence.PlanFile)) {
	t.Helper()
	editJSON(t, dir, "plan.json", change)
}

func command(t *testing.T, dir string, change func(*evidence.Header)) {
	t.Helper()
	editJSON(t, dir, "run.json", change)
}

func stepNamed(p *evidence.PlanFile, name string) *evidence.PlanStep {
	return &p.Steps[slices.IndexFunc(p.Steps, func(s evidence.PlanStep) bool { return s.Name == name })]
}

// planForgeries are edits of a failed run by one who has its directory, and perhaps the
// key; want is what must be named.
var planForgeries = map[string]struct {
	change func(t *testing.T, dir string)
	want   string
}{
	"all gates only recommended": {func(t *testing.T, dir string) {
		t.Helper()
		planned(t, dir, func(p *evidence.PlanFile) {
			for i := range p.Steps[1:] {
				p.Steps[i+1].Recommended = true
			}
		})
	}, `plan: fabric: recommended is true`},
	"a failed node may be left out": {func(t *testing.T, dir string) {
		t.Helper()
		planned(t, dir, func(p *evidence.PlanFile) { p.AllowFailed = 1 })
	}, `plan: allowFailed is 1 in the plan, the inputs require 0`},
	"a failed node may be left out, by run.json too": {func(t *testing.T, dir string) {
		t.Helper()
		planned(t, dir, func(p *evidence.PlanFile) { p.AllowFailed = 1 })
		command(t, dir, func(h *evidence.Header) { h.AllowFailed = 1 })
	}, `run.json says allow-failed "1", the command says allow-failed "0"`},
	"one gate only recommended": {func(t *testing.T, dir string) {
		t.Helper()
		planned(t, dir, func(p *evidence.PlanFile) { stepNamed(p, "collective").Recommended = true })
	}, `plan: collective: recommended is true`},
	"last gates deleted from plan and journal": {func(t *testing.T, dir string) {
		t.Helper()
		dropGates(t, dir, "training", "inference")
	}, "plan: inference: the inputs require this step, the plan does not have it"},
	"failed gate and those behind it deleted": {func(t *testing.T, dir string) {
		t.Helper()
		dropGates(t, dir, "fabric", "node", "gpustack", "telemetry", "collective", "training", "inference")
	}, "plan: fabric: the inputs require this step, the plan does not have it"},
	"gate waived in the plan": {func(t *testing.T, dir string) {
		t.Helper()
		planned(t, dir, func(p *evidence.PlanFile) { stepNamed(p, "inference").NotApplicable = "waived by the vendor" })
		editJournal(t, dir, func(e *evidence.Entry) bool {
			if e.Step == "inference" && e.Result != nil {
				e.Result.Judgement = plan.NotApplicable("waived by the vendor")
			}
			return false
		})
	}, `plan: inference: notApplicable is "waived by the vendor" in the plan`},
	"needs of a gate cut": {func(t *testing.T, dir string) {
		t.Helper()
		planned(t, dir, func(p *evidence.PlanFile) { stepNamed(p, "inference").Needs = []string{"training"} })
	}, `plan: inference: needs is ["training"]`},
	"gate put behind another": {func(t *testing.T, dir string) {
		t.Helper()
		planned(t, dir, func(p *evidence.PlanFile) { stepNamed(p, "training").After = []string{"inference"} })
	}, `plan: training: after is ["inference"]`},
	"gates in another order": {func(t *testing.T, dir string) {
		t.Helper()
		planned(t, dir, func(p *evidence.PlanFile) { n := len(p.Steps); p.Steps[n-1], p.Steps[n-2] = p.Steps[n-2], p.Steps[n-1] })
	}, "plan: the order of the plan is"},
	"gate renamed": {func(t *testing.T, dir string) {
		t.Helper()
		planned(t, dir, func(p *evidence.PlanFile) { stepNamed(p, "inference").Name = "autoscale" })
		dropGates(t, dir, "inference")
	}, "plan: inference: the inputs require this step, the plan does not have it"},
	"plan of another name": {func(t *testing.T, dir string) {
		t.Helper()
		planned(t, dir, func(p *evidence.PlanFile) { p.Name = "bring-up of another (512 GPU nodes)" })
	}, `plan: the plan is "bring-up of another`},
	"said to be a test of recipes": {func(t *testing.T, dir string) {
		t.Helper()
		planned(t, dir, func(p *evidence.PlanFile) { p.Name = "recipes" })
	}, `plan: the plan is "recipes"`},
	"header with only one gate selected": {func(t *testing.T, dir string) {
		t.Helper()
		command(t, dir, func(h *evidence.Header) { h.Only = "facility" })
		editJournal(t, dir, func(e *evidence.Entry) bool { return e.Step != "" && e.Step != "facility" })
	}, `plan: run.json says only "facility", the command says only ""`},
	"said to begin at a gate": {func(t *testing.T, dir string) {
		t.Helper()
		command(t, dir, func(h *evidence.Header) { h.From = "inference" })
	}, `plan: run.json says from "inference", the command says from ""`},
	"said to include the chain": {func(t *testing.T, dir string) {
		t.Helper()
		command(t, dir, func(h *evidence.Header) { h.Include = []string{"autoscale"} })
	}, `plan: run.json says include "autoscale", the command says include ""`},
	"command includes the chain, nothing else does": {func(t *testing.T, dir string) {
		t.Helper()
		command(t, dir, func(h *evidence.Header) { h.Command = append(h.Command, "--include", "autoscale") })
	}, "plan: autoscale: the inputs require this step, the plan does not have it"},
	"command of the chain alone": {func(t *testing.T, dir string) {
		t.Helper()
		command(t, dir, func(h *evidence.Header) { h.Command = []string{"firstlight", "autoscale"} })
	}, "plan: autoscale: the inputs require this step, the plan does not have it"},
	"command of a validation": {func(t *testing.T, dir string) {
		t.Helper()
		command(t, dir, func(h *evidence.Header) { h.Command = []string{"firstlight", "validate"} })
	}, "the command is validate, but the run has no validation.json"},
	"command of something else": {func(t *testing.T, dir string) {
		t.Helper()
		command(t, dir, func(h *evidence.Header) { h.Command = []string{"firstlight", "bring-up"} })
	}, `unknown command "bring-up"`},
	"command removed": {func(t *testing.T, dir string) {
		t.Helper()
		command(t, dir, func(h *evidence.Header) { h.Command = nil })
	}, `unknown command ""`},
	"said to be in a namespace": {func(t *testing.T, dir string) {
		t.Helper()
		command(t, dir, func(h *evidence.Header) { h.Namespace = "acceptance" })
	}, `plan: run.json says namespace "acceptance", the command says namespace ""`},
	"run of another site by name": {func(t *testing.T, dir string) {
		t.Helper()
		command(t, dir, func(h *evidence.Header) { h.Site = "prod-512" })
	}, `run.json says site "prod-512"`},
	"run on another profile by name": {func(t *testing.T, dir string) {
		t.Helper()
		command(t, dir, func(h *evidence.Header) { h.Profile = "gb200-nvl72" })
	}, `run.json says profile "gb200-nvl72"`},
}

func dropGates(t *testing.T, dir string, names ...string) {
	t.Helper()
	planned(t, dir, func(p *evidence.PlanFile) {
		p.Steps = slices.DeleteFunc(p.Steps, func(s evidence.PlanStep) bool { return slices.Contains(names, s.Name) })
	})
	editJournal(t, dir, func(e *evidence.Entry) bool { return slices.Contains(names, e.Step) })
}

// A failed acceptance was signed, verified and replayed as passed when plan.json said that
// its gates are only recommended, waived or not there.
func TestForgedPlans(t *testing.T) {
	t.Setenv("FIRSTLIGHT_HOME", t.TempDir())
	private, _ := keys(t, "a")
	for name, f := range planForgeries {
		t.Run(name, func(t *testing.T) {
			dir := blindRun(t, false)
			f.change(t, dir)
			reseal(t, dir)
			forgeryRefused(t, dir, private, f.want, strings.TrimPrefix(f.want, "plan: "))
		})
	}
}

// forgeryRefused says that a run is not verified, not signed and not replayed.
func forgeryRefused(t *testing.T, dir, private, verify, replay string) {
	t.Helper()
	out, _ := ours(t, cmdutil.ExitFailed, "evidence", "verify", dir)
	if !strings.Contains(out, verify) {
		t.Errorf("verify does not say %q:\n%s", verify, out)
	}
	_, stderr := ours(t, cmdutil.ExitFailed, "evidence", "sign", dir, "--key", private)
	if !strings.Contains(stderr, verify) {
		t.Errorf("sign does not say %q:\n%s", verify, stderr)
	}
	if _, err := os.Stat(filepath.Join(dir, evidence.AttestationFile)); err == nil {
		t.Error("it is signed")
	}
	out, _ = ours(t, cmdutil.ExitFailed, "evidence", "replay", dir)
	if !strings.Contains(out, replay) {
		t.Errorf("replay does not say %q:\n%s", replay, out)
	}
}

// An acceptance of one gate was verified as "passed, finished", without a word that seven
// gates were not run.
func TestVerifyPrintsTheScopeOfTheVerdict(t *testing.T) {
	t.Setenv("FIRSTLIGHT_HOME", t.TempDir())
	dir := blindRun(t, false)
	command(t, dir, func(h *evidence.Header) {
		h.Only = "facility"
		h.Command = []string{"firstlight", "accept", "--only", "facility"}
	})
	editJournal(t, dir, func(e *evidence.Entry) bool { return e.Step != "" && e.Step != "facility" })
	reseal(t, dir)
	out, _ := ours(t, cmdutil.ExitPassed, "evidence", "verify", dir)
	if want := "only facility was selected: 1 of 8 checks"; !strings.Contains(out, want) {
		t.Errorf("verify does not say %q:\n%s", want, out)
	}
	private, _ := keys(t, "a")
	out, _ = ours(t, cmdutil.ExitPassed, "evidence", "sign", dir, "--key", private)
	if want := "only facility was selected: 1 of 8 checks"; !strings.Contains(out, want) {
		t.Errorf("sign does not say %q:\n%s", want, out)
	}
}

// A bundle that is whole and signed may be of another site, profile or cluster.
func TestVerifyComparesWithTheExpectedSite(t *testing.T) {
	t.Setenv("FIRSTLIGHT_HOME", t.TempDir())
	dir := blindRun(t, false)
	mine := filepath.Join(dir, "site.yaml")
	other := filepath.Join(t.TempDir(), "site.yaml")
	if err := os.WriteFile(other, []byte("name: another\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	ours(t, cmdutil.ExitPassed, "evidence", "verify", dir, "--site", mine, "--profile", filepath.Join(dir, "profile.yaml"), "--cluster", evidencetest.Cluster)
	for name, tt := range map[string]struct {
		args []string
		want string
	}{
		"site":    {[]string{"--site", other}, "expected: site.yaml: differs from the given file"},
		"profile": {[]string{"--profile", "a3-highgpu-1g"}, "expected: profile.yaml: differs from the given file"},
		"cluster": {[]string{"--cluster", "0000"}, `the cluster is "` + evidencetest.Cluster + `", expected "0000"`},
	} {
		out, _ := ours(t, cmdutil.ExitFailed, append([]string{"evidence", "verify", dir}, tt.args...)...)
		if !strings.Contains(out, tt.want) {
			t.Errorf("%s: verify does not say %q:\n%s", name, tt.want, out)
		}
	}
	ours(t, cmdutil.ExitUsage, "evidence", "verify", dir, "--site", filepath.Join(t.TempDir(), "none"))
	command(t, dir, func(h *evidence.Header) {
		h.Only, h.Command = "facility", []string{"firstlight", "accept", "--only", "facility"}
	})
	editJournal(t, dir, func(e *evidence.Entry) bool { return e.Step != "" && e.Step != "facility" })
	reseal(t, dir)
	out, _ := ours(t, cmdutil.ExitFailed, "evidence", "verify", dir, "--site", mine)
	if !strings.Contains(out, "only facility was selected, the whole plan is expected") {
		t.Errorf("a run of one gate: %s", out)
	}
}

// verdicts.json with a duplicate key, or a second document after the first, was intact: its
// content depended on the parser.
func TestDuplicateKeysInFilesOfARunAreRefused(t *testing.T) {
	t.Setenv("FIRSTLIGHT_HOME", t.TempDir())
	for file, from := range map[string]string{"verdicts.json": `"verdict": "unobserved"`, "plan.json": `"name": "facility"`, "run.json": `"site": "`} {
		for name, change := range map[string]func(text string) string{
			"key twice": func(text string) string {
				return strings.Replace(text, "{", `{"verdict": "passed", "verdict": "passed", `, 1)
			},
			"key twice in other case": func(text string) string {
				return strings.Replace(text, from, strings.ToUpper(from[:2])+from[2:]+`x", `+from, 1)
			},
			"second document": func(text string) string { return text + `{"verdict": "passed"}` },
		} {
			t.Run(file+"/"+name, func(t *testing.T) {
				dir := blindRun(t, false)
				data, err := os.ReadFile(filepath.Join(dir, file))
				if err != nil {
					t.Fatal(err)
				}
				changed := change(string(data))
				if changed == string(data) {
					t.Fatalf("%s has no %s", file, from)
				}
				if err := os.WriteFile(filepath.Join(dir, file), []byte(changed), 0o600); err != nil {
					t.Fatal(err)
				}
				m, err := evidence.Inventory(dir)
				if err != nil {
					t.Fatal(err)
				}
				writeJSONFile(t, filepath.Join(dir, evidence.ManifestFileName), m)
				ours(t, cmdutil.ExitFailed, "evidence", "verify", dir)
			})
		}
	}
}
