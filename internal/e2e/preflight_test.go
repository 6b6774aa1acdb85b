package e2e_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// TestPreflight: the lab has no obstacle; with a fault the command names it and exits 1, and a gate that does
// not need it is not concerned. The other obstacles are those of internal/preflight.
func TestPreflight(t *testing.T) {
	sharedLab(t)
	type line struct{ Check, Target, Result, Remedy string }
	var r struct {
		Result string
		Lines  []line
	}
	run := func(args ...string) (code int) {
		t.Helper()
		out := program.Run(t.Context(), append([]string{"accept", "--preflight", "-o", "json", "--lab", labName}, args...)...)
		if err := json.Unmarshal([]byte(out.Stdout), &r); err != nil {
			t.Fatalf("exit %d: %v\n%s%s", out.Code, err, out.Stdout, out.Stderr)
		}
		return out.Code
	}
	obstacles := func() []line {
		return slices.DeleteFunc(slices.Clone(r.Lines), func(l line) bool { return l.Result == "ok" })
	}
	if code, found := run(), obstacles(); code != 0 || r.Result != "ok" || len(found) > 0 || len(r.Lines) < 30 {
		t.Errorf("the healthy lab exits %d, result %s of %d lines: %+v", code, r.Result, len(r.Lines), found)
	}
	program.Must(t, "lab", "fault", "add", "tool-missing", "--name", labName)
	defer program.Must(t, "lab", "fault", "clear", "--all", "--name", labName)
	if code, found := run("--only", "node"), obstacles(); code != 1 || len(found) != 1 || found[0].Check != "dcgmi" || found[0].Target != "gpu-02" || !strings.Contains(found[0].Remedy, "DCGM") {
		t.Errorf("exit %d: %+v", code, found)
	}
	if code, found := run("--only", "fabric"), obstacles(); code != 0 || len(found) > 0 {
		t.Errorf("gate fabric exits %d: %+v", code, found)
	}
}
