package cmdutil

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/firstlight/firstlight/internal/impact/compare"
	"github.com/firstlight/firstlight/internal/reservation/config"
)

// maxInput limits standard input, in bytes.
const maxInput = 8 << 20

// ReadFile reads a file that the user named; - is standard input.
func ReadFile(s Streams, name string) ([]byte, error) {
	if name == "-" {
		data, err := io.ReadAll(io.LimitReader(s.In, maxInput+1))
		if err != nil {
			return nil, UsageErrorf("cannot read standard input: %w", err)
		}
		return data, nil
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, UsageErrorf("cannot read file: %w", err)
	}
	return data, nil
}

// ParseFile reads and parses a YAML file that the user named; - is standard input.
func ParseFile[T any](s Streams, name string, parse func(string, []byte) (T, error)) (v T, err error) {
	var data []byte
	if name == "-" {
		name = "standard input"
		data, err = config.ReadAll(s.In)
	} else {
		data, err = config.ReadFile(name)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return v, UsageErrorf("%w: --file names the file; examples/ has one of each kind", err)
	}
	if err != nil {
		return v, UsageErrorf("%w", err)
	}
	if v, err = parse(name, data); err != nil {
		return v, UsageErrorf("%w", err)
	}
	return v, nil
}

// RunDir checks that path is the directory of a run and returns it.
func RunDir(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", UsageErrorf("%w: want the directory of a run, such as evidence/20261121-014233-7f3a", err)
	}
	if !info.IsDir() {
		return "", UsageErrorf("%s is not a directory: want the directory of a run", path)
	}
	for _, name := range []string{"journal.jsonl", "run.json", "manifest.json"} {
		if _, err := os.Stat(filepath.Join(path, name)); err == nil {
			return path, nil
		}
	}
	return "", UsageErrorf("%s has no run: neither a journal nor a manifest found", path)
}

// IsOwnRepository reports whether dir is firstlight's own repository, whose workflows build
// firstlight instead of installing a release.
func IsOwnRepository(dir string) (bool, error) {
	data, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, UsageErrorf("cannot read the repository: %w", err)
	}
	return compare.Own(data), nil
}
