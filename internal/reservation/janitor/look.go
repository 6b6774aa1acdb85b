package janitor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/firstlight/firstlight/internal/reservation/broker"
	"github.com/firstlight/firstlight/internal/reservation/config"
	"github.com/firstlight/firstlight/internal/reservation/hook"
	"github.com/firstlight/firstlight/internal/reservation/lease"
	"github.com/firstlight/firstlight/internal/reservation/store"
)

// Hooks is implemented by hook.Client.
type Hooks interface {
	Owner() string
	Discover(ctx context.Context, cloud config.Cloud, row *config.Reservation, l hook.Lease) ([]hook.Deployment, error)
	Teardown(ctx context.Context, row config.Reservation, name string, l hook.Lease) error
}

// Store is implemented by store.Kube.
type Store interface {
	GetUncached(ctx context.Context, name string) (*store.Reservation, error)
	History(ctx context.Context, name string, since time.Time) ([]lease.Event, error)
}

// Broker is implemented by broker.Broker.
type Broker interface {
	CleanLeftover(ctx context.Context, name, reason string, cleaner lease.Ticket) (broker.Grant, error)
	Hold(ctx context.Context, grants []broker.Grant, renewed func(broker.Grant), work func(ctx context.Context) error) error
	FinishClean(ctx context.Context, name string, token int64, reason string) error
	FailClean(ctx context.Context, name string, token int64, reason string) error
}

// Options of a Janitor.
type Options struct {
	Registry *config.Registry
	Store    Store
	Broker   Broker
	Hooks    Hooks
	// Clouds are listed in addition to those of the registry.
	Clouds []config.Cloud
	// Holder of the cleaning leases; OlderThan is the minimum age for a removal; RenewInterval of
	// a cleaning lease defaults to 1 minute.
	Holder        string
	OlderThan     time.Duration
	RenewInterval time.Duration
	Now           func() time.Time
}

// Janitor finds and removes leftover deployments.
type Janitor struct{ opts Options }

// New returns a janitor.
func New(opts Options) *Janitor {
	opts.RenewInterval = cmp.Or(opts.RenewInterval, time.Minute)
	return &Janitor{opts: opts}
}

// Report has a decision for each deployment.
type Report struct {
	At        time.Time  `json:"at"`
	Enforced  bool       `json:"enforced"`
	OlderThan string     `json:"olderThan"`
	Decisions []Decision `json:"decisions"`
}

// Count returns the number of decisions with a verdict.
func (r Report) Count(v Verdict) int {
	n := 0
	for _, d := range r.Decisions {
		if d.Verdict == v {
			n++
		}
	}
	return n
}

// Inspect decides about every deployment and changes nothing. A cloud that cannot be listed is
// blocked.
func (j *Janitor) Inspect(ctx context.Context) (Report, error) {
	report := Report{At: j.opts.Now().UTC(), OlderThan: j.opts.OlderThan.String(), Decisions: []Decision{}}
	for _, cloud := range j.clouds() {
		all, err := j.opts.Hooks.Discover(ctx, cloud, nil, hook.Lease{})
		if ctx.Err() != nil {
			return report, fmt.Errorf("list deployments in %s: %w", cloud, context.Cause(ctx))
		}
		if err != nil {
			report.Decisions = append(report.Decisions, Decision{Cloud: cloud, Verdict: Blocked, Reason: fmt.Sprintf("its deployments cannot be listed, so nothing is removed: %v", err)})
			continue
		}
		slices.SortFunc(all, func(a, b hook.Deployment) int { return strings.Compare(a.Name, b.Name) })
		for _, d := range all {
			d.Access = nil // not needed here
			decision, err := j.decide(ctx, cloud, d, 0)
			if err != nil {
				return report, err
			}
			report.Decisions = append(report.Decisions, decision)
		}
	}
	return report, nil
}

// clouds returns the clouds to list, sorted, without duplicates. The last row of a cloud may have left the
// registry while its deployment exists.
func (j *Janitor) clouds() []config.Cloud {
	out := slices.Clone(j.opts.Clouds)
	for _, row := range j.opts.Registry.Reservations {
		out = append(out, row.Cloud)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// decide reads the current record of the deployment's reservation.
func (j *Janitor) decide(ctx context.Context, cloud config.Cloud, d hook.Deployment, cleaning int64) (Decision, error) {
	v := View{Now: j.opts.Now(), OlderThan: j.opts.OlderThan, Owner: j.opts.Hooks.Owner(), Deployment: d, Cleaning: cleaning}
	out := Decision{Cloud: cloud, Deployment: &d}
	if row, known := j.opts.Registry.Find(d.Reservation); known && row.Cloud == cloud && d.Owner == v.Owner {
		v.Known = true
		r, err := j.opts.Store.GetUncached(ctx, d.Reservation)
		switch {
		case errors.Is(err, store.ErrNotFound):
		case err != nil:
			return out, fmt.Errorf("decide about %s: %w", d.Name, err)
		default:
			v.Record = &r.Status.Record
			if v.Ended, err = j.end(ctx, d, r); err != nil {
				return out, err
			}
		}
	}
	out.Verdict, out.Reason = Decide(v)
	return out, nil
}

// end returns the event that ended a deployment's lease.
func (j *Janitor) end(ctx context.Context, d hook.Deployment, r *store.Reservation) (*lease.Event, error) {
	if l := r.Status.Lease; l != nil && l.Token == d.Token {
		return nil, nil
	}
	if t := endOf(r.Status.Recent, d.Token); t != nil {
		return t, nil
	}
	all, err := j.opts.Store.History(ctx, d.Reservation, time.Time{})
	if err != nil {
		return nil, fmt.Errorf("decide about %s: %w", d.Name, err)
	}
	return endOf(all, d.Token), nil
}
