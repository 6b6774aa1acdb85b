// Package gangs_test runs the gangs of gates 4, 6 and 7 through each gang scheduler with each kind of
// job that it places, and puts in the faults of schedulers and operators.
package gangs_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/e2e/binary"
)

const lab = "gangs"

var program binary.Firstlight

func TestMain(m *testing.M) { binary.Main(m, &program, nil, program.LabDown(lab)) }

// labWith starts the lab, or adds extras to it.
func labWith(t *testing.T, extras string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 75*time.Minute) // upstream programs may have to be built
	defer cancel()
	if r := program.Run(ctx, "lab", "up", "--name", lab, "--with", extras); r.Code != 0 {
		t.Fatalf("lab up exited %d:\n%s%s", r.Code, r.Stdout, r.Stderr)
	}
}

// accept runs one gate with the lab's site, of which keys of block gpustack differ.
func accept(t *testing.T, name, keys string) (g binary.Gate, code int) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "site.yaml")
	if err := os.WriteFile(file, []byte("gpustack: {"+keys+"}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	a, r := program.Accept(t, lab, "--site", file, "--only", name)
	if len(a.Gates) != 1 {
		t.Fatalf("accept exited %d with %d gates:\n%s%s", r.Code, len(a.Gates), r.Stdout, r.Stderr)
	}
	return a.Gates[0], r.Code
}

// fails requires that gate gpustack fails with a finding of this suspect and message.
func fails(t *testing.T, keys, suspect, message string) {
	t.Helper()
	g, code := accept(t, "gpustack", keys)
	if code != 1 || g.Verdict != "failed" {
		t.Errorf("exit %d, %s (%s), want 1 and failed", code, g.Verdict, g.Reason)
	}
	for _, f := range g.Findings {
		if f.Suspect == suspect && strings.Contains(f.Message, message) && f.Remedy != "" {
			return
		}
	}
	t.Errorf("no finding has the suspect %q and the message %q: %+v", suspect, message, g.Findings)
}

// withFault runs do with a fault in the lab.
func withFault(t *testing.T, kind string, do func()) {
	t.Helper()
	program.Must(t, "lab", "fault", "add", kind, "--name", lab)
	defer program.Must(t, "lab", "fault", "clear", "--all", "--name", lab)
	do()
}
