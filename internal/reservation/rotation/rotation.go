package rotation

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/firstlight/firstlight/internal/reservation/broker"
	"github.com/firstlight/firstlight/internal/reservation/hook"
	"github.com/firstlight/firstlight/internal/reservation/lease"
	"github.com/firstlight/firstlight/internal/reservation/registry"
	"github.com/firstlight/firstlight/internal/reservation/store"
)

// Hooks do the clouds' part. A hook.Client is one.
type Hooks interface {
	Owner() string
	Provision(ctx context.Context, row registry.Reservation, intent registry.Intent, name string, l hook.Lease) (hook.Deployment, error)
	Teardown(ctx context.Context, row registry.Reservation, name string, l hook.Lease) error
	Discover(ctx context.Context, cloud registry.Cloud, row *registry.Reservation, l hook.Lease) ([]hook.Deployment, error)
}

// Store reads reservations as they are.
type Store interface {
	Fresh(ctx context.Context, name string) (*store.Reservation, error)
}

// Options of a Rotation.
type Options struct {
	Broker *broker.Broker
	Store  Store
	Hooks  Hooks
	// Ready returns when a deployment may be used, or why it may not.
	Ready func(ctx context.Context, row registry.Reservation, name string, l hook.Lease) error
	// Now is the time of day.
	Now func() time.Time
	// Period is within what time the leases that it works under have to be renewed (1 minute).
	Period time.Duration
}

// Rotation stands up, takes down and cleans.
type Rotation struct{ opts Options }

// New makes one.
func New(opts Options) *Rotation {
	if opts.Period == 0 {
		opts.Period = time.Minute
	}
	return &Rotation{opts: opts}
}

// Result is how a piece of work ended.
type Result string

// The results.
const (
	Stands  Result = "stands"  // it was stood up, or stood already
	Down    Result = "down"    // it was taken down
	Nothing Result = "nothing" // nothing stood, so nothing was done
	Cleaned Result = "cleaned"
	Asked   Result = "asked"   // its holder was given notice
	Blocked Result = "blocked" // somebody has it, or something stands there
	Failed  Result = "failed"
)

// Outcome is a result with its reason.
type Outcome struct {
	Reservation string `json:"reservation"`
	Result      Result `json:"result"`
	// Deployment that it is about.
	Deployment string `json:"deployment,omitempty"`
	Token      int64  `json:"token,omitempty"`
	Why        string `json:"why,omitempty"`
}

func (o Outcome) String() string {
	text := fmt.Sprintf("%s: %s", o.Reservation, o.Result)
	if o.Deployment != "" {
		text += " " + o.Deployment
	}
	if o.Why != "" {
		text += ": " + o.Why
	}
	return text
}

// Holder is who stands things up for people.
func (r *Rotation) Holder() string { return r.opts.Hooks.Owner() + "/daytime" }

func (r *Rotation) ticket(holder, purpose string) lease.Ticket {
	return lease.Ticket{Holder: holder, Purpose: purpose, Period: lease.Spans(r.opts.Period)}
}

// under does work while a lease is renewed, and ends it when the lease is lost.
func (r *Rotation) under(ctx context.Context, g broker.Grant, work func(ctx context.Context, l hook.Lease) error) error {
	return Under(ctx, r.opts.Broker, g, work)
}

// Under does work while a lease is renewed, and ends it when the lease is lost. The
// lease is renewed until the work has returned.
func Under(ctx context.Context, b *broker.Broker, g broker.Grant, work func(ctx context.Context, l hook.Lease) error) error {
	keeping, letGo := context.WithCancel(context.WithoutCancel(ctx))
	working, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	kept := make(chan error, 1)
	go func() {
		err := b.Keep(keeping, []broker.Grant{g}, nil)
		if err != nil {
			stop(err)
		}
		kept <- err
	}()
	err := work(working, hook.Lease{Token: g.Token, Holder: g.Holder})
	letGo()
	if lost := <-kept; err != nil {
		return errors.Join(err, lost)
	}
	return nil // the work may have ended the lease itself, and be heard of as lost
}
