package e2e_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/evidence"
	"github.com/firstlight/firstlight/internal/suite"
)

const partialNode = "facility=passed fabric=passed node=partial gpustack=passed telemetry=passed collective=passed training=passed inference=passed"

// TestFailedNodeIsLeftOut accepts a lab without the node whose GPU is lost, and not a lab with two
// such nodes. Replay and verify derive the same, and find an edited list and a higher allowance.
func TestFailedNodeIsLeftOut(t *testing.T) {
	suite.Require(t, suite.All)
	sharedLab(t)
	dir := t.TempDir()
	defer program.Must(t, "lab", "fault", "clear", "--all", "--name", labName)
	program.Must(t, "lab", "fault", "add", "gpu-off-bus", "gpu-02/gpu5", "--name", labName)
	a, r := accept(t, "--fresh", "--allow-failed", "1", "--evidence", dir)
	if r.Code != 0 || a.Verdict != "partial" || a.verdicts() != partialNode {
		t.Fatalf("exit %d, %s: %s\n%s", r.Code, a.Verdict, a.verdicts(), r.Stderr)
	}
	run := filepath.Join(dir, a.Run)
	const headline = "passed on 3 of 4 nodes, 1 left out (at most 1 allowed)"
	for name, text := range map[string]string{
		"-o json": r.Stdout, "evidence show": program.Must(t, "evidence", "show", run).Stdout,
		"evidence verify": program.Run(t.Context(), "evidence", "verify", run).Stdout,
		"report.html":     read(t, run, "report.html"), "junit.xml": read(t, run, "junit.xml"), "verdicts.json": read(t, run, "verdicts.json"),
	} {
		if !strings.Contains(text, headline) || !strings.Contains(text, "left out: gpu-02") {
			t.Errorf("%s does not name the node: %s", name, text)
		}
	}
	program.Must(t, "evidence", "replay", run)
	for name, tt := range map[string]struct{ file, from, to, want string }{
		"another node":                  {"journal.jsonl", `"leftOut":["gpu-02"]`, `"leftOut":["gpu-03"]`, "same verdict, other figures or findings"},
		"two nodes":                     {"journal.jsonl", `"leftOut":["gpu-02"]`, `"leftOut":["gpu-02","gpu-03"]`, "same verdict, other figures or findings"},
		"passed":                        {"journal.jsonl", `"verdict":"partial"`, `"verdict":"passed"`, "verdict passed, now partial"},
		"a higher allowance":            {"plan.json", `"allowFailed": 1`, `"allowFailed": 2`, "allowFailed is 2 in the plan, the inputs require 1"},
		"a higher allowance in the run": {"run.json", `"allowFailed": 1`, `"allowFailed": 2`, `run.json says allow-failed "2", the command says allow-failed "1"`},
	} {
		forged := filepath.Join(t.TempDir(), "forged")
		if err := os.CopyFS(forged, os.DirFS(run)); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(forged, tt.file)
		data := []byte(read(t, forged, tt.file))
		if !bytes.Contains(data, []byte(tt.from)) {
			t.Fatalf("%s: %s has no %s", name, tt.file, tt.from)
		}
		if err := os.WriteFile(path, bytes.ReplaceAll(data, []byte(tt.from), []byte(tt.to)), 0o600); err != nil {
			t.Fatal(err)
		}
		sealAgain(t, forged)
		v := program.Run(t.Context(), "evidence", "replay", forged)
		if v.Code == 0 || !strings.Contains(v.Stdout+v.Stderr, tt.want) {
			t.Errorf("%s: replay exited %d, want %q: %s%s", name, v.Code, tt.want, v.Stdout, v.Stderr)
		}
	}
	program.Must(t, "lab", "fault", "add", "ecc-uncorrectable", "gpu-03/gpu1", "--name", labName)
	a, r = accept(t, "--from", "node", "--allow-failed", "1", "--evidence", dir)
	if r.Code != 1 || a.Verdict != "failed" || !strings.Contains(r.Stdout, "2 failed nodes, at most 1 may be left out") {
		t.Errorf("two nodes: exit %d, %s: %s", r.Code, a.Verdict, a.verdicts())
	}
	r = program.Run(t.Context(), "accept", "--lab", labName, "--from", "telemetry", "--evidence", dir)
	if r.Code == 0 || !strings.Contains(r.Stderr, "--allow-failed") {
		t.Errorf("verdicts of another allowance are kept: exit %d, %s", r.Code, r.Stderr)
	}
}

func read(t *testing.T, dir, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// sealAgain writes the summary and the manifest of an edited run.
func sealAgain(t *testing.T, dir string) {
	t.Helper()
	b, err := evidence.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	write := func(name string, v any) {
		data, err := json.MarshalIndent(v, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), append(data, '\n'), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(evidence.VerdictsFileName, b.Summary())
	m, err := evidence.Inventory(dir)
	if err != nil {
		t.Fatal(err)
	}
	write(evidence.ManifestFileName, m)
}
