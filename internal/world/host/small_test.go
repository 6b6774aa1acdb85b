package host

import (
	"strings"
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/world"
	"github.com/firstlight/firstlight/internal/world/worldtest"
)

// TestOneGPU checks the tools on a host with one GPU and without NVLinks and HCAs.
func TestOneGPU(t *testing.T) {
	t.Parallel()
	now := fixed()
	spec, err := world.SpecOf("a3-highgpu-1g", 1)
	if err != nil {
		t.Fatal(err)
	}
	w, err := world.New(spec, world.WithClock(func() time.Time { return now }), worldtest.Shared(t))
	if err != nil {
		t.Fatal(err)
	}
	for command, tt := range map[string]struct {
		exit      int
		has, lack string
	}{
		"nvidia-smi -q -x":     {0, "<attached_gpus>1</attached_gpus>", "<state>Completed</state>"},
		"nvidia-smi nvlink -s": {0, "all links are inActive", "Link 0:"},
		"dcgmi discovery -l":   {0, "0 NvSwitches found", "GPU ID | 1"},
		"dcgmi diag -r 3 -j":   {0, `"status": "Pass"`, `"status": "Fail"`},
		"nvidia-smi topo -m":   {0, "GPU0\t X \t0-25\t0", "NIC0"},
		"cat /proc/meminfo":    {0, "MemTotal:", "HugePages_Total:    1024"},
		"grep -Hs . /sys/devices/system/cpu/cpufreq/policy*/scaling_governor /sys/class/infiniband/*/device/max_link_*": {1, "", "/sys"},
		"ibstat": {255, "ibpanic", "CA '"},
		"sminfo": {255, "", "MASTER"},
		"dmesg":  {0, "NVRM: loading", "nvswitch"},
	} {
		out, errOut, exit := run(t, w.Recent(), "gpu-01", command)
		if exit != tt.exit || !strings.Contains(out+errOut, tt.has) || strings.Contains(out, tt.lack) {
			t.Errorf("%s: exit %d\n%s%s", command, exit, out, errOut)
		}
	}
}
