package controller

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/firstlight/firstlight/internal/reservation/broker"
	"github.com/firstlight/firstlight/internal/reservation/hook"
	"github.com/firstlight/firstlight/internal/reservation/lease"
	"github.com/firstlight/firstlight/internal/reservation/config"
	"github.com/firstlight/firstlight/internal/reservation/store"
)

// Hooks do the clouds' part. A hook.Client is one.
type RotationHooks interface {
	Owner() string
	Provision(ctx context.Context, row config.Reservation, intent config.Intent, name string, l hook.Lease) (hook.Deployment, error)
	Teardown(ctx context.Context, row config.Reservation, name string, l hook.Lease) error
	Discover(ctx context.Context, cloud config.Cloud, row *config.Reservation, l hook.Lease) ([]hook.Deployment, error)
}

// Store reads reservations as they are.
type ReservationReader interface {
	GetUncached(ctx context.Context, name string) (*store.Reservation, error)
}

// Options of a Rotation.
type RotationOptions struct {
	Broker *broker.Broker
	Store  ReservationReader
	Hooks  RotationHooks
	// Ready returns when a deployment may be used, or why it may not.
	Ready func(ctx context.Context, row config.Reservation, name string, l hook.Lease) error
	// Now is the time of day.
	Now func() time.Time
	// Period is within what time the leases that it works under have to be renewed (1 minute).
	RenewInterval time.Duration
}

// Rotation stands up, takes down and cleans.
type Rotation struct{ opts RotationOptions }

// New makes one.
func NewRotation(opts RotationOptions) *Rotation {
	if opts.RenewInterval == 0 {
		opts.RenewInterval = time.Minute
	}
	return &Rotation{opts: opts}
}

// Result is how a piece of work ended.
type Result string

// The results.
const (
	ResultUp  Result = "up"  // it was stood up, or stood already
	ResultDown    Result = "down"    // it was taken down
	ResultUnchanged Result = "unchanged" // nothing stood, so nothing was done
	ResultCleaned Result = "cleaned"
	ResultNotified   Result = "notified"   // its holder was given notice
	ResultBlocked Result = "blocked" // somebody has it, or something stands there
	ResultFailed  Result = "failed"
)

// Outcome is a result with its reason.
type Outcome struct {
	Reservation string `json:"reservation"`
	Result      Result `json:"result"`
	// Deployment that it is about.
	Deployment string `json:"deployment,omitempty"`
	Token      int64  `json:"token,omitempty"`
	Reason        string `json:"reason,omitempty"`
}

func (o Outcome) String() string {
	text := fmt.Sprintf("%s: %s", o.Reservation, o.Result)
	if o.Deployment != "" {
		text += " " + o.Deployment
	}
	if o.Reason != "" {
		text += ": " + o.Reason
	}
	return text
}

// Holder is who stands things up for people.
func (r *Rotation) Holder() string { return r.opts.Hooks.Owner() + "/daytime" }

func (r *Rotation) ticket(holder, purpose string) lease.Ticket {
	return lease.Ticket{Holder: holder, Purpose: purpose, RenewInterval: lease.Duration(r.opts.RenewInterval)}
}

// under does work while a lease is renewed, and ends it when the lease is lost.
func (r *Rotation) withLease(ctx context.Context, g broker.Grant, work func(ctx context.Context, l hook.Lease) error) error {
	return WithLease(ctx, r.opts.Broker, g, work)
}

// Under does work while a lease is renewed, and ends it when the lease is lost. The
// lease is renewed until the work has returned.
func WithLease(ctx context.Context, b *broker.Broker, g broker.Grant, work func(ctx context.Context, l hook.Lease) error) error {
	keeping, letGo := context.WithCancel(context.WithoutCancel(ctx))
	working, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	kept := make(chan error, 1)
	go func() {
		err := b.KeepAlive(keeping, []broker.Grant{g}, nil)
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
