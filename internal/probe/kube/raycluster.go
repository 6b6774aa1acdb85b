package kube

import (
	"context"
	"errors"
)

// RemoveRayClusters deletes the RayClusters of a run in a namespace, by the run's label. They are suspended and have no
// pods. Cleanup does not find them: the namespace is the site's, not the run's.
func (g Guest) RemoveRayClusters(ctx context.Context, namespace, runID string) error {
	if namespace == "" || runID == "" {
		return errors.New("remove RayClusters: the namespace or the run ID is empty: it would select others")
	}
	in := g.Cluster.In(namespace).withReviews()
	err := in.deleteLabelled(ctx, kind{name: "RayCluster", resource: RayClusters()}, LabelRun+"="+runID, nil)
	return errors.Join(err, in.notListed())
}
