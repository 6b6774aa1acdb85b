package site

import (
	"os"
	"strings"
	"testing"
)

func slurmExample(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../examples/sites/slurm.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestSlurmExample(t *testing.T) {
	t.Parallel()
	s, err := Load("../../examples/sites/slurm.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if !s.OnSlurm() || s.Kubernetes() || s.SingleNode() || s.Slurm.Host() != "login-01" || s.Reach.GPUTools != ToolsOnHost {
		t.Errorf("%+v", s)
	}
	if string(SlurmExample()) != slurmExample(t) {
		t.Error("internal/site/data/slurm.yaml is not examples/sites/slurm.yaml: copy it")
	}
}

// Gates 2 and 3 need the subnets of a fabric and who runs IMEX on Slurm, too.
func TestSlurmFabricAndNVLink(t *testing.T) {
	t.Parallel()
	subnets := strings.NewReplacer("  switches: [leaf-1, leaf-2, spine-1, spine-2]\n", `  subnets:
    - {name: rails-a, hcas: [mlx5_0, mlx5_1, mlx5_2, mlx5_3], switches: [leaf-1, spine-1], links: 17}
    - {name: rails-b, hcas: [mlx5_4, mlx5_5, mlx5_6, mlx5_7], switches: [leaf-2, spine-2], links: 17}
`, "  links: 48\n", "").Replace(slurmExample(t))
	s, err := Parse("slurm.yaml", []byte(subnets))
	if err != nil || len(s.Fabric.Subnets) != 2 {
		t.Errorf("%v", err)
	}
	if _, err := Parse("slurm.yaml", []byte(strings.ReplaceAll(subnets, "links: 17", "links: 15"))); err == nil || !strings.Contains(err.Error(), "fabric.subnets.0.links: 15 is impossible") {
		t.Errorf("%v", err)
	}
	gb200 := strings.NewReplacer("profile: h100-sxm-ndr400", "profile: gb200-nvl72-ndr400", "mlx5_3, mlx5_4, mlx5_5, mlx5_6, mlx5_7]", "mlx5_3]").Replace(slurmExample(t))
	for name, c := range map[string]struct{ file, imex, want string }{
		"host": {gb200, "host", ""}, "none": {gb200, "none", ""},
		"another":                {gb200, "driver", `nvlink.imex: "driver" is not one of`},
		"dra":                    {gb200, "dra", "nvlink.imex: dra needs Kubernetes"},
		"NVLink inside of nodes": {slurmExample(t), "host", "has no NVLink between nodes"},
	} {
		_, err := Parse("slurm.yaml", []byte(c.file+"\nnvlink: {imex: "+c.imex+"}\n"))
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// A key without an effect on a Slurm cluster is refused, and so is an incomplete or ambiguous one.
func TestSlurmRefuses(t *testing.T) {
	t.Parallel()
	good := slurmExample(t)
	for name, c := range map[string]struct{ old, with, want string }{
		"no cluster":        {"\nslurm:\n", "\nslurms:\n", `unknown key "slurms"`},
		"an unknown key":    {"  partition: batch", "  partition: batch\n  partitions: [a]", `unknown key "partitions"`},
		"no login":          {"  loginHost: login-01", "  #", "slurm.loginHost: is missing"},
		"an unknown login":  {"  loginHost: login-01", "  loginHost: login-02", `"login-02" is not among`},
		"two logins":        {"  loginHost: login-01", "  local: true\n  loginHost: login-01", "has no effect with slurm.local"},
		"no partition":      {"  partition: batch", "  #", "slurm.partition: is missing"},
		"an option":         {"  partition: batch", "  partition: -w", `invalid name "-w"`},
		"a list of types":   {"gpuType: h100", `gpuType: "h100,a100"`, "slurm.gpuType: invalid name"},
		"containers":        {"containers: pyxis", "containers: docker", `"docker" is not one of none, pyxis`},
		"an unused image":   {"containers: pyxis", "containers: none", "workloads.collective.image: has no effect"},
		"no image":          {"    image:", "    #", "workloads.collective.image: is missing"},
		"unknown part":      {"  jobTimeout", "  without: [munge]\n  jobTimeout", `"munge" is not one of prolog, epilog, accounting`},
		"a part twice":      {"  jobTimeout", "  without: [prolog, prolog]\n  jobTimeout", "slurm.without"},
		"no job time":       {"  jobTimeout: 5m", "  jobTimeout: 0s", "slurm.yaml:53: slurm.jobTimeout: must be more than zero; for example 5m"},
		"a negative time":   {"  jobTimeout: 5m", "  jobTimeout: -1m", "slurm.yaml:53: duration -1m is negative"},
		"a long collective": {"    timeout: 30m", "    timeout: 31m", "longer than reach.ssh.timeout"},
		"no trainer":        {"    framework: torchtitan", "    #", "workloads.training.framework"},
		"few steps":         {"    steps: 60", "    steps: 10", "workloads.training.steps: 10 is too few"},
		"no trainer image":  {"    image: registry.example.com#torchtitan", "    #", "workloads.training.image: is missing"},
		"a trainer's pod":   {"    steps: 60", "    steps: 60\n    pod: {}", "workloads.training.pod: has no effect with spine slurm"},
		"a file":            {"outputDirectory: /tmp", "outputDirectory: out", `slurm.outputDirectory: invalid directory "out"`},
		"a pattern":         {"outputDirectory: /tmp", "outputDirectory: /tmp/%u", `invalid directory "/tmp/%u"`},
		"no model":          {"    model: meta-llama", "    # model: meta-llama", "workloads.inference.model: is missing"},
		"no server image":   {"    image: registry.example.com#vllm", "    # image: vllm", "workloads.inference.image: is missing"},
		"a server's pod":    {"    warmup: 10", "    warmup: 10\n    pod: {}", "workloads.inference.pod: has no effect with spine slurm"},
		"a load in pods":    {"    warmup: 10", "    warmup: 10\n    client: cluster", "workloads.inference.client: has no effect with spine slurm"},
		"a system's port":   {"  # serverPort: 8000", "  serverPort: 80", "slurm.serverPort: invalid port 80: must be between 1024 and 65535"},
		"pods":              {"profile:", "gpustack: {namespace: a}\nprofile:", "gpustack: has no effect with spine slurm"},
		"telemetry":         {"profile:", "telemetry: {receiver: x}\nprofile:", "telemetry: has no effect with spine slurm"},
		"groups":            {"profile:", "groups: []\nprofile:", "groups: has no effect with spine slurm"},
		"a pod resource":    {"  soak: 10m", "  soak: 10m\n  networkResource: rdma/ib", "fabric.networkResource: has no effect"},
		"tools in pods":     {"  ssh:\n", "  gpuTools: pod\n  ssh:\n", "spine slurm has no pods"},
		"helm":              {"slurm:\n", "prepare: [{gate: node, helm: {release: r, chart: a/b, version: v1, namespace: n}}]\nslurm:\n", "needs Kubernetes"},
		"no switches":       {"[leaf-1, leaf-2, spine-1, spine-2]", "[]", "fabric.switches: is empty"},
		"another spine":     {"spine: slurm", "spine: kubernetes", "slurm: has no effect with spine kubernetes"},
	} {
		if !strings.Contains(good, c.old) {
			t.Errorf("%s: the example has no %q", name, c.old)
		}
		_, err := Parse("slurm.yaml", []byte(strings.Replace(good, c.old, c.with, 1)))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	local := strings.Replace(strings.Replace(good, "  loginHost: login-01", "  local: true", 1), "    timeout: 30m", "    timeout: 31m", 1)
	if s, err := Parse("slurm.yaml", []byte(local)); err != nil || s.Slurm.Host() != LocalHost {
		t.Error(err)
	}
}

// A site whose training runs elsewhere needs no trainer, and one without containers no image.
func TestSlurmTraining(t *testing.T) {
	t.Parallel()
	good := slurmExample(t)
	before, rest, _ := strings.Cut(good, "  training:\n")
	_, after, found := strings.Cut(rest, "  inference:")
	if !found {
		t.Fatal("the example has no inference after training")
	}
	without := before + "  inference:" + after + "\nnotApplicable:\n"
	if _, err := Parse("slurm.yaml", []byte(without)); err == nil || !strings.Contains(err.Error(), "workloads.training") {
		t.Errorf("no trainer: %v", err)
	}
	if _, err := Parse("slurm.yaml", []byte(without+"  training: accepted by the customer's own run\n")); err != nil {
		t.Errorf("declared: %v", err)
	}
	native := strings.NewReplacer("containers: pyxis", "containers: none", "    image: registry.example.com#nccl", "    # image: n").Replace(good)
	if _, err := Parse("slurm.yaml", []byte(native)); err == nil || !strings.Contains(err.Error(), "workloads.training.image: has no effect with slurm.containers: none") {
		t.Errorf("an unused image: %v", err)
	}
	s, err := Parse("slurm.yaml", []byte(strings.ReplaceAll(native, "    image: registry.example.com#", "    # image: ")))
	if err != nil || s.Slurm.OutputDirectory != "/tmp" || s.Workloads.Training.Nodes != 4 {
		t.Errorf("%v", err)
	}
	want := "sbatch --account=a --exclusive --gres=gpu:h100:8 --job-name=j --mem=0 --no-requeue --nodelist=gpu-01,gpu-02 --nodes=2 --parsable --partition=batch --time=2"
	s.Slurm.Account = "a"
	if got := strings.Join(s.SbatchCommand("j", []string{"gpu-01", "gpu-02"}, 8, 61e9), " "); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
