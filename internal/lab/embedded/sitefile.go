package embedded

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/firstlight/firstlight/internal/atomicfile"
	"github.com/firstlight/firstlight/internal/lab"
	"github.com/firstlight/firstlight/internal/lab/component"
	"github.com/firstlight/firstlight/internal/site"
	"github.com/firstlight/firstlight/internal/world"
	"github.com/firstlight/firstlight/internal/world/fabric"
)

// SiteFile is the file name of the site in the lab's directory.
const SiteFile = "site.yaml"

const (
	// loadImage has dcgmproftester.
	loadImage = "nvcr.io/nvidia/cloud-native/dcgm:4.4.2-1-ubuntu22.04"
	// firstlightImage has firstlight's own program: this binary.
	firstlightImage = "registry.example.com/firstlight:dev"
)

// operatorChart is NVIDIA's chart, which a lab has as a file.
const operatorChart = "https://helm.ngc.nvidia.com/nvidia/gpu-operator"

// hosts has the access settings of the World's hosts and controllers.
type hosts struct {
	user, identityFile, knownHostsFile string
	redfish                            []site.Redfish
}

// siteOf returns the lab's Site. The inventory is the World's spec, not its current state, so that
// a fault cannot change what is expected.
func siteOf(spec world.Spec, ordered, now world.State, info lab.Info, h hosts) *site.Site {
	s := &site.Site{
		APIVersion: "firstlight/v1", Kind: "Site", Name: spec.Name,
		Spine: cmp.Or(spec.Distribution, site.SpineKubernetes), Profile: spec.Hardware,
		Facility: facilityOf(now.Facility, h.redfish),
		Reach: site.Reach{
			SSH: site.SSH{
				User: h.user, IdentityFile: h.identityFile, KnownHostsFile: h.knownHostsFile,
				Concurrency: 16, Timeout: site.Duration(2 * time.Minute), FabricHost: spec.GPUNodes[0].Name,
			},
			GPUTools:     site.ToolsAuto,
			Kubernetes:   site.Kubernetes{Kubeconfig: info.Kubeconfig},
			Prometheus:   endpoint(info.PrometheusURL, info),
			Alertmanager: endpoint(info.AlertmanagerURL, info),
		},
		Fabric: fabricOf(spec, ordered),
		GPUStack: site.GPUStack{
			// The queue of KAI's default installation.
			Namespace: "gpu-operator", ClusterPolicy: "cluster-policy", GangScheduler: "auto", Queue: "default-queue",
			Operands: []string{
				"nvidia-driver-daemonset", "nvidia-container-toolkit-daemonset", "nvidia-device-plugin-daemonset",
				"nvidia-dcgm-exporter", "gpu-feature-discovery", "nvidia-operator-validator",
			},
		},
		Telemetry: site.Telemetry{
			ScrapeInterval: site.Duration(component.ScrapeInterval(len(spec.GPUNodes) + len(spec.SystemNodes))), Receiver: "on-call",
			Alert:     site.AlertProof{PagesNobody: true, RuleWithin: site.Duration(time.Minute)},
			LoadImage: loadImage,
		},
		Workloads:     workloads(len(spec.GPUNodes), ordered.Hardware.Training.Model),
		Autoscale:     autoscale(),
		NotApplicable: notApplicable(ordered.Hardware),
	}
	for _, n := range spec.GPUNodes {
		s.Inventory.Nodes = append(s.Inventory.Nodes, site.Node{Name: n.Name, Address: n.Address, Rack: n.Rack})
	}
	s.Groups = groupsOf(spec)
	for _, n := range spec.SystemNodes {
		s.Inventory.SystemNodes = append(s.Inventory.SystemNodes, site.Node{Name: n.Name, Address: n.Address, Rack: n.Rack})
	}
	return s
}

// groupsOf are the nodes with other hardware than that of the spec, by hardware.
func groupsOf(spec world.Spec) []site.Group {
	var out []site.Group
	for _, n := range spec.GPUNodes {
		if n.Hardware == "" || n.Hardware == spec.Hardware {
			continue
		}
		i := slices.IndexFunc(out, func(g site.Group) bool { return g.Profile == n.Hardware })
		if i < 0 {
			i, out = len(out), append(out, site.Group{Name: n.Hardware, Profile: n.Hardware})
		}
		out[i].Nodes = append(out[i].Nodes, n.Name)
	}
	return out
}

// fabricOf returns the compute fabric; empty for hardware without HCAs.
func fabricOf(spec world.Spec, ordered world.State) site.Fabric {
	if len(spec.HCAs) == 0 {
		return site.Fabric{}
	}
	if e := ordered.Hardware.Fabric.Ethernet; e != nil {
		return site.Fabric{
			HCAs: spec.HCAs, RoCE: &site.RoCE{Priority: &e.Priority, DSCP: &e.DSCP}, Soak: site.Duration(2 * time.Second),
			NetworkResource: ordered.Hardware.Fabric.RDMAResource, NetworkResourceCount: len(spec.HCAs),
		}
	}
	if ordered.Hardware.Fabric.EFA != nil {
		return site.Fabric{
			Soak:            site.Duration(2 * time.Second),
			NetworkResource: ordered.Hardware.Fabric.RDMAResource, NetworkResourceCount: len(spec.HCAs),
		}
	}
	f := site.Fabric{
		HCAs: spec.HCAs, Links: len(ordered.Links), Topology: site.RailOptimised, Soak: site.Duration(2 * time.Second),
		NetworkResource: ordered.Hardware.Fabric.RDMAResource, NetworkResourceCount: len(spec.HCAs),
	}
	for _, sw := range ordered.Switches {
		f.Switches = append(f.Switches, sw.Name)
	}
	return f
}

// notApplicable maps gates that the hardware does not support to the reasons.
func notApplicable(hw world.Hardware) map[string]string {
	if hw.Node.HCAs > 0 {
		return nil
	}
	out := map[string]string{"fabric": "the nodes have no InfiniBand or RoCE adapters: their only network is Ethernet"}
	if hw.GPU.NVLinks == 0 {
		out["collective"] = fmt.Sprintf("%d GPU per node without NVLinks and no rails between nodes: no GPU interconnect to measure", hw.Node.GPUs)
	}
	return out
}

func endpoint(url string, info lab.Info) site.Endpoint {
	return site.Endpoint{URL: url, CAFile: info.CA, CertFile: info.ClientCert, KeyFile: info.ClientKey}
}

func facilityOf(f world.Facility, controllers []site.Redfish) site.Facility {
	out := site.Facility{
		Power:   site.Budget{Provided: site.Quantity{Value: f.PowerKW, Unit: "kW"}},
		Cooling: site.Budget{Provided: site.Quantity{Value: f.CoolingKW, Unit: "kW"}},
		Weight:  site.Budget{Provided: site.Quantity{Value: f.WeightKg, Unit: "kg"}},
		Redfish: controllers,
	}
	if f.SignedOff {
		out.SignOff = site.SignOff{
			By: f.SignedBy, Role: f.Role, Reference: f.Reference,
			At: f.SignedAt.UTC().Format(time.RFC3339), Expires: f.Expires.UTC().Format(time.RFC3339),
		}
	}
	return out
}

// autoscale selects instance types with one GPU and the type of the lab's own nodes. All other
// settings are defaults. A lab without Karpenter reports that it cannot create nodes.
func autoscale() site.Autoscale {
	return site.Autoscale{
		NodeClass:     site.NodeClass{Group: "karpenter.kwok.sh", Kind: "KWOKNodeClass", Name: "default"},
		InstanceTypes: []string{"g5.xlarge", "g5.2xlarge", "p5.48xlarge"},
	}
}

// workloads of a lab; its hardware must be able to train model.
func workloads(nodes int, model string) site.Workloads {
	return site.Workloads{
		Collective: site.CollectiveWorkload{Image: "ghcr.io/coreweave/nccl-tests:12.9.1-2.27.6", Timeout: site.Duration(5 * time.Minute)},
		Training: site.TrainingWorkload{
			Image: "ghcr.io/pytorch/torchtitan:0.2.0", Framework: "torchtitan", Model: model,
			Nodes: nodes, Steps: 60, Timeout: site.Duration(5 * time.Minute),
			Checkpoint: &site.Checkpoint{Directory: "/mnt/scratch/checkpoints", SizeGiB: 16},
		},
		Inference: site.InferenceWorkload{
			Image: "vllm/vllm-openai:v0.13.0", Model: "meta-llama/Llama-3.1-8B-Instruct", GPUs: 1, MaxModelLen: 8192,
			Prompt: "The capital of France is", GoldenPrefix: " Paris. It is the largest city in France",
			Rate: 24, Concurrency: 48, Requests: 48, Warmup: 4, InputTokens: 256, OutputTokens: 32,
			// A machine that also runs the lab rarely sends within 1 % of the objective.
			Client: site.ClientMachine, LoadImage: firstlightImage,
			Timeout: site.Duration(5 * time.Minute),
		},
	}
}

// images are those of the site's workloads. The hosts of a lab have them: no container is pulled.
func images() []string {
	w := workloads(0, "")
	return []string{loadImage, w.Collective.Image, w.Training.Image, w.Inference.Image, firstlightImage, site.DefaultWorkerImage}
}

func writeSite(dir string, s *site.Site) error {
	data, err := yaml.Marshal(s)
	if err != nil {
		return fmt.Errorf("encode the lab's site: %w", err)
	}
	header := "# The lab's site, rewritten by the lab. firstlight accept uses it when no other site is given.\n"
	return atomicfile.Write(filepath.Join(dir, SiteFile), []byte(header+string(data)), 0o600)
}

// SpecOf returns the World of a site: its nodes, HCAs and number of spines.
func SpecOf(s *site.Site) world.Spec {
	spec := world.DefaultSpec(0)
	spec.Hardware, spec.HCAs, spec.Spines = s.Profile, s.Fabric.HCAs, 0
	if of, err := world.SpecOf(s.Profile, 0); err == nil && len(spec.HCAs) == 0 {
		spec.HCAs = of.HCAs // a site on EFA names no adapters
	}
	spec.GPUNodes, spec.SystemNodes = nil, nil
	if s.Spine == site.SpineK3s {
		spec.Distribution = world.K3s
	}
	cores := 0
	for _, name := range s.Fabric.Switches {
		switch {
		case strings.HasPrefix(name, fabric.RoleSpine):
			spec.Spines++
		case strings.HasPrefix(name, fabric.RoleCore):
			cores++
		}
	}
	if cores > 0 { // one for each spine of a rail
		spec.Spines = cores
	}
	for _, n := range s.Inventory.Nodes {
		node := world.NodeSpec{Name: n.Name, Rack: n.Rack}
		for _, g := range s.Groups {
			if slices.Contains(g.Nodes, n.Name) {
				node.Hardware = g.Profile
			}
		}
		spec.GPUNodes = append(spec.GPUNodes, node)
	}
	for _, n := range s.Inventory.SystemNodes {
		spec.SystemNodes = append(spec.SystemNodes, world.NodeSpec{Name: n.Name, Rack: n.Rack})
	}
	return spec
}

// DefaultSite returns the site of a default lab that is not running, without addresses and files.
func DefaultSite() (*site.Site, error) {
	spec := world.DefaultSpec(defaultNodes)
	w, err := world.New(spec)
	if err != nil {
		return nil, fmt.Errorf("make the default world: %w", err)
	}
	return siteOf(spec, w.State(), w.State(), lab.Info{}, hosts{}), nil
}

const defaultNodes = 4
