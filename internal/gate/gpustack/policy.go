package gpustack

import (
	"context"
	"encoding/json"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/guard"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/site"
)

// ClusterPolicies is the resource of the GPU Operator's policies.
func ClusterPolicies() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "nvidia.com", Version: "v1", Resource: "clusterpolicies"}
}

// Policy reads the object by which the GPU Operator installs its stack.
func Policy(ctx context.Context, cluster *kube.Cluster, s site.GPUStack) (*unstructured.Unstructured, error) {
	resource := ClusterPolicies()
	if s.GPUCluster != "" {
		resource = schema.GroupVersionResource{Group: "nvidia.com", Version: "v1alpha1", Resource: "gpuclusters"}
	}
	_, name := s.Policy()
	return cluster.Dynamic.Resource(resource).Get(ctx, name, metav1.GetOptions{})
}

func (g *Gate) observePolicy(ctx context.Context, cluster *kube.Cluster, rec check.Recorder) error {
	if g.stack.Provided() {
		return g.observePolicies(ctx, cluster, rec)
	}
	kind, name := g.stack.Policy()
	attempt := g.begin(rec, kindPolicy, name, "GET "+kind+" "+name)
	obj, err := Policy(ctx, cluster, g.stack)
	if apierrors.IsNotFound(err) {
		return attempt.Record(policyFigures{}, nil)
	}
	if err != nil {
		return attempt.Record(nil, fmt.Errorf("read %s %s: %w", kind, name, err))
	}
	obj.SetManagedFields(nil)
	figures, err := readPolicy(obj)
	if recordErr := attempt.Raw(rawJSON(obj.Object)).Record(figures, err); recordErr != nil || !figures.DriverCRD && g.stack.GPUCluster == "" {
		return recordErr
	}
	return g.observeDrivers(ctx, cluster, rec)
}

func readPolicy(obj *unstructured.Unstructured) (policyFigures, error) {
	var doc struct {
		Spec struct {
			Driver struct {
				// Enabled is true if it is left out.
				Enabled            *bool `json:"enabled"`
				UseNvidiaDriverCRD bool  `json:"useNvidiaDriverCRD"`
			} `json:"driver"`
			Toolkit toolkitSpec `json:"toolkit"`
			CDI     cdiSpec     `json:"cdi"`
		} `json:"spec"`
		Status policyFigures `json:"status"`
	}
	data, err := json.Marshal(obj.Object)
	if err != nil {
		return policyFigures{}, fmt.Errorf("encode ClusterPolicy: %w", err)
	}
	if err := guard.JSON(data, &doc); err != nil {
		return policyFigures{}, fmt.Errorf("read status of ClusterPolicy: %w", err)
	}
	doc.Status.Found = true
	doc.Status.Generation = obj.GetGeneration()
	driver := doc.Spec.Driver
	doc.Status.DriverCRD = driver.UseNvidiaDriverCRD && (driver.Enabled == nil || *driver.Enabled)
	doc.Status.Toolkit = doc.Spec.Toolkit.figures(doc.Spec.CDI)
	return doc.Status, nil
}

// toolkitSpec and cdiSpec are parts of a ClusterPolicy's spec.
type toolkitSpec struct {
	// Enabled is true if it is left out.
	Enabled *bool `json:"enabled"`
	Env     []struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	} `json:"env"`
}

type cdiSpec struct {
	// Enabled is true if it is left out.
	Enabled          *bool `json:"enabled"`
	NRIPluginEnabled bool  `json:"nriPluginEnabled"`
}

// figures reads the environment as the operator does: the last variable of a name counts, and an empty one is not set
// (controllers/object_controls.go).
func (t toolkitSpec) figures(cdi cdiSpec) *toolkitFigures {
	env := map[string]string{}
	for _, e := range t.Env {
		env[e.Name] = e.Value
	}
	return &toolkitFigures{
		Enabled: t.Enabled == nil || *t.Enabled, NRI: cdi.NRIPluginEnabled && (cdi.Enabled == nil || *cdi.Enabled),
		Socket: env["CONTAINERD_SOCKET"], Config: env["CONTAINERD_CONFIG"], RuntimeConfig: env["RUNTIME_CONFIG"], DropIn: env["RUNTIME_DROP_IN_CONFIG"],
	}
}
