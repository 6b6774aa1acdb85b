package accept

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/cli/clitest"
	"github.com/firstlight/firstlight/internal/cli/cmdutil"
	"github.com/firstlight/firstlight/internal/site"
)

func slurmFile(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "slurm.yaml")
	if err := os.WriteFile(path, site.SlurmExample(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// The plan has Slurm's commands.
func TestSlurmPlan(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"plan", "--spine", "slurm"}, {"plan", "--spine", "slurm", "--site", slurmFile(t)}, {"plan", "--site", slurmFile(t)}} {
		stdout, stderr, code := clitest.Run(t, NewPlan, args...)
		if code != 0 || strings.Contains(stderr, "plan of an example") != (len(args) == 3 && args[1] == "--spine") {
			t.Errorf("%q exits %d: %s", args, code, stderr)
		}
		for _, want := range []string{
			"on login-01, none as root:", "scontrol show nodes gpu-01,gpu-02,gpu-03,gpu-04 -a -o", "--job-name=firstlight-gpustack", "--gres=gpu:h100:8", "sacct -X -P -n -j JOB",
			"'--container-image=registry.example.com#nccl-tests:2.17'", "NCCL_IB_HCA==mlx5_0,mlx5_1", "all_reduce_perf -b", "sbatch --exclusive", "--job-name=firstlight-training", "torchrun -m torchtitan.train --training.steps 60", "--job-name=firstlight-inference", "vllm serve meta-llama/Llama-3.1-8B-Instruct", "connect to port 8000 of the node through SSH",
		} {
			if !strings.Contains(stdout, want) {
				t.Errorf("%q has no %q: %s", args, want, stdout)
			}
		}
	}
}

func TestSlurmUsage(t *testing.T) {
	t.Parallel()
	path := slurmFile(t)
	for line, want := range map[string]string{
		"accept --spine slurm":                                "--spine slurm needs --site",
		"accept --spine slurm --lab x":                        "none of the others can be",
		"accept --spine slurm --preflight --site " + path:     "none of the others can be",
		"accept --kubeconfig x --site " + path:                "remove --kubeconfig",
		"accept rbac --site " + path:                          "needs no roles",
		"accept --spine single-node --site " + path:           "remove --spine, or --site",
		"accept sudoers --site " + path + " --only telemetry": "",
	} {
		stdout, stderr, code := clitest.Run(t, New, strings.Fields(line)...)
		if want == "" && (code != 0 || !strings.Contains(stdout, "run no commands as root")) || want != "" && (code != cmdutil.ExitUsage || !strings.Contains(stderr, want)) {
			t.Errorf("%s exits %d: %s%s, want %q", line, code, stdout, stderr, want)
		}
	}
	s, err := site.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	for flag, f := range map[string]*acceptFlags{"--preflight": {preflight: true}, "--include": {include: []string{"autoscale"}}, "--namespace": {namespace: "a"}, "--page": {page: true}} {
		if err := f.clusterFlags(s); cmdutil.ExitCode(err) != cmdutil.ExitUsage || !strings.Contains(err.Error(), flag+" needs a Kubernetes cluster: spine slurm has none") {
			t.Errorf("%s: %v", flag, err)
		}
	}
	other := filepath.Join(t.TempDir(), "kubernetes.yaml")
	if err := os.WriteFile(other, site.Example(), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"accept --spine slurm --site " + other, "plan --spine slurm --site " + other} {
		command := New
		if strings.HasPrefix(line, "plan") {
			command = NewPlan
		}
		if _, stderr, code := clitest.Run(t, command, strings.Fields(line)...); code != cmdutil.ExitUsage || !strings.Contains(stderr, "the site has spine kubernetes, --spine is slurm") {
			t.Errorf("%s exits %d: %s", line, code, stderr)
		}
	}
	if _, err := (&cmdutil.TargetFlags{Site: path}).Open(t.Context(), nil); cmdutil.ExitCode(err) != cmdutil.ExitUsage || !strings.Contains(err.Error(), "spine slurm has no Kubernetes cluster, which this command needs") {
		t.Errorf("a command of clusters: %v", err)
	}
}
