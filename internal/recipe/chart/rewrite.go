package chart

import (
	"bytes"
	"fmt"
	"os"

	"github.com/firstlight/firstlight/internal/atomicfile"
)

// rewrite writes a lock into a footprint file. It reports whether the file changed.
func rewrite(file, name string, c change) (bool, error) {
	before, err := os.ReadFile(file)
	if err != nil {
		return false, fmt.Errorf("read footprint: %w", err)
	}
	after, err := withLock(name, before, c)
	if err != nil || bytes.Equal(before, after) {
		return false, err
	}
	info, err := os.Stat(file)
	if err == nil {
		err = atomicfile.Write(file, after, info.Mode().Perm())
	}
	if err != nil {
		return false, fmt.Errorf("write footprint: %w", err)
	}
	return true, nil
}
