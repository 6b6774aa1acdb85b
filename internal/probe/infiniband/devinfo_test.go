package infiniband_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/probe/infiniband"
)

// devSample has the format of rdma-core's ibv_devinfo: an adapter of an InfiniBand fabric,
// and one of Ethernet whose port is down.
const devSample = `hca_id:	mlx5_0
	transport:			InfiniBand (0)
	fw_ver:				28.39.1002
	node_guid:			a088:c203:00d7:0030
	sys_image_guid:			a088:c203:00d7:0030
	vendor_id:			0x02c9
	vendor_part_id:			4129
	hw_ver:				0x0
	board_id:			MT_0000000838
	phys_port_cnt:			1
		port:	1
			state:			PORT_ACTIVE (4)
			max_mtu:		4096 (5)
			active_mtu:		2048 (4)
			sm_lid:			1
			port_lid:		13
			port_lmc:		0x00
			link_layer:		InfiniBand

hca_id:	mlx5_an0
	transport:			InfiniBand (0)
	fw_ver:				16.30.5000
	node_guid:			0022:48ff:fe65:bc8d
	sys_image_guid:			0000:0000:0000:0000
	vendor_id:			0x02c9
	vendor_part_id:			4122
	hw_ver:				0x80
	phys_port_cnt:			1
		port:	1
			state:			PORT_DOWN (1)
			max_mtu:		4096 (5)
			active_mtu:		1024 (3)
			sm_lid:			0
			port_lid:		0
			port_lmc:		0x00
			link_layer:		Ethernet

`

var parsed = []infiniband.Device{
	{Name: "mlx5_0", Board: "MT_0000000838", Ports: []infiniband.DevicePort{
		{Number: 1, State: "PORT_ACTIVE", ActiveMTU: 2048},
	}},
	{Name: "mlx5_an0", Ports: []infiniband.DevicePort{
		{Number: 1, State: "PORT_DOWN", ActiveMTU: 1024},
	}},
}

func TestParseDevInfo(t *testing.T) {
	t.Parallel()
	twoPorts := strings.Replace(devSample[:strings.Index(devSample, "hca_id:	mlx5_an0")], "phys_port_cnt:			1", "phys_port_cnt:			2", 1)
	twoPorts += "		port:	2\n			state:			PORT_DOWN (1)\n			max_mtu:		4096 (5)\n			active_mtu:		invalid MTU (0)\n			link_layer:		InfiniBand\n"
	verbose := strings.ReplaceAll(devSample, "			link_layer:		InfiniBand\n",
		"			link_layer:		InfiniBand\n			max_msg_sz:		0x40000000\n			pkey_tbl_len:		128\n			active_speed:		100.0 Gbps (128)\n			phys_state:		LINK_UP (5)\n			GID[  0]:		fe80:0000:0000:0000:a088:c203:00d7:0030\n")
	// rdma-core's devinfo.c, and ibv_devinfo -v of MLNX_OFED in open-mpi/ompi #6184: capabilities are words on
	// lines of their own.
	capabilities := strings.ReplaceAll(verbose, "phys_port_cnt:			1\n", "phys_port_cnt:			1\n"+
		"	max_mr_size:			0xffffffffffffffff\n	device_cap_flags:		0xe5721c36\n					BAD_PKEY_CNTR\n					PORT_ACTIVE_EVENT\n"+
		"					Unknown flags: 0xe5620000\n	max_sge:			30\n	log atomic arg sizes (mask)		0x8\n	general_odp_caps:\n					ODP_SUPPORT\n"+
		"	rc_odp_caps:\n					NO SUPPORT\n	completion_timestamp_mask not supported\n	raw packet caps:\n					C-VLAN stripping offload\n"+
		"	max_sge:			1\n	tag matching not supported\n\n	cq moderation caps:\n		max_cq_count:	65535\n		max_cq_period:	4095 us\n\n"+
		"	num_comp_vectors:		63\n")
	two := []infiniband.Device{parsed[0]}
	two[0].Ports = append(two[0].Ports[:1:1], infiniband.DevicePort{Number: 2, State: "PORT_DOWN"})
	for name, tt := range map[string]struct {
		in   string
		want []infiniband.Device
	}{
		"without options":     {devSample, parsed},
		"with -v":             {verbose, parsed},
		"with -v, complete":   {capabilities, parsed},
		"an adapter of two":   {twoPorts, two},
		"Windows' line ends":  {strings.ReplaceAll(devSample, "\n", "\r\n"), parsed},
		"no line end, no gap": {strings.TrimRight(devSample, "\n"), parsed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := infiniband.ParseDevInfo([]byte(tt.in))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestParseDevInfoRefuses(t *testing.T) {
	t.Parallel()
	for name, in := range map[string]string{
		"empty":                  "",
		"no devices":             "No IB devices found\n",
		"a device that fails":    devSample + "Failed to query device props\n",
		"a word in column 0":     strings.Replace(devSample, "	hw_ver:", "Segmentation fault\n	hw_ver:", 1),
		"cut inside a port":      devSample[:strings.Index(devSample, "			active_mtu")],
		"cut before the ports":   devSample[:strings.Index(devSample, "		port:")],
		"a port less":            strings.Replace(devSample, "phys_port_cnt:			1", "phys_port_cnt:			2", 1),
		"no number of ports":     strings.Replace(devSample, "	phys_port_cnt:			1\n", "", 1),
		"another MTU":            strings.Replace(devSample, "2048 (4)", "9000", 1),
		"an MTU twice":           strings.Replace(devSample, "			sm_lid:			1\n", "			active_mtu:		4096 (5)\n", 1),
		"a device twice":         strings.Replace(devSample, "mlx5_an0", "mlx5_0", 1),
		"before any device":      "	transport:			InfiniBand (0)\n" + devSample,
		"a port's number":        strings.Replace(devSample, "port:	1", "port:	x", 1),
		"another tool's answers": "CA 'mlx5_0'\n	CA type: MT4129\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got, err := infiniband.ParseDevInfo([]byte(in)); err == nil {
				t.Errorf("read %+v", got)
			}
		})
	}
}

func FuzzParseDevInfo(f *testing.F) {
	f.Add([]byte(devSample))
	f.Add([]byte("hca_id: a\nphys_port_cnt: 1\nport: 1\nstate: x\nmax_mtu: 256 (1)\nactive_mtu: invalid MTU (0)\nlink_layer: Unspecified\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		devices, err := infiniband.ParseDevInfo(data)
		if err != nil {
			return
		}
		if len(devices) == 0 {
			t.Error("no device, and no error")
		}
		for _, d := range devices {
			if len(d.Ports) == 0 {
				t.Errorf("device %s has no port, and no error", d.Name)
			}
		}
	})
}
