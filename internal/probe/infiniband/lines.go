package infiniband

import (
	"fmt"
	"strings"
)

// eachLine calls parse with every non-empty line of the output of a tool, without trailing
// spaces. An error names the tool and the line number.
func eachLine(tool string, out []byte, parse func(line string) error) error {
	n := 0
	for raw := range strings.SplitSeq(string(out), "\n") {
		n++
		line := strings.TrimRight(raw, " \r")
		if line == "" {
			continue
		}
		if err := parse(line); err != nil {
			return fmt.Errorf("read %s: line %d: %w", tool, n, err)
		}
	}
	return nil
}
