package roce_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/probe/roce"
)

// attributes are those of a ConnectX-7 with one IPv4 address, in the formats of the kernel's
// drivers/infiniband/core/sysfs.c and of NVIDIA's drivers.
const attributes = `/sys/class/infiniband/mlx5_0/hca_type:MT4129
/sys/class/infiniband/mlx5_0/fw_ver:28.39.1002
/sys/class/infiniband/mlx5_0/board_id:MT_0000000838
/sys/class/infiniband/mlx5_0/ports/1/state:4: ACTIVE
/sys/class/infiniband/mlx5_0/ports/1/phys_state:5: LinkUp
/sys/class/infiniband/mlx5_0/ports/1/rate:400 Gb/sec (4X NDR)
/sys/class/infiniband/mlx5_0/ports/1/link_layer:Ethernet
/sys/class/infiniband/mlx5_0/ports/1/gid_attrs/types/0:IB/RoCE v1
/sys/class/infiniband/mlx5_0/ports/1/gid_attrs/types/3:RoCE v2
/sys/class/infiniband/mlx5_0/ports/1/gid_attrs/types/9:RoCE v2
/sys/class/infiniband/mlx5_0/ports/1/gid_attrs/ndevs/0:enp24s0np0
/sys/class/infiniband/mlx5_0/ports/1/gid_attrs/ndevs/3:enp24s0np0
/sys/class/infiniband/mlx5_0/device/net/enp24s0np0/operstate:up
/sys/class/infiniband/mlx5_0/device/net/enp24s0np0/ecn/roce_np/enable/3:1
/sys/class/infiniband/mlx5_0/device/net/enp24s0np0/ecn/roce_rp/enable/3:0
/sys/class/infiniband/mlx5_0/ports/1/gids/3:0000:0000:0000:0000:0000:ffff:0a64:0001
/sys/class/infiniband/mlx5_0/ports/1/gids/0:fe80:0000:0000:0000:a288:c2ff:fe03:0030
`

func TestParseDevices(t *testing.T) {
	t.Parallel()
	got, err := roce.ParseDevices([]byte(attributes))
	want := []roce.Device{{
		Name: "mlx5_0", Type: "MT4129", Firmware: "28.39.1002", Board: "MT_0000000838",
		State: "ACTIVE", Physical: "LinkUp", RateGbps: 400, LinkLayer: "Ethernet", Netdevs: []string{"enp24s0np0"},
		GIDs: []roce.GID{
			{Index: 0, Address: "fe80::a288:c2ff:fe03:30", Type: "IB/RoCE v1", Netdev: "enp24s0np0"},
			{Index: 3, Address: "10.100.0.1", Type: "RoCE v2", Netdev: "enp24s0np0"},
		},
		Notifies: map[int]bool{3: true}, Reacts: map[int]bool{3: false},
	}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
}

func TestParseDevicesRefuses(t *testing.T) {
	t.Parallel()
	const dir = "/sys/class/infiniband/mlx5_0/"
	for name, tt := range map[string]struct{ in, says string }{
		"nothing":           {"", "no device"},
		"an error of grep":  {attributes + "grep: " + dir + "fw_ver: No such file or directory\n", "expected /sys/class/infiniband/DEVICE"},
		"another file":      {dir + "uevent:x\n", "not a requested file"},
		"a state's number":  {dir + "ports/1/state:ACTIVE\n", "invalid state"},
		"a rate's unit":     {dir + "ports/1/rate:400\n", "invalid rate"},
		"a GID":             {dir + "ports/1/gids/0:fe80\n", "invalid GID"},
		"a state of ECN":    {dir + "device/net/eth0/ecn/roce_np/enable/3:yes\n", "must be 0 or 1"},
		"text of no device": {"hello\n", "expected"},
		"not UTF-8":         {"\xff\n", "not UTF-8"},
	} {
		if got, err := roce.ParseDevices([]byte(tt.in)); err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: %+v, %v; want %q", name, got, err, tt.says)
		}
	}
}

func FuzzParseDevices(f *testing.F) {
	f.Add([]byte(attributes))
	f.Fuzz(func(t *testing.T, data []byte) {
		if devices, err := roce.ParseDevices(data); err == nil && len(devices) == 0 {
			t.Error("no device, and no error")
		}
	})
}
