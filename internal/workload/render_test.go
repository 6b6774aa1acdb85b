package workload

import (
	"bytes"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/firstlight/firstlight/internal/golden"
	"github.com/firstlight/firstlight/internal/probe/kube"
)

func collectiveSpec() Spec {
	return Spec{
		Name: "all-reduce", Gate: "collective", Pods: 4, GPUs: 8, NetworkResource: "rdma/ib", NetworkCount: 8,
		Image: "registry.example.com/nccl-tests:2.19.6", Container: "nccl-tests", Script: "exec sleep infinity",
		Env: map[string]string{"NNODES": "4", "GPUS_PER_NODE": "8"}, Ports: []int32{2222},
		Nodes: []string{"gpu-01", "gpu-02", "gpu-03", "gpu-04"}, OnePerNode: true,
	}
}

func TestRenderGoldens(t *testing.T) {
	t.Parallel()
	served := collectiveSpec()
	served.Name, served.Gate, served.Pods, served.Restarts, served.OnePerNode = "serve", "inference", 1, 3, false
	claimed := served
	claimed.DeviceClass = "gpu.nvidia.com"
	mounted := served
	mounted.HostDirectory = "/mnt/checkpoints"
	program := served
	program.Script, program.Command, program.CPU, program.GPUs, program.Restarts = "", []string{"/bin/program", "run"}, "500m", 0, 0
	kueue := Kueue{Queue: "gpus", Version: "v1beta1"}
	for name, tt := range map[string]struct {
		gang Scheduler
		kind Kind
		spec Spec
	}{
		"program":  {nil, nil, program},
		"claimed":  {Native{}, nil, claimed},
		"mounted":  {nil, nil, mounted},
		"none":     {nil, nil, served},
		"native":   {Native{}, nil, collectiveSpec()},
		"kai":      {KAI{Queue: "research"}, nil, collectiveSpec()},
		"volcano":  {Volcano{Queue: "default"}, nil, collectiveSpec()},
		"kueue":    {kueue, nil, collectiveSpec()},
		"jobset":   {kueue, JobSet{}, collectiveSpec()},
		"trainjob": {kueue, TrainJob{}, collectiveSpec()},
		"mpijob":   {KAI{Queue: "research"}, MPIJob{}, collectiveSpec()},
		"vcjob":    {Volcano{Queue: "research"}, VolcanoJob{Queue: "research"}, collectiveSpec()},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, err := RenderKind(kube.NamespaceOf("20261121-014233-7f3a"), "20261121-014233-7f3a", tt.gang, tt.kind, tt.spec)
			if err != nil {
				t.Fatal(err)
			}
			var docs [][]byte
			for _, g := range m.Groups {
				docs = append(docs, marshal(t, g.Object))
			}
			m.Job.APIVersion, m.Job.Kind = "batch/v1", "Job"
			if m.Claim != nil {
				docs = append(docs, marshal(t, m.Claim))
			}
			if m.Service != nil {
				docs = append(docs, marshal(t, m.Service))
			}
			for _, job := range m.Jobs {
				docs = append(docs, marshal(t, job.Object))
			}
			if tt.kind == nil {
				docs = append(docs, marshal(t, m.Job))
			}
			golden.Compare(t, "testdata/"+name+".golden.yaml", bytes.Join(docs, []byte("---\n")))
		})
	}
}

func marshal(t *testing.T, v any) []byte {
	t.Helper()
	data, err := yaml.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestSpecRefusesNonsense(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*Spec){
		"no name":            func(s *Spec) { s.Name = "" },
		"no image":           func(s *Spec) { s.Image = "" },
		"no pods":            func(s *Spec) { s.Pods = 0 },
		"more than all":      func(s *Spec) { s.MinCount = 5 },
		"negative GPUs":      func(s *Spec) { s.GPUs = -1 },
		"negative restarts":  func(s *Spec) { s.Restarts = -1 },
		"nothing to be run":  func(s *Spec) { s.Script = "" },
		"negative the other": func(s *Spec) { s.NetworkCount = -1 },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := collectiveSpec()
			change(&s)
			if s.validate() == nil {
				t.Error("accepted")
			}
		})
	}
	if err := collectiveSpec().validate(); err != nil {
		t.Error(err)
	}
}

func TestPrivileged(t *testing.T) {
	t.Parallel()
	locks, mounts := Spec{NetworkResource: "rdma/ib", NetworkCount: 8}, Spec{HostDirectory: "/mnt/checkpoints"}
	both := locks
	both.HostDirectory = mounts.HostDirectory
	network := Spec{Patches: []map[string]any{{"spec": map[string]any{"hostNetwork": true}}}}
	for _, tt := range []struct {
		spec Spec
		want []string
	}{
		{Spec{GPUs: 8}, nil},
		{locks, []string{"IPC_LOCK"}},
		{mounts, []string{"hostPath"}},
		{both, []string{"IPC_LOCK", "hostPath"}},
		{network, []string{"host namespaces"}},
	} {
		manifests, err := Render("ns", "run", nil, tt.spec)
		if err != nil {
			t.Fatal(err)
		}
		why, err := Privileged(&manifests.Job.Spec.Template)
		if err != nil {
			t.Fatal(err)
		}
		if (why == "") != (tt.want == nil) {
			t.Errorf("%+v: %q, want %v", tt.spec, why, tt.want)
		}
		for _, want := range tt.want {
			if !strings.Contains(why, want) {
				t.Errorf("%+v: %q does not name %s", tt.spec, why, want)
			}
		}
	}
}

// Only the pods of a cordoned gang tolerate the cordon, on the nodes that it names.
func TestCordoned(t *testing.T) {
	t.Parallel()
	for _, kind := range []Kind{nil, JobSet{}, TrainJob{}, MPIJob{}} {
		for _, cordoned := range []bool{false, true} {
			spec := collectiveSpec()
			spec.Cordoned = cordoned
			m, err := RenderKind("ns", "20261121-014233-7f3a", nil, kind, spec)
			if err != nil {
				t.Fatal(err)
			}
			if kind != nil {
				m.Job = nil
			}
			text := marshal(t, m.Job)
			for _, job := range m.Jobs { // of a kind: its last one is the job, another may have the pods
				text = append(text, marshal(t, job.Object)...)
			}
			if got := bytes.Contains(text, []byte("node.kubernetes.io/unschedulable")); got != cordoned {
				t.Errorf("kind %v, cordoned %v: tolerates the cordon: %v", kind, cordoned, got)
			}
			if !bytes.Contains(text, []byte("kubernetes.io/hostname")) {
				t.Errorf("kind %v: any node", kind)
			}
		}
	}
	anywhere := collectiveSpec()
	anywhere.Cordoned, anywhere.Nodes = true, nil
	if err := anywhere.validate(); err == nil {
		t.Error("pods tolerate the cordon of any node")
	}
}
