package atomicfile

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/google/renameio/v2"
)

// Pending is a file in the directory of its path, which it takes on Commit. It is for content that
// is written in parts, or that must not be made if it cannot be stored.
type Pending struct {
	file *renameio.PendingFile
	path string
}

// Create creates the temporary file. perm is exact. The caller calls Discard in the end.
func Create(path string, perm os.FileMode) (*Pending, error) {
	f, err := renameio.NewPendingFile(path, renameio.WithTempDir(filepath.Dir(path)), renameio.WithPermissions(perm), renameio.IgnoreUmask())
	if err != nil {
		return nil, fmt.Errorf("write %s: %w", path, err)
	}
	return &Pending{file: f, path: path}, nil
}

// Write implements io.Writer.
func (p *Pending) Write(data []byte) (int, error) { return p.file.Write(data) }

// Commit syncs the file, gives it its path and syncs the directory. Without replace, a file that
// exists at the path is an error: os.ErrExist.
func (p *Pending) Commit(replace bool) error {
	var err error
	if replace {
		err = p.file.CloseAtomicallyReplace()
	} else if err = p.file.Sync(); err == nil {
		err = os.Link(p.file.Name(), p.path)
	}
	if err == nil {
		err = p.Discard() // the temporary name, if the path is a link
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", p.path, err)
	}
	return SyncDir(filepath.Dir(p.path))
}

// Discard removes the temporary file. After Commit it has no effect.
func (p *Pending) Discard() error { return p.file.Cleanup() }

// NewDir creates the directory at path, completely or not at all: fill writes its files to a
// temporary directory, which is renamed. A path that exists is an error. perm is exact.
func NewDir(path string, perm os.FileMode, fill func(dir string) error) error {
	path = filepath.Clean(path)
	temp, err := os.MkdirTemp(filepath.Dir(path), "."+filepath.Base(path)+"-")
	if err != nil {
		return fmt.Errorf("make %s: %w", path, err)
	}
	if err = fill(temp); err == nil {
		err = errors.Join(os.Chmod(temp, perm), SyncDir(temp))
	}
	if err == nil {
		err = os.Rename(temp, path)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("make %s: %w", path, err), os.RemoveAll(temp))
	}
	return SyncDir(filepath.Dir(path))
}
