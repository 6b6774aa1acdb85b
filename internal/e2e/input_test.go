package e2e_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/site"
)

// TestBadInput: bad input is exit 2 with what to do, never a run.
func TestBadInput(t *testing.T) {
	dir := t.TempDir()
	write := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	example := write("example.yaml", string(site.Example()))
	broken := write("broken.yaml", strings.NewReplacer("spine: kubernetes", "spine: nomad", "links: 64", "links: 1", "telemetry:", "telemetri:").Replace(string(site.Example())))
	type input struct {
		name string
		args []string
		code int
		want []string
	}
	tests := []input{
		{"unknown command", []string{"acept"}, 2, []string{"unknown command", "--help"}},
		{"unknown flag", []string{"accept", "--sit", "x"}, 2, []string{"unknown flag", "--help"}},
		{"unknown gate", []string{"accept", "--only", "fabrik"}, 2, []string{"fabrik", "facility"}},
		{"kubeconfig without a site", []string{"accept", "--kubeconfig", "k"}, 2, []string{"--site"}},
		{"a missing site", []string{"accept", "--site", filepath.Join(dir, "none.yaml")}, 2, []string{"none.yaml"}},
		{"every mistake of a site", []string{"site", "check", broken}, 2, []string{"broken.yaml:", "nomad", "impossible", "telemetri", "problems"}},
		{"accept with a broken site", []string{"accept", "--site", broken}, 2, []string{"nomad", "impossible", "telemetri"}},
		{"a missing kubeconfig", []string{"accept", "--site", example, "--kubeconfig", filepath.Join(dir, "none")}, 2, []string{"none"}},
		{"resume of nothing", []string{"accept", "--lab", labName, "--resume", "latest", "--evidence", filepath.Join(dir, "e")}, 2, []string{"unfinished run not found"}},
		{"from without a run before", []string{"accept", "--lab", labName, "--from", "collective", "--evidence", filepath.Join(dir, "e")}, 2, []string{"run the whole playbook first"}},
		{"resume and fresh", []string{"accept", "--resume", "latest", "--fresh"}, 2, []string{"resume", "fresh"}},
		{"evidence of nothing", []string{"evidence", "show", filepath.Join(dir, "none")}, 2, []string{"directory of a run"}},
		{"evidence without a run", []string{"evidence", "verify", dir}, 2, nil},
		{"an unknown fault", []string{"lab", "fault", "add", "gremlins", "--name", labName}, 2, []string{"gremlins", "link-down"}},
		{"an unknown target", []string{"lab", "fault", "add", "link-down", "gpu-77/mlx5_0", "--name", labName}, 2, []string{"gpu-77"}},
		{"an unknown format", []string{"version", "-o", "xml"}, 2, []string{"xml"}},
		{"a lab that is not up", []string{"lab", "status", "--name", "nowhere"}, 3, []string{"lab up"}},
	}
	if _, err := exec.LookPath("nvidia-smi"); err != nil { // else the run would observe this machine's GPUs
		tests = append(tests, input{"a machine without a GPU", []string{"accept", "--spine", "single-node", "--evidence", filepath.Join(dir, "machine")}, 3, []string{"no GPU on this machine"}})
	}
	sharedLab(t)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := program.Run(t.Context(), tt.args...)
			if r.Code != tt.code {
				t.Errorf("exit %d, want %d\n%s%s", r.Code, tt.code, r.Stdout, r.Stderr)
			}
			for _, want := range tt.want {
				if !strings.Contains(r.Stdout+r.Stderr, want) {
					t.Errorf("says nothing of %q:\n%s%s", want, r.Stdout, r.Stderr)
				}
			}
			if strings.Contains(r.Stderr, "goroutine ") {
				t.Errorf("a panic:\n%s", r.Stderr)
			}
		})
	}
}

// TestHalfAnInventory: a site that lists nodes the cluster does not have is
// never a pass, and the missing host is named.
func TestHalfAnInventory(t *testing.T) {
	sharedLab(t)
	labSite := program.Must(t, "lab", "site", "--name", labName).Stdout
	s, err := site.Parse("lab", []byte(labSite))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "site.yaml")
	more := strings.Replace(labSite, "name: "+s.Inventory.Nodes[3].Name, "name: gpu-99", 1)
	if err := os.WriteFile(path, []byte(more), 0o600); err != nil {
		t.Fatal(err)
	}
	kubeconfig := strings.TrimSpace(program.Must(t, "lab", "kubeconfig", "--path", "--name", labName).Stdout)
	r := program.Run(t.Context(), "accept", "-o", "json", "--fresh", "--site", path, "--kubeconfig", kubeconfig, "--evidence", t.TempDir())
	if r.Code == 0 || !strings.Contains(r.Stdout, "gpu-99") {
		t.Errorf("exit %d\n%s%s", r.Code, r.Stdout, r.Stderr)
	}
}
