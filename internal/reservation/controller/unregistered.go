package controller

import (
	"context"
	"fmt"
	"slices"

	"github.com/firstlight/firstlight/internal/reservation/lease"
	"github.com/firstlight/firstlight/internal/reservation/store"
)

// NotInRegistry says that a reservation has no row, and what follows.
func NotInRegistry(name string) string {
	return fmt.Sprintf("reservation %s is not in the registry, so its deployments are not removed: add its row again until it is free", name)
}

// unregistered returns a failure for each reservation that has left the registry with a deployment.
func (c *Controller) unregistered(ctx context.Context) (lacks []string, err error) {
	if len(c.opts.Unregistered) == 0 {
		return nil, nil
	}
	var all []*store.Reservation
	err = retryTransient(ctx, func() (err error) {
		all, err = c.opts.Store.List(ctx)
		return err
	})
	for _, r := range all {
		if slices.Contains(c.opts.Unregistered, r.Name) && mayHaveDeployment(&r.Status.Record) {
			lacks = append(lacks, fmt.Sprintf("%s: %s: %s", r.Name, ResultBlocked, NotInRegistry(r.Name)))
		}
	}
	return lacks, err
}

// mayHaveDeployment is false for the lease of a user, who may have none.
func mayHaveDeployment(r *lease.Record) bool {
	switch r.CurrentState() {
	case lease.Dirty, lease.Cleaning:
		return true
	default:
		return r.Lease != nil && r.Lease.Publisher != ""
	}
}
