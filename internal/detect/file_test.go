package detect

import (
	"errors"
	"maps"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/firstlight/firstlight/internal/detect/detecttest"
	"github.com/firstlight/firstlight/internal/probe/prom"
	"github.com/firstlight/firstlight/internal/site"
)

// TestCheckRefusesEveryTODO: site check names the line of every TODO, and refuses the file as
// long as there is one.
func TestCheckRefusesEveryTODO(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"eks-p5", "gke-a3-mega", "aks-nd-h100", "openshift-a100", "k3s-l40s", "rke2-gb200", "dgx-h100"} {
		file := write(t, load(t, name))
		_, err := site.Parse(name, []byte(file))
		invalid, ok := errors.AsType[*site.InvalidError](err)
		if !ok {
			t.Errorf("%s: %v", name, err)
			continue
		}
		refused := map[int]string{}
		for _, p := range invalid.Problems {
			refused[p.Line] += p.Message
		}
		todos := 0
		for i, line := range strings.Split(file, "\n") {
			if strings.Contains(line, "# TODO: ") {
				todos++
				if !strings.Contains(refused[i+1], "TODO: ") {
					t.Errorf("%s:%d: %q is not refused: %q", name, i+1, line, refused[i+1])
				}
			}
		}
		if todos < 15 {
			t.Errorf("%s: %d TODOs: the search is broken", name, todos)
		}
	}
}

// TestAnsweredFilesAreValid: with the answers to its TODOs a file passes site check; with one
// answer less it does not.
func TestAnsweredFilesAreValid(t *testing.T) {
	t.Parallel()
	for name, answers := range map[string]map[string]string{
		"eks-p5": detecttest.Answers(map[string]string{"gpustack.queue": "default-queue"}),
		"gke-a3-mega": detecttest.Answers(map[string]string{
			"gpustack.queue":           "q",
			"reach.prometheus.service": "gmp-system/frontend:9090", "telemetry.receiver": "on-call",
		}),
		"aks-nd-h100": detecttest.Answers(map[string]string{
			"reach.prometheus.service": "monitoring/p:9090", "reach.alertmanager.service": "monitoring/a:9093", "telemetry.receiver": "on-call",
			"fabric.switches": "[leaf-1]", "fabric.links": "8", "fabric.hcas": "[mlx5_0, mlx5_1, mlx5_2, mlx5_3, mlx5_4, mlx5_5, mlx5_6, mlx5_7]",
		}),
		"openshift-a100": detecttest.Answers(map[string]string{
			"profile": "a100-sxm-80gb-hdr200", "telemetry.receiver": "on-call",
			"gpustack.queue": "q", "fabric.switches": "[leaf-1]", "fabric.links": "24", "fabric.hcas": "[mlx5_0, mlx5_1, mlx5_2, mlx5_3, mlx5_4, mlx5_5, mlx5_6, mlx5_7]",
		}),
		"dgx-h100": detecttest.Answers(map[string]string{
			"profile": "h100-sxm-ndr400", "gpustack.queue": "q", "fabric.switches": "[leaf-1]", "fabric.links": "16", "fabric.hcas": `["mlx5_*", "^mlx5_[1278]"]`,
		}),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := write(t, load(t, name))
			whole := detecttest.Answered(t, file, answers)
			s, err := site.Parse(name, []byte(whole))
			if err != nil {
				t.Fatalf("%v\n%s", err, whole)
			}
			if len(s.Inventory.Nodes) == 0 || s.Workloads.Training.Nodes != len(s.Inventory.Nodes) {
				t.Errorf("%+v", s.Inventory)
			}
			if s.Workloads.Inference.Client != site.ClientCluster {
				t.Errorf("the load of gate inference comes from %s", s.Workloads.Inference.Client)
			}
			machine := maps.Clone(answers)
			machine["workloads.inference.client"], machine["workloads.inference.loadImage"] = site.ClientMachine, ""
			if s, err := site.Parse(name, []byte(detecttest.Answered(t, file, machine))); err != nil || s.Workloads.Inference.Client != site.ClientMachine {
				t.Errorf("the load from this machine: %v", err)
			}
			// the value of a signature is judged by gate 1, not by site check
			for _, at := range []string{"reach.ssh.user", "workloads.collective.image", "workloads.inference.loadImage", "facility.power.provided"} {
				less := map[string]string{}
				for k, v := range answers {
					if k != at {
						less[k] = v
					}
				}
				if _, err := site.Parse(name, []byte(detecttest.Answered(t, file, less))); err == nil {
					t.Errorf("valid without %s", at)
				}
			}
		})
	}
}

// TestWhatACommentMayHold: texts of the cluster cannot end a comment or a value.
func TestWhatACommentMayHold(t *testing.T) {
	t.Parallel()
	s := load(t, "eks-p5")
	const evil = "x\nname: stolen\r\u2028spine: [\x00"
	s.Receivers = []prom.Receiver{{Name: "a" + evil, Integrations: []string{evil}}}
	s.Unread = map[string]string{unreadSlices: evil, unreadTargets: evil}
	s.Version, s.Context, s.ClusterName = evil, evil, evil
	s.Nodes[0].Spec.ProviderID = evil
	s.Policies[0].Name = evil + ": {a: *b}"
	file := write(t, s)
	if strings.Contains(file, "\nname: stolen") {
		t.Error(file)
	}
	_, err := site.Parse("evil", []byte(file))
	invalid, ok := errors.AsType[*site.InvalidError](err)
	if !ok {
		t.Fatal(err)
	}
	for _, p := range invalid.Problems {
		if strings.Contains(p.Message, "yaml") || strings.Contains(p.Message, "unknown key") || strings.Contains(p.Message, "did not find") {
			t.Errorf("line %d: %s", p.Line, p.Message)
		}
	}
}

// TestOtherClusters: each value that a cluster does not show is a TODO with the reason, never a guess.
func TestOtherClusters(t *testing.T) {
	t.Parallel()
	quantity := resource.MustParse
	for name, tt := range map[string]struct {
		change func(s *Snapshot)
		want   []string
		never  []string
	}{
		"no GPU": {func(s *Snapshot) {
			for i := range s.Nodes {
				s.Nodes[i].Labels, s.Nodes[i].Status.Capacity = nil, nil
			}
		}, []string{"  nodes: []  # TODO: the GPU nodes: no node offers or names a GPU", `profile: ""  # TODO: `, "ip-10-0-114-53"}, []string{"vpc.amazonaws"}},
		"a machine type with other GPUs": {func(s *Snapshot) {
			for i := range s.Nodes[:2] {
				s.Nodes[i].Labels[productLabel] = "NVIDIA-H200"
			}
		}, []string{`profile: ""  # TODO: machine type p5.48xlarge has profile h100-sxm-efa-p5, and the nodes have NVIDIA-H200`}, []string{"notApplicable"}},
		"MIG": {func(s *Snapshot) {
			s.Nodes[0].Labels[productLabel] = "NVIDIA-H100-80GB-HBM3-MIG-1g.10gb"
		}, []string{"# TODO: GPUs of ip-10-0-114-53.us-east-2.compute.internal are divided (label nvidia.com/gpu.product is NVIDIA-H100-80GB-HBM3-MIG-1g.10gb)", "profile: h100-sxm-efa-p5"}, nil},
		"MIG resources": {func(s *Snapshot) {
			s.Nodes[0].Status.Capacity["nvidia.com/mig-1g.10gb"] = quantity("7")
		}, []string{"are divided (it offers nvidia.com/mig-1g.10gb)"}, nil},
		"all lists forbidden": {func(s *Snapshot) {
			*s = Snapshot{Nodes: s.Nodes, Unread: map[string]string{}}
			for _, of := range []string{unreadVersion, unreadSlices, unreadPolicies, unreadDrivers, unreadDaemonSets, unreadServices, unreadSchedulers} {
				s.Unread[of] = of + " is forbidden"
			}
		}, []string{
			"API server of unknown version: version is forbidden", "# DRA: not known: resourceslices is forbidden", `name: ""  # TODO: `,
			"judges the GPU Operator; clusterpolicies is forbidden", "must be complete; daemonsets is forbidden", "instead of service; services is forbidden", "gang scheduler: gang schedulers is forbidden",
		}, []string{"no ResourceSlices", "no Service of that name", "no ClusterPolicy and no device plugin"}},
		"two Prometheus": {func(s *Snapshot) {
			more := s.Services[0].DeepCopy()
			more.Namespace = "apps"
			s.Services = append(s.Services, *more)
		}, []string{`    service: ""  # TODO: one of apps/kube-prometheus-stack-prometheus:9090, monitoring/kube-prometheus-stack-prometheus:9090`}, nil},
		"two receivers": {func(s *Snapshot) {
			s.Receivers = append(s.Receivers, prom.Receiver{Name: "mail", Integrations: []string{"email"}})
		}, []string{`  receiver: ""  # TODO: the receiver that a synthetic alert has to reach; Alertmanager has pagerduty (pagerduty), mail (email)`}, nil},
		"nodes with different drivers": {func(s *Snapshot) { s.Nodes[0].Labels[driverLabel] = "570.1" }, []string{"# TODO: nodes have different drivers"}, []string{"driverVersion:"}},
		"the operator and another plugin": {func(s *Snapshot) {
			more := s.DaemonSets[0].DeepCopy()
			more.Name, more.Namespace, more.OwnerReferences = "nvidia-device-plugin", "kube-system", nil
			s.DaemonSets = append(s.DaemonSets, *more)
		}, []string{"# TODO: two programs may offer nvidia.com/gpu: the GPU Operator, and DaemonSet kube-system/nvidia-device-plugin"}, nil},
		"networks of GKE": {func(s *Snapshot) {
			for i := range s.Nodes[:2] {
				delete(s.Nodes[i].Status.Capacity, "vpc.amazonaws.com/efa")
				s.Nodes[i].Labels[corev1.LabelInstanceTypeStable], s.Nodes[i].Labels[productLabel] = "a3-ultragpu-8g", "NVIDIA-H200"
				for _, name := range []string{"rdma-0", "rdma-0.IP", "rdma-1", "rdma-1.IP"} {
					s.Nodes[i].Status.Capacity[corev1.ResourceName("networking.gke.io.networks/"+name)] = quantity("1")
				}
			}
		}, []string{"profile: h200-sxm-roce400", "networkResource: networking.gke.io.networks/rdma-0  # TODO: one resource", "of kind roce", "  roce:\n    priority: 3  # TODO: the priority of RDMA traffic"}, []string{".IP", "switches", "fabric: the fabric is of kind"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := load(t, "eks-p5")
			tt.change(s)
			file := write(t, s)
			for _, text := range tt.want {
				if !strings.Contains(file, text) {
					t.Errorf("the file lacks %q:\n%s", text, file)
				}
			}
			for _, text := range tt.never {
				if strings.Contains(file, text) {
					t.Errorf("the file has %q:\n%s", text, file)
				}
			}
		})
	}
}

// TestEveryValueHasAComment: no value is without where it comes from.
func TestEveryValueHasAComment(t *testing.T) {
	t.Parallel()
	lines := 0
	for _, name := range []string{"eks-p5", "gke-a3-mega", "aks-nd-h100", "openshift-a100", "k3s-l40s", "rke2-gb200", "dgx-h100"} {
		for i, line := range strings.Split(write(t, load(t, name)), "\n") {
			bare := strings.TrimSpace(line)
			if bare == "" || strings.HasPrefix(bare, "#") || strings.HasSuffix(bare, ":") || strings.HasPrefix(bare, "apiVersion: ") || bare == "kind: Site" {
				continue
			}
			lines++
			if !strings.Contains(line, "  # seen: ") && !strings.Contains(line, "  # default: ") && !strings.Contains(line, "  # TODO: ") {
				t.Errorf("%s:%d: %q", name, i+1, line)
			}
		}
	}
	if lines < 300 {
		t.Errorf("%d values: the search is broken", lines)
	}
}

// TestKnownNamesHaveSources: each name by which something is recognised says where it is from.
func TestKnownNamesHaveSources(t *testing.T) {
	t.Parallel()
	k, err := known()
	if err != nil {
		t.Fatal(err)
	}
	var sources []string
	for _, c := range k.Clouds {
		sources = append(sources, c.Source)
	}
	for _, p := range k.Ports {
		sources = append(sources, p.Source)
	}
	for _, l := range k.FabricLabels {
		sources = append(sources, l.Source)
	}
	for _, d := range k.DevicePlugins {
		sources = append(sources, d.Source)
	}
	for _, t := range k.StateTaints {
		sources = append(sources, t.Source)
	}
	for _, w := range k.Without {
		sources = append(sources, w.Source)
	}
	sources = append(sources, k.GPULabel.Source, k.AdapterLabel.Source)
	if len(sources) < 40 {
		t.Errorf("%d sources: the search is broken", len(sources))
	}
	for _, source := range sources {
		if !strings.HasPrefix(source, "https://") {
			t.Errorf("source %q", source)
		}
	}
}
