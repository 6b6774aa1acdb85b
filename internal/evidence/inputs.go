package evidence

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/firstlight/firstlight/internal/evidence/redact"
)

// inputsDir contains the files that a run is judged against in addition to site, profile and
// recipe.
const inputsDir = "inputs"

// writeInputs writes the inputs of a run by name.
func writeInputs(dir string, inputs map[string][]byte) error {
	if len(inputs) == 0 {
		return nil
	}
	dir = filepath.Join(dir, inputsDir)
	if err := os.Mkdir(dir, dirMode); err != nil {
		return fmt.Errorf("write the inputs: %w", err)
	}
	for _, name := range slices.Sorted(maps.Keys(inputs)) {
		if !filepath.IsLocal(name) || filepath.Base(name) != name || name == "." {
			return fmt.Errorf("write the inputs: invalid name %q: must be a file name without directory", name)
		}
		if err := writeDurable(filepath.Join(dir, name), redact.Bytes(inputs[name])); err != nil {
			return fmt.Errorf("write the inputs: %w", err)
		}
	}
	return nil
}

// readInputs reads the inputs; nil if the run has none.
func readInputs(dir string) (map[string][]byte, error) {
	dir = filepath.Join(dir, inputsDir)
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the inputs: %w", err)
	}
	inputs := map[string][]byte{}
	for _, e := range entries {
		data, err := ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, fmt.Errorf("read the inputs: %w", err)
		}
		inputs[e.Name()] = data
	}
	return inputs, nil
}
