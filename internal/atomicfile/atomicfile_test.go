package atomicfile_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/firstlight/firstlight/internal/atomicfile"
)

func TestWrite(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "state.json")
	for _, content := range []string{"first", "second, longer", "3"} {
		if err := atomicfile.Write(path, []byte(content), 0o640); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(path)
		if err != nil || string(got) != content {
			t.Errorf("read %q, %v; want %q", got, err, content)
		}
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("mode %v, %v; want 0640", info.Mode(), err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("%d entries, %v: a temporary file is left", len(entries), err)
	}
}

// A directory in the place of the file is an error, and leaves no temporary file behind.
func TestWriteFails(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "taken")
	if err := os.Mkdir(path, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := atomicfile.Write(path, []byte("x"), 0o600); err == nil {
		t.Error("a directory was replaced by a file")
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("%d entries, %v: a temporary file is left", len(entries), err)
	}
	if err := atomicfile.Write(filepath.Join(dir, "missing", "x"), nil, 0o600); err == nil {
		t.Error("a file was written into a missing directory")
	}
}

// A pending file takes its path on Commit only, replaces another only with replace, and leaves
// no temporary file behind.
func TestPending(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		before  string // content of the path before Commit; empty: it does not exist
		replace bool
		discard bool
		want    string
		exists  bool // Commit fails with os.ErrExist
	}{
		"new":               {want: "new"},
		"new, replacing":    {replace: true, want: "new"},
		"replaces":          {before: "old", replace: true, want: "new"},
		"another was first": {before: "old", want: "old", exists: true},
		"discarded":         {before: "old", discard: true, want: "old"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			path := filepath.Join(dir, "bundle")
			p, err := atomicfile.Create(path, 0o644)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := p.Write([]byte("new")); err != nil {
				t.Fatal(err)
			}
			if _, err := os.Lstat(path); err == nil {
				t.Error("the path exists before Commit")
			}
			if tt.before != "" {
				if err := os.WriteFile(path, []byte(tt.before), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if !tt.discard {
				if err := p.Commit(tt.replace); errors.Is(err, os.ErrExist) != tt.exists || !tt.exists && err != nil {
					t.Errorf("Commit: %v", err)
				}
			}
			if err := p.Discard(); err != nil {
				t.Errorf("Discard: %v", err)
			}
			if got, err := os.ReadFile(path); err != nil || string(got) != tt.want {
				t.Errorf("read %q, %v; want %q", got, err, tt.want)
			}
			if info, err := os.Stat(path); err != nil || tt.want == "new" && info.Mode().Perm() != 0o644 {
				t.Errorf("mode %v, %v; want 0644", info.Mode(), err)
			}
			if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
				t.Errorf("%d entries, %v: a temporary file is left", len(entries), err)
			}
		})
	}
	if _, err := atomicfile.Create(filepath.Join(t.TempDir(), "missing", "x"), 0o600); err == nil {
		t.Error("a file was created in a missing directory")
	}
}

// A directory is complete, or does not exist.
func TestNewDir(t *testing.T) {
	t.Parallel()
	parent := t.TempDir()
	path := filepath.Join(parent, "run")
	fill := func(dir string) error { return os.WriteFile(filepath.Join(dir, "a"), []byte("a"), 0o600) }
	failing := errors.New("full")
	if err := atomicfile.NewDir(path, 0o755, func(dir string) error { return errors.Join(fill(dir), failing) }); !errors.Is(err, failing) {
		t.Errorf("error %v, want %v", err, failing)
	}
	if entries, err := os.ReadDir(parent); err != nil || len(entries) != 0 {
		t.Errorf("%d entries, %v, after a failure", len(entries), err)
	}
	if err := atomicfile.NewDir(path, 0o755, fill); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("mode %v, %v; want 0755", info.Mode(), err)
	}
	if err := atomicfile.NewDir(path, 0o755, fill); err == nil {
		t.Error("a directory was replaced")
	}
	if entries, err := os.ReadDir(parent); err != nil || len(entries) != 1 {
		t.Errorf("%d entries, %v: a temporary directory is left", len(entries), err)
	}
}
