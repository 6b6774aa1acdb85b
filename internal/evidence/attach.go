package evidence

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// ErrAttested is returned for a run that already has an attestation.
var ErrAttested = errors.New("the run already has an attestation")

// Attach stores the attestation in the directory of the run. It replaces an existing one only
// if replace is set: ErrAttested.
func Attach(dir string, attestation []byte, replace bool) error {
	path := filepath.Join(dir, attestationFile)
	if _, err := os.Lstat(path); err == nil && !replace {
		return ErrAttested
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("attach the attestation: %w", err)
	}
	return writeDurable(path, attestation)
}

// IsHalfWrittenAttestation reports whether a file of the run is the temporary file of a signer
// that was killed. It does not belong to the run; the next signer replaces it.
func IsHalfWrittenAttestation(name string) bool { return name == tempOf("", attestationFile) }

// Attestation reads the attestation; fs.ErrNotExist if the run has no attestation.
func Attestation(dir string) ([]byte, error) {
	data, err := ReadFile(filepath.Join(dir, attestationFile))
	if err != nil {
		return nil, fmt.Errorf("read the attestation: %w", err)
	}
	return data, nil
}
