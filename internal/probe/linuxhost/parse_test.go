package linuxhost_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/probe/linuxhost"
	"github.com/firstlight/firstlight/internal/probe/nvidia"
)

const whole = `Welcome to gpu-02. Unauthorised use is prohibited.
=clock=
1763726400.012345678
=name=
gpu-02.example.org
=files=
/proc/meminfo:MemTotal:       2113456789 kB
/proc/meminfo:MemFree:        1987654321 kB
/proc/meminfo:Active(anon):      1234 kB
/proc/meminfo:HugePages_Total:    1034
/proc/meminfo:HugePages_Surp:       10
/proc/meminfo:Hugepagesize:       2048 kB
/sys/devices/system/cpu/cpufreq/policy0/scaling_governor:performance
/sys/devices/system/cpu/cpufreq/policy1/scaling_governor:performance
/sys/devices/system/cpu/cpufreq/policy10/scaling_governor:powersave
/sys/class/infiniband/mlx5_0/device/current_link_speed:32.0 GT/s PCIe
/sys/class/infiniband/mlx5_0/device/current_link_width:16
/sys/class/infiniband/mlx5_1/device/current_link_speed:Unknown
/sys/class/infiniband/mlx5_1/device/current_link_width:0
/sys/class/infiniband/mlx5_2/device/current_link_speed:8 GT/s
/sys/class/infiniband/mlx5_2/device/current_link_width:8
/sys/class/infiniband/mlx5_0/device/max_link_speed:32.0 GT/s PCIe
/sys/class/infiniband/mlx5_0/device/max_link_width:16
/sys/class/infiniband/mlx5_1/device/max_link_speed:Unknown
/sys/class/infiniband/mlx5_1/device/max_link_width:255
/sys/class/infiniband/mlx5_2/device/max_link_speed:16.0 GT/s PCIe
/sys/class/infiniband/mlx5_2/device/max_link_width:16
/sys/class/infiniband/mlx5_0/device/iommu_group/type:identity
/sys/class/infiniband/mlx5_1/device/iommu_group/type:DMA-FQ
/sys/bus/pci/drivers/nvidia/0000:1b:00.0/iommu_group/type:identity
/proc/cpuinfo:GenuineIntel
/proc/cpuinfo:GenuineIntel
=topology=
	GPU0	CPU Affinity	NUMA Affinity
GPU0	 X 	0-55	0
=after=
1763726401.500000000
`

func TestParse(t *testing.T) {
	t.Parallel()
	one := []nvidia.GPUTopology{{Index: 0, Paths: map[string]string{}, Affinity: "0-55 0"}}
	for name, tt := range map[string]struct {
		in   string
		want linuxhost.Host
	}{
		"a host": {whole, linuxhost.Host{
			Name: "gpu-02.example.org", Clock: time.Date(2025, 11, 21, 12, 0, 0, 12345678, time.UTC), ClockAfter: time.Date(2025, 11, 21, 12, 0, 1, 5e8, time.UTC),
			MemoryKiB: new(int64(2113456789)), HugePages: new(int64(1024)), HugePageKiB: new(int64(2048)),
			Governors: map[string]int{"performance": 2, "powersave": 1},
			Adapters: map[string]linuxhost.Link{
				"mlx5_0": {SpeedGTs: new(32.0), MaxSpeedGTs: new(32.0), Width: new(int64(16)), MaxWidth: new(int64(16))},
				"mlx5_1": {},
				"mlx5_2": {SpeedGTs: new(8.0), MaxSpeedGTs: new(16.0), Width: new(int64(8)), MaxWidth: new(int64(16))},
			},
			IOMMU:     map[string]string{"mlx5_0": "identity", "mlx5_1": "DMA-FQ", "0000:1b:00.0": "identity"},
			Processor: "GenuineIntel",
			GPUs:      one,
		}},
		"a machine with nothing": {"=clock=\n1763726400.%N\n=name=\nvm\n=files=\n=topology=\nsh: nvidia-smi: not found\n=after=\n", linuxhost.Host{Name: "vm"}},
		"a virtual machine": {
			"=clock=\n=name=\nvm\n=files=\n/proc/cpuinfo:AuthenticAMD\n/proc/cpuinfo:hypervisor\n=topology=\n=after=\n",
			linuxhost.Host{Name: "vm", Processor: "AuthenticAMD", Virtual: true},
		},
	} {
		got, err := linuxhost.Parse([]byte(tt.in))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	for name, tt := range map[string]struct{ in, want string }{
		"nothing":        {"", "missing section =clock="},
		"cut short":      {whole[:strings.Index(whole, "=after=")], "missing section =after="},
		"no UTF-8":       {whole + "\xff\xfe", "UTF-8"},
		"another file":   {strings.Replace(whole, "/proc/meminfo:MemFree:", "/etc/passwd:root:", 1), "is not a requested file"},
		"no file":        {strings.Replace(whole, "/proc/meminfo:MemFree:", "MemFree ", 1), "/proc/meminfo"},
		"no group":       {strings.Replace(whole, "0000:1b:00.0/iommu_group/type", "0000:1b:00.0/vendor", 1), "is not a requested file"},
		"no lanes":       {strings.Replace(whole, "current_link_width:16", "current_link_width:x16", 1), "expected a number of lanes"},
		"no shell there": {"sh: command not found\n", "missing section"},
	} {
		if _, err := linuxhost.Parse([]byte(tt.in)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
}

// The command takes no word from outside, and nothing in it writes.
func TestCommand(t *testing.T) {
	t.Parallel()
	argv := linuxhost.Command()
	if len(argv) != 3 || argv[0] != "sh" || argv[1] != "-c" {
		t.Fatalf("%q", argv)
	}
	if strings.ContainsAny(argv[2], "<>|&`$\"'") {
		t.Errorf("%q can do more than read", argv[2])
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(whole))
	f.Fuzz(func(_ *testing.T, data []byte) {
		_, _ = linuxhost.Parse(data) // nothing panics: guard would say so
	})
}
