package reservation

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/cli/clitest"
	"github.com/firstlight/firstlight/internal/cli/cmdutil"
)

const (
	exampleBatch  = "../../../examples/batch.yaml"
	exampleCompat = "../../../examples/compat.yaml"
	exampleTags   = "../../../examples/releases.txt"
)

func TestReservationBatchOutput(t *testing.T) {
	plan := []string{"batch", "plan", "--file", exampleRegistry, "--schedule", exampleSchedule, "--batch", exampleBatch, "--after", "2026-11-21T03:00:00Z"}
	compareOutputs(t, map[string][]string{
		"batch-plan.txt":     plan,
		"batch-plan.json":    append(plan[:len(plan):len(plan)], "-o", "json"),
		"batch-plan-one.txt": append(plan[:len(plan):len(plan)], "--reservation", "gcp-h100"),
		"compat-check.txt":   {"compat", "check", "--compat", exampleCompat, "--tags", exampleTags},
		"compat-check.json":  {"compat", "check", "--compat", exampleCompat, "--tags", exampleTags, "-o", "json"},
	})
}

// The output lists every cell, also those that cannot run, with the reason.
func TestReservationBatchThatCannotRun(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	write("releases.txt", "v0.22.0\n")
	few := write("few.yaml", "previous: 3\nmain: true\ncell-limit: 2h\nteardown-limit: 20m\nreleases: {file: releases.txt}")
	write("high.yaml", "floors: [{lane: gcp, intents: [training], min-release: v9.0.0, reason: a}]")
	const head = "previous: 1\nmain: true\ncell-limit: 2h\nteardown-limit: 20m\nreleases: "
	high := write("floor.yaml", head+"{file: releases.txt}\ncompat: high.yaml")
	long := write("long.yaml", "previous: 0\nmain: true\ncell-limit: 6h\nteardown-limit: 20m")
	fails := write("fails.yaml", head+`{command: [sh, -c, "echo no route to host >&2; exit 1"]}`)
	none := write("none.yaml", head+"{file: gone.txt}")
	noBatch := write("schedule.yaml", "zone: UTC\nentries:\n- {name: d, action: down, cron: \"0 2 * * *\", window: 1h}\nmargins:\n- {from: d, to: d, at-least: 1h}\n")
	plan := func(batch string, more ...string) []string {
		return append([]string{"batch", "plan", "--file", exampleRegistry, "--schedule", exampleSchedule, "--batch", batch}, more...)
	}
	for _, tt := range []struct {
		args        []string
		code        int
		out, stderr string
	}{
		{plan(few), cmdutil.ExitPassed, "main, v0.22.0 (previous is 3, but there are no more releases)", ""},
		{plan(high), cmdutil.ExitFailed, "azure-h100     main     training   at 04:00", "nothing runs at gcp-h100: gcp-h100: the floor v9.0.0"},
		{plan(high), cmdutil.ExitFailed, "nothing runs: error: gcp-h100: the floor v9.0.0 of [training] on gcp is too-high", ""},
		{plan(long), cmdutil.ExitFailed, "if time remains", "no cell can begin: the window of nightly-batch is 5h50m, the limit of a cell 6h"},
		{plan(fails), cmdutil.ExitUnobserved, "", "no route to host"},
		{plan(none), cmdutil.ExitUsage, "", "gone.txt"},
		{plan(exampleRegistry), cmdutil.ExitUsage, "", `unknown key "reservations"`},
		{plan(exampleBatch, "--after", "noon"), cmdutil.ExitUsage, "", "must be a time"},
		{plan(exampleBatch, "--reservation", "gcp"), cmdutil.ExitUsage, "", "want one of aws-h100,"},
		{plan(exampleBatch, "--schedule", noBatch), cmdutil.ExitUsage, "", "no entry with the action batch"},
		{[]string{"batch", "results", "--nights", "0"}, cmdutil.ExitUsage, "", "must be at least 1"},
		{[]string{"batch", "results", "-o", "table"}, cmdutil.ExitUsage, "", "want one of text, json, yaml, html"},
		{[]string{"compat", "check", "--compat", exampleCompat}, cmdutil.ExitFailed, "unknown  no stable release is known", "want --tags FILE"},
		{[]string{"compat", "check", "--compat", filepath.Join(dir, "high.yaml"), "--tags", exampleTags}, cmdutil.ExitFailed, "too-high", ""},
		{[]string{"compat", "check", "--compat", exampleBatch, "--tags", exampleTags}, cmdutil.ExitUsage, "", `unknown key "previous"`},
		{[]string{"compat", "check", "--compat", "-", "--tags", "-"}, cmdutil.ExitUsage, "", "cannot both"},
	} {
		out, stderr, code := clitest.Run(t, New, append([]string{"reservation"}, tt.args...)...)
		if code != tt.code || !strings.Contains(out, tt.out) || !strings.Contains(stderr, tt.stderr) || tt.out == "" && out != "" {
			t.Errorf("%v exits %d: %s%s\nwant %d %q %q", tt.args, code, out, stderr, tt.code, tt.out, tt.stderr)
		}
	}
}
