package snapshot

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/conformance/dra/inventory"
	"github.com/firstlight/firstlight/internal/recipe/model"
)

func demand() Demand {
	return Demand{
		Nodes: []string{"gpu-1", "gpu-2", "gpu-3"}, GPUs: 8, GPUsSource: "profile h100 node.gpus", Products: []string{"NVIDIA H100 80GB HBM3"},
		RecipeProducts: []string{"NVIDIA-H100-80GB-HBM3"}, Accelerator: "h100", Arch: []string{"amd64"},
		Constraints: []model.Constraint{{Name: "K8s.server.version", Value: ">= 1.31"}, {Name: "OS.release.ID", Value: "ubuntu"}},
	}
}

// cluster returns a cluster that meets the demand.
func cluster() (Server, []Node) {
	var nodes []Node
	for _, name := range demand().Nodes {
		nodes = append(nodes, Node{
			Name: name, Ready: true, Capacity: 8, Allocatable: 8, Arch: "amd64", Kernel: "5.15",
			Labels: map[string]string{productLabel: "NVIDIA-H100-80GB-HBM3", driverLabel: "580.105.08", "feature.node.kubernetes.io/system-os_release.ID": "ubuntu"},
		})
	}
	return Server{Version: "v1.36.3"}, append(nodes, Node{Name: "system-1", Ready: true, Arch: "amd64"})
}

func observed(t *testing.T, server Server, nodes []Node) []check.Observation {
	t.Helper()
	var out []check.Observation
	for kind, figures := range map[string]any{kindServer: server, kindNodes: nodes} {
		o, err := check.Observation{ID: kind, Kind: kind}.WithFigures(figures)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, o)
	}
	return out
}

func TestJudge(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		spoil   func(d *Demand, s *Server, n []Node)
		verdict check.Verdict
		suspect string
		says    string
	}{
		"as demanded":          {func(*Demand, *Server, []Node) {}, check.Passed, "", "3 nodes with 24 NVIDIA-H100-80GB-HBM3"},
		"a node is missing":    {func(_ *Demand, _ *Server, n []Node) { n[1].Name = "other" }, check.Failed, "gpu-2", "not in the cluster"},
		"a node is not Ready":  {func(_ *Demand, _ *Server, n []Node) { n[2].Ready = false }, check.Failed, "gpu-3", "not Ready"},
		"a node is cordoned":   {func(_ *Demand, _ *Server, n []Node) { n[2].Unschedulable = true }, check.Failed, "gpu-3", "cordoned"},
		"a GPU is missing":     {func(_ *Demand, _ *Server, n []Node) { n[0].Allocatable = 7 }, check.Failed, "gpu-1", "7 of 8 GPUs allocatable"},
		"GPUs not allocatable": {func(_ *Demand, _ *Server, n []Node) { n[0].Capacity = 16 }, check.Failed, "gpu-1", "8 of 16 GPUs allocatable"},
		"one GPU a node": {func(d *Demand, _ *Server, n []Node) {
			d.GPUs = 1
			for i := range d.Nodes {
				n[i].Capacity, n[i].Allocatable = 1, 1
			}
		}, check.Passed, "", "3 nodes with 3 NVIDIA-H100-80GB-HBM3"},
		"a recipe for any accelerator": {func(d *Demand, _ *Server, _ []Node) {
			d.RecipeProducts, d.Accelerator, d.Arch = nil, "", nil
		}, check.Passed, "", ""},
		"a GPU too many":  {func(_ *Demand, _ *Server, n []Node) { n[0].Allocatable, n[0].Capacity = 9, 9 }, check.Failed, "gpu-1", "9 of 9"},
		"another product": {func(_ *Demand, _ *Server, n []Node) { n[1].Labels[productLabel] = "NVIDIA-A100-SXM4-80GB" }, check.Failed, "gpu-2", "the site's profile NVIDIA H100"},
		"no product":      {func(_ *Demand, _ *Server, n []Node) { delete(n[1].Labels, productLabel) }, check.Failed, "gpu-2", "has no label nvidia.com/gpu.product"},
		"another recipe": {func(d *Demand, _ *Server, _ []Node) {
			d.RecipeProducts, d.Accelerator = []string{"NVIDIA-B200"}, "b200"
		}, check.Failed, "gpu-1", "the recipe is for b200"},
		"another architecture": {func(d *Demand, _ *Server, _ []Node) { d.Arch = []string{"arm64"} }, check.Failed, "gpu-1", "built into arm64"},
		"another driver":       {func(_ *Demand, _ *Server, n []Node) { n[2].Labels[driverLabel] = "570.1" }, check.Failed, "gpu-3", "driver 570.1 on gpu-3, and 580.105.08 on 2 nodes"},
		"no driver":            {func(_ *Demand, _ *Server, n []Node) { delete(n[0].Labels, driverLabel) }, check.Failed, "gpu-1", "have no label nvidia.com/cuda.driver-version.full"},
		"a stranger":           {func(_ *Demand, _ *Server, n []Node) { n[3].Capacity = 1 }, check.Failed, "system-1", "not in the site's inventory"},
		"an ordered node": {func(_ *Demand, _ *Server, n []Node) {
			n[3].Capacity, n[3].Labels = 4, map[string]string{"karpenter.sh/nodepool": "x"}
		}, check.Passed, "", ""},
		"a constraint does not hold":   {func(_ *Demand, s *Server, _ []Node) { s.Version = "v1.30.1" }, check.Failed, "recipe constraint K8s.server.version", "the recipe requires >= 1.31"},
		"no constraints":               {func(d *Demand, s *Server, _ []Node) { d.Constraints, s.Version = nil, "v1.30.1" }, check.Passed, "", ""},
		"a warning does not hold":      {func(d *Demand, s *Server, _ []Node) { d.Constraints[0].Severity, s.Version = "warning", "v1.30.1" }, check.Passed, "", ""},
		"a constraint is not measured": {func(d *Demand, _ *Server, _ []Node) { d.Constraints[1].Name = "OS.sysctl.x" }, check.Unobserved, "", "OS.sysctl.x"},
		"a constraint does not hold on one node": {func(_ *Demand, _ *Server, n []Node) {
			n[1].Labels["feature.node.kubernetes.io/system-os_release.ID"] = "rhel"
		}, check.Failed, "gpu-2", "OS.release.ID is rhel, and the recipe requires ubuntu"},
		"no inventory":     {func(d *Demand, _ *Server, _ []Node) { d.Nodes = nil }, check.Unobserved, "", "the site has no GPU node"},
		"no GPUs demanded": {func(d *Demand, _ *Server, _ []Node) { d.GPUs = 0 }, check.Unobserved, "", "the site has no GPU node"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := demand()
			server, nodes := cluster()
			tt.spoil(&d, &server, nodes)
			j := New(d, Deps{}).Judge(observed(t, server, nodes))
			if j.Verdict != tt.verdict || !strings.Contains(j.Reason, tt.says) && tt.verdict != check.Failed {
				t.Fatalf("%s: %s", j.Verdict, j.Reason)
			}
			if tt.verdict != check.Failed {
				return
			}
			for _, f := range j.Findings {
				if f.Suspect == tt.suspect && strings.Contains(f.Message, tt.says) && f.Remedy != "" && len(f.Observations) > 0 {
					return
				}
			}
			t.Errorf("nothing says %q of %s: %+v", tt.says, tt.suspect, j.Findings)
		})
	}
}

// A missing observation does not blame a node.
func TestNothingObservedIsUnobserved(t *testing.T) {
	t.Parallel()
	server, nodes := cluster()
	all := observed(t, server, nodes)
	without := func(kind string) []check.Observation {
		obs := slices.Clone(all)
		for i := range obs {
			if obs[i].Kind == kind {
				obs[i].Err = "connection refused"
			}
		}
		return obs
	}
	d := demand()
	d.Constraints = nil
	for name, tt := range map[string]struct {
		obs  []check.Observation
		says string
	}{
		"nothing":    {nil, "server-version was observed 0 times"},
		"each twice": {slices.Concat(all, all), "server-version was observed 2 times"},
		"no version": {without(kindServer), "server-version could not be observed: connection refused"},
		"no nodes":   {without(kindNodes), "nodes could not be observed: connection refused"},
	} {
		if j := New(d, Deps{}).Judge(tt.obs); j.Verdict != check.Unobserved || !strings.Contains(j.Reason, tt.says) {
			t.Errorf("%s: %s: %s", name, j.Verdict, j.Reason)
		}
	}
	if j := New(d, Deps{}).Judge(observed(t, server, nil)); j.Verdict != check.Failed {
		t.Errorf("a cluster without nodes: %s: %s", j.Verdict, j.Reason)
	}
}

// The suspects are the nodes that differ from most nodes, and no others.
func TestTheNodesWithAnotherDriverAreSuspected(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		drivers []string
		want    []string
	}{
		"one has a newer one":  {[]string{"580", "580", "590"}, []string{"gpu-3"}},
		"one has an older one": {[]string{"570", "580", "580"}, []string{"gpu-1"}},
		"each has another":     {[]string{"570", "580", "590"}, []string{"gpu-2", "gpu-3"}},
		"most have none":       {[]string{"580", "", ""}, []string{"gpu-2"}},
	} {
		server, nodes := cluster()
		for i, driver := range tt.drivers {
			nodes[i].Labels[driverLabel] = driver
		}
		var got []string
		j := New(demand(), Deps{}).Judge(observed(t, server, nodes))
		for _, f := range j.Findings {
			got = append(got, f.Suspect)
		}
		if j.Verdict != check.Failed || !slices.Equal(got, tt.want) {
			t.Errorf("%s: %s of %q, want %q", name, j.Verdict, got, tt.want)
		}
	}
}

func TestTheFigureComparesTheGPUsOfAllNodes(t *testing.T) {
	t.Parallel()
	server, nodes := cluster()
	nodes[0].Allocatable = 7
	want := []check.Figure{{Name: "GPUs", Value: 23, Unit: "GPUs", Limit: 24, Relation: "==", Source: "profile h100 node.gpus"}}
	if diff := cmp.Diff(want, New(demand(), Deps{}).Judge(observed(t, server, nodes)).Figures); diff != "" {
		t.Error(diff)
	}
}

// A constraint compares values of the server and of the nodes: both observations are its evidence.
func TestAConstraintNamesWhatItWasJudgedBy(t *testing.T) {
	t.Parallel()
	server, nodes := cluster()
	server.Version = "v1.30.1"
	j := New(demand(), Deps{}).Judge(observed(t, server, nodes))
	if len(j.Findings) != 1 || !slices.Equal(j.Findings[0].Observations, []string{kindServer, kindNodes}) {
		t.Errorf("%+v", j.Findings)
	}
}

func slicesOf(t *testing.T, nodes []string, s shape) check.Observation {
	t.Helper()
	published := []inventory.Slice{}
	for _, name := range nodes {
		one := inventory.Slice{Name: name, Driver: inventory.Driver, Pool: name, Node: name, Generation: 1, PoolSlices: 1}
		for i := range s.gpus {
			one.Devices = append(one.Devices, inventory.Device{Name: fmt.Sprintf("gpu-%d", i), Type: "gpu", Product: s.product})
		}
		published = append(published, one)
	}
	o, err := check.Observation{ID: kindSlices, Kind: kindSlices}.WithFigures(published)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// A cluster has the device plugin or the DRA driver; few have both.
func TestACounterOfGPUsIsEnough(t *testing.T) {
	t.Parallel()
	server, nodes := cluster()
	for i := range nodes {
		nodes[i].Capacity, nodes[i].Allocatable = 0, 0
	}
	s := shape{product: "NVIDIA H100 80GB HBM3", gpus: 8}
	obs := append(observed(t, server, nodes), slicesOf(t, demand().Nodes, s))
	if j := New(demand(), Deps{}).Judge(obs); j.Verdict != check.Passed {
		t.Errorf("DRA alone: %s: %s", j.Verdict, j.Reason)
	}
	s.gpus = 7
	obs = append(observed(t, server, nodes), slicesOf(t, demand().Nodes[1:], shape{product: s.product, gpus: 8}), check.Observation{})
	if j := New(demand(), Deps{}).Judge(obs[:3]); j.Verdict != check.Failed || !findingSays(j, "gpu-1", "0 of 0 GPUs") {
		t.Errorf("DRA without a node: %s: %+v", j.Verdict, j.Findings)
	}
	obs = append(observed(t, server, nodes), slicesOf(t, demand().Nodes, s))
	if j := New(demand(), Deps{}).Judge(obs); j.Verdict != check.Failed || !findingSays(j, "gpu-1", "7 of 7 GPUs") {
		t.Errorf("DRA with a GPU missing: %s: %+v", j.Verdict, j.Findings)
	}
	failed := check.Observation{ID: "s", Kind: kindSlices, Err: "connection refused"}
	if j := New(demand(), Deps{}).Judge(append(observed(t, server, nodes), failed)); j.Verdict != check.Unobserved {
		t.Errorf("slices that could not be listed: %s", j.Verdict)
	}
}

// A node whose pod gives no answer is unobserved, with the reason, and does not pass by the
// answers of others.
func TestANodeWithoutAnAnswerIsUnobserved(t *testing.T) {
	t.Parallel()
	answer := func(node string, figures any, failed string) check.Observation {
		o, err := check.Observation{ID: "agent-" + node, Kind: kindAgent, Target: node, Err: failed}.WithFigures(figures)
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	ubuntu := Answer{Release: map[string]string{"ID": "ubuntu"}}
	for name, tt := range map[string]struct {
		of2     []check.Observation
		verdict check.Verdict
		says    string
	}{
		"all answer":      {[]check.Observation{answer("gpu-2", ubuntu, "")}, check.Passed, ""},
		"none of one":     {nil, check.Unobserved, "gpu-2: constraint OS.release.ID: the snapshot has no OS.release.ID"},
		"an error":        {[]check.Observation{answer("gpu-2", nil, "pod did not run: Pending")}, check.Unobserved, "the pod on gpu-2 gave no answer: node-agent on gpu-2"},
		"two answers":     {[]check.Observation{answer("gpu-2", ubuntu, ""), answer("gpu-2", ubuntu, "")}, check.Unobserved, "two pods answered"},
		"another system":  {[]check.Observation{answer("gpu-2", Answer{Release: map[string]string{"ID": "rhel"}}, "")}, check.Failed, "OS.release.ID is rhel"},
		"of another node": {[]check.Observation{answer("gpu-9", ubuntu, "")}, check.Unobserved, "gpu-2"},
	} {
		server, nodes := cluster()
		for i := range nodes {
			delete(nodes[i].Labels, releaseLabel+"ID")
		}
		obs := append(observed(t, server, nodes), answer("gpu-1", ubuntu, ""), answer("gpu-3", ubuntu, ""))
		j := New(demand(), Deps{}).Judge(append(obs, tt.of2...))
		if j.Verdict != tt.verdict || tt.says != "" && !strings.Contains(j.Reason, tt.says) {
			t.Errorf("%s: %s: %s", name, j.Verdict, j.Reason)
		}
	}
}
