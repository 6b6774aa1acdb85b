package polltest_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/firstlight/firstlight/internal/poll/polltest"
)

// A wait notices at once what happens at once, and asks a few times a second for what takes a minute.
func TestLongWaitsAskLessOften(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		takes       time.Duration
		least, most int
		late        time.Duration
	}{
		{50 * time.Millisecond, 4, 6, 15 * time.Millisecond},
		{time.Minute, 200, 300, 250 * time.Millisecond},
	} {
		synctest.Test(t, func(t *testing.T) {
			begin, asked := time.Now(), 0
			polltest.Until(t, "the time to pass", func() bool {
				asked++
				return time.Since(begin) >= tt.takes
			})
			if late := time.Since(begin) - tt.takes; asked < tt.least || asked > tt.most || late > tt.late {
				t.Errorf("after %s: asked %d times, want %d to %d, and %s late, want %s at most", tt.takes, asked, tt.least, tt.most, late, tt.late)
			}
		})
	}
}
