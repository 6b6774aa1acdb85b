package singlenode

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/accept"
	"github.com/firstlight/firstlight/internal/check"
	cli "github.com/firstlight/firstlight/internal/cli/evidence"
	"github.com/firstlight/firstlight/internal/evidence"
	"github.com/firstlight/firstlight/internal/world"
)

// verdicts are those of the gates, in order.
func verdicts(r accept.Report) map[string]check.Verdict {
	out := map[string]check.Verdict{}
	for _, g := range r.Gates {
		out[g.Gate] = g.Verdict
	}
	return out
}

// A healthy machine passes the gates that apply to it, without a cluster, and the evidence gives the same
// verdicts again.
func TestHealthy(t *testing.T) {
	t.Parallel()
	for hardware, applicable := range map[string][]string{"h100-sxm": {"fabric", "node", "collective"}, "a3-highgpu-1g": {"node"}} {
		t.Run(hardware, func(t *testing.T) {
			t.Parallel()
			m := newMachine(t, hardware)
			report, err := m.run(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			if report.Verdict != check.Passed || len(report.Notes) > 0 || report.Simulated != evidence.HardwareUnknown {
				t.Errorf("%s, notes %q, simulated %q", report.Verdict, report.Notes, report.Simulated)
			}
			for _, g := range report.Gates {
				want := check.NotApplicable
				if slices.Contains(applicable, g.Gate) {
					want = check.Passed
				}
				if g.Verdict != want || want == check.NotApplicable && !strings.HasPrefix(g.Reason, "spine single-node: ") {
					t.Errorf("%s: %s (%s), want %s: %+v", g.Gate, g.Verdict, g.Reason, want, g.Findings)
				}
			}
			if !slices.ContainsFunc(report.NarrowedBy, func(text string) bool { return strings.Contains(text, "one machine: nothing shows") }) {
				t.Errorf("narrowed by %q", report.NarrowedBy)
			}
			requireReplay(t, report.Evidence)
			requireVerify(t, report.Evidence)
		})
	}
}

func requireReplay(t *testing.T, dir string) {
	t.Helper()
	replayed, err := evidence.Replay(dir, cli.ChecksOf)
	if err != nil {
		t.Fatal(err)
	}
	if !replayed.Identical() {
		t.Errorf("plan %+v, contradictions %+v, steps %+v", replayed.Plan, replayed.Contradictions, replayed.Steps)
	}
	if !slices.ContainsFunc(replayed.Claims, func(c evidence.Claim) bool {
		return c.Field == "cluster" && c.Value == "machine-0011" && c.Basis == evidence.Observed
	}) {
		t.Errorf("no claim about the machine: %+v", replayed.Claims)
	}
}

func requireVerify(t *testing.T, dir string) {
	t.Helper()
	if problems, err := evidence.Verify(dir); err != nil || len(problems) > 0 {
		t.Errorf("%v, %v", problems, err)
	}
}

// Each fault fails the gate of its layer, with the part that has it, and no gate before.
func TestEveryFault(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ kind, target, gate, suspect string }{
		{"nvlink-down", "gpu-01/gpu2", "fabric", `^gpu-01/gpu2$`},
		{"gpu-off-bus", "gpu-01/gpu5", "fabric", `^gpu-01`},
		{"clocks-locked", "gpu-01/gpu6", "node", `^gpu-01/gpu6$`},
		{"ecc-uncorrectable", "gpu-01/gpu1", "node", `^gpu-01/gpu1$`},
		{"data-corruption", "gpu-01", "collective", `^gpu-01$`},
		{"nvls-lost", "gpu-01", "collective", `^gpu-01$`},
		{"truncated-run", "cluster", "collective", `truncated output`},
	} {
		t.Run(tt.kind, func(t *testing.T) {
			t.Parallel()
			m := newMachine(t, "h100-sxm")
			if _, err := m.world.AddFault(world.Fault{Kind: tt.kind, Target: tt.target}); err != nil {
				t.Fatal(err)
			}
			report, err := m.run(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			if report.Verdict != check.Failed {
				t.Errorf("verdict %s", report.Verdict)
			}
			for _, g := range report.Gates {
				switch {
				case g.Gate == tt.gate:
					if g.Verdict != check.Failed || len(g.Findings) == 0 || !regexp.MustCompile(tt.suspect).MatchString(g.Findings[0].Suspect) {
						t.Errorf("%s: %s, want a failure of %s: %+v", g.Gate, g.Verdict, tt.suspect, g.Findings)
					}
				case g.Verdict == check.Failed || g.Verdict == check.Unobserved:
					t.Errorf("%s: %s: %+v", g.Gate, g.Verdict, g.Findings)
				}
			}
			requireReplay(t, report.Evidence)
		})
	}
}

// The GPUs of another program are left alone: the collective is not run, which is never a pass.
func TestGPUsInUse(t *testing.T) {
	t.Parallel()
	m := newMachine(t, "h100-sxm")
	var ran []string
	m.before = func(line string) {
		if strings.Contains(line, "--query-compute-apps") {
			if _, err := m.world.Occupy(world.Pod{UID: "1", Namespace: "x", Name: "x"}, m.name, 1, world.Load{}); err != nil {
				t.Error(err)
			}
		}
		ran = append(ran, line)
	}
	report, err := m.run(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := verdicts(report)["collective"]; got != check.Unobserved || report.Verdict != check.Unobserved {
		t.Errorf("%s, gate collective %s", report.Verdict, got)
	}
	if slices.ContainsFunc(ran, func(line string) bool { return strings.Contains(line, "all_reduce_perf") }) {
		t.Errorf("the collective ran: %q", ran)
	}
}

// killed runs the machine until a command, where the run ends as if it was killed.
func killed(t *testing.T, m *machine, at string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	m.before = func(line string) {
		if strings.Contains(line, at) {
			cancel()
		}
	}
	if report, err := m.run(ctx, nil); err != nil || !report.Interrupted {
		t.Fatalf("%v, interrupted: %t", err, report.Interrupted)
	}
	m.before = nil
}

// A run that was killed is resumed on the same machine, with the verdicts that it has, and can pass.
func TestResume(t *testing.T) {
	t.Parallel()
	m := newMachine(t, "h100-sxm")
	killed(t, m, "dcgmi diag")
	topologies := 0
	m.before = func(line string) {
		if line == "nvidia-smi topo -m" {
			topologies++
		}
	}
	report, err := m.run(t.Context(), nil)
	if err != nil || report.Verdict != check.Passed {
		t.Fatalf("%s, %v: %+v", report.Verdict, err, report.Gates)
	}
	if runs, err := evidence.List(m.evidence); err != nil || len(runs) != 1 || topologies != 0 {
		t.Errorf("runs %q, %v; gate fabric ran %d times", runs, err, topologies)
	}
	requireReplay(t, report.Evidence)
}

// The verdicts of another machine are not kept.
func TestAnotherMachineIsNotResumed(t *testing.T) {
	t.Parallel()
	m := newMachine(t, "h100-sxm")
	killed(t, m, "dcgmi diag")
	m.id = "2233"
	var notes []string
	report, err := m.run(t.Context(), func(o *accept.Options) { o.Note = func(text string) { notes = append(notes, text) } })
	if err != nil || report.Verdict != check.Passed {
		t.Fatalf("%s, %v: %+v", report.Verdict, err, report.Gates)
	}
	if runs, err := evidence.List(m.evidence); err != nil || len(runs) != 2 {
		t.Errorf("runs %q, %v", runs, err)
	}
	if !slices.ContainsFunc(notes, func(text string) bool {
		return strings.Contains(text, "machine: machine-0011 then, machine-2233 now")
	}) {
		t.Errorf("notes %q", notes)
	}
}

// The spine and the profile of the stored site decide which gates apply: evidence with another site does
// not give the same verdicts, also if its manifest was written again.
func TestEditedSite(t *testing.T) {
	t.Parallel()
	for name, edit := range map[string][2]string{
		"spine":   {"spine: single-node", "spine: kubernetes"},
		"gate":    {"spine: single-node", "spine: single-node\nnotApplicable: {node: not today}"},
		"machine": {"{name: gpu-01}", "{name: gpu-02}"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			report, err := newMachine(t, "a3-highgpu-1g").run(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(report.Evidence, "site.yaml")
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			edited := bytes.Replace(text, []byte(edit[0]), []byte(edit[1]), 1)
			if err := os.WriteFile(path, edited, 0o600); err != nil || bytes.Equal(edited, text) {
				t.Fatal(err)
			}
			if problems, err := evidence.Verify(report.Evidence); err != nil || len(problems) == 0 {
				t.Errorf("the edited file is not found: %v", err)
			}
			reseal(t, report.Evidence)
			if replayed, err := evidence.Replay(report.Evidence, cli.ChecksOf); err == nil && replayed.Identical() {
				t.Error("a run with an edited site gives the same verdicts")
			}
		})
	}
}

// reseal writes the manifest of a run again.
func reseal(t *testing.T, dir string) {
	t.Helper()
	m, err := evidence.Inventory(dir)
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, evidence.ManifestFileName), append(data, '\n'), 0o600); err != nil {
		t.Fatal(err)
	}
	if problems, err := evidence.Verify(dir); err != nil || len(problems) > 0 {
		t.Fatalf("%v, %v", problems, err)
	}
}
