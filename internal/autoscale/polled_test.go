package autoscale

import (
	"testing"
	"time"
)

// A machine that stalled for longer than a hop's deadline failed the hop by the state before
// the stall: the watches had not been read since.
func TestAStallDoesNotCount(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 1, 42, 33, 0, time.UTC)
	var p polled
	for _, tt := range []struct {
		what  string
		after time.Duration
		want  time.Duration
	}{
		{"the first poll", 0, 0},
		{"a poll in time", 250 * time.Millisecond, 250 * time.Millisecond},
		{"the longest poll", time.Second, 1250 * time.Millisecond},
		{"a stall of ten minutes", 10 * time.Minute, 2250 * time.Millisecond},
		{"a poll after it", 250 * time.Millisecond, 2500 * time.Millisecond},
	} {
		now = now.Add(tt.after)
		if got := p.poll(now); got != tt.want {
			t.Errorf("%s: polled for %s, want %s", tt.what, got, tt.want)
		}
	}
}
