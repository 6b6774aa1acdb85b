package host

import (
	"fmt"

	"github.com/firstlight/firstlight/internal/world/fabric"
)

// efas are the host's Elastic Fabric Adapters.
func (c *call) efas() []fabric.HCA {
	var out []fabric.HCA
	for _, h := range c.node.HCAs {
		if c.node.EFADriver != "" && h.Name != c.node.EFAMissing {
			out = append(out, h)
		}
	}
	return out
}

// efaFiles are the files of the adapters in sysfs: the port of one is always up.
func (c *call) efaFiles() map[string]string {
	files := map[string]string{}
	for _, h := range c.efas() {
		dir := "/sys/class/infiniband/" + h.Name + "/"
		files[dir+"fw_ver"] = "\n" // the driver has no get_dev_fw_str
		files[dir+"ports/1/state"] = "4: ACTIVE\n"
		n := h.Ethernet.Counters
		for name, value := range map[string]uint64{
			"tx_bytes": n.PortXmitData, "tx_pkts": n.PortXmitPkts, "rx_bytes": n.PortRcvData, "rx_pkts": n.PortRcvPkts, "rx_drops": 2,
			"send_bytes": 0, "send_wrs": 0, "recv_bytes": 0, "recv_wrs": 0,
			"rdma_read_wrs": 0, "rdma_read_bytes": 0, "rdma_read_wr_err": 0, "rdma_read_resp_bytes": 0,
			"rdma_write_wrs": 0, "rdma_write_bytes": 0, "rdma_write_wr_err": 0, "rdma_write_recv_bytes": 0,
			"retrans_bytes": 0, "retrans_pkts": 0, "retrans_timeout_events": 0, "unresponsive_remote_events": 0, "impaired_remote_conn_events": 0,
		} {
			files[dir+"ports/1/hw_counters/"+name] = fmt.Sprintf("%d\n", value)
		}
	}
	if c.node.EFADriver != "" {
		files["/sys/module/efa/version"] = c.node.EFADriver + "\n"
	}
	return files
}

// fiInfo supports -p efa, with -t FI_EP_RDM: libfabric 2 lists each adapter for two fabrics.
func fiInfo(c *call) int {
	all := c.efas()
	if len(all) == 0 || !c.has("efa") {
		c.errorf("fi_getinfo: -61 (No data available)\n")
		return 61
	}
	entry := func(h fabric.HCA, name, kind string) {
		c.printf("provider: efa\n    fabric: %s\n    domain: %s-%s\n    version: %s\n    type: %s\n    protocol: FI_PROTO_EFA\n",
			name, h.Name, map[string]string{"FI_EP_RDM": "rdm", "FI_EP_DGRAM": "dgrm"}[kind], c.node.Hardware.Fabric.EFA.Libfabric, kind)
	}
	for _, name := range []string{"efa-direct", "efa"} {
		for _, h := range all {
			entry(h, name, "FI_EP_RDM")
		}
	}
	if !c.has("FI_EP_RDM") {
		for _, h := range all {
			entry(h, "efa", "FI_EP_DGRAM")
		}
	}
	return 0
}
