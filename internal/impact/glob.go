package impact

import (
	"fmt"
	"path"
	"strings"
)

// Glob is a pattern of paths in a repository: as path.Match has it, with ** for any
// number of directories.
type Glob string

// Check refuses a pattern that matches nothing.
func (g Glob) Check() error {
	if g == "" || strings.HasPrefix(string(g), "/") {
		return fmt.Errorf("pattern %q: write it relative to the top of the repository", g)
	}
	for part := range strings.SplitSeq(string(g), "/") {
		if _, err := path.Match(part, ""); err != nil {
			return fmt.Errorf("pattern %q: %w", g, err)
		}
	}
	return nil
}

// Match says whether a path is one of the pattern's.
func (g Glob) Match(p string) bool {
	return match(strings.Split(string(g), "/"), strings.Split(p, "/"))
}

func match(pattern, parts []string) bool {
	for len(pattern) > 0 {
		if pattern[0] == "**" {
			for i := range len(parts) + 1 {
				if match(pattern[1:], parts[i:]) {
					return true
				}
			}
			return false
		}
		if len(parts) == 0 {
			return false
		}
		if ok, err := path.Match(pattern[0], parts[0]); !ok || err != nil {
			return false
		}
		pattern, parts = pattern[1:], parts[1:]
	}
	return len(parts) == 0
}
