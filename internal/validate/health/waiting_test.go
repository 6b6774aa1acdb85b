package health_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/validate/health"
)

// progressLog records the progress lines.
type progressLog struct {
	notebook
	mu    sync.Mutex
	lines []string
}

func (n *progressLog) Progress(format string, args ...any) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.lines = append(n.lines, fmt.Sprintf(format, args...))
}

// The wait for a broken component ends at the configured timeout, even if its file has a longer
// one; progress lines name the object and the timeout.
func TestWaitForABrokenComponentIsBounded(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ timeout, want time.Duration }{
		"as the file says":       {0, 6 * time.Minute},
		"shorter":                {2 * time.Minute, 2 * time.Minute},
		"longer than the file's": {time.Hour, 6 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c := health.New([]health.Component{component("a", available("one"), available("two"))},
					given(clusterOf(t, deployment("one", 1), deployment("two", 0))), health.Options{Timeout: tt.timeout})
				var n progressLog
				began := time.Now()
				if err := c.Observe(t.Context(), &n); err != nil {
					t.Fatal(err)
				}
				if took := time.Since(began); took < tt.want || took > tt.want+time.Second {
					t.Errorf("it took %s, want %s", took, tt.want)
				}
				waiting := slices.DeleteFunc(slices.Clone(n.lines), func(s string) bool { return !strings.Contains(s, "; timeout "+tt.want.String()) })
				if every := int(tt.want / (10 * time.Second)); len(waiting) < every-1 || len(waiting) > every+1 {
					t.Errorf("%d progress lines in %s: %q", len(waiting), tt.want, n.lines)
				}
				if j := c.Judge(n.obs); j.Verdict != check.Failed || len(j.Findings) != 2 {
					t.Errorf("%s: %+v", j.Verdict, j.Findings)
				}
			})
		})
	}
}
