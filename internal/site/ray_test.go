package site

import (
	"strings"
	"testing"
)

// The example of a RayCluster is valid over the example of a cluster, which remains one of Kubernetes.
func TestRayExample(t *testing.T) {
	t.Parallel()
	merged, err := Over(Example(), "ray.yaml", RayExample())
	if err != nil {
		t.Fatal(err)
	}
	s, err := Parse("site.yaml", merged)
	if err != nil {
		t.Fatal(err)
	}
	if !s.OnRay() || !s.Kubernetes() || s.Ray.Namespace != "ray" || s.Ray.Cluster != "ray" {
		t.Errorf("%s: %+v", s.Spine, s.Ray)
	}
	for name, tt := range map[string]struct{ from, to, want string }{
		"no RayCluster":   {"  cluster: ray # the RayCluster", "", `ray.cluster: invalid name ""`},
		"a bad name":      {"namespace: ray", "namespace: Ray_1", `ray.namespace: invalid name "Ray_1"`},
		"an unknown key":  {"  namespace: ray", "  namespace: ray\n  clusters: a", `unknown key "clusters"`},
		"telemetry":       {"  telemetry:", "  #", "notApplicable.telemetry: is missing"},
		"collective":      {"  collective:", "  #", "notApplicable.collective: is missing"},
		"training":        {"  training:", "  #", "notApplicable.training: is missing"},
		"inference":       {"  inference:", "  #", "notApplicable.inference: is missing"},
		"another spine":   {"spine: ray", "spine: kubernetes", "ray: has no effect with spine kubernetes"},
		"MIG":             {"spine: ray", "spine: ray\ngpustack: {mig: {strategy: single, devices: {1g.10gb: 7}}}", "gpustack: mig and deviceClass are not supported"},
		"a device class":  {"spine: ray", "spine: ray\ngpustack: {deviceClass: gpu.nvidia.com}", "gpustack: mig and deviceClass are not supported"},
		"groups of nodes": {"spine: ray", "spine: ray\ngroups: [{name: a, profile: h100-sxm-ndr400, nodes: [gpu-01]}]", "groups: has no effect with spine ray"},
	} {
		merged, err := Over(Example(), "ray.yaml", []byte(strings.Replace(string(RayExample()), tt.from, tt.to, 1)))
		if err == nil {
			_, err = Parse("site.yaml", merged)
		}
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
	without, err := Over(Example(), "ray.yaml", []byte("spine: ray\n"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Parse("site.yaml", without); err == nil || !strings.Contains(err.Error(), "ray: is missing") {
		t.Errorf("without a RayCluster: %v", err)
	}
}
