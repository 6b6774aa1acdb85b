package e2e_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestOthersOnTheSubnet: a UFM host and a storage server fail gate fabric
// (TestEveryFaultFailsItsGate); where the site names them, the gate passes without judging them.
func TestOthersOnTheSubnet(t *testing.T) {
	sharedLab(t)
	labSite := program.Must(t, "lab", "site", "--name", labName).Stdout
	kubeconfig := strings.TrimSpace(program.Must(t, "lab", "kubeconfig", "--path", "--name", labName).Stdout)
	const block = "\nfabric:\n"
	if strings.Count(labSite, block) != 1 {
		t.Fatalf("the lab's site has no block %s", block)
	}
	path := filepath.Join(t.TempDir(), "site.yaml")
	if err := os.WriteFile(path, []byte(strings.Replace(labSite, block, block+"    others: [ufm-* mlx5_0, storage-*]\n", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	program.Must(t, "lab", "fault", "add", "foreign-hosts", "--name", labName)
	defer program.Must(t, "lab", "fault", "clear", "--all", "--name", labName)
	r := program.Run(t.Context(), "accept", "-o", "json", "--only", "fabric", "--site", path, "--kubeconfig", kubeconfig, "--evidence", t.TempDir())
	if a := decode(t, r); r.Code != 0 || a.verdicts() != "fabric=passed" {
		t.Errorf("exit %d: %s\n%s%s", r.Code, a.verdicts(), r.Stdout, r.Stderr)
	}
}
