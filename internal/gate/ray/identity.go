package ray

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/guard"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/site"
)

// identity is a RayCluster with its spec.
func identity(uid, spec string) string {
	return fmt.Sprintf("UID %s, spec %s", uid, spec)
}

// specDigest identifies the spec of a RayCluster, without what the autoscaler changes: replicas and scaleStrategy of the
// worker groups without GPUs that it scales. The gate does not pass while it may scale one with GPUs.
func specDigest(of *unstructured.Unstructured, autoscaling bool) string {
	const digits = 12
	spec, _, _ := unstructured.NestedMap(of.Object, "spec")
	groups, _, _ := unstructured.NestedSlice(spec, "workerGroupSpecs")
	for _, one := range groups {
		fields, ok := one.(map[string]any)
		if !ok || !autoscaling {
			continue
		}
		raw, err := json.Marshal(fields)
		var w workerGroup
		if err == nil && guard.JSON(raw, &w) == nil && w.scales() && !w.hasGPUs() {
			delete(fields, "replicas")
			delete(fields, "scaleStrategy")
		}
	}
	if len(groups) > 0 {
		spec["workerGroupSpecs"] = groups
	}
	raw, err := json.Marshal(spec) // its keys are sorted
	if err != nil {
		return "unreadable"
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])[:digits]
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
		return identity(f.UID, f.Spec), nil
	}
	return "", nil
}

// Identify identifies the RayCluster of a site.
func Identify(ctx context.Context, cluster *kube.Cluster, of *site.Ray) (string, error) {
	found, err := cluster.Dynamic.Resource(kube.RayClusters()).Namespace(of.Namespace).Get(ctx, of.Cluster, metav1.GetOptions{})
	if err != nil {
		return "", fmt.Errorf("cannot read RayCluster %s/%s: %w", of.Namespace, of.Cluster, err)
	}
	autoscaling, _, _ := unstructured.NestedBool(found.Object, "spec", "enableInTreeAutoscaling")
	return identity(string(found.GetUID()), specDigest(found, autoscaling)), nil
}
