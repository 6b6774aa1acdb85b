package nvidia_test

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/probe/nvidia"
)

func fixture(tb testing.TB, name string) string {
	tb.Helper()
	data, err := os.ReadFile("testdata/" + name)
	if err != nil {
		tb.Fatal(err)
	}
	return string(data)
}

func reasons(active ...string) map[string]bool {
	all := map[string]bool{}
	for _, r := range []string{
		"gpu_idle", "applications_clocks_setting", "sw_power_cap", "hw_slowdown", "hw_thermal_slowdown",
		"hw_power_brake_slowdown", "sync_boost", "sw_thermal_slowdown", "display_clocks_setting",
	} {
		all[r] = false
	}
	for _, r := range active {
		all[r] = true
	}
	return all
}

func TestParseV13(t *testing.T) {
	t.Parallel()
	got, err := nvidia.ParseSMI([]byte(fixture(t, "v13.xml")))
	if err != nil {
		t.Fatal(err)
	}
	gpu := func(index int, bus, uuid string, unc int64, pending bool, active ...string) nvidia.GPU {
		return nvidia.GPU{
			Index: index, BusID: bus, UUID: uuid, Serial: "1652823054321", Product: "NVIDIA H100 80GB HBM3", VBIOS: "96.00.89.00.01",
			MemoryTotalMiB: new(int64(81559)), ECC: "Enabled", ECCPending: "Enabled",
			Volatile:              nvidia.ECCErrors{SRAMUncorrectable: new(int64(3)), DRAMUncorrectable: new(unc), SRAMCorrectable: new(int64(0)), DRAMCorrectable: new(int64(5))},
			Aggregate:             nvidia.ECCErrors{SRAMUncorrectable: new(int64(0)), DRAMUncorrectable: new(unc), SRAMCorrectable: new(int64(0)), DRAMCorrectable: new(int64(0))},
			SRAMThresholdExceeded: new(false), ChannelRepairPending: new(false), TPCRepairPending: new(false),
			Remap:           &nvidia.RowRemap{CorrectableRows: new(int64(0)), UncorrectableRows: new(unc), Pending: new(pending), Failure: new(false)},
			ClockReasons:    reasons(active...),
			ClockCountersUS: map[string]int64{"sw_power_cap": 2104, "hw_therm_slowdown": 0},
			SMClockMHz:      new(int64(345)), MaxSMClockMHz: new(int64(1980)),
			PowerDrawW: new(67.03), PowerLimitW: new(700.0), DefaultPowerLimitW: new(700.0), TemperatureC: new(28.0),
			PCIeMaxGen: new(int64(5)), PCIeWidth: new(int64(16)), PCIeMaxWidth: new(int64(16)),
			RecoveryAction: "None", FabricState: "Completed", FabricStatus: "Success",
		}
	}
	want := nvidia.SMILog{DTD: "nvsmi_device_v13.dtd", Driver: "580.105.08", CUDA: "13.0", Attached: 2, GPUs: []nvidia.GPU{
		gpu(0, "0000:1b:00.0", "GPU-1b1b1b1b-0000-0000-0000-000000000000", 0, false, "gpu_idle"),
		gpu(1, "0000:3b:00.0", "GPU-3b3b3b3b-0000-0000-0000-000000000000", 1, true, "hw_slowdown", "hw_thermal_slowdown"),
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestParseOlder(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]struct {
		limit    float64
		recovery string
	}{"v12.xml": {500, "GPU Reset Required"}, "v11.xml": {400, ""}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := nvidia.ParseSMI([]byte(fixture(t, name)))
			if err != nil {
				t.Fatal(err)
			}
			g := got.GPUs[0]
			if diff := cmp.Diff(reasons(), g.ClockReasons); diff != "" {
				t.Error(diff)
			}
			if g.PowerLimitW == nil || *g.PowerLimitW != want.limit || g.RecoveryAction != want.recovery {
				t.Errorf("limit %v, recovery %q", g.PowerLimitW, g.RecoveryAction)
			}
			if g.Remap != nil || g.Volatile.DRAMUncorrectable != nil || g.Aggregate.SRAMUncorrectable != nil {
				t.Error("N/A became a figure")
			}
			if g.Volatile.SRAMUncorrectable == nil || *g.Volatile.SRAMUncorrectable != 3 || g.ECC != "Disabled" || *g.PCIeWidth != 8 {
				t.Errorf("got %+v", g)
			}
			if diff := cmp.Diff([]string{"gpu_temp: [Unknown Error]"}, g.Errors); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestParseSMIRefuses(t *testing.T) {
	t.Parallel()
	v13 := fixture(t, "v13.xml")
	tests := map[string]struct{ in, want string }{
		"nothing":          {"", "no output"},
		"an error message": {"Failed to initialize NVML: Driver/library version mismatch", "Driver/library version mismatch"},
		"the table":        {"+------+\n| NVIDIA-SMI 580", "no XML"},
		"truncated":        {v13[:len(v13)-400], "truncated"},
		"only the head":    {v13[:120], "truncated"},
		"UTF-16":           {"\xff\xfe<\x00?\x00", "UTF-8"},
		"another document": {`<?xml version="1.0"?><html></html>`, "expected one nvidia_smi_log"},
		"two documents":    {v13 + "<nvidia_smi_log></nvidia_smi_log>", "expected one nvidia_smi_log"},
		"no driver":        {strings.Replace(v13, "<driver_version>580.105.08</driver_version>", "", 1), "driver_version"},
		"another unit":     {strings.Replace(v13, "81559 MiB", "79 GiB", 1), "must be a number of MiB"},
		"no unit":          {strings.Replace(v13, "700.00 W", "700.00", 1), "must be a number of W"},
		"an unknown word":  {strings.Replace(v13, "<remapped_row_pending>No<", "<remapped_row_pending>Maybe<", 1), "must be Yes or No"},
		"no bus ID":        {strings.ReplaceAll(v13, "00000000:1B:00.0", "slot 3"), "invalid PCI bus ID"},
		"text behind it":   {v13 + "Killed", "outside the document"},
		"text and warning": {v13 + "Killed\nWARNING: infoROM is corrupted at gpu 0000:21:00.0\n", "Killed"},
		"no count":         {strings.Replace(v13, "<attached_gpus>2<", "<attached_gpus>all<", 1), "attached_gpus"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := nvidia.ParseSMI([]byte(tt.in)); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

// Messages behind the document, as nvidia-smi prints them behind its other outputs (NVIDIA/gpu-operator issue 20).
func TestParseSMIWithMessagesBehindIt(t *testing.T) {
	t.Parallel()
	v13 := fixture(t, "v13.xml")
	want, err := nvidia.ParseSMI([]byte(v13))
	if err != nil {
		t.Fatal(err)
	}
	got, err := nvidia.ParseSMI([]byte(v13 + "WARNING: infoROM is corrupted at gpu 0000:21:00.0\nUnable to determine the device handle for GPU0000:3B:00.0: Unknown Error\n"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestFabricHealth reads the state of the NVLink fabric that newer drivers report in addition to its
// registration, which succeeds on a fabric that is degraded, too.
func TestFabricHealth(t *testing.T) {
	t.Parallel()
	const doc = `<?xml version="1.0" ?><nvidia_smi_log><driver_version>580.1</driver_version><attached_gpus>1</attached_gpus>
<gpu id="00000000:1B:00.0"><uuid>GPU-1</uuid><fabric><state>Completed</state><status>Success</status>
<health><summary>Unhealthy</summary><bandwidth>Degraded</bandwidth><route_unhealthy>True</route_unhealthy><access_timeout_recovery>N/A</access_timeout_recovery></health>
</fabric></gpu></nvidia_smi_log>`
	got, err := nvidia.ParseSMI([]byte(doc))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"summary": "Unhealthy", "bandwidth": "Degraded", "route_unhealthy": "True"}
	if diff := cmp.Diff(want, got.GPUs[0].FabricHealth); diff != "" {
		t.Error(diff)
	}
	lost, err := nvidia.ParseSMI([]byte(strings.Replace(doc, "<summary>Unhealthy", "<summary>GPU is lost", 1)))
	if err != nil || len(lost.GPUs[0].Errors) != 1 {
		t.Errorf("a GPU that is lost: %+v, %v", lost, err)
	}
}

func TestParseTrouble(t *testing.T) {
	t.Parallel()
	v13 := fixture(t, "v13.xml")
	tests := map[string]struct {
		in   []string
		want nvidia.SMIErrors
	}{
		"none": {[]string{v13, ""}, nvidia.SMIErrors{}},
		"lost, before the document": {
			[]string{"Unable to determine the device handle for GPU0000:3B:00.0: Unknown Error\n" + v13},
			nvidia.SMIErrors{Lost: []nvidia.LostGPU{{BusID: "0000:3b:00.0", Text: "Unable to determine the device handle for GPU0000:3B:00.0: Unknown Error"}}},
		},
		"lost, on the other stream": {
			[]string{v13, "Unable to determine the device handle for GPU5: 0000:9B:00.0: GPU is lost.  Reboot the system to recover this GPU\n"},
			nvidia.SMIErrors{Lost: []nvidia.LostGPU{{BusID: "0000:9b:00.0", Text: "Unable to determine the device handle for GPU5: 0000:9B:00.0: GPU is lost.  Reboot the system to recover this GPU"}}},
		},
		// microsoft/pai#3756, NVIDIA/gpu-operator#20
		"infoROM, before the document": {
			[]string{"WARNING: infoROM is corrupted at gpu 0000:B3:00.0\n" + v13},
			nvidia.SMIErrors{Faulty: []nvidia.LostGPU{{BusID: "0000:b3:00.0", Text: "WARNING: infoROM is corrupted at gpu 0000:B3:00.0"}}},
		},
		"infoROM, on the other stream": {
			[]string{v13, "WARNING: infoROM is corrupted at gpu 15B5:00:00.0\n"},
			nvidia.SMIErrors{Faulty: []nvidia.LostGPU{{BusID: "15b5:00:00.0", Text: "WARNING: infoROM is corrupted at gpu 15B5:00:00.0"}}},
		},
		"no library": {
			[]string{"NVIDIA-SMI couldn't find libnvidia-ml.so library in your system. Please make sure that the driver is installed.\r\n"},
			nvidia.SMIErrors{NVML: "NVIDIA-SMI couldn't find libnvidia-ml.so library in your system. Please make sure that the driver is installed."},
		},
		"no driver": {
			[]string{"Failed to initialize NVML: Driver/library version mismatch\nNVML library version: 570\n"},
			nvidia.SMIErrors{NVML: "Failed to initialize NVML: Driver/library version mismatch"},
		},
		"driver not loaded": {
			[]string{"NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the latest NVIDIA driver is installed and running.\n"},
			nvidia.SMIErrors{NVML: "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the latest NVIDIA driver is installed and running."},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var streams [][]byte
			for _, s := range tt.in {
				streams = append(streams, []byte(s))
			}
			got, err := nvidia.ParseSMIErrors(streams...)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
			if want := tt.want.NVML != "" || tt.want.Lost != nil; got.Any() != want {
				t.Errorf("some: %v", got.Any())
			}
		})
	}
}

func FuzzParseSMI(f *testing.F) {
	for _, name := range []string{"v13.xml", "v12.xml", "v11.xml"} {
		f.Add([]byte(fixture(f, name)))
	}
	f.Add([]byte("Unable to determine the device handle for GPU0000:3B:00.0: Unknown Error"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if _, err := nvidia.ParseSMIErrors(data); err != nil {
			t.Error(err)
		}
		l, err := nvidia.ParseSMI(data)
		if err == nil && l.Driver == "" {
			t.Error("a document without driver")
		}
	})
}
