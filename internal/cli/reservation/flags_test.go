package reservation

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/cli/clitest"
	"github.com/firstlight/firstlight/internal/cli/cmdutil"
	"github.com/firstlight/firstlight/internal/reservation/calendar"
)

// unreachable is the kubeconfig of a store that does not answer: a command that needs it exits
// with ExitUnobserved.
func unreachable(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "kubeconfig")
	const config = "apiVersion: v1\nkind: Config\nclusters: [{name: c, cluster: {server: 'https://127.0.0.1:1'}}]\ncontexts: [{name: c, context: {cluster: c}}]\ncurrent-context: c\n"
	if err := os.WriteFile(path, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// An invalid flag is refused before the store is opened.
func TestInvalidFlagsAreRefusedBeforeTheStoreIsOpened(t *testing.T) {
	t.Setenv("FIRSTLIGHT_HOME", t.TempDir())
	k := unreachable(t)
	run := []string{"run", "--file", exampleRegistry, "--schedule", exampleSchedule, "--batch", "../../../examples/batch.yaml"}
	up := []string{"rotation", "up", "--file", exampleRegistry, "--schedule", exampleSchedule}
	uncounted := uncountedRegistry(t)
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"rotation", "up", "--dry-run", "--file", uncounted, "--schedule", exampleSchedule}, "no node-count of by-day, so"},
		{append(run, "--ready-checks", "0"), "--ready-checks must be at least 1"},
		{append(up, "--ready-timeout", "0"), "--ready-timeout positive"},
		{append(up, "--nodes", "-1"), "invalid --nodes -1"},
		{[]string{"extend", "one", "--grant", "1"}, `required flag(s) "by" not set`},
		{[]string{"extend", "one", "--grant", "1", "--by", "0"}, "invalid --by 0s: must be positive"},
		{[]string{"extend", "one", "--grant", "1", "--by", "-1h"}, "invalid --by -1h0m0s: must be positive"},
		{[]string{"renew", "one", "--grant", "-1"}, "must be a positive number"},
		{[]string{"release", "one", "--grant", "0"}, "must be a positive number"},
		{[]string{"rotation", "up", "--file", exampleRegistry, "--schedule", exampleSchedule, "--notice", "-1m"}, "invalid --notice -1m0s: must not be negative"},
		{append(run, "--notice", "-1m"), "invalid --notice -1m0s"},
		{append(run, "--warn", "-1m"), "invalid --notice 30m0s or --warn -1m0s: must not be negative"},
		{append(run, "--period", "0"), "invalid --grace 30s, --period 0s"},
		{append(run, "--period", "4s"), "invalid --period 4s: must be at least 5s"},
		{append(run, "--poll", "-1s"), "must be positive"},
		{append(run, "--retention", "0"), "invalid --retention 0s or --history-limit 40000: must be positive"},
		{append(run, "--history-limit", "-1"), "or --history-limit -1: must be positive"},
		{append(run, "--leader-elect-lease-duration", "0"), "must be positive"},
	} {
		out, stderr, code := clitest.Run(t, New, append(append([]string{"reservation"}, tt.args...), "--kubeconfig", k)...)
		if code != cmdutil.ExitUsage || out != "" || !strings.Contains(stderr, tt.want) {
			t.Errorf("%v exits %d: %s%s\nwant %s", tt.args, code, out, stderr, tt.want)
		}
	}
}

// uncountedRegistry is a registry whose rows lack node-count.
func uncountedRegistry(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "reservations.yaml")
	rows := []string{"reservations:\n"}
	for _, row := range []string{"{name: by-hand, slug: bh1, nightly-intents: []", "{name: by-night, slug: bn1", "{name: by-day, slug: bd1, nightly-intents: [], daytime-intent: training"} {
		rows = append(rows, "- "+row+", cloud: aws, accelerator: h100, gpu-count: 8, cluster-config-path: a, test-config-dir: b}\n")
	}
	if err := os.WriteFile(path, []byte(strings.Join(rows, "")), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// The other reservations need the controller: a row that cannot get deployments is reported, and the controller runs.
func TestControllerStartsWithARowWithoutNodeCount(t *testing.T) {
	t.Setenv("FIRSTLIGHT_HOME", t.TempDir())
	_, stderr, code := clitest.Run(t, New, "reservation", "run", "--file", uncountedRegistry(t), "--schedule", exampleSchedule, "--batch", "../../../examples/batch.yaml", "--kubeconfig", unreachable(t))
	if code != cmdutil.ExitUnobserved || !strings.Contains(stderr, "level=ERROR") || !strings.Contains(stderr, "no node-count of by-night, by-day, so no deployment of it is ever ready: add it to the row, or set --nodes") {
		t.Errorf("exit %d, want %d of the unreachable store: %s", code, cmdutil.ExitUnobserved, stderr)
	}
}

// A running reservation needs its controller: a schedule that breaks a margin this year or the next
// is reported, and run.
func TestControllerStartsWithAScheduleThatBreaksAMargin(t *testing.T) {
	t.Setenv("FIRSTLIGHT_HOME", t.TempDir())
	file := filepath.Join(t.TempDir(), "schedule.yaml")
	if err := os.WriteFile(file, []byte(collides), 0o600); err != nil {
		t.Fatal(err)
	}
	_, stderr, code := clitest.Run(t, New, "reservation", "run", "--file", exampleRegistry, "--schedule", file, "--batch", "../../../examples/batch.yaml", "--kubeconfig", unreachable(t))
	if code != cmdutil.ExitUnobserved || !strings.Contains(stderr, "level=ERROR") || !strings.Contains(stderr, "[margin]") || !strings.Contains(stderr, "reservation schedule check --file "+file) {
		t.Errorf("exit %d, want %d of the unreachable store: %s", code, cmdutil.ExitUnobserved, stderr)
	}
}

// Each problem is reported with its year; a schedule without problems has none.
func TestScheduleProblemsOfThisYearAndTheNext(t *testing.T) {
	for file, want := range map[string]bool{collides: true, "": false} {
		if file == "" {
			raw, err := os.ReadFile(exampleSchedule)
			if err != nil {
				t.Fatal(err)
			}
			file = string(raw)
		}
		times, err := calendar.Parse("schedule.yaml", []byte(file))
		if err != nil {
			t.Fatal(err)
		}
		got := strings.Join(scheduleProblems(times, 2027), "\n")
		if (got != "") != want || want && (!strings.Contains(got, "2027: ") || !strings.Contains(got, "2028: ")) {
			t.Errorf("the problems are %q", got)
		}
	}
}

// A registry whose rows lack node-count can be used with --nodes, and to remove deployments.
func TestNodeCountIsNeededToProvision(t *testing.T) {
	t.Setenv("FIRSTLIGHT_HOME", t.TempDir())
	file := filepath.Join(t.TempDir(), "reservations.yaml")
	const row = "reservations:\n- {name: by-day, slug: bd1, nightly-intents: [], daytime-intent: training, cloud: aws, accelerator: h100, gpu-count: 8, cluster-config-path: a, test-config-dir: b}\n"
	if err := os.WriteFile(file, []byte(row), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"up", "--nodes", "2"}, {"down"}} {
		args = append([]string{"reservation", "rotation", args[0], "--file", file, "--schedule", exampleSchedule, "--kubeconfig", unreachable(t)}, args[1:]...)
		if _, stderr, code := clitest.Run(t, New, args...); code != cmdutil.ExitUnobserved && !strings.Contains(stderr, "hooks") {
			t.Errorf("%v exits %d: %s", args, code, stderr)
		}
	}
}
