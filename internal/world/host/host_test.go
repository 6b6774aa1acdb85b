package host

import (
	"strings"
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/golden"
	"github.com/firstlight/firstlight/internal/world"
	"github.com/firstlight/firstlight/internal/world/worldtest"
)

func fixed() time.Time { return time.Date(2026, 11, 2, 9, 0, 0, 0, time.UTC) }

// state is a world of n nodes two seconds after its faults began. The test fails if a command changes it.
func state(t *testing.T, nodes int, faults ...world.Fault) world.State {
	t.Helper()
	return stateOf(t, world.DefaultHardware, nodes, faults...)
}

func stateOf(t *testing.T, hardware string, nodes int, faults ...world.Fault) world.State {
	t.Helper()
	now := fixed()
	spec, err := world.SpecOf(hardware, nodes)
	if err != nil {
		t.Fatal(err)
	}
	w, err := world.New(spec, world.WithClock(func() time.Time { return now }), worldtest.Shared(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range faults {
		if _, err := w.AddFault(f); err != nil {
			t.Fatal(err)
		}
	}
	now = now.Add(2 * time.Second)
	return w.Recent()
}

func run(t *testing.T, s world.State, node, command string) (stdout, stderr string, exit int) {
	t.Helper()
	out, errOut, code := Run(t.Context(), s, node, strings.Fields(command))
	return string(out), string(errOut), code
}

func TestHealthyOutput(t *testing.T) {
	t.Parallel()
	s := state(t, 2)
	for name, tt := range map[string]struct {
		command string
		exit    int
	}{
		"nvidia-smi-xml.xml":    {"nvidia-smi -q -x", 0},
		"nvidia-smi-list.txt":   {"nvidia-smi -L", 0},
		"nvidia-smi-nvlink.txt": {"nvidia-smi nvlink -s", 0},
		"nvidia-smi-errors.txt": {"nvidia-smi nvlink -e", 0},
		"nvidia-smi-topo.txt":   {"nvidia-smi topo -m", 0},
		"meminfo.txt":           {"cat /proc/meminfo", 0},
		"adapter-links.txt":     {"grep -Hs . /sys/class/infiniband/*/device/current_link_* /sys/class/infiniband/*/device/max_link_*", 0},
		"nvidia-smi-query.csv":  {"nvidia-smi --query-gpu=index,uuid,name,driver_version,vbios_version,pci.bus_id,pcie.link.gen.current,pcie.link.width.current,persistence_mode,temperature.gpu,power.draw,clocks.sm,ecc.mode.current,ecc.errors.uncorrected.volatile.dram,ecc.errors.uncorrected.aggregate.sram,clocks_event_reasons.active --format=csv", 0},
		"nvidia-smi-remap.csv":  {"nvidia-smi --query-remapped-rows=remapped_rows.pending,remapped_rows.failure --format=csv,noheader", 0},
		"dcgmi-diag-4.json":     {"dcgmi diag -r 3 -j", 0},
		"dcgmi-diag-table.txt":  {"dcgmi diag -r 1", 0},
		"dcgmi-discovery.txt":   {"dcgmi discovery -l", 0},
		"dcgmi-nvlink.txt":      {"dcgmi nvlink -s", 0},
		"ibstat.txt":            {"ibstat", 0},
		"ibv_devinfo.txt":       {"ibv_devinfo", 0},
		"pkeys.txt":             {pkeysOf("mlx5_0"), 0},
		"sminfo.txt":            {"sminfo", 0},
		"iblinkinfo.txt":        {"iblinkinfo", 0},
		"iblinkinfo-line.txt":   {"iblinkinfo -l", 0},
		"ibqueryerrors.txt":     {"ibqueryerrors", 1},
		"ibdiagnet.txt":         {"ibdiagnet", 0},
		"dmesg.txt":             {"dmesg", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, errOut, exit := run(t, s, "gpu-01", tt.command)
			if exit != tt.exit || errOut != "" {
				t.Errorf("exit %d, stderr %q", exit, errOut)
			}
			golden.Compare(t, "testdata/"+name, out)
		})
	}
}

func TestDCGM3Output(t *testing.T) {
	t.Parallel()
	out, _, exit := run(t, state(t, 2, world.Fault{Kind: "dcgm-3"}), "gpu-01", "dcgmi diag -r 3 -j")
	if exit != 0 {
		t.Errorf("exit %d", exit)
	}
	golden.Compare(t, "testdata/dcgmi-diag-3.json", out)
}
