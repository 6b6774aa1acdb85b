package nodeprofile_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/recipe/criteria"
	"github.com/firstlight/firstlight/internal/recipe/nodeprofile"
	"github.com/firstlight/firstlight/internal/recipe/recipetest"
	"github.com/firstlight/firstlight/internal/recipe/resolve"
	"github.com/firstlight/firstlight/internal/recipe/tree"
	"github.com/firstlight/firstlight/recipes"
)

// shipped is the tree that ships, with files put into it.
func shipped(t *testing.T, files map[string]string) *tree.Tree {
	t.Helper()
	loaded, problems := tree.Load(recipetest.Edit(recipes.FS, files), tree.Options{Label: "recipes"})
	if err := problems.Err(); err != nil {
		t.Fatal(err)
	}
	return loaded
}

func load(t *testing.T, loaded *tree.Tree) *nodeprofile.Set {
	t.Helper()
	s, problems := nodeprofile.Load(loaded)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return s
}

// Every recipe that ships has nodes.
func TestEveryRecipeHasNodes(t *testing.T) {
	t.Parallel()
	loaded := shipped(t, nil)
	s := load(t, loaded)
	if s.ProfilesShipped || s.AcceleratorsShipped || len(s.All()) < 30 {
		t.Fatalf("%d shapes, shipped: %v %v", len(s.All()), s.ProfilesShipped, s.AcceleratorsShipped)
	}
	for _, o := range loaded.Recipes() {
		n, err := s.Select(o.Criteria)
		if err != nil {
			t.Errorf("%s: %v", o.Name, err)
			continue
		}
		if a := o.Criteria.Accelerator; a != "" && n.Accelerated.Accelerator != a {
			t.Errorf("%s is tested on %s", o.Name, n.Accelerated.Name)
		}
		if want := o.Criteria.Service; want != "" && (n.Accelerated.Provider != want || n.System.Provider != want) {
			t.Errorf("%s is tested on %s and %s", o.Name, n.Accelerated.Name, n.System.Name)
		}
		if !slices.Contains(n.Arch, n.Accelerated.Arch) || n.Accelerated.Count < 1 || n.System.Count < 1 {
			t.Errorf("%s: %+v", o.Name, n)
		}
	}
}

func TestSelect(t *testing.T) {
	t.Parallel()
	s := load(t, shipped(t, nil))
	tests := []struct{ criteria, accelerated, system string }{
		{"service=eks,accelerator=a100", "eks-p4de-24xlarge", "eks-system-m7i-4xlarge"},
		{"service=gke,accelerator=gb200", "gke-a4x-highgpu-4g", "gke-system-n2-standard-16"},
		{"service=self-managed,accelerator=l40s", "generic-ovx-l40s-4", "generic-system"},
		{"intent=training", "generic-hgx-h100-8", "generic-system"},
		{"accelerator=b200", "generic-hgx-b200-8", "generic-system"},
		{"service=oke,intent=inference", "oke-bm-gpu-h100-8", "oke-system-vm-standard-e5-flex"},
	}
	for _, tt := range tests {
		t.Run(tt.criteria, func(t *testing.T) {
			t.Parallel()
			c, err := criteria.Parse(tt.criteria)
			if err != nil {
				t.Fatal(err)
			}
			n, err := s.Select(c)
			if err != nil || n.Accelerated.Name != tt.accelerated || n.System.Name != tt.system {
				t.Errorf("got %+v, %v", n, err)
			}
		})
	}
}

// A query without a matching profile is an error that lists the profiles; no other profile is
// substituted.
func TestSelectFailsClosed(t *testing.T) {
	t.Parallel()
	edit := func(file, old, with string) map[string]string {
		data, err := recipes.FS.ReadFile(file)
		if err != nil || !strings.Contains(string(data), old) {
			t.Fatalf("%s has no %s: %v", file, old, err)
		}
		return map[string]string{file: strings.Replace(string(data), old, with, 1)}
	}
	tests := []struct {
		name, criteria string
		files          map[string]string
		want           []string
	}{
		{"no such provider", "service=lke,accelerator=h100", nil, []string{"provider lke has no node profiles", "aks, eks, generic, gke, kind, oke"}},
		{"the provider does not have it", "service=gke,accelerator=l40s", nil, []string{"provider gke has no node profile with the accelerator l40s", "want one of a100, b200, gb200, h100, h200"}},
		{"no default", "service=eks,accelerator=a100", edit("nodes/eks/eks-p4de-24xlarge.yaml", `default: "true"`, `default: "false"`), []string{"no node profile of eks for a100", "eks-p4d-24xlarge, eks-p4de-24xlarge"}},
		{"two defaults", "service=eks,accelerator=a100", edit("nodes/eks/eks-p4d-24xlarge.yaml", `default: "false"`, `default: "true"`), []string{"2 node profiles of eks", "eks-p4d-24xlarge, eks-p4de-24xlarge"}},
		{"the only one is not for tests", "service=eks,accelerator=b200", edit("nodes/eks/eks-p6-b200-48xlarge.yaml", `default: "true"`, `default: "false"`), []string{"no node profile of eks for", "eks-p6-b200-48xlarge"}},
		{"no generic one", "service=eks", edit("nodes/eks/eks-p5-48xlarge.yaml", `, generic: "true"`, ""), []string{"no node profile of eks for", "has the label generic", "eks-p5-48xlarge"}},
		{"two generic ones", "service=eks", edit("nodes/eks/eks-p5en-48xlarge.yaml", `default: "true"`, `default: "true", generic: "true"`), []string{"2 node profiles of eks", "eks-p5-48xlarge, eks-p5en-48xlarge"}},
		{"no system nodes", "service=eks,accelerator=h100", map[string]string{"nodes/eks/eks-system-m7i-4xlarge.yaml": ""}, []string{"provider eks has no node profile for system nodes"}},
		{"unknown accelerator", "service=eks,accelerator=h100", edit("accelerators.yaml", "name: h100", "name: h101"), []string{"accelerators.yaml does not have the accelerator h100 of eks-p5-48xlarge"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c, err := criteria.Parse(tt.criteria)
			if err != nil {
				t.Fatal(err)
			}
			n, err := load(t, shipped(t, tt.files)).Select(c)
			if err == nil {
				t.Fatalf("got %s", n.Accelerated.Name)
			}
			for _, part := range tt.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%q is not in: %v", part, err)
				}
			}
		})
	}
}

// The tolerations and requests of user pods come from accelerators.yaml; taints of the profile
// do not change them.
func TestWorkloadOfUsers(t *testing.T) {
	t.Parallel()
	data, err := recipes.FS.ReadFile("nodes/gke/gke-a4x-highgpu-4g.yaml")
	if err != nil {
		t.Fatal(err)
	}
	odd := strings.Replace(string(data), "key: kubernetes.io/arch", "key: example.com/odd", 1)
	for name, files := range map[string]map[string]string{"as it is": nil, "with an odd taint": {"nodes/gke/gke-a4x-highgpu-4g.yaml": odd}} {
		s := load(t, shipped(t, files))
		n, err := s.Select(criteria.Criteria{Service: "gke", Accelerator: "gb200"})
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprintln(n.WorkloadSelector, len(n.WorkloadTolerations), n.WorkloadTolerations[1].Key); got != "map[kubernetes.io/arch:arm64] 2 kubernetes.io/arch\n" {
			t.Errorf("%s: %s", name, got)
		}
		n, err = s.Select(criteria.Criteria{Service: "eks", Accelerator: "gb200"})
		if err != nil {
			t.Fatal(err)
		}
		if len(n.WorkloadSelector) != 0 || len(n.WorkloadTolerations) != 1 || n.WorkloadTolerations[0].Key != nodeprofile.GPUTaint {
			t.Errorf("%s: %+v", name, n)
		}
	}
}

func TestAProfileInFull(t *testing.T) {
	t.Parallel()
	all := load(t, shipped(t, nil)).All()
	i := slices.IndexFunc(all, func(n *nodeprofile.Node) bool { return n.Name == "aks-nd128isr-gb200-v6" })
	if i < 0 {
		t.Fatal("profile not found")
	}
	s := all[i]
	got := fmt.Sprintln(s.File, s.Provider, s.Accelerator, s.InstanceType, s.Arch, s.Count, s.Region, s.Zones) +
		fmt.Sprintln(s.Capacity.Cpu(), s.Capacity.Memory(), s.Capacity.StorageEphemeral(), s.Capacity.Pods()) +
		fmt.Sprintln(s.Allocatable.Cpu(), s.Allocatable.Memory(), s.Allocatable.StorageEphemeral(), s.Allocatable.Pods()) +
		fmt.Sprintln(s.Taints, s.Devices) + fmt.Sprintln(s.Labels["kubernetes.azure.com/mode"], s.Discovered["gpu-operator"])
	const want = `recipes/nodes/aks/aks-nd128isr-gb200-v6.yaml aks gb200 Standard_ND128isr_NDR_GB200_v6 arm64 2 eastus2 [0]
128 900Gi 128Gi 250
126620m 916683Mi 128Gi 250
[{nvidia.com/gpu present NoSchedule <nil>}] [{nvidia.com/gpu 4 4 gpu gpu-operator} {rdma/shared_ib 63 1 fabric network-operator}]
user map[nvidia.com/gpu.clique:cluster-0.0 nvidia.com/gpu.count:4 nvidia.com/gpu.memory:189471 nvidia.com/gpu.product:NVIDIA-GB200]
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

const bareProfile = `apiVersion: aicr.nvidia.com/v1alpha1
kind: KWOKNodeProfile
metadata: {name: p5-h100, labels: {provider: eks, nodeType: accelerated, accelerator: h100}}
spec:
  instanceType: p5.48xlarge
  arch: amd64
  osImage: "Amazon Linux 2023"
  resources: {cpu: "192", memory: 2048Gi, storage: 3800Gi}
  gpu: {product: NVIDIA-H100-80GB-HBM3, count: 8, memory: 81920, driver: "570.86.16", driverMajor: "570", driverMinor: "86"}
`

// Profiles that have only the keys of other tools serve too.
func TestBareProfiles(t *testing.T) {
	t.Parallel()
	system := strings.NewReplacer("p5-h100", "system-m7i", "nodeType: accelerated, accelerator: h100", "nodeType: system", "  gpu: {product: NVIDIA-H100-80GB-HBM3, count: 8, memory: 81920, driver: \"570.86.16\", driverMajor: \"570\", driverMinor: \"86\"}\n", "").Replace(bareProfile)
	small, problems := tree.Load(recipetest.Edit(recipetest.Small(), map[string]string{
		"nodes/eks/p5-h100.yaml": bareProfile, "nodes/eks/system-m7i.yaml": system,
	}), tree.Options{})
	if err := problems.Err(); err != nil {
		t.Fatal(err)
	}
	s := load(t, small)
	if s.ProfilesShipped || !s.AcceleratorsShipped {
		t.Errorf("shipped: %v %v", s.ProfilesShipped, s.AcceleratorsShipped)
	}
	n, err := s.Select(criteria.Criteria{Service: "eks"})
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprintln(n.Accelerated.Devices, n.Accelerated.Taints, n.Accelerated.Count, n.System.Count, n.System.Taints, n.System.Labels["aicr.run/node-type"], n.Accelerated.Labels["aicr.nvidia.com/node-type"], n.System.Capacity.Pods())
	if want := "[{nvidia.com/gpu 8 8 gpu gpu-operator}] [{nvidia.com/gpu present NoSchedule <nil>}] 4 2 [] system accelerated 110\n"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// A tree without profiles uses the shipped ones; ProfilesShipped and AcceleratorsShipped are true.
func TestTreesWithoutProfiles(t *testing.T) {
	t.Parallel()
	small, problems := tree.Load(recipetest.Small(), tree.Options{})
	if err := problems.Err(); err != nil {
		t.Fatal(err)
	}
	s := load(t, small)
	if !s.ProfilesShipped || !s.AcceleratorsShipped {
		t.Error("ProfilesShipped and AcceleratorsShipped must be true")
	}
	n, err := s.Select(criteria.Criteria{Service: "eks", Accelerator: "h100"})
	if err != nil || n.Accelerated.File != "(firstlight)/nodes/eks/eks-p5-48xlarge.yaml" {
		t.Errorf("%+v, %v", n, err)
	}
}

func TestInputs(t *testing.T) {
	t.Parallel()
	inputs := func(files map[string]string, c criteria.Criteria) string {
		loaded := shipped(t, files)
		r, err := resolve.Resolve(loaded, c, resolve.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		for _, in := range load(t, loaded).Inputs(r) {
			fmt.Fprintf(&b, "%s %s %s %v\n", in.Path, in.Part, in.Why, in.Digest != "")
		}
		return b.String()
	}
	c := criteria.Criteria{Service: "eks", Accelerator: "h100", OS: "ubuntu", Intent: "training"}
	want := "accelerators.yaml accelerators/h100 accelerator true\nnodes/eks/eks-p5-48xlarge.yaml  profile true\nnodes/eks/eks-system-m7i-4xlarge.yaml  profile true\n"
	if diff := cmp.Diff(want, inputs(nil, c)); diff != "" {
		t.Error(diff)
	}
	got := inputs(map[string]string{"nodes/eks/eks-p5-48xlarge.yaml": ""}, c)
	if !strings.HasPrefix(got, "nodes/eks  profile false\n") || !strings.Contains(got, "nodes/eks/eks-p5en-48xlarge.yaml  profile true") {
		t.Errorf("of a recipe without a profile: %s", got)
	}
}
