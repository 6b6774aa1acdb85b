package fanout

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// formatNames is the file of names that shards read: one a line.
func formatNames(names []string) string { return strings.Join(names, "\n") + "\n" }

// ReadNames reads a file of recipes' names: one a line, empty lines and what
// follows a # aside, none twice.
func ReadNames(file string) ([]string, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("read names of recipes: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxConfigMapBytes+1))
	if err != nil {
		return nil, fmt.Errorf("read names of recipes: %w", err)
	}
	if len(data) > maxConfigMapBytes {
		return nil, fmt.Errorf("read names of recipes: %s has more than %d KiB", file, maxConfigMapBytes>>10)
	}
	var names []string
	for line := range strings.SplitSeq(string(data), "\n") {
		line, _, _ = strings.Cut(line, "#")
		if line = strings.TrimSpace(line); line != "" {
			names = append(names, line)
		}
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("read names of recipes: %s names none", file)
	}
	if once := slices.Compact(slices.Sorted(slices.Values(names))); len(once) != len(names) {
		return nil, fmt.Errorf("read names of recipes: %s names one twice", file)
	}
	return names, nil
}
