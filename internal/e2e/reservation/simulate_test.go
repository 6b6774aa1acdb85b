package reservation_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/firstlight/firstlight/internal/e2e/simulation"
	"github.com/firstlight/firstlight/internal/suite"
)

// TestSimulation simulates a night in which the controller is killed during a cell; in the soak a week.
func TestSimulation(t *testing.T) {
	t.Parallel()
	suite.Require(t, suite.All)
	args := []string{"reservation", "simulate", "-o", "json", "--dir", filepath.Join(t.TempDir(), "simulation")}
	days, cells := 7, 42
	if suite.Current() < suite.Soak {
		days, cells = 1, 6
		args = append(args, "--scene", "crash")
	}
	r := program.Run(t.Context(), args...)
	t.Log(r.Stderr)
	var report simulation.Report
	if err := json.Unmarshal([]byte(r.Stdout), &report); err != nil {
		t.Fatalf("exit %d: %v: %s", r.Code, err, r.Stdout)
	}
	ended := 0
	for _, n := range report.Cells {
		ended += n
	}
	if r.Code != 0 || !report.Passed || len(report.Days) != days || report.HandOvers != 3*days || ended != cells {
		t.Errorf("exit %d: %+v", r.Code, report)
	}
	for _, name := range []string{"grid.html", "metrics.prom", "history.jsonl"} {
		if info, err := os.Stat(filepath.Join(report.Dir, name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
}
