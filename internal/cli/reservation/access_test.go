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
		{[]string{"gcp-h1000", "--file", exampleRegistry}, "gcp-h1000 not found in " + exampleRegistry + ": want one of aws-h100, "},
		{[]string{"gcp-h100", "--file", exampleRegistry, "--service", "frontend:8000"}, `--service "frontend:8000": must be NAMESPACE/NAME:PORT`},
		{[]string{"gcp-h100", "--file", exampleRegistry, "--context", "x"}, "--context needs --kubeconfig"},
		{[]string{}, "accepts 1 arg"},
	} {
		out, stderr, code := clitest.Run(t, New, append([]string{"reservation", "access"}, tt.args...)...)
		if code != cmdutil.ExitUsage || out != "" || !strings.Contains(stderr, tt.want) {
			t.Errorf("%v exits %d: %s%s\nwant %s", tt.args, code, out, stderr, tt.want)
		}
	}
}

// A store that cannot be read has one metric, which replaces those of an earlier run.
func TestReservationMetricsOfNoStore(t *testing.T) {
	t.Setenv("FIRSTLIGHT_HOME", t.TempDir())
	dir := t.TempDir()
	unreachable := filepath.Join(dir, "kubeconfig")
	const config = "apiVersion: v1\nkind: Config\nclusters: [{name: c, cluster: {server: 'https://127.0.0.1:1'}}]\ncontexts: [{name: c, context: {cluster: c}}]\ncurrent-context: c\n"
	if err := os.WriteFile(unreachable, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	const storeDown = "firstlight_reservation_store_up 0\n"
	for kubeconfig, want := range map[string]int{unreachable: cmdutil.ExitUnobserved, filepath.Join(dir, "none"): cmdutil.ExitUsage} {
		out, stderr, code := clitest.Run(t, New, "reservation", "metrics", "--kubeconfig", kubeconfig)
		if code != want || !strings.HasSuffix(out, storeDown) || strings.Count(out, "\n") != 3 || stderr == "" {
			t.Errorf("exit %d: %s%s", code, out, stderr)
		}
		path := filepath.Join(dir, "reservations.prom")
		if err := os.WriteFile(path, []byte("firstlight_reservation_store_up 1\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		out, _, code = clitest.Run(t, New, "reservation", "metrics", "--kubeconfig", kubeconfig, "--write", path)
		raw, err := os.ReadFile(path)
		if code != want || out != "" || err != nil || !strings.HasSuffix(string(raw), storeDown) {
			t.Errorf("exit %d: %s, written %s, %v", code, out, raw, err)
		}
	}
	if _, stderr, code := clitest.Run(t, New, "reservation", "metrics", "--kubeconfig", unreachable, "--write", filepath.Join(dir, "no", "where")); code != cmdutil.ExitUnobserved || !strings.Contains(stderr, "write "+dir) {
		t.Errorf("exit %d: %s", code, stderr)
	}
	if list, err := os.ReadDir(dir); err != nil || len(list) != 2 {
		t.Errorf("unexpected other files: %v, %v", list, err)
	}
}
