package gpustack

import (
	_ "embed" // the values
	"fmt"
	"maps"

	chartutil "helm.sh/helm/v4/pkg/chart/common/util"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

//go:embed values.yaml
var lab []byte

// Cluster has what the values say of a lab's cluster.
type Cluster struct {
	// Driver is the version of the GPU driver.
	Driver string
	// RDMA: the nodes have adapters for GPUDirect RDMA.
	RDMA bool
	// ControlNode is the node of the operator and of NFD's master.
	ControlNode string
}

// Values returns the chart values of a lab.
func Values(c Cluster) (map[string]any, error) {
	var values map[string]any
	if err := yaml.Unmarshal(lab, &values); err != nil {
		return nil, fmt.Errorf("read values of the GPU Operator's chart: %w", err)
	}
	place := map[string]any{"nodeSelector": map[string]any{corev1.LabelHostname: c.ControlNode}}
	return chartutil.MergeTables(map[string]any{
		"driver":                 map[string]any{"version": c.Driver, "rdma": map[string]any{"enabled": c.RDMA}},
		"operator":               place,
		"node-feature-discovery": map[string]any{"master": maps.Clone(place)},
	}, values), nil
}
