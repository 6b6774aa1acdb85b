package autoscale

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/autoscale/snapshot"
	"github.com/firstlight/firstlight/internal/probe/kube"
)

// clean deletes the run's objects and lists the remaining ones.
func (d *drive) clean(ctx context.Context) error {
	if d.setup.Keep {
		_, err := d.hop(ctx, snapshot.HopClean)
		return err
	}
	d.rec.Progress("removing what the run created")
	d.mark(snapshot.MarkClean)
	guest := kube.Guest{Cluster: d.cluster}
	limited, cancel := context.WithTimeout(ctx, d.setup.Deadlines[snapshot.HopClean].Duration)
	removeErr := guest.Release(limited)
	if removeErr == nil {
		_, removeErr = kube.NotListed(guest.Cleanup(limited, d.setup.Run)) // LeftOf reports them
		_, removeErr = kube.Occupied(removeErr)                            // hop clean reports them
	}
	cancel()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	left, listErr := guest.LeftOf(ctx, d.setup.Run)
	for _, l := range left {
		d.left = append(d.left, snapshot.Ref{Kind: l.Kind, Namespace: l.Namespace, Name: l.Name, UID: l.UID})
	}
	d.leftListed, d.leftErr, d.removeErr = listErr == nil, listErr, removeErr
	d.setup.Deadlines[snapshot.HopClean] = metav1.Duration{} // the clean-up used it
	_, err := d.hop(ctx, snapshot.HopClean)
	return err
}
