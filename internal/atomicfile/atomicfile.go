// Package atomicfile replaces files atomically and durably: a reader sees the old content
// or the new content, and after a return without error the new content survives a crash.
package atomicfile

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/google/renameio/v2"
)

// Write replaces the file at path with data. It writes a temporary file in the same
// directory, syncs it, renames it over path and syncs the directory. perm is exact: the
// umask does not apply to it.
func Write(path string, data []byte, perm os.FileMode) error {
	err := renameio.WriteFile(path, data, perm,
		renameio.WithTempDir(filepath.Dir(path)), renameio.IgnoreUmask())
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return SyncDir(filepath.Dir(path))
}

// WriteSynced writes and syncs the file at path in place. flag is os.O_EXCL where the file must
// be new, else os.O_TRUNC. The caller syncs the directory.
func WriteSynced(path string, data []byte, flag int, perm os.FileMode) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|flag, perm)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// SyncDir makes created, renamed and removed entries of a directory durable.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("sync directory %s: %w", dir, err)
	}
	if err := errors.Join(d.Sync(), d.Close()); err != nil {
		return fmt.Errorf("sync directory %s: %w", dir, err)
	}
	return nil
}
