package detect

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/firstlight/firstlight/internal/detect/detecttest"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/site"
)

// efa is the resource of an adapter of EFA.
const efa = "vpc.amazonaws.com/efa"

// withNode is the cluster eks-p5 with one more GPU node of another kind.
func withNode(t *testing.T, product, instance, adapters string) *Snapshot {
	t.Helper()
	s := load(t, "eks-p5")
	n := s.Nodes[0].DeepCopy()
	n.Name, n.Labels[corev1.LabelInstanceTypeStable] = "other", instance
	delete(n.Labels, productLabel)
	if product != "" {
		n.Labels[productLabel] = product
	}
	delete(n.Status.Capacity, efa)
	if adapters != "" {
		n.Status.Capacity[efa] = resource.MustParse(adapters)
	}
	for i := range n.Status.Addresses {
		n.Status.Addresses[i].Address = "10.0.7.7"
	}
	s.Nodes = append(s.Nodes, *n)
	return s
}

// Nodes of another kind are a group with a profile of its own. With its TODOs answered the file is valid,
// and the nodes have that profile.
func TestGroups(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		product, instance string
		want              []string
		group, answer     string // answer: of the TODO of its profile; empty without one
	}{
		"a known machine type": {"NVIDIA-H200", "p5e.48xlarge", []string{
			"groups:\n  - name: h200  # default: ", "    profile: h200-sxm-efa-p5  # seen: label node.kubernetes.io/instance-type is p5e.48xlarge",
			"    nodes: [other]  # seen: 1 node with 8 x NVIDIA-H200\n", "3 nodes demand 30.6 kW by their profiles",
		}, "h200", ""},
		"a machine type of its own": {"NVIDIA-H200", "", []string{
			`    profile: ""  # TODO: one of h200-sxm-efa-p5: 8 x NVIDIA-H200 a node was seen, `, "TODO: the power that the room provides; the demand depends on the profile\n",
		}, "h200", "h200-sxm-efa-p5"},
		"no profile for its GPUs": {"NVIDIA-X1000", "", []string{
			"  - name: x1000  # default: ", `    profile: ""  # TODO: the path of a profile file: no profile ships for 8 x NVIDIA-X1000 a node`,
		}, "x1000", "h200-sxm-efa-p5"},
		"no product": {"", "", []string{
			"  - name: other  # default: ", "does not show the product of the GPUs or their number; delete the group if its nodes have the site's profile",
		}, "other", "h200-sxm-efa-p5"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := write(t, withNode(t, tt.product, tt.instance, "32"))
			for _, text := range append(tt.want, "\nprofile: h100-sxm-efa-p5  # seen: ", "    - {name: other, address: 10.0.7.7:22}  # seen: 8 x ") {
				if !strings.Contains(file, text) {
					t.Errorf("the file lacks %q:\n%s", text, file)
				}
			}
			answers := detecttest.Answers(map[string]string{"gpustack.queue": "default-queue"})
			if tt.answer != "" {
				answers["groups."+tt.group+".profile"] = tt.answer
			}
			s, err := site.Parse(name, []byte(detecttest.Answered(t, file, answers)))
			if err != nil {
				t.Fatalf("%v\n%s", err, file)
			}
			if len(s.Groups) != 1 || s.Groups[0].Profile != "h200-sxm-efa-p5" || !slices.Equal(s.Groups[0].Nodes, []string{"other"}) || len(s.Inventory.Nodes) != 3 || s.Workloads.Training.Nodes != 3 {
				t.Errorf("%+v of %+v", s.Groups, s.Inventory)
			}
			if tt.answer == "" {
				return
			}
			for _, wrong := range []string{`""`, "h200-sxm-ndr400"} {
				answers["groups."+tt.group+".profile"] = wrong
				if _, err := site.Parse(name, []byte(detecttest.Answered(t, file, answers))); err == nil || !strings.Contains(err.Error(), "groups.0.profile") {
					t.Errorf("profile %s: %v", wrong, err)
				}
			}
		})
	}
}

// One product with two numbers of GPUs a node is two kinds of nodes if their machine types differ: Google's a3-highgpu-1g and
// a3-highgpu-8g have NVIDIA-H100-80GB-HBM3 both (https://cloud.google.com/compute/docs/gpus, A3 machine series). A node with fewer
// than the others of its type has lost some: as a group of its own it would be accepted so.
func TestOneProductWithTwoNumbersOfGPUs(t *testing.T) {
	t.Parallel()
	const product = "NVIDIA-H100-80GB-HBM3"
	for name, tt := range map[string]struct {
		instance, adapters, gpus string
		want, not                []string
	}{
		"another machine type": {"p5.24xlarge", "32", "4", []string{
			"\ngroups:\n  - name: h100-80gb-hbm3-x4  # default: ", `    profile: ""  # TODO: the path of a profile file: no profile ships for 4 x ` + product + " a node", "    nodes: [other]  # seen: 1 node with 4 x " + product + "\n",
			"    - {name: other, address: 10.0.7.7:22}  # seen: 4 x " + product + " (nvidia.com/gpu in status.capacity)\n",
		}, []string{"most nodes have"}},
		"without adapters": {"p5.4xlarge", "", "1", []string{"\n# TODO: move other (1 node with 1 x " + product + ") from inventory.nodes to a site of their own, and name them in inventory.otherNodes: "}, []string{"groups:", "most nodes have"}},
		"a lost GPU": {"p5.48xlarge", "32", "7", []string{
			"    - {name: other, address: 10.0.7.7:22}  # seen: 7 x " + product + " (nvidia.com/gpu in status.capacity); most nodes have 8\n",
		}, []string{"groups:", "TODO: move"}},
		"no machine type, as many": {"", "32", "8", nil, []string{"groups:", "TODO: move", "most nodes have"}},
		"GPUs not shown":           {"p5.metal", "32", "0", nil, []string{"groups:", "TODO: move"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := withNode(t, product, tt.instance, tt.adapters)
			other := &s.Nodes[len(s.Nodes)-1]
			other.Status.Capacity[kube.GPUResource] = resource.MustParse(tt.gpus)
			if tt.gpus == "0" {
				delete(other.Labels, countLabel)
			}
			file := write(t, s)
			for _, text := range append(tt.want, "\nprofile: h100-sxm-efa-p5  # seen: ") {
				if !strings.Contains(file, text) {
					t.Errorf("the file lacks %q:\n%s", text, file)
				}
			}
			for _, text := range tt.not {
				if strings.Contains(file, text) {
					t.Errorf("the file has %q:\n%s", text, file)
				}
			}
		})
	}
}

// Nodes that cannot be a group have a TODO with the reason, and no group. They stay in the inventory, where gate node
// finds them if the TODO is deleted and nothing else.
func TestNodesOfAnotherSite(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ product, instance, adapters, want string }{
		"a profile without a fabric": {"NVIDIA-L40S", "g6e.48xlarge", "", "the fabric of profile l40s is not that of h100-sxm-efa-p5, and gate fabric judges one fabric"},
		"another fabric of a kind":   {"NVIDIA-H200", "p5en.48xlarge", "16", "the fabric of profile h200-sxm-efa-p5en is not that of h100-sxm-efa-p5, and gate fabric judges one fabric"},
		"other adapters": {"NVIDIA-X1000", "", "4", "they show 4 of vpc.amazonaws.com/efa a node, a fabric of kind efa (resource vpc.amazonaws.com/efa), " +
			"and the other nodes 32 of vpc.amazonaws.com/efa a node, a fabric of kind efa (resource vpc.amazonaws.com/efa): the block fabric has one network"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := write(t, withNode(t, tt.product, tt.instance, tt.adapters))
			want := "\n# TODO: move other (1 node with 8 x " + tt.product + ") from inventory.nodes to a site of their own, and name them in inventory.otherNodes: " + tt.want + "\nprofile: h100-sxm-efa-p5  # seen: "
			if !strings.Contains(file, want) || strings.Contains(file, "groups:") || !strings.Contains(file, "    - {name: other, ") {
				t.Errorf("the file lacks %q:\n%s", want, file)
			}
		})
	}
}

// A node that shows its machine type and not its GPUs has the site's profile. The name of a product
// has several spellings.
func TestNodesOfTheSitesProfile(t *testing.T) {
	t.Parallel()
	for product, instance := range map[string]string{"": "p5.48xlarge", "NVIDIA H100 80GB HBM3": "", "H100-80GB-HBM3": ""} {
		file := write(t, withNode(t, product, instance, "32"))
		if strings.Contains(file, "groups:") || strings.Contains(file, "TODO: move") || !strings.Contains(file, "3 nodes of the profile demand 30.6 kW") {
			t.Errorf("product %q, machine type %q:\n%s", product, instance, file)
		}
	}
}

// Adapters that the nodes of a group do not show are an open question, not those of the other nodes.
func TestAdaptersOfGroups(t *testing.T) {
	t.Parallel()
	of := func(shown ...string) string {
		s := load(t, "rke2-gb200")
		n := s.Nodes[0].DeepCopy()
		n.Name, n.Labels[productLabel], n.Status.Capacity = "other", "NVIDIA-X1000", corev1.ResourceList{kube.GPUResource: resource.MustParse("4")}
		s.Nodes = append(s.Nodes, *n)
		for _, hca := range shown {
			s.RDMA = append(s.RDMA, RDMADevice{Node: "other", HCA: hca})
		}
		return write(t, s)
	}
	for want, shown := range map[string][]string{
		"  hcas: [mlx5_0, mlx5_1, mlx5_4, mlx5_5]  # seen: ": {"mlx5_0", "mlx5_1", "mlx5_4", "mlx5_5"},
		"  hcas: []  # TODO: ":                               nil,
		"# TODO: move other (":                               {"mlx5_0", "mlx5_1"},
	} {
		if file := of(shown...); !strings.Contains(file, want) {
			t.Errorf("%v: the file lacks %q:\n%s", shown, want, file)
		}
	}
}
