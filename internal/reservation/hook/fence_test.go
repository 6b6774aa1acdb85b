package hook

import (
	"errors"
	"testing"
	"time"
)

// A store that does not answer in the moment of the fence, while its API server restarts, uses up no attempt: a
// test has only one.
func TestFenceThatCannotBeReadUsesNoAttempt(t *testing.T) {
	t.Parallel()
	s := &script{t: t, fence: func(n int) error {
		if n == 1 {
			return errors.New("connection refused")
		}
		return nil
	}, play: func(Request) (Output, error) { return done(t, Test), nil }}
	clock := &fakeClock{now: time.Date(2026, 11, 21, 15, 0, 0, 0, time.UTC)}
	c := s.client(clock)
	h := c.opts.Config.Hooks[row().Cloud]
	limit := h.Limits[Test]
	limit.Attempts = 1
	h.Limits[Test] = limit
	if _, err := c.Test(t.Context(), row(), "v1.2.0", answered(Provision).Deployment.Intent, asked(Test).Deployment, Lease{Token: token}); err != nil {
		t.Error(err)
	}
	if len(s.ran) != 1 || s.ran[0].Attempt != 1 {
		t.Errorf("attempts: %+v", s.ran)
	}
}
