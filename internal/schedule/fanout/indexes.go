package fanout

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/firstlight/firstlight/internal/probe/guard"
)

// parseIndexes parses indexes as the Job controller writes them, such as "0,2-4"; all must
// be below n.
func parseIndexes(text string, n int) (map[int]bool, error) {
	return guard.Parse("indexes of a Job", func() (map[int]bool, error) { return indexesIn(text, n) })
}

func indexesIn(text string, n int) (map[int]bool, error) {
	out := map[int]bool{}
	if text == "" {
		return out, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		first, last, isRange := strings.Cut(part, "-")
		if !isRange {
			last = first
		}
		from, err := strconv.Atoi(first)
		to, err2 := strconv.Atoi(last)
		if err != nil || err2 != nil || from < 0 || to < from || to >= n {
			return nil, fmt.Errorf("invalid indexes %q: must be below %d", text, n)
		}
		for i := from; i <= to; i++ {
			out[i] = true
		}
	}
	return out, nil
}
