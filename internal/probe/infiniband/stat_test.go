package infiniband_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/probe/infiniband"
)

const healthy = `CA 'mlx5_0'
	CA type: MT4129
	Number of ports: 1
	Firmware version: 28.39.1002
	Hardware version: 0
	Node GUID: 0xb8599f030022626e
	System image GUID: 0xb8599f030022626e
	Port 1:
		State: Active
		Physical state: LinkUp
		Rate: 400
		Base lid: 762
		LMC: 0
		SM lid: 8
		Capability mask: 0xa651e848
		Port GUID: 0xb8599f030022626e
		Link layer: InfiniBand
`

func TestParseStat(t *testing.T) {
	t.Parallel()
	got, err := infiniband.ParseStat([]byte(healthy + strings.ReplaceAll(healthy, "mlx5_0", "mlx5_1")))
	if err != nil {
		t.Fatal(err)
	}
	hca := infiniband.HCA{
		Name: "mlx5_0", Type: "MT4129", Firmware: "28.39.1002", NodeGUID: "0xb8599f030022626e",
		Ports: []infiniband.HCAPort{{
			Number: 1, State: "Active", PhysicalState: "LinkUp", RateGbps: 400, BaseLID: 762, SMLID: 8,
			PortGUID: "0xb8599f030022626e", LinkLayer: "InfiniBand",
		}},
	}
	other := hca
	other.Name = "mlx5_1"
	if diff := cmp.Diff([]infiniband.HCA{hca, other}, got); diff != "" {
		t.Error(diff)
	}
	if !got[0].Ports[0].Up() {
		t.Error("an Active port over LinkUp is up")
	}
}

func TestParseVariants(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		old, new string
		want     func(p infiniband.HCAPort) bool
	}{
		"down and polling": {"State: Active\n\t\tPhysical state: LinkUp", "State: Down\n\t\tPhysical state: Polling", func(p infiniband.HCAPort) bool { return !p.Up() && p.PhysicalState == "Polling" }},
		"no SM":            {"State: Active", "State: Initializing", func(p infiniband.HCAPort) bool { return !p.Up() && p.State == "Initializing" }},
		"hexadecimal lids": {"SM lid: 8", "SM lid: 0x10", func(p infiniband.HCAPort) bool { return p.SMLID == 16 }},
		"short GUID":       {"Port GUID: 0xb8599f030022626e", "Port GUID: 0x100001", func(p infiniband.HCAPort) bool { return p.PortGUID == "0x0000000000100001" }},
		"Ethernet":         {"Link layer: InfiniBand", "Link layer: Ethernet", func(p infiniband.HCAPort) bool { return p.LinkLayer == "Ethernet" }},
		"CRLF":             {"\n", "\r\n", func(p infiniband.HCAPort) bool { return p.Up() }},
		"an unknown key":   {"\t\tLMC: 0", "\t\tLMC: 0\n\t\tNew thing: 1", func(p infiniband.HCAPort) bool { return p.Up() }},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := infiniband.ParseStat([]byte(strings.ReplaceAll(healthy, tt.old, tt.new)))
			if err != nil {
				t.Fatal(err)
			}
			if !tt.want(got[0].Ports[0]) {
				t.Errorf("got %+v", got[0].Ports[0])
			}
		})
	}
}

// ibstat lists every RDMA device of the host by its kind (node_type_str in ibstat.c): an Ethernet adapter of another
// kind does not hide the InfiniBand adapters.
func TestParseStatOtherKinds(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"iWARP RNIC", "Switch", "Router", "???"} {
		other := strings.NewReplacer("CA 'mlx5_0'", kind+" 'irdma0'", "CA type: MT4129", kind+" type: I40IW").Replace(healthy)
		got, err := infiniband.ParseStat([]byte(other + healthy))
		if err != nil || len(got) != 2 {
			t.Errorf("%s: %d adapters, %v", kind, len(got), err)
			continue
		}
		if got[0].Name != "irdma0" || got[0].Type != "I40IW" || got[1].Name != "mlx5_0" || got[1].Type != "MT4129" {
			t.Errorf("%s: %+v", kind, got)
		}
		if got, err := infiniband.ParseStat([]byte(strings.Replace(other, kind+" type:", "CA type:", 1))); err == nil {
			t.Errorf("%s with another's type: %+v", kind, got)
		}
	}
}

// The ibstat of a container with MLNX_OFED on Talos Linux prints no "CA type" (public repository, found by text: "Mesa
// Infiniband Admin Container Image"): its adapters were refused as truncated output.
func TestParseStatWithoutType(t *testing.T) {
	t.Parallel()
	without := strings.Replace(healthy, "\tCA type: MT4129\n", "", 1)
	got, err := infiniband.ParseStat([]byte(without + strings.ReplaceAll(healthy, "mlx5_0", "mlx5_1")))
	if err != nil || len(got) != 2 || got[0].Type != "" || got[0].Firmware != "28.39.1002" || !got[0].Ports[0].Up() || got[1].Type != "MT4129" {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := infiniband.ParseStat([]byte(strings.Replace(without, "\tFirmware version: 28.39.1002\n", "", 1))); err == nil {
		t.Errorf("without a firmware: %+v", got)
	}
}

func TestParseStatRefuses(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ in, want string }{
		"nothing":             {"", "no output"},
		"another tool":        {"sminfo: sm lid 1", "expected CA"},
		"a panic":             {"ibpanic: [1] main: stat of IB device failed\n", "ibstat failed"},
		"no ports":            {strings.SplitAfter(healthy, "\tPort 1:")[0][:150], "truncated"},
		"cut in a port":       {strings.Split(healthy, "\t\tPort GUID")[0], `no "Port GUID"`},
		"a port too few":      {strings.Replace(healthy, "ports: 1", "ports: 2", 1), "has 2 ports, the output lists 1"},
		"an unknown state":    {strings.Replace(healthy, "State: Active", "State: Fine", 1), "want one of Down"},
		"no rate":             {strings.Replace(healthy, "Rate: 400", "Rate: fast", 1), "invalid rate"},
		"no lid":              {strings.Replace(healthy, "SM lid: 8", "SM lid: 99999", 1), "invalid LID"},
		"a device that fails": {healthy + "ibpanic: [1400444] main: stat of IB device 'mlx5_8' failed: No such file or directory\n", "stat of IB device 'mlx5_8' failed"},
		"another rate's name": {strings.Replace(healthy, "Rate: 400", "Rate: 40 (fast)", 1), "invalid rate"},
		"an adapter twice":    {healthy + healthy, "duplicate"},
		"UTF-16":              {"\xff\xfeC\x00A\x00", "UTF-8"},
		"a line without end":  {strings.Repeat("x", 1<<20), "token too long"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := infiniband.ParseStat([]byte(tt.in)); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

// realOutputs are captures of the real tool.
func realOutputs(tb testing.TB) map[string][]byte {
	tb.Helper()
	paths, err := filepath.Glob("../testdata/real/ibstat/*.txt")
	if err != nil || len(paths) == 0 {
		tb.Fatalf("no captures: %v", err)
	}
	out := map[string][]byte{}
	for _, p := range paths {
		if out[filepath.Base(p)], err = os.ReadFile(p); err != nil {
			tb.Fatal(err)
		}
	}
	return out
}

func TestParseReal(t *testing.T) {
	t.Parallel()
	for name, data := range realOutputs(t) {
		got, err := infiniband.ParseStat(data)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if len(got) == 0 || len(got[0].Ports) == 0 || got[0].Ports[0].PhysicalState != infiniband.PhysicalLinkUp {
			t.Errorf("%s: got %+v", name, got)
		}
	}
}

// TestParseFDR10: links at FDR10 have the name behind their rate.
func TestParseFDR10(t *testing.T) {
	t.Parallel()
	got, err := infiniband.ParseStat([]byte(strings.Replace(healthy, "Rate: 400", "Rate: 40 (FDR10)", 1)))
	if err != nil || got[0].Ports[0].RateGbps != 40 {
		t.Errorf("%+v, %v", got, err)
	}
}

func FuzzParseStat(f *testing.F) {
	f.Add([]byte(healthy))
	f.Add([]byte("CA 'a'\nNumber of ports: 0\nPort 1:\n"))
	for _, data := range realOutputs(f) {
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		hcas, err := infiniband.ParseStat(data)
		if err != nil {
			return
		}
		for _, h := range hcas {
			if h.Name == "" || len(h.Ports) == 0 {
				t.Errorf("an adapter without name or ports: %+v", h)
			}
		}
	})
}
