package nvidia

import (
	"encoding/xml"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The sizes are those that nvidia-smi prints for instances of these profiles: A100 of the corpus
// (netdata-a100-sxm4-mig.xml), others of NVIDIA's MIG User Guide (nvidia-smi mig -lgip).
func TestMIGMemoryGB(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		instance, gpu int64
		want          int
	}{
		{19968, 40960, 20}, {4864, 40960, 5}, {9856, 40960, 10}, {40320, 40960, 40},
		{9856, 81559, 10}, {20096, 81559, 20}, {40448, 81559, 40}, {80896, 81559, 80},
	} {
		if got := MIGMemoryGB(tt.instance, tt.gpu); got != tt.want {
			t.Errorf("%d of %d MiB: %d GB, want %d", tt.instance, tt.gpu, got, tt.want)
		}
	}
}

func TestMIG(t *testing.T) {
	t.Parallel()
	mode := func(current, pending string) string {
		return "<mig_mode><current_mig>" + current + "</current_mig><pending_mig>" + pending + "</pending_mig></mig_mode>"
	}
	device := "<mig_device><gpu_instance_id>1</gpu_instance_id><compute_instance_id>0</compute_instance_id><fb_memory_usage><total>19968 MiB</total></fb_memory_usage></mig_device>"
	for name, tt := range map[string]struct {
		text string
		want *MIG
		bad  bool
	}{
		"cannot be partitioned": {mode("N/A", "N/A") + "<mig_devices>None</mig_devices>", nil, false},
		"old driver":            {"", nil, false},
		"off":                   {mode("Disabled", "Disabled") + "<mig_devices>None</mig_devices>", &MIG{Enabled: new(false), Pending: new(false)}, false},
		"awaits a reset":        {mode("Disabled", "Enabled"), &MIG{Enabled: new(false), Pending: new(true)}, false},
		"no pending mode":       {mode("Enabled", "N/A"), &MIG{Enabled: new(true)}, false},
		"devices": {mode("Enabled", "Enabled") + "<mig_devices>" + device + "</mig_devices>", &MIG{
			Enabled: new(true), Pending: new(true),
			Devices: []MIGDevice{{GPUInstance: new(int64(1)), ComputeInstance: new(int64(0)), MemoryMiB: new(int64(19968))}},
		}, false},
		"unknown mode": {mode("Maybe", "Enabled"), &MIG{Pending: new(true)}, true},
	} {
		var raw rawGPU
		if err := xml.Unmarshal([]byte("<gpu>"+tt.text+"</gpu>"), &raw); err != nil {
			t.Fatal(err)
		}
		var r smiReader
		got := raw.mig(&r)
		if diff := cmp.Diff(tt.want, got); diff != "" || (r.err != nil) != tt.bad {
			t.Errorf("%s: %v (-want +got):\n%s", name, r.err, diff)
		}
	}
}
