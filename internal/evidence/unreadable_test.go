package evidence

import (
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/firstlight/firstlight/internal/atomicfile"
	"github.com/firstlight/firstlight/internal/plan"
)

// A file that cannot be read, encoded or replaced is an error, and leaves no temporary file.
func TestAFileThatCannotBeReadOrWrittenIsAnError(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	full := filepath.Join(dir, "full", "inside")
	if err := os.MkdirAll(full, dirMode); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "text"), []byte("text"), fileMode); err != nil {
		t.Fatal(err)
	}
	var v any
	missing := filepath.Join(dir, "missing")
	for name, do := range map[string]func() error{
		"read a missing file":                  func() error { return readJSON(missing, &v) },
		"read a file without JSON":             func() error { return readJSON(filepath.Join(dir, "text"), &v) },
		"write what has no JSON":               func() error { return writeJSON(filepath.Join(dir, "new"), math.NaN()) },
		"write into a missing directory":       func() error { return writeJSON(filepath.Join(missing, "new"), 1) },
		"replace a directory":                  func() error { return writeFiles(dir, file{name: "full"}, file{name: "new"}) },
		"remove files of a missing directory":  func() error { return removeTemps(missing, isTemp) },
		"a manifest of a missing directory":    func() error { return writeManifest(missing, "R1") },
		"an inventory of a missing directory":  func() error { _, err := Inventory(missing); return err },
		"verify a missing directory":           func() error { _, err := Verify(missing); return err },
		"verify a file":                        func() error { _, err := Verify(filepath.Join(dir, "text")); return err },
		"replay a missing directory":           func() error { _, err := Replay(missing, testChecks); return err },
		"hash a missing file":                  func() error { _, err := hashFile(missing); return err },
		"hash a directory":                     func() error { _, err := hashFile(dir); return err },
		"temporary files that are not removed": func() error { return removeAll(full, []file{{name: string([]byte{0})}}) },
	} {
		if err := do(); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if isTemp(e.Name()) {
			t.Errorf("%s is left", e.Name())
		}
	}
	if err := removeAll(dir, []file{{name: "missing"}}); err != nil {
		t.Errorf("a temporary file that does not exist: %v", err)
	}
}

// A lock of a file that does not exist is not needed.
func TestARunWithoutAPlanIsNotLocked(t *testing.T) {
	t.Parallel()
	called := false
	if err := WithExclusiveLock(t.TempDir(), func() error { called = true; return nil }); err != nil || !called {
		t.Errorf("called %t: %v", called, err)
	}
}

// A file that is not on the disk is not written.
func TestAFileThatIsNotStoredIsAnError(t *testing.T) {
	t.Parallel()
	if err := atomicfile.WriteSynced(filepath.Join(t.TempDir(), "missing", "new"), []byte("x"), os.O_TRUNC, fileMode); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("in a missing directory: %v", err)
	}
	if err := atomicfile.WriteSynced("/dev/full", []byte("x"), os.O_TRUNC, fileMode); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("on a full device: %v", err)
	}
	if err := atomicfile.WriteSynced(os.DevNull, []byte("x"), os.O_TRUNC, fileMode); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("on a device that cannot be synced: %v", err)
	}
}

// A directory whose path is too long to open may have any files.
func TestARunWithADirectoryThatCannotBeListedHasNoVerdictOnItsFiles(t *testing.T) {
	t.Parallel()
	dir := finished(t, passingPlan())
	at, err := os.OpenRoot(dir)
	for name := strings.Repeat("d", 250); err == nil && len(at.Name()) < 4200; {
		if err = at.Mkdir(name, dirMode); err == nil {
			var below *os.Root
			below, err = at.OpenRoot(name)
			err = errors.Join(err, at.Close())
			at = below
		}
	}
	if err := errors.Join(err, at.Close()); err != nil {
		t.Fatal(err)
	}
	for name, do := range map[string]func() error{
		"verified":  func() error { _, err := Verify(dir); return err },
		"counted":   func() error { _, err := Inventory(dir); return err },
		"described": func() error { return writeManifest(dir, "R1") },
	} {
		if err := do(); !errors.Is(err, syscall.ENAMETOOLONG) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestARunThatCannotBeHashedHasNoVerdictOnItsFiles(t *testing.T) {
	t.Parallel()
	dir := finished(t, passingPlan())
	if err := os.Symlink(siteFile, filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	if err := writeManifest(dir, "R1"); err == nil || !strings.Contains(err.Error(), "link") {
		t.Errorf("a manifest of a link: %v", err)
	}
	if err := os.Remove(filepath.Join(dir, manifestFile)); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, manifestFile), dirMode); err != nil {
		t.Fatal(err)
	}
	if problems, err := Verify(dir); err == nil {
		t.Errorf("verified: %v", problems)
	}
}

// A run whose files cannot be decoded is not replayed, and its verdicts are not copied, also with
// a manifest that matches the files.
func TestARunThatContradictsItselfIsNotReplayedOrCopied(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(t *testing.T, dir string){
		"a journal that is not one": func(t *testing.T, dir string) {
			t.Helper()
			edit(t, filepath.Join(dir, journalFile), func([]byte) []byte { return []byte("{}\n{}\n") })
		},
		"an observation that is not one": func(t *testing.T, dir string) {
			t.Helper()
			files, err := filepath.Glob(filepath.Join(dir, observationsDir, "*.json"))
			if err != nil || len(files) == 0 {
				t.Fatal(files, err)
			}
			edit(t, files[0], func([]byte) []byte { return []byte("{") })
		},
		"an output that is not the observation's": func(t *testing.T, dir string) {
			t.Helper()
			files, err := filepath.Glob(filepath.Join(dir, observationsDir, "*.raw"))
			if err != nil || len(files) == 0 {
				t.Fatal(files, err)
			}
			edit(t, files[0], func(data []byte) []byte { return append(data, '!') })
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := finished(t, passingPlan())
			from, err := Load(dir)
			if err != nil {
				t.Fatal(err)
			}
			change(t, dir)
			if err := writeManifest(dir, filepath.Base(dir)); err != nil {
				t.Fatal(err)
			}
			if again, err := Replay(dir, testChecks); err == nil {
				t.Errorf("replayed: %+v", again)
			}
			if name == "a journal that is not one" {
				return // it has been read before
			}
			if _, err := create(t, t.TempDir(), passingPlan()).Carry(from, []string{"a"}); err == nil {
				t.Error("copied")
			}
		})
	}
}

func TestCarryRefusesAVerdictOfAnotherCluster(t *testing.T) {
	t.Parallel()
	dir := finished(t, passingPlan())
	editResult(t, dir, "a", func(r *plan.Result) { r.KeptFrom, r.KeptOf = "R0", "another" })
	from, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := create(t, t.TempDir(), passingPlan()).Carry(from, []string{"a"}); err == nil || !strings.Contains(err.Error(), `the verdict is of cluster "another"`) {
		t.Errorf("copied: %v", err)
	}
	if _, err := create(t, t.TempDir(), passingPlan()).Carry(&Bundle{Dir: filepath.Join(dir, "missing")}, []string{"a"}); err == nil {
		t.Error("copied from a missing run")
	}
	whole, err := Load(finished(t, passingPlan()))
	if err != nil {
		t.Fatal(err)
	}
	r := create(t, t.TempDir(), passingPlan())
	if err := os.RemoveAll(filepath.Join(r.Dir(), observationsDir)); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Carry(whole, []string{"a"}); err == nil {
		t.Error("copied without its observations")
	}
}
