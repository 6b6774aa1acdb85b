package gpustack

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/kube"
)

// kindPolicies are all ClusterPolicies, of a cluster whose provider installs driver and device plugin.
const kindPolicies = "clusterpolicies"

// builtIn reports whether the device plugin is a part of the node's image.
func (g *Gate) builtIn() bool { return g.stack.Provided() && len(g.stack.Operands) == 0 }

// policyRole is what a ClusterPolicy lets the GPU Operator install.
type policyRole struct {
	Name string `json:"name"`
	// DevicePlugin is spec.devicePlugin.enabled, by default true.
	DevicePlugin bool `json:"devicePlugin"`
}

// observePolicies lists the ClusterPolicies: none may install a device plugin.
func (g *Gate) observePolicies(ctx context.Context, cluster *kube.Cluster, rec check.Recorder) error {
	attempt := g.begin(rec, kindPolicies, "", "GET clusterpolicies.nvidia.com")
	list, err := cluster.Dynamic.Resource(ClusterPolicies()).List(ctx, metav1.ListOptions{})
	figures := []policyRole{}
	switch {
	case apierrors.IsNotFound(err), meta.IsNoMatchError(err): // the API is not served
		return attempt.Record(figures, nil)
	case err != nil:
		return attempt.Record(nil, fmt.Errorf("list ClusterPolicies: %w", err))
	}
	for i := range list.Items {
		list.Items[i].SetManagedFields(nil)
		enabled, found, err := unstructured.NestedBool(list.Items[i].Object, "spec", "devicePlugin", "enabled")
		figures = append(figures, policyRole{list.Items[i].GetName(), enabled || !found || err != nil})
	}
	return attempt.Raw(rawJSON(list)).Record(figures, nil)
}

// Lowered implements plan.Lowers.
func (g *Gate) Lowered() []string {
	if g.builtIn() {
		return []string{"gpustack.operands has no DaemonSet: the provider's device plugin is not observed"}
	}
	return nil
}
