package evidence

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// ErrAttested says that the run has its attestation.
var ErrAttested = errors.New("the run has an attestation already")

// Attach stores an attestation beside the files that it vouches for. An
// earlier one is replaced only when told to: ErrAttested.
func Attach(dir string, attestation []byte, replace bool) error {
	path := filepath.Join(dir, attestationFile)
	if _, err := os.Lstat(path); err == nil && !replace {
		return ErrAttested
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("attach the attestation: %w", err)
	}
	return writeDurable(path, attestation)
}

// Attestation reads it back; fs.ErrNotExist when there is none.
func Attestation(dir string) ([]byte, error) {
	data, err := os.ReadFile(filepath.Join(dir, attestationFile))
	if err != nil {
		return nil, fmt.Errorf("read the attestation: %w", err)
	}
	return data, nil
}
