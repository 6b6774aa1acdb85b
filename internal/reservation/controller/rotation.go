package controller

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/firstlight/firstlight/internal/reservation/broker"
	"github.com/firstlight/firstlight/internal/reservation/config"
	"github.com/firstlight/firstlight/internal/reservation/hook"
	"github.com/firstlight/firstlight/internal/reservation/lease"
	"github.com/firstlight/firstlight/internal/reservation/store"
)

// RotationHooks is implemented by hook.Client.
type RotationHooks interface {
	Owner() string
	Provision(ctx context.Context, row config.Reservation, intent config.Intent, name string, l hook.Lease) (hook.Deployment, error)
	Teardown(ctx context.Context, row config.Reservation, name string, l hook.Lease) error
	Discover(ctx context.Context, cloud config.Cloud, row *config.Reservation, l hook.Lease) ([]hook.Deployment, error)
}

// ReservationReader reads reservations uncached.
type ReservationReader interface {
	GetUncached(ctx context.Context, name string) (*store.Reservation, error)
}

// RotationOptions configure a Rotation.
type RotationOptions struct {
	Broker *broker.Broker
	Store  ReservationReader
	Hooks  RotationHooks
	// Ready waits until a deployment is ready.
	Ready func(ctx context.Context, row config.Reservation, name string, l hook.Lease) error
	// CanProvision returns why no deployment of a row can get ready; nil: not checked.
	CanProvision func(row config.Reservation) error
	// Now is the time of day.
	Now func() time.Time
	// RenewInterval of the leases (default 1 minute).
	RenewInterval time.Duration
}

// Rotation starts and removes day deployments and cleans reservations, by the hook of each cloud
// and under a lease that it renews. If the lease is lost, the work ends. It trusts only what it
// observes: no deployment may exist before one is created and after all were removed.
type Rotation struct{ opts RotationOptions }

// NewRotation returns a rotation.
func NewRotation(opts RotationOptions) *Rotation {
	opts.RenewInterval = cmp.Or(opts.RenewInterval, time.Minute)
	return &Rotation{opts: opts}
}

// Result of an operation.
type Result string

// Results of operations.
const (
	ResultUp        Result = "up"        // provisioned, or it was before
	ResultDown      Result = "down"      // removed
	ResultUnchanged Result = "unchanged" // there was no deployment
	ResultCleaned   Result = "cleaned"
	ResultNotified  Result = "notified" // its holder was given notice
	ResultBlocked   Result = "blocked"  // another holder has it, or a leftover deployment exists
	ResultFailed    Result = "failed"
)

// Outcome is a result with its reason.
type Outcome struct {
	Reservation string `json:"reservation"`
	Result      Result `json:"result"`
	// Deployment concerned.
	Deployment string `json:"deployment,omitempty"`
	Token      int64  `json:"token,omitempty"`
	Reason     string `json:"reason,omitempty"`
	// Hook is the failure of a hook that is the reason; nil: none failed.
	Hook *hook.FailedError `json:"hook,omitempty"`
}

// fail returns the outcome of an operation that ended with an error. The reason why it failed or
// was blocked comes first.
func (o Outcome) fail(err error) Outcome {
	if o.Result != ResultFailed && o.Result != ResultBlocked || o.Reason == "" {
		o.Reason = err.Error()
	} else {
		o.Reason += "; " + err.Error()
	}
	o.Result, o.Hook = ResultFailed, cmp.Or(o.Hook, hook.FailureOf(err))
	return o
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

// Holder of the day leases.
func (r *Rotation) Holder() string { return r.opts.Hooks.Owner() + "/daytime" }

func (r *Rotation) ticket(holder, purpose string) lease.Ticket {
	return lease.Ticket{Holder: holder, Purpose: purpose, RenewInterval: lease.Duration(r.opts.RenewInterval)}
}

func (r *Rotation) withLease(ctx context.Context, g broker.Grant, work func(ctx context.Context, l hook.Lease) error) error {
	return WithLease(ctx, r.opts.Broker, g, work)
}

// WithLease runs work while it renews a lease, and cancels it when the lease is lost.
func WithLease(ctx context.Context, b *broker.Broker, g broker.Grant, work func(ctx context.Context, l hook.Lease) error) error {
	return broker.IgnoreLostIfDone(b.Hold(ctx, []broker.Grant{g}, nil, func(ctx context.Context) error {
		return work(ctx, hook.Lease{Token: g.Token, Holder: g.Holder})
	}))
}
