package capture

import "github.com/firstlight/firstlight/internal/probe/nvidia"

// command is one call of a tool. Kind is the reader's name in the corpus; file the name of its output.
type command struct {
	kind, file string
	argv       []string
}

// commands are those that only read. The diagnostic is level 1, which loads no GPU.
func commands() []command {
	return []command{
		{"smi", "smi-xml/query.xml", []string{"nvidia-smi", "-q", "-x"}},
		{"trouble", "trouble/query.txt", []string{"nvidia-smi", "-q"}},
		{"smi-list", "smi-list/list.txt", []string{"nvidia-smi", "-L"}},
		{"smi-query", "smi-query/query.csv", []string{"nvidia-smi", "--query-gpu=index,uuid,name,driver_version,vbios_version,pci.bus_id,pcie.link.gen.current,pcie.link.width.current,persistence_mode,temperature.gpu,power.draw,clocks.sm,ecc.mode.current", "--format=csv"}},
		{"smi-remap", "smi-remap/remap.csv", []string{"nvidia-smi", "--query-remapped-rows=gpu_uuid,remapped_rows.pending,remapped_rows.failure,remapped_rows.uncorrectable,remapped_rows.correctable", "--format=csv"}},
		{"smi-clocks", "smi-clocks/clocks.csv", nvidia.ClockQuery()},
		{"topology", "topology/matrix.txt", []string{"nvidia-smi", "topo", "-m"}},
		{"nvlink", "nvlink/status.txt", []string{"nvidia-smi", "nvlink", "-s"}},
		{"nvlink-errors", "nvlink-errors/errors.txt", []string{"nvidia-smi", "nvlink", "-e"}},
		{"fabricmanager", "fabricmanager/version.txt", []string{"nv-fabricmanager", "--version"}},
		{"imex", "imex/domain.json", []string{"nvidia-imex-ctl", "-N", "-j"}},
		{"dcgm-discovery", "dcgm-discovery/list.txt", []string{"dcgmi", "discovery", "-l"}},
		{"dcgm", "dcgm/diag-1.json", []string{"dcgmi", "diag", "-r", "1", "-j"}},
		{"ibstat", "ibstat/ibstat.txt", []string{"ibstat"}},
		{"ibv_devinfo", "ibv_devinfo/devinfo.txt", []string{"ibv_devinfo", "-v"}},
		{"iblinkinfo", "iblinkinfo/line.txt", []string{"iblinkinfo", "-l"}},
		{"ibqueryerrors", "ibqueryerrors/errors.txt", []string{"ibqueryerrors"}},
		{"ibnetdiscover", "ibnetdiscover/subnet.txt", []string{"ibnetdiscover"}},
		{"ibdiagnet", "ibdiagnet/ibdiagnet.log", []string{"ibdiagnet", "-o", "/var/tmp/firstlight-ibdiagnet"}},
		{"sminfo", "sminfo/sminfo.txt", []string{"sminfo"}},
		{"rdma-sysfs", "rdma-sysfs/attributes.txt", shell("grep -Hs . " + attributes + "; grep -rHvx 0000:0000:0000:0000:0000:0000:0000:0000 /sys/class/infiniband/*/ports/1/gids")},
		{"rdma-counters", "rdma-counters/counters.txt", eachPort("ethtool", `ethtool -S "$netdev"; grep -Hs . "$hca"/ports/1/hw_counters/*`)},
		{"qos", "qos/mlnx_qos.txt", eachPort("mlnx_qos", `mlnx_qos -i "$netdev"`)},
		{"qos", "qos/dcb.txt", eachPort("dcb", `dcb -j pfc show dev "$netdev"; dcb -j app show dev "$netdev"`)},
		{"efa-sysfs", "efa-sysfs/counters.txt", shell("grep -Hs . /sys/module/efa/version /sys/class/infiniband/*/ports/1/hw_counters/*")},
		{"fi_info", "fi_info/endpoints.txt", []string{"/opt/amazon/efa/bin/fi_info", "-p", "efa", "-t", "FI_EP_RDM"}},
		{"xid", "xid/dmesg.log", []string{"dmesg"}},
	}
}

// attributes are the files of RDMA devices that the parsers read.
const attributes = "/sys/class/infiniband/*/hca_type /sys/class/infiniband/*/fw_ver /sys/class/infiniband/*/board_id" +
	" /sys/class/infiniband/*/ports/1/state /sys/class/infiniband/*/ports/1/phys_state /sys/class/infiniband/*/ports/1/rate /sys/class/infiniband/*/ports/1/link_layer" +
	" /sys/class/infiniband/*/ports/1/gid_attrs/types/* /sys/class/infiniband/*/ports/1/gid_attrs/ndevs/* /sys/class/infiniband/*/device/net/*/operstate" +
	" /sys/class/infiniband/*/device/net/*/ecn/roce_np/enable/* /sys/class/infiniband/*/device/net/*/ecn/roce_rp/enable/*"

func shell(script string) []string { return []string{"sh", "-c", script} }

// eachPort runs a script for each RDMA device with a network device, below a line with its name;
// without the program it prints nothing.
func eachPort(program, script string) []string {
	return shell("command -v " + program + " >/dev/null || exit 0; for netdev in /sys/class/infiniband/*/device/net/*; do" +
		` [ -e "$netdev" ] || continue; hca=${netdev%/device/net/*}; netdev=${netdev##*/}; echo "=${hca##*/}="; ` + script + "; done")
}
