package evidence

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
)

// Inventory is the manifest of the run in dir as its files are now: of a
// finished run what its own manifest must say, of an interrupted one, which has
// none, what it would. ErrLocked: another process writes the run, so what there
// is now says nothing. ErrCorrupt: something there has no place in a run.
func Inventory(dir string) (Manifest, error) {
	var m Manifest
	err := Quiet(dir, func() error {
		var h Header
		// One that can not be read is a changed file like any other, and names no run.
		_ = readJSON(filepath.Join(dir, headerFile), &h)
		files, problems, err := hashFiles(dir)
		if err != nil {
			return err
		}
		if len(problems) > 0 {
			return fmt.Errorf("%w: %s", ErrCorrupt, problems)
		}
		m, err = NewManifest(h.Run, files)
		return err
	})
	if err != nil {
		return Manifest{}, fmt.Errorf("take the inventory of the run in %s: %w", dir, err)
	}
	return m, nil
}

// NewManifest is the manifest of these files, with its digest.
func NewManifest(run string, files []ManifestFile) (Manifest, error) {
	m := Manifest{Format: FormatVersion, Run: run, Files: files}
	data, err := m.encode()
	if err != nil {
		return Manifest{}, err
	}
	return decodeManifest(data)
}

// Quiet calls what with the run in dir held, so that no other process writes it
// meanwhile. A run without a journal is held by nobody.
func Quiet(dir string, what func() error) error {
	path := filepath.Join(dir, journalFile)
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return what()
	}
	held := lockOf(path)
	if err := take(held.TryRLock); err != nil {
		return errors.Join(err, held.Close())
	}
	return errors.Join(what(), held.Close())
}

// Compare holds the files that are there against those that should be.
func (m Manifest) Compare(have Manifest) Problems {
	problems := compareFiles(m.Files, have.Files)
	sort.Slice(problems, func(i, j int) bool { return problems[i].File < problems[j].File })
	return problems
}

// Stored is the run's own manifest, as it was written: fs.ErrNotExist when the
// run is unfinished, ErrCorrupt when it does not match its own digest.
func Stored(dir string) (Manifest, error) { return readManifest(dir) }
