package suite

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/poll"
)

// stallReasons are what a verdict of unobserved says where the observation itself
// measured that the machine did not let firstlight run.
var stallReasons = []string{
	"firstlight was not scheduled for", // gate inference
	"since its machine was busy",       // the same, of the lab's simulated server
	"the rest is network delay",        // the same, of the API server on the path to it
	"of the metric in a window of",     // the chain's control run
	"had not seen the taint's removal", // its new pods, evicted by a controller that lags
}

// Stalled says whether the reason of an unobserved verdict is that the machine stalled,
// by the observation's own measure.
func Stalled(reason string) bool {
	return slices.ContainsFunc(stallReasons, func(r string) bool { return strings.Contains(reason, r) })
}

// maxRepeats is how often an observation of a stalled machine is made again.
const maxRepeats = 2

// Repeat calls observe, and again at most twice while it returns a reason that Stalled
// knows, saying so in the test's log. Any other outcome is final.
func Repeat(tb testing.TB, observe func() (stalled string)) {
	tb.Helper()
	for n := 0; ; n++ {
		reason := observe()
		if !Stalled(reason) || n == maxRepeats {
			return
		}
		tb.Logf("%s (%s)", RepeatedMark, reason)
		waitForCPU(tb)
	}
}

// calmTimeout is how long a repetition waits for a machine that is less busy.
const calmTimeout = 5 * time.Minute

// waitForCPU waits, with PoolEnv, until the machine is at most as busy as Admit permits: an observation made
// again at once meets the same stall. On a machine that stays busy it returns after calmTimeout.
func waitForCPU(tb testing.TB) {
	tb.Helper()
	if os.Getenv(PoolEnv) == "" {
		return
	}
	ctx, cancel := context.WithTimeout(tb.Context(), calmTimeout)
	defer cancel()
	err := poll.Until(ctx, time.Second, "the machine to be less busy", func(ctx context.Context) error {
		slow, err := slowdown(ctx)
		if err == nil && slow >= maxSlowdown {
			err = fmt.Errorf("a computation takes %.1f times its CPU time", slow)
		}
		return err
	})
	if err != nil {
		tb.Log(err)
	}
}
