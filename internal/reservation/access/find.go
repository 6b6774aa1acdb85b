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

// Store is read, never a copy of it.
type Store interface {
	GetUncached(ctx context.Context, name string) (*store.Reservation, error)
}

// Hooks find what stands. A hook.Client is one.
type Hooks interface {
	Owner() string
	Discover(ctx context.Context, cloud config.Cloud, row *config.Reservation, l hook.Lease) ([]hook.Deployment, error)
}

// Errors that callers decide on. All are answers, not faults.
var (
	// ErrNotHeld: the token is good, and nobody works under it: it is open, or cleaned under.
	ErrNotHeld = errors.New("it is not a holder's lease")
	// ErrNothing: nothing stands under the lease that can be reached.
	ErrNoDeployment = errors.New("nothing stands that can be reached")
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
	// Kubeconfig is where it was written, and Config what is in it.
	Kubeconfig string `json:"kubeconfig"`
	Config     []byte `json:"-"`
	// Steps are what to type, in order.
	Steps []Step `json:"steps"`
}

// Find looks for what stands under a lease that the token is of. A token that is not that
// of the lease there is now is refused with a lease.StaleError, which says who has it.
func Find(ctx context.Context, s Store, hooks Hooks, row config.Reservation, token int64) (Access, error) {
	l, opened, err := held(ctx, s, row.Name, token)
	if err != nil {
		return Access{}, err
	}
	found, err := hooks.Discover(ctx, row.Cloud, &row, hook.Lease{Token: token, Holder: l.Holder})
	if err != nil {
		return Access{}, fmt.Errorf("find what stands on %s: %w", row.Name, err)
	}
	d, err := choose(found, hooks.Owner(), *l, opened)
	if err != nil {
		return Access{}, fmt.Errorf("reservation %s: %w", row.Name, err)
	}
	config, err := d.Kubeconfig()
	if err != nil {
		return Access{}, err //nolint:wrapcheck // says what it was doing
	}
	if l, _, err = held(ctx, s, row.Name, token); err != nil { // looking has taken a while
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

// held is the lease of a token, and the token that what stands for people was stood up
// under; 0: it is not known any more.
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
		return nil, 0, fmt.Errorf("reservation %s: %w: %s cleans it", name, ErrNotHeld, l.Holder)
	case l.Available:
		return nil, 0, fmt.Errorf("reservation %s: %w: it is open to who takes it", name, ErrNotHeld)
	default:
		return l, publishedUnder(rec), nil
	}
}

// openedUnder is the token of the newest lease that was opened for people.
func publishedUnder(rec *lease.Record) int64 {
	for _, t := range slices.Backward(rec.Recent) {
		if t.Type == lease.Published {
			return t.Token
		}
	}
	return 0
}

// choose finds the one deployment that belongs to a lease. What else stands is named: it
// is not the holder's, and somebody has to look.
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
		return hook.Deployment{}, fmt.Errorf("%w: what stands is not of this lease: %s", ErrNoDeployment, strings.Join(others, ", "))
	case len(own) > 1:
		return hook.Deployment{}, fmt.Errorf("%w: %d deployments stand, and which is this lease's is not known: %s, %s", ErrNoDeployment, len(own), describe(own[0]), describe(own[1]))
	case own[0].Access == nil:
		return hook.Deployment{}, fmt.Errorf("%w: %s is still being made, or removed", ErrNoDeployment, own[0].Name)
	}
	return own[0], nil
}

func describe(d hook.Deployment) string {
	return fmt.Sprintf("%s (of %s, token %d)", d.Name, d.Owner, d.Token)
}
