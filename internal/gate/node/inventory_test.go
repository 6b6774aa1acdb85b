package node_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/gate/node"
	"github.com/firstlight/firstlight/internal/probe/infiniband"
	"github.com/firstlight/firstlight/internal/probe/nvidia"
)

func seen(t *testing.T, kind, host string, figures any) check.Observation {
	t.Helper()
	o, err := check.Observation{Kind: kind, Target: host, Command: kind}.WithFigures(figures)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// The serial numbers are those of nvidia-smi's own document.
func TestInventoryOfRealDocuments(t *testing.T) {
	t.Parallel()
	serial := regexp.MustCompile(`<serial>([0-9]+)</serial>`)
	dir := os.Getenv("FIRSTLIGHT_CORPUS")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "..", "shared", "corpus")
	}
	files, err := filepath.Glob(filepath.Join(dir, "smi-xml", "*.xml"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Skipf("skipped: no corpus of real outputs at %s: set FIRSTLIGHT_CORPUS to its directory", dir)
	}
	read := 0
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		log, err := nvidia.ParseSMI(data)
		if err != nil {
			continue // the parser's tests have these
		}
		var want, got []string
		for _, m := range serial.FindAllSubmatch(data, -1) {
			want = append(want, string(m[1]))
		}
		for _, m := range node.Inventory([]check.Observation{seen(t, "nvidia-smi", "gpu-01", smiSeen{Log: &log})}) {
			for _, g := range m.GPUs {
				if g.Serial != "" {
					got = append(got, g.Serial)
				}
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: serials %q, want %q", filepath.Base(file), got, want)
		}
		read += len(got)
	}
	if read == 0 {
		t.Error("no document has a serial number")
	}
}

func TestInventory(t *testing.T) {
	t.Parallel()
	log := func(serials ...string) smiSeen {
		l := &nvidia.SMILog{Driver: "580"}
		for _, s := range serials {
			l.GPUs = append(l.GPUs, nvidia.GPU{Serial: s})
		}
		return smiSeen{Log: l}
	}
	unread := seen(t, "nvidia-smi-after", "gpu-01", smiSeen{})
	failed := check.Observation{Kind: "nvidia-smi", Target: "gpu-03", Err: "no answer"}
	got := node.Inventory([]check.Observation{
		seen(t, "nvidia-smi", "gpu-02", log("1", "2")), seen(t, "nvidia-smi", "gpu-01", log("3")), failed,
		seen(t, "nvidia-smi-after", "gpu-02", log("1")), unread,
		seen(t, "ibstat", "gpu-01", hcasSeen{HCAs: []infiniband.HCA{{Name: "mlx5_0", Type: "MT4129", Firmware: "28.39", NodeGUID: "0xa0"}}}),
		seen(t, "host", "gpu-04", factsSeen{}),
	})
	if len(got) != 3 || got[0].Host != "gpu-01" || got[1].Host != "gpu-02" || got[2].Host != "gpu-03" {
		t.Fatalf("hosts %+v", got)
	}
	if len(got[0].GPUs) != 1 || len(got[0].HCAs) != 1 || got[0].HCAs[0].GUID != "0xa0" || got[0].HCAs[0].Firmware != "28.39" {
		t.Errorf("gpu-01, whose second document cannot be read: %+v", got[0])
	}
	if len(got[1].GPUs) != 1 || got[1].GPUs[0].Serial != "1" {
		t.Errorf("gpu-02 lost a GPU in the diagnostic: %+v", got[1])
	}
	if len(got[2].GPUs) != 0 {
		t.Errorf("gpu-03, which did not answer: %+v", got[2])
	}
}
