package reservation

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/cli/clitest"
	"github.com/firstlight/firstlight/internal/cli/cmdutil"
)

func TestReservationAccessBadInput(t *testing.T) {
	t.Setenv("FIRSTLIGHT_HOME", t.TempDir())
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"gcp-h100", "--file", "none.yaml"}, "--file names the file"},
		{[]string{"gcp-h1000", "--file", exampleRegistry}, "gcp-h1000 is not in " + exampleRegistry + "; it has aws-h100, "},
		{[]string{"gcp-h100", "--file", exampleRegistry, "--service", "frontend:8000"}, "must be NAMESPACE/NAME:PORT"},
		{[]string{"gcp-h100", "--file", exampleRegistry, "--context", "x"}, "give --kubeconfig, too"},
		{[]string{}, "accepts 1 arg"},
	} {
		out, stderr, code := clitest.Run(t, New, append([]string{"reservation", "access"}, tt.args...)...)
		if code != cmdutil.ExitUsage || out != "" || !strings.Contains(stderr, tt.want) {
			t.Errorf("%v exits %d: %s%s\nwant %s", tt.args, code, out, stderr, tt.want)
		}
	}
}

// What can't be read is told as such, and takes the place of what was told before.
func TestReservationMetricsOfNoStore(t *testing.T) {
	t.Setenv("FIRSTLIGHT_HOME", t.TempDir())
	dir := t.TempDir()
	nobody := filepath.Join(dir, "kubeconfig")
	const config = "apiVersion: v1\nkind: Config\nclusters: [{name: c, cluster: {server: 'https://127.0.0.1:1'}}]\ncontexts: [{name: c, context: {cluster: c}}]\ncurrent-context: c\n"
	if err := os.WriteFile(nobody, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	const told = "firstlight_reservation_store_up 0\n"
	for kubeconfig, want := range map[string]int{nobody: cmdutil.ExitUnobserved, filepath.Join(dir, "none"): cmdutil.ExitUsage} {
		out, stderr, code := clitest.Run(t, New, "reservation", "metrics", "--kubeconfig", kubeconfig)
		if code != want || !strings.HasSuffix(out, told) || strings.Count(out, "\n") != 3 || stderr == "" {
			t.Errorf("exit %d: %s%s", code, out, stderr)
		}
		path := filepath.Join(dir, "reservations.prom")
		if err := os.WriteFile(path, []byte("firstlight_reservation_store_up 1\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		out, _, code = clitest.Run(t, New, "reservation", "metrics", "--kubeconfig", kubeconfig, "--write", path)
		raw, err := os.ReadFile(path)
		if code != want || out != "" || err != nil || !strings.HasSuffix(string(raw), told) {
			t.Errorf("exit %d: %s, written %s, %v", code, out, raw, err)
		}
	}
	if _, stderr, code := clitest.Run(t, New, "reservation", "metrics", "--kubeconfig", nobody, "--write", filepath.Join(dir, "no", "where")); code != cmdutil.ExitUnobserved || !strings.Contains(stderr, "write "+dir) {
		t.Errorf("exit %d: %s", code, stderr)
	}
	if list, err := os.ReadDir(dir); err != nil || len(list) != 2 {
		t.Errorf("left beside it: %v, %v", list, err)
	}
}
