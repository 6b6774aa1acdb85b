package hookprovider

import (
	"context"
	"errors"
	"fmt"

	"github.com/firstlight/firstlight/internal/reservation/config"
	"github.com/firstlight/firstlight/internal/reservation/hook"
	"github.com/firstlight/firstlight/internal/reservation/lease"
)

// Test runs pods for an intent in the deployment's lab, checks the scheduler and the nodes, and
// removes the pods. The version matters only for defects.
func (p *Provider) Test(ctx context.Context, r hook.Request) (result hook.Result, err error) {
	if err := p.admitTest(ctx, r); err != nil {
		return hook.Result{}, err
	}
	// Concurrent tests would interfere; a teardown does not wait for a test.
	unlock, err := p.lock(ctx, r.Reservation.Name+".test")
	if err != nil {
		return hook.Result{}, err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	handle, cluster, err := connect(ctx, r.Deployment)
	if err != nil {
		return unobserved(ctx, err)
	}
	defect, err := p.defect(ctx, r)
	if err != nil {
		return hook.Result{}, err
	}
	held, err := defect.putInto(ctx, handle, cluster)
	if err != nil {
		return hook.Result{}, fmt.Errorf("inject the defect %s into %s: %w", defect.Defect, r.Deployment, err)
	}
	return newPodTest(cluster, *r.Reservation, held).run(ctx, r.Intent)
}

// admitTest records the token and validates the request.
func (p *Provider) admitTest(ctx context.Context, r hook.Request) (err error) {
	unlock, err := p.lock(ctx, r.Reservation.Name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	if err := p.raise(r.Reservation.Name, r.Lease.Token); err != nil {
		return err
	}
	rec, err := p.record(r.Deployment)
	switch {
	case err != nil:
		return err
	case rec == nil || rec.Reservation != r.Reservation.Name || rec.Owner != r.Owner:
		return fmt.Errorf("test %s: reservation %s of owner %s has no such deployment", r.Deployment, r.Reservation.Name, r.Owner)
	case rec.Intent != r.Intent:
		return fmt.Errorf("test %s: its intent is %s, not %s", r.Deployment, rec.Intent, r.Intent)
	case rec.Removing:
		return fmt.Errorf("test %s: it is being deleted", r.Deployment)
	}
	return nil
}

// unobserved is the result of a test without observations; if ctx has ended there is no result.
func unobserved(ctx context.Context, reason error) (hook.Result, error) {
	if ctx.Err() != nil {
		return hook.Result{}, errors.Join(context.Cause(ctx), reason)
	}
	return hook.Result{Verdict: hook.Unobserved, Reason: lease.TrimReason(reason.Error())}, nil
}

type size struct{ nodes, gpus int }

func sizeOf(row config.Reservation) size {
	return size{nodes: max(row.NodeCount, 1), gpus: row.GPUCount}
}
