package gpustack

import (
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
)

// provided is the gate of a cluster whose provider has a DaemonSet for each kind of node, and its
// healthy observations: gpu-04 is of another kind than the others.
func provided(t *testing.T, operands ...string) (*Gate, []operandFigures) {
	t.Helper()
	p, err := profile.Load("h100-sxm-ndr400")
	if err != nil {
		t.Fatal(err)
	}
	s := &site.Site{
		Fabric:   site.Fabric{NetworkResource: "rdma/ib", NetworkResourceCount: 8},
		GPUStack: site.GPUStack{ManagedBy: site.ManagedByProvider, Namespace: "kube-system", GangScheduler: "auto", Operands: operands},
	}
	for _, n := range gate(t).nodes {
		s.Inventory.Nodes = append(s.Inventory.Nodes, site.Node{Name: n})
	}
	g := New(s, p, Deps{})
	set := func(name string, nodes ...string) operandFigures {
		f := operandFigures{Name: name, Found: true, Current: true, Desired: len(nodes), Ready: len(nodes), Updated: len(nodes)}
		for _, n := range nodes {
			f.Pods = append(f.Pods, operandPod{Pod: name + "-" + n, Node: n, Ready: true, Images: []operandImage{{Container: "plugin", ID: "gke.gcr.io/plugin@" + digest('a')}}})
		}
		return f
	}
	return g, []operandFigures{set("nvidia-gpu-device-plugin-large-cos", g.nodes[:3]...), set("nvidia-gpu-device-plugin-medium-cos", g.nodes[3]), set("nvidia-gpu-device-plugin-small-cos")}
}

// pluginsOf are the plugins' pods of DaemonSets.
func pluginsOf(sets []operandFigures) []nodePod {
	out := []nodePod{}
	for _, set := range sets {
		for _, p := range set.Pods {
			out = append(out, nodePod{Node: p.Node, Namespace: "kube-system", Pod: p.Pod, DaemonSet: set.Name, Images: []string{"gke.gcr.io/nvidia-gpu-device-plugin:v1"}})
		}
	}
	return out
}

func TestProvided(t *testing.T) {
	t.Parallel()
	const pattern = "nvidia-gpu-device-plugin-*"
	for name, tt := range map[string]struct {
		operands []string
		policies []policyRole
		change   func([]operandFigures) []operandFigures
		verdict  check.Verdict
		suspect  string
		message  string
	}{
		"an operator without device plugin": {operands: []string{pattern}, policies: []policyRole{{"cluster-policy", false}}, verdict: check.Passed},
		"two plugins on a node": {operands: []string{pattern}, change: func(f []operandFigures) []operandFigures {
			f[2].Pods, f[2].Desired, f[2].Ready, f[2].Updated = f[1].Pods, 1, 1, 1
			return f
		}, verdict: check.Failed, suspect: "gpu-04/" + pattern, message: "has 2 pods"},
		"a node of others is not ready": {operands: []string{pattern}, change: func(f []operandFigures) []operandFigures {
			f[0].Desired, f[0].Pods = 4, append(f[0].Pods, operandPod{Pod: "p", Node: "pool-2", Why: "phase Pending"})
			return f
		}, verdict: check.Passed},
		// NVIDIA's static manifest has no nodeSelector: its DaemonSet, that of EKS and AKS, has pods on nodes without GPUs, too, and its
		// counts do not show which nodes have the former configuration.
		"pods of the former template, and nodes of others": {operands: []string{pattern}, change: func(f []operandFigures) []operandFigures {
			f[0].Desired, f[0].Ready, f[0].Updated, f[0].Pods = 4, 4, 1, append(f[0].Pods, operandPod{Pod: "p", Node: "pool-2", Ready: true})
			for i := range 3 {
				f[0].Pods[i].Outdated = true
			}
			return f
		}, verdict: check.Failed, suspect: "gpu-01/" + pattern, message: "is of an older revision"},
		"a pod of the former template on a node of others": {operands: []string{pattern}, change: func(f []operandFigures) []operandFigures {
			f[0].Desired, f[0].Ready, f[0].Updated, f[0].Pods = 4, 4, 3, append(f[0].Pods, operandPod{Pod: "p", Node: "pool-2", Ready: true, Outdated: true})
			return f
		}, verdict: check.Passed},
		"complete":                      {operands: []string{pattern}, verdict: check.Passed},
		"in the nodes":                  {verdict: check.Passed},
		"two operators":                 {operands: []string{pattern}, policies: []policyRole{{"cluster-policy", true}}, verdict: check.Failed, suspect: "ClusterPolicy cluster-policy", message: "install a device plugin"},
		"in the nodes, and an operator": {policies: []policyRole{{"cluster-policy", true}}, verdict: check.Failed, suspect: "ClusterPolicy cluster-policy", message: "install a device plugin"},
		"a node without a pod": {operands: []string{pattern}, change: func(f []operandFigures) []operandFigures {
			f[0].Pods, f[0].Desired, f[0].Ready, f[0].Updated = f[0].Pods[:2], 2, 2, 2
			return f
		}, verdict: check.Failed, suspect: "gpu-03/" + pattern, message: "has no pod"},
		"a pod that is not ready": {operands: []string{pattern}, change: func(f []operandFigures) []operandFigures {
			f[1].Pods[0].Ready, f[1].Pods[0].Why, f[1].Ready = false, "phase Pending", 0
			return f
		}, verdict: check.Failed, suspect: "gpu-04/" + pattern, message: "phase Pending"},
		"a rollout that has not ended": {operands: []string{pattern}, change: func(f []operandFigures) []operandFigures {
			f[0].Updated = 2
			return f
		}, verdict: check.Failed, suspect: "DaemonSet kube-system/nvidia-gpu-device-plugin-large-cos", message: "2 up to date of 3"},
		"a status of another generation": {operands: []string{pattern}, change: func(f []operandFigures) []operandFigures {
			f[2].Current = false
			return f
		}, verdict: check.Failed, suspect: "DaemonSet kube-system/nvidia-gpu-device-plugin-small-cos", message: "status current: false"},
		"other images": {operands: []string{pattern}, change: func(f []operandFigures) []operandFigures {
			f[0].Pods[1].Images[0].ID = "gke.gcr.io/plugin@" + digest('b')
			return f
		}, verdict: check.Failed, message: "different images"},
		"no DaemonSet": {operands: []string{pattern}, change: func([]operandFigures) []operandFigures {
			return []operandFigures{{Name: pattern}}
		}, verdict: check.Failed, suspect: "DaemonSet kube-system/" + pattern, message: "does not exist"},
		"a second pattern": {operands: []string{pattern, "other-*"}, verdict: check.Failed, suspect: "DaemonSet kube-system/other-*", message: "does not exist"},
		"nothing observed": {operands: []string{pattern}, change: func([]operandFigures) []operandFigures { return nil }, verdict: check.Unobserved},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g, sets := provided(t, tt.operands...)
			plugins := pluginsOf(sets)
			if tt.change != nil {
				sets = tt.change(sets)
			}
			f := healthy(g)
			f.operator, f.policy, f.operands, f.plugins = nil, nil, sets, plugins
			if g.builtIn() {
				f.operands, f.plugins = nil, []nodePod{}
			}
			obs := f.observations(t)
			o, err := check.Observation{ID: "policies", Kind: kindPolicies}.WithFigures(append([]policyRole{}, tt.policies...))
			if err != nil {
				t.Fatal(err)
			}
			j := plan.Judge(g, append(obs, o))
			if j.Verdict != tt.verdict {
				t.Fatalf("%s: %s %+v", j.Verdict, j.Reason, j.Findings)
			}
			named := tt.message == ""
			for _, finding := range j.Findings {
				named = named || (tt.suspect == "" || finding.Suspect == tt.suspect) && strings.Contains(finding.Message, tt.message)
			}
			if !named {
				t.Errorf("no finding %q %q in %+v", tt.suspect, tt.message, j.Findings)
			}
			if j := plan.Judge(g, obs); j.Verdict == check.Passed {
				t.Error("passes without the list of ClusterPolicies")
			}
		})
	}
}
