package controller

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/reservation/config"
	"github.com/firstlight/firstlight/internal/reservation/matrix"
)

// loadBatchPlan reads a batch file as the commands do.
func loadBatchPlan(t *testing.T, path string) (*BatchPlan, error) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	c, err := matrix.Parse(path, data)
	if err != nil {
		return nil, err
	}
	return NewBatchPlan(t.Context(), c, filepath.Dir(path))
}

func TestPrepareTheExample(t *testing.T) {
	t.Parallel()
	n, err := loadBatchPlan(t, "../../../examples/batch.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(n.Versions, " "); got != "main v0.22.0 v0.21.4" {
		t.Errorf("versions %s", got)
	}
	reg, err := config.LoadRegistry("../../../examples/reservations.yaml")
	if err != nil {
		t.Fatal(err)
	}
	cells := 0
	for _, row := range reg.Reservations {
		lane, err := n.Lane(row)
		if err != nil {
			t.Error(err)
		}
		cells += len(lane.Cells)
		if row.Name == "gcp-h100" && len(lane.HeldBack) != 1 {
			t.Errorf("held back at %s: %v", row.Name, lane.HeldBack)
		}
	}
	if cells != 6+5+6+3 {
		t.Errorf("%d cells", cells)
	}
	if until := time.Date(2026, 11, 21, 9, 50, 0, 0, time.UTC); !n.Cutoff(until).Equal(until.Add(-150 * time.Minute)) {
		t.Errorf("the cutoff is %s", n.Cutoff(until))
	}
}

// A truncated list of releases is an error.
func TestWhichReleasesThereAre(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "tags.txt"), []byte("  v1.0.0\r\n\nv1.1.0"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "large.txt"), []byte(strings.Repeat("v1.0.0\n", 1<<18)), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		from matrix.Releases
		want string
	}{
		"a file":                             {matrix.Releases{File: "tags.txt"}, "v1.0.0 v1.1.0"},
		"by its whole path":                  {matrix.Releases{File: filepath.Join(dir, "tags.txt")}, "v1.0.0 v1.1.0"},
		"a command, in the files' directory": {matrix.Releases{Command: []string{"cat", "tags.txt"}}, "v1.0.0 v1.1.0"},
		"a missing file":                     {matrix.Releases{File: "none.txt"}, "no such file"},
		"a large file":                       {matrix.Releases{File: "large.txt"}, "larger than 1 MiB"},
		"a command that fails":               {matrix.Releases{Command: []string{"sh", "-c", "echo v1.0.0; echo no route to host >&2; exit 3"}}, "exit status 3: no route to host"},
		"a missing command":                  {matrix.Releases{Command: []string{"./none"}}, "run ./none"},
		"a command that says too much":       {matrix.Releases{Command: []string{"yes", "v1.0.0"}}, "larger than 1 MiB"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := tags(t.Context(), tt.from, dir)
			text := strings.Join(got, " ")
			if err != nil {
				text = err.Error()
			}
			if !strings.Contains(text, tt.want) || err != nil && got != nil {
				t.Errorf("got %q, want %q", text, tt.want)
			}
		})
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if got, err := tags(ended, matrix.Releases{Command: []string{"cat", "tags.txt"}}, dir); err == nil {
		t.Errorf("cancelled, but the error is %v", got)
	}
}

func TestPrepareFails(t *testing.T) {
	t.Parallel()
	const head = "main: true\ncell-limit: 2h\nteardown-limit: 20m\n"
	for name, tt := range map[string]struct{ text, want string }{
		"a wrong file":        {"previous: 1", "[missing]"},
		"no releases":         {head + "previous: 1\nreleases: {command: [echo, v1.0.0-rc.1]}", "no stable release is known"},
		"releases not seen":   {head + "previous: 1\nreleases: {file: none}", "list releases"},
		"floors not there":    {head + "previous: 0\ncompat: none.yaml", "none.yaml"},
		"floors that are not": {head + "previous: 0\ncompat: batch.yaml", "[unknown-key]"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "batch.yaml")
			if err := os.WriteFile(path, []byte(tt.text), 0o600); err != nil {
				t.Fatal(err)
			}
			if n, err := loadBatchPlan(t, path); n != nil && n.Versions != nil || err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%+v, %v, want %q", n, err, tt.want)
			}
		})
	}
}
