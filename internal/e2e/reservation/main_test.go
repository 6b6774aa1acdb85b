package reservation_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/e2e/binary"
)

var (
	program binary.Firstlight
	// files are the flags that name the registry, the schedule and the hooks.
	registry, schedule, hooks string
)

// TestMain runs the tests with one store, and removes everything they have left, also where
// they have failed.
func TestMain(m *testing.M) {
	binary.Main(m, &program, prepare, func(ctx context.Context, dir string) error { return errors.Join(endAll(ctx), left(dir)) })
}

// prepare writes the files, starts the store (its programs may have to be built), and
// puts the registry into it.
func prepare(ctx context.Context, dir string) error {
	ctx, cancel := context.WithTimeout(ctx, 75*time.Minute)
	defer cancel()
	registry, schedule, hooks = "testdata/reservations.yaml", filepath.Join(dir, "schedule.yaml"), filepath.Join(dir, "hooks.yaml")
	if err := os.WriteFile(schedule, []byte(scheduleFor(time.Now().UTC())), 0o600); err != nil {
		return err
	}
	text := fmt.Sprintf("apiVersion: hooks.firstlight.dev/v1\nowner: team-e2e\nhooks:\n  - cloud: kind\n    command: [%q, reservation, hook, lab]\n    environment: [FIRSTLIGHT_HOME]\n", program.Path)
	if err := os.WriteFile(hooks, []byte(text), 0o600); err != nil {
		return err
	}
	if r := program.Run(ctx, "reservation", "apply", "--file", registry); r.Code != 0 || strings.Count(r.Stdout, "created") != 7 {
		return fmt.Errorf("reservation apply exited %d: %s%s", r.Code, r.Stdout, r.Stderr)
	}
	return nil
}

// scheduleFor has nothing to do now, nor for hours: no test meets the clock. The evening
// has a window of 1h30m, two hours before the night.
func scheduleFor(now time.Time) string {
	at := func(hours int) string {
		t := now.Add(time.Duration(hours) * time.Hour)
		return fmt.Sprintf("%d %d * * *", t.Minute(), t.Hour())
	}
	return fmt.Sprintf(`zone: UTC
entries:
  - {name: morning-up, action: up, cron: %q, window: 1h}
  - {name: evening-down, action: down, cron: %q, window: 1h30m}
  - {name: nightly-batch, action: batch, cron: %q, window: 3h}
margins:
  - {from: evening-down, to: nightly-batch, at-least: 30m}
`, at(8), at(12), at(14))
}

// endAll ends labs that a test has left standing, and the store.
func endAll(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	var errs []error
	labs, err := os.ReadDir(filepath.Join(program.Home, "labs"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		errs = append(errs, err)
	}
	for _, l := range labs {
		errs = append(errs, fmt.Errorf("lab %s was left", l.Name()))
		if r := program.Run(ctx, "lab", "down", "--name", l.Name()); r.Code != 0 {
			errs = append(errs, fmt.Errorf("lab down exited %d: %s", r.Code, r.Stderr))
		}
	}
	if r := program.Run(ctx, "reservation", "store", "down"); r.Code != 0 {
		errs = append(errs, fmt.Errorf("store down exited %d: %s", r.Code, r.Stderr))
	}
	return errors.Join(errs...)
}

// left names processes of the tests that still run: all have the directory in their arguments.
func left(dir string) error {
	all, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		return err
	}
	for _, name := range all {
		line, err := os.ReadFile(name)
		if err == nil && strings.Contains(string(line), dir) {
			err = errors.Join(err, fmt.Errorf("%s still runs: %s", filepath.Dir(name), strings.ReplaceAll(string(line), "\x00", " ")))
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !strings.Contains(err.Error(), "no such process") {
			return err
		}
	}
	return nil
}

// reservation runs a subcommand; the exit code must match, and the output must contain
// the words.
func reservation(t *testing.T, code int, args []string, words ...string) binary.Result {
	t.Helper()
	r := program.Run(t.Context(), append([]string{"reservation"}, args...)...)
	if r.Code != code {
		t.Fatalf("reservation %s exited %d, want %d\n%s%s", strings.Join(args, " "), r.Code, code, r.Stdout, r.Stderr)
	}
	for _, w := range words {
		if !strings.Contains(r.Stdout+r.Stderr, w) {
			t.Errorf("reservation %s does not say %q\n%s%s", strings.Join(args, " "), w, r.Stdout, r.Stderr)
		}
	}
	return r
}

// grant is a lease as -o json shows it.
type grant struct {
	Reservation, Holder string
	Token               int64
}

// acquired decodes the JSON output of acquire and checkout.
func acquired(t *testing.T, r binary.Result) []grant {
	t.Helper()
	var list []grant
	if err := json.Unmarshal([]byte(r.Stdout), &list); err == nil {
		return list
	}
	var one grant
	if err := json.Unmarshal([]byte(r.Stdout), &one); err != nil {
		t.Fatalf("not a grant: %v\n%s%s", err, r.Stdout, r.Stderr)
	}
	return []grant{one}
}

// shown is the JSON output of reservation describe.
type shown struct {
	State string
	Token int64
	Lease *struct{ Holder string }
	Dirt  *struct {
		Reason     string
		ManualOnly bool
	}
	Queue  []struct{ Holder, Class string }
	Recent []struct{ Type, Actor, Reason string }
}

func describe(t *testing.T, name string) shown {
	t.Helper()
	r := reservation(t, 0, []string{"describe", name, "-o", "json"})
	var v shown
	if err := json.Unmarshal([]byte(r.Stdout), &v); err != nil {
		t.Fatalf("%v\n%s", err, r.Stdout)
	}
	return v
}

// clean marks a released reservation as clean: these rows have no hook.
func clean(t *testing.T, name string) {
	t.Helper()
	reservation(t, 0, []string{"clean", name, "--why", "checked by a test"})
}

// begun is a command that runs.
type begun struct {
	cmd  *exec.Cmd
	done chan binary.Result
}

func begin(t *testing.T, args ...string) begun {
	t.Helper()
	b := begun{program.Command(t.Context(), append([]string{"reservation"}, args...)...), make(chan binary.Result, 1)}
	go func() { b.done <- binary.Finish(b.cmd) }()
	return b
}

// end waits for it.
func (b begun) end(t *testing.T) binary.Result {
	t.Helper()
	select {
	case r := <-b.done:
		return r
	case <-time.After(3 * time.Minute):
		t.Fatalf("%v does not end", b.cmd.Args)
		return binary.Result{}
	}
}
