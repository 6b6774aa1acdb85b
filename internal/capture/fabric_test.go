package capture

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/probe/infiniband"
)

// A subnet as ibsim's ibnetdiscover prints it: its GUIDs and hosts are replaced in every form, and it
// still is the same subnet to the parser.
func TestRedactSubnet(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("..", "probe", "infiniband", "testdata", "ibnetdiscover.txt"))
	if err != nil {
		t.Fatal(err)
	}
	before, err := infiniband.ParseNetDiscover(text)
	if err != nil || len(before) == 0 {
		t.Fatalf("%d nodes, %v", len(before), err)
	}
	redacted := NewRedactor([]byte("seed")).Redact(string(text))
	after, err := infiniband.ParseNetDiscover([]byte(redacted))
	if err != nil || len(after) != len(before) {
		t.Fatalf("%d nodes, before %d: %v\n%s", len(after), len(before), err, redacted)
	}
	for i, n := range before {
		if len(n.Links) != len(after[i].Links) || n.Kind != after[i].Kind {
			t.Errorf("%+v became %+v", n, after[i])
		}
		secrets := []string{n.ID[2:]}
		if n.Kind == "Ca" {
			host, _, _ := strings.Cut(n.Name, " ")
			secrets = append(secrets, host)
		}
		for _, secret := range secrets {
			if strings.Contains(redacted, secret) {
				t.Errorf("%s is left", secret)
			}
		}
	}
}

// Lines of ibdiagnet, of a GID table and of fi_info.
func TestRedactFabric(t *testing.T) {
	t.Parallel()
	for line, kept := range map[string]string{
		"-E- Sa088c20300d70010/Na088c20300d70010/P2 - symbol errors":                                       "/P2 - symbol errors",
		"/sys/class/infiniband/mlx5_0/ports/1/gids/1:fe80:0000:0000:0000:ba59:9fff:fe22:626e":              "/sys/class/infiniband/mlx5_0/ports/1/gids/1:",
		"/sys/class/infiniband/mlx5_0/ports/1/gids/3:0000:0000:0000:0000:0000:ffff:0a01:0203":              "/sys/class/infiniband/mlx5_0/ports/1/gids/3:",
		"    fabric: EFA-fe80::94:3dff:fe89:1b70":                                                          "    fabric: EFA-",
		"GPU-8a0cb40d-9f01-7f04-7525-f0e0f3f66f64, 100 %, 1755 MHz, 512.30 W, 700.00 W":                    ", 100 %, 1755 MHz, 512.30 W, 700.00 W",
		"mlx5_0: 2026-11-27 12:00:00 rate 400 Gb/sec (4X NDR), rx_prio3_pause: 20480, board MT_0000000838": "mlx5_0: 2026-11-27 12:00:00 rate 400 Gb/sec (4X NDR), rx_prio3_pause: 20480, board MT_0000000838",
	} {
		got := NewRedactor([]byte("seed")).Redact(line)
		for _, secret := range []string{"a088c20300d70010", "ba59:9fff", "0a01:0203", "94:3dff", "8a0cb40d"} {
			if strings.Contains(got, secret) {
				t.Errorf("%s is left in %q", secret, got)
			}
		}
		if !strings.Contains(got, kept) || len(got) != len(line) {
			t.Errorf("%q became %q, want %q kept", line, got, kept)
		}
	}
}

// The scripts are valid, and every kind of the fabric is recorded.
func TestScripts(t *testing.T) {
	t.Parallel()
	kinds := map[string]bool{}
	for _, c := range commands() {
		kinds[c.kind] = true
		if c.argv[0] != "sh" {
			continue
		}
		if out, err := exec.CommandContext(t.Context(), "sh", "-n", "-c", c.argv[2]).CombinedOutput(); err != nil {
			t.Errorf("%s: %v: %s", c.kind, err, out)
		}
	}
	for _, kind := range []string{"ibdiagnet", "ibnetdiscover", "smi-clocks", "rdma-sysfs", "rdma-counters", "qos", "efa-sysfs", "fi_info"} {
		if !kinds[kind] {
			t.Errorf("%s is not recorded", kind)
		}
	}
}
