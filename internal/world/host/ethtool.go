package host

import (
	"fmt"
	"time"

	"github.com/firstlight/firstlight/internal/world/fabric"
)

// ethtool supports -S NETDEV: a part of the statistics of mlx5, in its order.
func ethtool(c *call) int {
	if len(c.args) != 2 || c.args[0] != "-S" {
		c.errorf("ethtool: bad command line argument(s)\nFor more information run ethtool -h\n")
		return 1
	}
	h, ok := c.portOf(c.args[1])
	if !ok {
		c.errorf("Cannot get stats strings information: No such device\n")
		return 95
	}
	n := h.Ethernet.Counters
	c.printf("NIC statistics:\n")
	line := func(name string, value uint64) { c.printf("     %s: %d\n", name, value) }
	line("rx_packets", n.PortRcvPkts)
	line("rx_bytes", n.PortRcvData)
	line("tx_packets", n.PortXmitPkts)
	line("tx_bytes", n.PortXmitData)
	line("rx_out_of_buffer", 0)
	line("rx_crc_errors_phy", n.SymbolErrorCounter)
	line("rx_symbol_err_phy", n.SymbolErrorCounter)
	line("rx_pause_ctrl_phy", pauses(h))
	line("tx_pause_ctrl_phy", 0)
	line("rx_discards_phy", 0)
	line("tx_discards_phy", n.PortXmitDiscards)
	line("tx_errors_phy", 0)
	line("link_down_events_phy", n.LinkDownedCounter)
	line("rx_pcs_symbol_err_phy", n.SymbolErrorCounter)
	for p := range fabric.Priorities {
		line(fmt.Sprintf("rx_prio%d_discards", p), 0)
	}
	for p := range fabric.Priorities {
		frames, paused := uint64(0), time.Duration(0)
		if e := c.node.Hardware.Fabric.Ethernet; e != nil && p == e.Priority {
			frames, paused = pauses(h), h.Ethernet.Paused
		}
		line(fmt.Sprintf("rx_prio%d_pause", p), frames)
		line(fmt.Sprintf("rx_prio%d_pause_duration", p), uint64(paused.Microseconds())) //nolint:gosec // not negative
		line(fmt.Sprintf("tx_prio%d_pause", p), 0)
		line(fmt.Sprintf("tx_prio%d_pause_duration", p), 0)
		line(fmt.Sprintf("rx_prio%d_pause_transition", p), frames/2)
	}
	line("tx_pause_storm_warning_events", 0)
	line("tx_pause_storm_error_events", 0)
	line("module_unplug", 0)
	return 0
}

// pauses is the number of pause frames that a port has received: each stops it for at most 65,535
// times 512 bits, 84 us at 400 Gb/s.
func pauses(h fabric.HCA) uint64 {
	return uint64(h.Ethernet.Paused / (84 * time.Microsecond)) //nolint:gosec // not negative
}

// hwCounters are the files of hw_counters of mlx5.
func hwCounters(h fabric.HCA) map[string]uint64 {
	return map[string]uint64{
		"duplicate_request": 0, "implied_nak_seq_err": 0, "lifespan": 10, "local_ack_timeout_err": 0,
		"np_cnp_sent": 41, "np_ecn_marked_roce_packets": 172, "out_of_buffer": 0,
		"out_of_sequence": 3, "packet_seq_err": 3, "req_cqe_error": 0, "req_cqe_flush_error": 0,
		"resp_cqe_error": 0, "resp_cqe_flush_error": 0, "rnr_nak_retry_err": 0, "roce_adp_retrans": 0, "roce_adp_retrans_to": 0,
		"roce_slow_restart": 0, "roce_slow_restart_cnps": 0, "rp_cnp_handled": 38, "rp_cnp_ignored": 0,
		"rx_icrc_encapsulated": 0, "rx_read_requests": h.Ethernet.Counters.PortRcvPkts / 7, "rx_write_requests": h.Ethernet.Counters.PortRcvPkts / 3,
	}
}
