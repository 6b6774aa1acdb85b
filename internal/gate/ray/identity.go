package ray

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/site"
)

// identity is a RayCluster with its spec.
func identity(uid string, generation int64) string {
	return fmt.Sprintf("UID %s, generation %d", uid, generation)
}

// IdentityIn identifies the RayCluster that the gate's observations are of; empty: it was not read.
func IdentityIn(obs []check.Observation) (string, error) {
	for _, o := range obs {
		if o.Kind != kindCluster || len(o.Figures) == 0 {
			continue
		}
		f, err := check.Decode[clusterFigures](o)
		if err != nil {
			return "", fmt.Errorf("observation %s: %w", o.ID, err)
		}
		return identity(f.UID, f.Generation), nil
	}
	return "", nil
}

// Identify identifies the RayCluster of a site.
func Identify(ctx context.Context, cluster *kube.Cluster, of *site.Ray) (string, error) {
	found, err := cluster.Dynamic.Resource(kube.RayClusters()).Namespace(of.Namespace).Get(ctx, of.Cluster, metav1.GetOptions{})
	if err != nil {
		return "", fmt.Errorf("cannot read RayCluster %s/%s: %w", of.Namespace, of.Cluster, err)
	}
	return identity(string(found.GetUID()), found.GetGeneration()), nil
}
