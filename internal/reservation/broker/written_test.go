package broker

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firstlight/firstlight/internal/poll"
	"github.com/firstlight/firstlight/internal/reservation/lease"
)

// A step on the version that a broker wrote last needs no read, unless it is old or a request has
// failed since. A step that others made it wrong for is repeated on a read.
func TestStepOnOwnVersion(t *testing.T) {
	renew := func(ctx context.Context, b *Broker, token int64) error {
		_, err := b.Renew(ctx, "one", token)
		return err
	}
	release := func(ctx context.Context, b *Broker, token int64) error { return b.Release(ctx, "one", token, "done") }
	nothing := func(context.Context, *Broker, int64) error { return nil }
	for name, c := range map[string]struct {
		before, act func(ctx context.Context, b *Broker, token int64) error // before is of an operator
		passes      time.Duration
		want        string
		refused     bool
	}{
		"renew":            {nothing, renew, 0, "put", false},
		"release":          {nothing, release, ownFor, "put", false},
		"renew an old one": {nothing, renew, ownFor + 1, "get put", false},
		"extend": {nothing, func(ctx context.Context, b *Broker, token int64) error {
			_, err := b.Extend(ctx, "one", token, time.Hour, "")
			return err
		}, 0, "get put", false},
		"renew a stale token": {nothing, func(ctx context.Context, b *Broker, token int64) error { return renew(ctx, b, token-1) }, 0, "get", true},
		"renew when notified": {func(ctx context.Context, b *Broker, token int64) error {
			return b.Notify(ctx, "one", token, "ops", "soon", time.Now())
		}, renew, 0, "put get put", false},
		"release what was evicted": {func(ctx context.Context, b *Broker, token int64) error {
			return b.Evict(ctx, "one", token, "ops", "")
		}, release, 0, "put get", true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m, ada, _, ops, token := ofAda(t)
				if err := c.before(t.Context(), ops, token); err != nil {
					t.Fatal(err)
				}
				m.requests = nil
				_ = poll.Sleep(t.Context(), c.passes)
				err := c.act(t.Context(), ada, token)
				if got := strings.Join(m.requests, " "); got != c.want || (err != nil) != c.refused {
					t.Errorf("%v, with %s, want %s", err, got, c.want)
				}
				if stale := (*lease.StaleError)(nil); c.refused && !errors.As(err, &stale) {
					t.Errorf("refused with %v", err)
				}
			})
		})
	}
}

// A restored store may use a version again: after any failed request the next step reads.
func TestNoStepOnOwnVersionAfterAnError(t *testing.T) {
	m, ada, _, _, token := ofAda(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	ada.noteError(ctx.Err())
	m.requests = nil
	if _, err := ada.Renew(t.Context(), "one", token); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(m.requests, " "); got != "get put" {
		t.Errorf("renewed with %s", got)
	}
}
