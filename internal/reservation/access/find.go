package access

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/firstlight/firstlight/internal/reservation/config"
	"github.com/firstlight/firstlight/internal/reservation/hook"
	"github.com/firstlight/firstlight/internal/reservation/lease"
	"github.com/firstlight/firstlight/internal/reservation/store"
)

// Store is read uncached.
type Store interface {
	GetUncached(ctx context.Context, name string) (*store.Reservation, error)
}

// Hooks is implemented by hook.Client.
type Hooks interface {
	Owner() string
	Discover(ctx context.Context, cloud config.Cloud, row *config.Reservation, l hook.Lease) ([]hook.Deployment, error)
}

// Errors that callers decide on.
var (
	// ErrNotHeld: the token is valid, but the lease is available for checkout or a cleaning lease.
	ErrNotHeld = errors.New("the lease has no holder")
	// ErrNoDeployment: the lease has no reachable deployment.
	ErrNoDeployment = errors.New("no reachable deployment")
)

// Access is how a holder reaches a deployment.
type Access struct {
	Reservation string        `json:"reservation"`
	Holder      string        `json:"holder"`
	Token       int64         `json:"token"`
	Until       time.Time     `json:"until,omitzero"`
	Deployment  string        `json:"deployment"`
	Intent      config.Intent `json:"intent,omitempty"`
	Server      string        `json:"server"`
	// Kubeconfig is the path of the written file, Config its content.
	Kubeconfig string `json:"kubeconfig"`
	Config     []byte `json:"-"`
	// Steps are the commands to run, in order.
	Steps []Step `json:"steps"`
}

// Find returns the deployment of the lease with this token. A token of another lease is a
// lease.StaleError, which names the current holder.
func Find(ctx context.Context, s Store, hooks Hooks, row config.Reservation, token int64) (Access, error) {
	l, opened, err := held(ctx, s, row.Name, token)
	if err != nil {
		return Access{}, err
	}
	found, err := hooks.Discover(ctx, row.Cloud, &row, hook.Lease{Token: token, Holder: l.Holder})
	if err != nil {
		return Access{}, fmt.Errorf("find the deployment on %s: %w", row.Name, err)
	}
	d, err := choose(found, hooks.Owner(), *l, opened)
	if err != nil {
		return Access{}, fmt.Errorf("reservation %s: %w", row.Name, err)
	}
	config, err := d.Kubeconfig()
	if err != nil {
		return Access{}, err
	}
	if l, _, err = held(ctx, s, row.Name, token); err != nil { // the lookup takes time
		return Access{}, err
	}
	a := Access{
		Reservation: row.Name, Holder: l.Holder, Token: token, Deployment: d.Name, Intent: d.Intent,
		Server: d.Access.Server, Config: config,
	}
	if l.ExpiresAt != nil {
		a.Until = l.ExpiresAt.UTC()
	}
	return a, nil
}

// held returns the lease of a token, and the token under which the published deployment was
// provisioned; 0 if unknown.
func held(ctx context.Context, s Store, name string, token int64) (*lease.Lease, int64, error) {
	r, err := s.GetUncached(ctx, name)
	if err != nil {
		return nil, 0, fmt.Errorf("check the lease of %s: %w", name, err)
	}
	rec := &r.Status.Record
	if err := rec.Check(token); err != nil {
		return nil, 0, fmt.Errorf("check the lease of %s: %w", name, err)
	}
	switch l := rec.Lease; {
	case rec.CurrentState() == lease.Cleaning:
		return nil, 0, fmt.Errorf("reservation %s: %w: %s is cleaning it", name, ErrNotHeld, l.Holder)
	case l.Available:
		return nil, 0, fmt.Errorf("reservation %s: %w: it is available for checkout", name, ErrNotHeld)
	default:
		return l, publishedUnder(rec), nil
	}
}

// publishedUnder returns the token of the newest published lease.
func publishedUnder(rec *lease.Record) int64 {
	for _, t := range slices.Backward(rec.Recent) {
		if t.Type == lease.Published {
			return t.Token
		}
	}
	return 0
}

// choose returns the deployment of a lease. Other deployments are named in the error.
func choose(found []hook.Deployment, owner string, l lease.Lease, opened int64) (hook.Deployment, error) {
	mine := func(d hook.Deployment) bool {
		switch {
		case d.Owner != owner:
			return false
		case l.Publisher == "" || opened == 0:
			return d.Token == l.Token || l.Publisher != "" && d.Token > 0 && d.Token < l.Token
		default:
			return d.Token == opened
		}
	}
	var own []hook.Deployment
	var others []string
	for _, d := range found {
		if mine(d) {
			own = append(own, d)
		} else {
			others = append(others, describe(d))
		}
	}
	switch {
	case len(own) == 0 && len(others) == 0:
		return hook.Deployment{}, ErrNoDeployment
	case len(own) == 0:
		return hook.Deployment{}, fmt.Errorf("%w: all deployments belong to other leases: %s", ErrNoDeployment, strings.Join(others, ", "))
	case len(own) > 1:
		return hook.Deployment{}, fmt.Errorf("%w: %d deployments, and the one of this lease is unknown: %s, %s", ErrNoDeployment, len(own), describe(own[0]), describe(own[1]))
	case own[0].Access == nil:
		return hook.Deployment{}, fmt.Errorf("%w: %s is still being created or removed", ErrNoDeployment, own[0].Name)
	}
	return own[0], nil
}

func describe(d hook.Deployment) string {
	return fmt.Sprintf("%s (owner %s, token %d)", d.Name, d.Owner, d.Token)
}
