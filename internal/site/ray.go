package site

import (
	"fmt"

	"go.yaml.in/yaml/v3"
)

// SpineRay is a Kubernetes cluster on which a RayCluster of KubeRay has the GPUs.
const SpineRay = "ray"

// Ray is the RayCluster of spine ray.
type Ray struct {
	// Namespace and Cluster name the RayCluster.
	Namespace string `yaml:"namespace" json:"namespace"`
	Cluster   string `yaml:"cluster" json:"cluster"`
}

// OnRay reports whether a RayCluster has the GPUs of the cluster.
func (s *Site) OnRay() bool { return s.Spine == SpineRay }

// WithRay sets the keys of RayExample.
func (s *Site) WithRay() error {
	if err := yaml.Unmarshal(rayExampleFile, s); err != nil {
		return fmt.Errorf("read the example of a RayCluster: %w", err)
	}
	return nil
}
