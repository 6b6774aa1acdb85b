package submission

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/firstlight/firstlight/internal/atomicfile"
)

// ErrExists means that the directory of the submission exists.
var ErrExists = errors.New("already exists")

// Write writes s under out as vX.Y/<product>, completely or not at all, and returns that
// directory. It never overwrites a directory: ErrExists.
func Write(out string, s Submission) (string, error) {
	parent := filepath.Join(out, "v"+s.Version)
	dir := filepath.Join(parent, s.Directory)
	if _, err := os.Lstat(dir); err == nil {
		return "", fmt.Errorf("%s %w: remove it, or choose another directory", dir, ErrExists)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("write the submission: %w", err)
	}
	if err := os.MkdirAll(parent, 0o755); err != nil { //nolint:gosec // published
		return "", fmt.Errorf("write the submission: %w", err)
	}
	if err := atomicfile.NewDir(dir, 0o755, func(temp string) error { return fillDir(temp, s.Files) }); err != nil {
		return "", fmt.Errorf("write the submission: %w", err)
	}
	return dir, nil
}

func fillDir(dir string, files []File) error {
	for _, f := range files {
		name := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil { //nolint:gosec // as above
			return err
		}
		if err := atomicfile.WriteSynced(name, f.Content, os.O_TRUNC, 0o644); err != nil {
			return err
		}
	}
	return nil
}
