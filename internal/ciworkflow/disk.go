package ciworkflow

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Write writes all files and returns the names of those that were missing or different.
func Write(dir string, files []File) ([]string, error) {
	different, err := Different(dir, files)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return nil, fmt.Errorf("write workflows: %w", err)
	}
	for _, f := range files {
		if err := os.WriteFile(filepath.Join(dir, f.Name), f.Data, 0o644); err != nil { //nolint:gosec // repository files are world-readable
			return nil, fmt.Errorf("write workflows: %w", err)
		}
	}
	return different, nil
}

// Different returns the names of files that are missing or not as rendered.
func Different(dir string, files []File) ([]string, error) {
	var out []string
	for _, f := range files {
		current, err := os.ReadFile(filepath.Join(dir, f.Name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("compare workflows: %w", err)
		}
		if err != nil || !bytes.Equal(current, f.Data) {
			out = append(out, f.Name)
		}
	}
	return out, nil
}
