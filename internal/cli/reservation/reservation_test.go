package reservation

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/cli/clitest"
	"github.com/firstlight/firstlight/internal/cli/cmdutil"
	"github.com/firstlight/firstlight/internal/golden"
)

const (
	exampleRegistry = "../../../examples/reservations.yaml"
	exampleSchedule = "../../../examples/schedule.yaml"
)

func TestReservationOutput(t *testing.T) {
	const after = "2026-11-21T03:00:00Z"
	compareOutputs(t, map[string][]string{
		"list.txt":         {"list", "--file", exampleRegistry},
		"list.json":        {"list", "--file", exampleRegistry, "-o", "json"},
		"list.github":      {"list", "--file", exampleRegistry, "-o", "github"},
		"name.txt":         {"list", "--file", exampleRegistry, "--name", "aws-h100"},
		"name.json":        {"list", "--file", exampleRegistry, "--name", "aws-h100", "-o", "json"},
		"name.github":      {"list", "--file", exampleRegistry, "--name", "gcp-h100", "-o", "github"},
		"name-none.github": {"list", "--file", exampleRegistry, "--name", "aws-h100", "-o", "github"},
		"daytime.json":     {"list", "--file", exampleRegistry, "--daytime"},
		"daytime.txt":      {"list", "--file", exampleRegistry, "--daytime", "-o", "text"},
		"daytime.github":   {"list", "--file", exampleRegistry, "--daytime", "-o", "github"},
		"schedule.txt":     {"schedule", "--file", exampleSchedule, "--after", after},
		"schedule.json":    {"schedule", "--file", exampleSchedule, "--after", after, "-o", "json"},
		"check.txt":        {"schedule", "check", "--file", exampleSchedule, "--year", "2026"},
		"check.json":       {"schedule", "check", "--file", exampleSchedule, "--year", "2026", "-o", "json"},
	})
}

// compareOutputs runs commands that succeed and compares their outputs with the golden files.
func compareOutputs(t *testing.T, commands map[string][]string) {
	t.Helper()
	for name, args := range commands {
		t.Run(name, func(t *testing.T) {
			out, stderr, code := clitest.Run(t, New, append([]string{"reservation"}, args...)...)
			if code != cmdutil.ExitPassed || stderr != "" {
				t.Fatalf("exit %d: %s", code, stderr)
			}
			if strings.HasSuffix(name, ".json") && !json.Valid([]byte(out)) {
				t.Errorf("invalid JSON: %s", out)
			}
			golden.Compare(t, "testdata/golden/"+name, []byte(out))
		})
	}
}

// collides is fine in winter: people in Berlin come an hour earlier in summer.
const collides = `zone: UTC
entries:
  - {name: morning-up, action: up, zone: Europe/Berlin, cron: "0 8 * * *", window: 2h}
  - {name: evening-down, action: down, zone: Europe/Berlin, cron: "30 2 * * *", window: 1h}
  - {name: nightly-batch, action: batch, cron: "0 4 * * *", window: 2h30m}
margins:
  - {from: evening-down, to: nightly-batch, at-least: 1h}
  - {from: nightly-batch, to: morning-up, at-least: 30m}
`

func TestReservationScheduleCheck(t *testing.T) {
	t.Chdir(t.TempDir()) // the output names the file
	if err := os.WriteFile("schedule.yaml", []byte(collides), 0o600); err != nil {
		t.Fatal(err)
	}
	out, stderr, code := clitest.Run(t, New, "reservation", "schedule", "check", "--year", "2026")
	if code != cmdutil.ExitFailed || stderr != "" {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	if !strings.Contains(out, "2026-03-29 to 2026-10-24 (210 times)") {
		t.Errorf("the summer is not named:\n%s", out)
	}
}

func TestReservationWarningsAreErrorsWhenAsked(t *testing.T) {
	file := filepath.Join(t.TempDir(), "schedule.yaml")
	const text = "zone: Europe/Berlin\nentries:\n  - {name: night, action: batch, cron: \"30 2 * * *\", window: 1h}\nmargins:\n  - {from: night, to: night, at-least: 20h}\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for want, args := range map[int][]string{cmdutil.ExitPassed: {}, cmdutil.ExitFailed: {"--strict"}} {
		out, stderr, code := clitest.Run(t, New, append([]string{"reservation", "schedule", "check", "--year", "2026", "--file", file}, args...)...)
		if code != want || !strings.Contains(out, "time-jumped-over") || !strings.Contains(out, "dates: 2026-10-25") {
			t.Errorf("%v exits %d: %s%s", args, code, out, stderr)
		}
	}
}

func TestReservationBadInput(t *testing.T) {
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"list", "--file", "none.yaml"}, "--file names the file"},
		{[]string{"list", "--file", "../../reservation/config/testdata/registry/many-at-once.yaml"}, "testdata/registry/many-at-once.yaml:18:22: error: invalid path \"/tests\": must be inside the repository"},
		{[]string{"list", "--file", exampleRegistry, "--name", "gcp-h1000"}, "did you mean gcp-h100?"},
		{[]string{"list", "--file", exampleRegistry, "--name", ""}, "want one of aws-h100,"},
		{[]string{"list", "--file", exampleRegistry, "--name", "gcp-h100", "--daytime"}, "none of the others can be"},
		{[]string{"list", "--file", exampleRegistry, "-o", "table"}, "want one of text, json, yaml, github"},
		{[]string{"list", exampleRegistry}, "unknown command"},
		{[]string{"schedule", "--file", exampleSchedule, "--after", "noon"}, "must be a time"},
		{[]string{"schedule", "--file", exampleRegistry}, `unknown key "reservations"`},
		{[]string{"schedule", "check", "--file", exampleSchedule, "--year", "1"}, "from 2000 to 2100"},
		{[]string{"schedule", "chekc"}, "unknown command"},
		{[]string{"lst"}, "unknown command"},
	} {
		out, stderr, code := clitest.Run(t, New, append([]string{"reservation"}, tt.args...)...)
		if code != cmdutil.ExitUsage || out != "" || !strings.Contains(stderr, tt.want) {
			t.Errorf("%v exits %d: %s%s\nwant %s", tt.args, code, out, stderr, tt.want)
		}
	}
}

func TestReservationFromStandardInput(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(exampleRegistry)
	if err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	if code := execute(t, []string{"reservation", "list", "--file", "-", "--daytime"}, cmdutil.Streams{In: bytes.NewReader(data), Out: &out, Err: &errs}); code != cmdutil.ExitPassed {
		t.Fatalf("exit %d: %s", code, &errs)
	}
	if code := execute(t, []string{"reservation", "list", "--file", "-"}, cmdutil.Streams{In: strings.NewReader("x: 1"), Out: &out, Err: &errs}); code != cmdutil.ExitUsage || !strings.Contains(errs.String(), "standard input:1:1") {
		t.Errorf("exit %d: %s", code, &errs)
	}
}

// limited takes so many bytes, then fails; it counts how often it was written to.
type limited struct {
	left, calls int
	err         error
	bytes.Buffer
}

func (l *limited) Write(p []byte) (int, error) {
	l.calls++
	n := min(len(p), l.left)
	l.left -= n
	l.Buffer.Write(p[:n])
	if n < len(p) {
		return n, l.err
	}
	return n, nil
}

func TestReservationOutputWriteError(t *testing.T) {
	t.Parallel()
	lost := errors.New("no space left on device")
	for _, args := range [][]string{
		{"list", "--file", exampleRegistry},
		{"list", "--file", exampleRegistry, "-o", "json"},
		{"list", "--file", exampleRegistry, "-o", "github"},
		{"list", "--file", exampleRegistry, "--daytime"},
		{"list", "--file", exampleRegistry, "--name", "gcp-h100", "-o", "github"},
		{"schedule", "--file", exampleSchedule},
		{"schedule", "check", "--file", exampleSchedule},
	} {
		for _, w := range []*limited{{err: lost}, {left: 10, err: lost}, {left: 10, err: nil}, {left: 1 << 20}} {
			whole, fail := w.left > 10, w.err
			var errs bytes.Buffer
			code := execute(t, append([]string{"reservation"}, args...), cmdutil.Streams{In: strings.NewReader(""), Out: w, Err: &errs})
			switch {
			case w.calls != 1:
				t.Errorf("%v: written %d times, not once", args, w.calls)
			case whole && code != cmdutil.ExitPassed:
				t.Errorf("%v exits %d: %s", args, code, &errs)
			case !whole && code != cmdutil.ExitUnobserved:
				t.Errorf("%v exits %d when the output was cut (%v)", args, code, fail)
			case !whole && !strings.Contains(errs.String(), "write output: "):
				t.Errorf("%v does not say it: %s", args, &errs)
			}
		}
	}
}

func TestNoOutputBeforeAnError(t *testing.T) {
	t.Parallel()
	var out limited
	err := cmdutil.WriteWhole(&out, func(w io.Writer) error {
		if _, err := io.WriteString(w, "[{"); err != nil {
			return err
		}
		return errors.New("no more")
	})
	if err == nil || out.calls != 0 || cmdutil.ExitCode(err) != cmdutil.ExitUnobserved {
		t.Errorf("%v; written %d times: %q", err, out.calls, out.String())
	}
}

func execute(t *testing.T, args []string, s cmdutil.Streams) int {
	t.Helper()
	return cmdutil.Execute(t.Context(), clitest.Root(New(s)), args, s)
}
