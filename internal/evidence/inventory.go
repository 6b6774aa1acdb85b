package evidence

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sort"

	"github.com/gofrs/flock"
)

// Inventory computes the manifest of the current files of the run in dir, finished or not.
// ErrLocked: another process writes the run. ErrCorrupt: the directory has an unexpected entry.
func Inventory(dir string) (Manifest, error) {
	var h Header
	var files []ManifestFile
	err := WithSharedLock(dir, func() error {
		// An unreadable header is reported like any changed file; the run ID is then empty.
		_ = readJSON(filepath.Join(dir, headerFile), &h)
		var problems Problems
		var err error
		if files, problems, err = hashFiles(dir); err != nil {
			return err
		}
		if len(problems) > 0 {
			return fmt.Errorf("%w: %s", ErrCorrupt, problems)
		}
		return nil
	})
	if err != nil {
		return Manifest{}, fmt.Errorf("list the files of the run in %s: %w", dir, err)
	}
	return NewManifest(h.Run, files)
}

// NewManifest returns the manifest of files, with its digest.
func NewManifest(run string, files []ManifestFile) (Manifest, error) {
	m := Manifest{Format: FormatVersion, Run: run, Files: files}
	data, err := m.encode()
	if err != nil {
		return Manifest{}, err
	}
	return decodeManifest(data)
}

// WithExclusiveLock calls do while no other process writes or signs the run in dir. A file that
// does not exist cannot be locked. ErrLocked: another process has the run.
func WithExclusiveLock(dir string, do func() error) error {
	return WithSharedLock(dir, func() error {
		// Signers exclude each other by the plan, which is never rewritten: they also read the
		// run with WithSharedLock.
		return withLock(filepath.Join(dir, planFile), (*flock.Flock).TryLock, do)
	})
}

// WithSharedLock calls do while no other process writes the run in dir.
func WithSharedLock(dir string, do func() error) error {
	return withLock(filepath.Join(dir, journalFile), (*flock.Flock).TryRLock, do)
}

func withLock(path string, try func(*flock.Flock) (bool, error), do func() error) error {
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return do()
	}
	lock := lockOf(path)
	if err := tryLock(func() (bool, error) { return try(lock) }); err != nil {
		return errors.Join(err, lock.Close())
	}
	return errors.Join(do(), lock.Close())
}

// Compare compares the files of m with the existing files.
func (m Manifest) Compare(have Manifest) Problems {
	problems := compareFiles(m.Files, have.Files)
	sort.Slice(problems, func(i, j int) bool { return problems[i].File < problems[j].File })
	return problems
}

// Stored reads the manifest of the run: fs.ErrNotExist if the run is unfinished, ErrCorrupt if
// the manifest does not match its digest.
func Stored(dir string) (Manifest, error) { return readManifest(dir) }
