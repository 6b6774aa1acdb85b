package submission

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
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
	temp, err := os.MkdirTemp(parent, "."+s.Directory+"-")
	if err != nil {
		return "", fmt.Errorf("write the submission: %w", err)
	}
	err = fillDir(temp, s.Files)
	if err == nil {
		err = os.Rename(temp, dir)
	}
	if err != nil {
		return "", errors.Join(fmt.Errorf("write the submission: %w", err), os.RemoveAll(temp))
	}
	return dir, nil
}

func fillDir(dir string, files []File) error {
	for _, f := range files {
		name := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil { //nolint:gosec // as above
			return err
		}
		if err := os.WriteFile(name, f.Content, 0o644); err != nil { //nolint:gosec // as above
			return err
		}
	}
	return os.Chmod(dir, 0o755) //nolint:gosec // as above
}
