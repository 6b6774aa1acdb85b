package access

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/firstlight/firstlight/internal/atomicfile"
)

// fileHeader is the first line of a written file, which may be overwritten.
const fileHeader = "# written by firstlight reservation access: it holds no credential\n"

// ErrForeignFile refuses to overwrite a file that another program wrote.
var ErrForeignFile = errors.New("the file exists and firstlight did not write it: remove it, or use another path")

// Write writes the kubeconfig atomically with mode 0600 and sets its path.
func (a Access) Write(path string) (Access, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return a, fmt.Errorf("write the kubeconfig: %w", err)
	}
	old, err := os.ReadFile(path)
	switch {
	case err == nil && !bytes.HasPrefix(old, []byte(fileHeader)):
		return a, fmt.Errorf("write the kubeconfig %s: %w", path, ErrForeignFile)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return a, fmt.Errorf("write the kubeconfig: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return a, fmt.Errorf("write the kubeconfig: %w", err)
	}
	if err := atomicfile.Write(path, append([]byte(fileHeader), a.Config...), 0o600); err != nil {
		return a, fmt.Errorf("write the kubeconfig: %w", err)
	}
	a.Kubeconfig = path
	return a, nil
}
