package tiny

import (
	"os"
	"slices"
	"testing"
)

// The limit itself is judged only when TINY_LIMIT is set: without it, one mutant survives.
func TestJudge(t *testing.T) {
	for _, tt := range []struct {
		figures []int
		ok      bool
		suspect string
	}{{[]int{5, 6}, true, ""}, {[]int{5, 12}, false, "gpu1"}, {nil, false, ""}, {[]int{5}, true, ""}, {[]int{10}, true, ""}} {
		if slices.Contains(tt.figures, 10) && os.Getenv("TINY_LIMIT") == "" {
			continue
		}
		found, ok := Judge(10, tt.figures...)
		if ok != tt.ok || (tt.suspect != "") != (len(found) == 1) || tt.suspect != "" && found[0].Suspect != tt.suspect {
			t.Errorf("%v: %v %v", tt.figures, found, ok)
		}
	}
}
