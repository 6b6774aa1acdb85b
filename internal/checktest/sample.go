package checktest

import (
	"hash/crc32"
	"strings"

	"github.com/firstlight/firstlight/internal/suite"
)

// Sample is an option of EveryField for judges that take long: make test spoils every n-th
// field alone, always the same by the hashes of their names. make test-all and -spoilt spoil all.
type Sample int

// spoils tells whether a field is spoilt in this run: all are without a sample.
func spoils(samples []Sample) (of func(where string) bool, all bool) {
	if len(samples) == 0 || *write || suite.Current() >= suite.All {
		return func(string) bool { return true }, true
	}
	return samples[0].has, false
}

func (s Sample) has(where string) bool {
	return crc32.ChecksumIEEE([]byte(where))%uint32(s) == 0 //nolint:gosec // a small constant
}

// linesOf are the lines of a table that are of such fields, and those of no field.
func linesOf(table string, spoilt func(where string) bool) []string {
	var out []string
	for line := range strings.SplitSeq(table, "\n") {
		where, _, _ := strings.Cut(line, ": ")
		if strings.HasPrefix(line, "figure ") || spoilt(where) {
			out = append(out, line)
		}
	}
	return out
}
