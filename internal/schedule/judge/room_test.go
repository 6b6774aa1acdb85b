package judge

import (
	"regexp"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/firstlight/firstlight/internal/recipe/footprint"
	"github.com/firstlight/firstlight/internal/schedule/scenario"
	"github.com/firstlight/firstlight/internal/schedule/snapshot"
)

// The remedy fits what the nodes that the pods may be on say, whatever others do:
// GPU nodes have a taint for all that is not for them.
func TestMakeRoom(t *testing.T) {
	t.Parallel()
	ported := func(name string, ports ...int32) footprint.Component {
		return footprint.Component{Name: name, Workloads: []footprint.Workload{{
			Kind: "Deployment", Name: "x", Class: footprint.System, Replicas: 5, Pod: footprint.Pod{HostPorts: ports},
		}}}
	}
	c := scenario.Scenario{
		Nodes: []scenario.Node{
			{Name: "system-0", Class: footprint.System, Shape: "small"}, {Name: "system-1", Class: footprint.System, Shape: "small"},
			{Name: "gpu-0", Class: footprint.Accelerated, Taints: []corev1.Taint{{Key: "nvidia.com/gpu", Effect: corev1.TaintEffectNoSchedule}}},
		},
		Components: []footprint.Component{ported("one", 9100), ported("other", 9100), ported("alone", 9200)},
		Probe:      scenario.Probe{Kind: scenario.Replicas, Size: 1},
	}
	for name, tt := range map[string]struct{ component, says, want string }{
		"requests":      {"one", "2 Insufficient memory", "^lower the requests in the values of one, or test on a larger node .profile small"},
		"pods":          {"one", "2 Too many pods", "^raise resources.pods of the profile small"},
		"anti-affinity": {"one", "2 node(s) didn't match pod anti-affinity rules", "at most one replica per node .2."},
		"no zones":      {"one", "2 node(s) didn't match pod topology spread constraints (missing required label)", "^add the topology label .zone or other. to the nodes of the profile small"},
		"few zones":     {"one", "2 node(s) didn't match pod topology spread constraints", "^relax its topologySpreadConstraints"},
		"another port":  {"one", "2 node(s) didn't have free ports for the requested pod ports", "^use another port for it or other/x: both request host port 9100"},
		"its own port":  {"alone", "2 node(s) didn't have free ports for the requested pod ports", "^run one pod of it per node"},
		"anything else": {"one", "2 node(s) didn't like it", "^correct the cause that the scheduler reports: "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := newView(c, snapshot.State{})
			e, _ := v.find(tt.component, "x", "Deployment")
			r, ok := ParseRefusal("0/3 nodes are available: 1 node(s) had untolerated taint(s), " + tt.says + ".")
			if got := v.capacityRemedy(e, r); !ok || !regexp.MustCompile(tt.want).MatchString(got) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
