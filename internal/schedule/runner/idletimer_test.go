package runner

import (
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"
)

// passed advances the clock and returns the number of steps that the timer counted, and
// whether it expired.
func passed(t *testing.T, p *idleTimer, c *clocktesting.FakeClock, d time.Duration, reset bool) (n int, over bool) {
	t.Helper()
	for range int(d / p.step) {
		c.Step(p.step)
		select {
		case <-p.timer.C():
			n++
		default:
			t.Fatal("the timer did not fire after a step")
		}
		if p.over() {
			return n, true
		}
		if reset {
			p.reset()
		}
	}
	return n, false
}

func TestIdleTimeout(t *testing.T) {
	t.Parallel()
	const minutes = 3 * time.Minute
	t.Run("nothing changes", func(t *testing.T) {
		t.Parallel()
		c := clocktesting.NewFakeClock(time.Unix(0, 0))
		p := newIdleTimer(c, minutes)
		if n, over := passed(t, p, c, minutes-p.step, false); over {
			t.Errorf("over after %d pieces", n)
		}
		p.reset()
		if n, over := passed(t, p, c, minutes, false); !over || n != steps {
			t.Errorf("after a change: %d pieces, over %t", n, over)
		}
	})
	t.Run("it never stops changing", func(t *testing.T) {
		t.Parallel()
		c := clocktesting.NewFakeClock(time.Unix(0, 0))
		p := newIdleTimer(c, minutes)
		if n, over := passed(t, p, c, longest*minutes, true); !over || n != longest*steps {
			t.Errorf("%d pieces, over %t", n, over)
		}
	})
	// A machine that was suspended for nine minutes was once taken for an idle control
	// plane: fourteen recipes were unobserved.
	t.Run("the machine was suspended", func(t *testing.T) {
		t.Parallel()
		c := clocktesting.NewFakeClock(time.Unix(0, 0))
		p := newIdleTimer(c, minutes)
		c.Step(9 * time.Minute)
		<-p.timer.C()
		if p.over() || p.quiet != 1 {
			t.Errorf("%d pieces are counted", p.quiet)
		}
	})
}
