package hookprovider

import (
	"context"
	"errors"
	"fmt"

	"github.com/firstlight/firstlight/internal/reservation/hook"
	"github.com/firstlight/firstlight/internal/reservation/config"
)

// Test puts pods onto the deployment's lab as the intent does, sees what its scheduler and
// its nodes make of them, and removes them. What the version is makes no difference to a lab,
// except to its defects.
func (p *Provider) Test(ctx context.Context, r hook.Request) (result hook.Result, err error) {
	if err := p.admitTest(ctx, r); err != nil {
		return hook.Result{}, err
	}
	// Two tests would be in each other's way; a teardown doesn't wait for one.
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
		return hook.Result{}, fmt.Errorf("put the defect %s into %s: %w", defect.Defect, r.Deployment, err)
	}
	return newPodTest(cluster, *r.Reservation, held).run(ctx, r.Intent)
}

// admitTest notes the token, and refuses what is not the request's to test.
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
		return fmt.Errorf("test %s: there is no such deployment of reservation %s and owner %s", r.Deployment, r.Reservation.Name, r.Owner)
	case rec.Intent != r.Intent:
		return fmt.Errorf("test %s: it was stood up for %s, not for %s", r.Deployment, rec.Intent, r.Intent)
	case rec.Removing:
		return fmt.Errorf("test %s: it is being removed", r.Deployment)
	}
	return nil
}

// unobserved is the result of a test that saw nothing, and why; where the caller has ended
// it, there is none.
func unobserved(ctx context.Context, reason error) (hook.Result, error) {
	if ctx.Err() != nil {
		return hook.Result{}, errors.Join(context.Cause(ctx), reason)
	}
	return hook.Result{Verdict: hook.Unobserved, Reason: hook.TrimReason(reason.Error())}, nil
}

// size is what a deployment of a row has to offer.
type size struct{ nodes, gpus int }

func sizeOf(row config.Reservation) size {
	return size{nodes: max(row.NodeCount, 1), gpus: row.GPUCount}
}
