package kube

import (
	"context"
	"errors"
	"fmt"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// RunLease is the Lease of a run, in the namespace of the run: it names the process that
// executes the run in this cluster.
type RunLease struct {
	// Holder identifies the process.
	Holder string
	// Renewed is the last renewal, by the clock of the holder.
	Renewed time.Time
	// Duration is how long a renewal is valid.
	Duration time.Duration
	// uid and version identify the Lease that was read.
	uid     types.UID
	version string
}

// ErrLeaseConflict is returned for a Lease that another process wrote after it was read.
var ErrLeaseConflict = errors.New("another process wrote the Lease of the run")

// LeaseOf is the name of a run's Lease.
func LeaseOf(runID string) string { return "firstlight-" + runID }

// GetRunLease reads the Lease of a run; nil if it does not exist.
func (c *Cluster) GetRunLease(ctx context.Context, runID string) (*RunLease, error) {
	l, err := c.Client.CoordinationV1().Leases(c.NamespaceFor(runID)).Get(ctx, LeaseOf(runID), metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the Lease of run %s: %w", runID, err)
	}
	h := runLeaseOf(l)
	return &h, nil
}

// WriteRunLease creates the Lease of a run, or replaces the one that was read before; before
// is nil if none existed. ErrLeaseConflict: the Lease was written or deleted since.
func (c *Cluster) WriteRunLease(ctx context.Context, runID string, before *RunLease, h RunLease) error {
	leases := c.Client.CoordinationV1().Leases(c.NamespaceFor(runID))
	l := &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Name: LeaseOf(runID), Labels: Labels(runID, "")},
		Spec: coordinationv1.LeaseSpec{
			HolderIdentity: new(h.Holder), LeaseDurationSeconds: new(int32(h.Duration.Seconds())),
			RenewTime: new(metav1.NewMicroTime(h.Renewed)),
		},
	}
	var err error
	if before == nil {
		_, err = leases.Create(ctx, l, metav1.CreateOptions{})
	} else {
		l.UID, l.ResourceVersion = before.uid, before.version
		_, err = leases.Update(ctx, l, metav1.UpdateOptions{})
	}
	if apierrors.IsAlreadyExists(err) || apierrors.IsConflict(err) || before != nil && apierrors.IsNotFound(err) {
		err = ErrLeaseConflict
	}
	if err != nil {
		return fmt.Errorf("write the Lease of run %s: %w", runID, err)
	}
	return nil
}

// DeleteRunLease deletes the Lease of a run that was read before. A missing Lease is not an
// error. ErrLeaseConflict: it was written since.
func (c *Cluster) DeleteRunLease(ctx context.Context, runID string, before RunLease) error {
	err := c.Client.CoordinationV1().Leases(c.NamespaceFor(runID)).Delete(ctx, LeaseOf(runID), metav1.DeleteOptions{
		Preconditions: &metav1.Preconditions{UID: &before.uid, ResourceVersion: &before.version},
	})
	if apierrors.IsConflict(err) {
		err = ErrLeaseConflict
	}
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("delete the Lease of run %s: %w", runID, err)
	}
	return nil
}

func runLeaseOf(l *coordinationv1.Lease) RunLease {
	h := RunLease{uid: l.UID, version: l.ResourceVersion}
	if l.Spec.HolderIdentity != nil {
		h.Holder = *l.Spec.HolderIdentity
	}
	if l.Spec.RenewTime != nil {
		h.Renewed = l.Spec.RenewTime.UTC()
	}
	if l.Spec.LeaseDurationSeconds != nil {
		h.Duration = time.Duration(*l.Spec.LeaseDurationSeconds) * time.Second
	}
	return h
}
