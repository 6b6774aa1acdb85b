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

// told keeps what is said of the progress.
type told struct {
	notebook
	mu   sync.Mutex
	said []string
}

func (n *told) Progress(format string, args ...any) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.said = append(n.said, fmt.Sprintf(format, args...))
}

// A component that is broken is waited for as long as was asked for, and no longer,
// whatever its file says; meanwhile it is said which it is, and how long that will be.
func TestABrokenComponentIsNotWaitedForForever(t *testing.T) {
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
				var n told
				began := time.Now()
				if err := c.Observe(t.Context(), &n); err != nil {
					t.Fatal(err)
				}
				if took := time.Since(began); took < tt.want || took > tt.want+time.Second {
					t.Errorf("it took %s, want %s", took, tt.want)
				}
				waiting := slices.DeleteFunc(slices.Clone(n.said), func(s string) bool { return !strings.Contains(s, "; it has "+tt.want.String()) })
				if every := int(tt.want / (10 * time.Second)); len(waiting) < every-1 || len(waiting) > every+1 {
					t.Errorf("it was said %d times in %s: %q", len(waiting), tt.want, n.said)
				}
				if j := c.Judge(n.obs); j.Verdict != check.Failed || len(j.Findings) != 2 {
					t.Errorf("%s: %+v", j.Verdict, j.Findings)
				}
			})
		})
	}
}
