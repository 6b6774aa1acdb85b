package attest

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// A run that does not exist, or is a file, is an error and has no report.
func TestOnlyADirectoryIsVerified(t *testing.T) {
	t.Parallel()
	missing := filepath.Join(t.TempDir(), "none")
	if r, err := Verify(t.Context(), missing, Options{}); !errors.Is(err, fs.ErrNotExist) || len(r.Checks) > 0 {
		t.Errorf("a missing directory: %+v, %v", r, err)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if r, err := Verify(t.Context(), file, Options{}); err == nil || len(r.Checks) > 0 {
		t.Errorf("a file: %+v, %v", r, err)
	}
}

// The detail of a check counts its problems.
func TestProblemsOfACheckAreCounted(t *testing.T) {
	t.Parallel()
	for n, want := range []string{"", "1 problem", "2 problems", "3 problems"} {
		f := newFound()
		for range n {
			f.problem(CheckFiles, "x", "changed")
		}
		f.problem(CheckManifest, "", "missing")
		r := f.done()
		i := slices.IndexFunc(r.Checks, func(c Checked) bool { return c.Check == CheckFiles })
		if got := r.Checks[i]; n > 0 && (got.Detail != want || got.Outcome != Wrong) || n == 0 && got.Outcome != NotChecked {
			t.Errorf("%d problems: %+v", n, got)
		}
	}
}
