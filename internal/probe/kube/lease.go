package kube

import (
	"context"
	"errors"
	"fmt"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Hold is the Lease of a run: which process works on the run in this cluster. It is in the
// run's namespace.
type Hold struct {
	// Holder is the process, as it names itself.
	Holder string
	// Renewed is when it was renewed last, by the clock of its holder.
	Renewed time.Time
	// For is how long a renewal counts.
	For time.Duration
}

// ErrHeld is returned for a Lease that another process wrote in the meantime.
var ErrHeld = errors.New("the Lease of the run was written by another process")

// LeaseOf is the name of a run's Lease.
func LeaseOf(runID string) string { return "firstlight-" + runID }

// HoldOf reads the Lease of a run; nil where there is none.
func (c *Cluster) HoldOf(ctx context.Context, runID string) (*Hold, error) {
	l, err := c.lease(ctx, runID)
	if l == nil || err != nil {
		return nil, err
	}
	h := holdIn(l)
	return &h, nil
}

// WriteHold writes the Lease of a run over the one that was read before; nil: there was
// none. It is ErrHeld where another process was faster.
func (c *Cluster) WriteHold(ctx context.Context, runID string, before *Hold, h Hold) error {
	leases := c.Client.CoordinationV1().Leases(c.NamespaceFor(runID))
	l, err := c.lease(ctx, runID)
	if err != nil {
		return err
	}
	created := l == nil
	if created != (before == nil) || !created && holdIn(l) != *before {
		return fmt.Errorf("write the Lease of run %s: %w", runID, ErrHeld)
	}
	if created {
		l = &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: LeaseOf(runID), Labels: Labels(runID, "")}}
	}
	l.Spec = coordinationv1.LeaseSpec{
		HolderIdentity: new(h.Holder), LeaseDurationSeconds: new(int32(h.For.Seconds())),
		RenewTime: new(metav1.NewMicroTime(h.Renewed)),
	}
	if created {
		_, err = leases.Create(ctx, l, metav1.CreateOptions{})
	} else {
		_, err = leases.Update(ctx, l, metav1.UpdateOptions{})
	}
	if apierrors.IsAlreadyExists(err) || apierrors.IsConflict(err) {
		err = ErrHeld
	}
	if err != nil {
		return fmt.Errorf("write the Lease of run %s: %w", runID, err)
	}
	return nil
}

// DeleteHold deletes the Lease of a run where holder has it. One that is gone is no error.
func (c *Cluster) DeleteHold(ctx context.Context, runID, holder string) error {
	l, err := c.lease(ctx, runID)
	if l == nil || err != nil {
		return err
	}
	if holdIn(l).Holder != holder {
		return fmt.Errorf("delete the Lease of run %s: %w", runID, ErrHeld)
	}
	err = c.Client.CoordinationV1().Leases(l.Namespace).Delete(ctx, l.Name, metav1.DeleteOptions{
		Preconditions: &metav1.Preconditions{UID: &l.UID, ResourceVersion: &l.ResourceVersion},
	})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("delete the Lease of run %s: %w", runID, err)
	}
	return nil
}

func (c *Cluster) lease(ctx context.Context, runID string) (*coordinationv1.Lease, error) {
	l, err := c.Client.CoordinationV1().Leases(c.NamespaceFor(runID)).Get(ctx, LeaseOf(runID), metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the Lease of run %s: %w", runID, err)
	}
	return l, nil
}

func holdIn(l *coordinationv1.Lease) Hold {
	var h Hold
	if l.Spec.HolderIdentity != nil {
		h.Holder = *l.Spec.HolderIdentity
	}
	if l.Spec.RenewTime != nil {
		h.Renewed = l.Spec.RenewTime.UTC()
	}
	if l.Spec.LeaseDurationSeconds != nil {
		h.For = time.Duration(*l.Spec.LeaseDurationSeconds) * time.Second
	}
	return h
}
