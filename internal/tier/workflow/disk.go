package workflow

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Write writes the files that are not there as they are rendered; it returns their
// names.
func Write(dir string, files []File) ([]string, error) {
	different, err := Different(dir, files)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return nil, fmt.Errorf("write workflows: %w", err)
	}
	for _, f := range files {
		if err := os.WriteFile(filepath.Join(dir, f.Name), f.Data, 0o644); err != nil { //nolint:gosec // they are for everybody
			return nil, fmt.Errorf("write workflows: %w", err)
		}
	}
	return different, nil
}

// Different are the names of files that are not there, or not as they are rendered.
func Different(dir string, files []File) ([]string, error) {
	var out []string
	for _, f := range files {
		have, err := os.ReadFile(filepath.Join(dir, f.Name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("compare workflows: %w", err)
		}
		if err != nil || !bytes.Equal(have, f.Data) {
			out = append(out, f.Name)
		}
	}
	return out, nil
}
