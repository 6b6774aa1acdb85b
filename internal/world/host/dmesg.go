package host

import (
	"fmt"
	"slices"
	"time"
)

type logLine struct {
	at   time.Time
	text string
}

// dmesg prints the kernel log: a healthy boot, then errors. -T prints wall-clock times.
func dmesg(c *call) int {
	if c.node.LogRestricted {
		c.errorf("dmesg: read kernel buffer failed: Operation not permitted\n")
		return 1
	}
	lines := bootLog(c)
	for _, x := range c.node.XIDs {
		lines = append(lines, logLine{x.At, fmt.Sprintf("NVRM: Xid (PCI:%s): %d, %s", x.BusID, x.Code, x.Text)})
		if x.Code == 79 {
			lines = append(lines,
				logLine{x.At, fmt.Sprintf("NVRM: GPU %s.0: GPU has fallen off the bus.", x.BusID)},
				logLine{x.At, "NVRM: A GPU crash dump has been created. If possible, please run nvidia-bug-report.sh as root to collect this data before the NVIDIA kernel module is unloaded."})
		}
	}
	lines = append(lines, linkLog(c)...)
	slices.SortStableFunc(lines, func(a, b logLine) int { return a.at.Compare(b.at) })
	if c.node.LogWrapped {
		lines = append(latest(c), slices.DeleteFunc(lines, func(l logLine) bool { return l.at.Before(c.state.Booted.Add(time.Hour)) })...)
	}
	wall := c.has("-T", "--ctime")
	for _, l := range lines {
		if wall {
			c.printf("[%s] %s\n", l.at.UTC().Format("Mon Jan _2 15:04:05 2006"), l.text)
			continue
		}
		c.printf("[%12.6f] %s\n", l.at.Sub(c.state.Booted).Seconds(), l.text)
	}
	return 0
}

// latest is the content of a wrapped ring buffer: one message repeated.
func latest(c *call) []logLine {
	var lines []logLine
	for i := range 40 {
		lines = append(lines, logLine{c.state.Booted.Add(25*time.Hour + time.Duration(i)*time.Second), "net_ratelimit: 312 callbacks suppressed"})
	}
	return lines
}

func bootLog(c *call) []logLine {
	var lines []logLine
	after := func(seconds float64, format string, a ...any) {
		lines = append(lines, logLine{c.state.Booted.Add(time.Duration(seconds * float64(time.Second))), fmt.Sprintf(format, a...)})
	}
	after(0, "Linux version %s (buildd@lcy02) (gcc 11.4.0) #1-Ubuntu SMP", c.node.OS.Kernel)
	iommu := ""
	if c.node.IOMMU == "identity" {
		iommu = " iommu=pt"
	}
	after(0, "Command line: BOOT_IMAGE=/boot/vmlinuz-%s root=/dev/md0 ro console=ttyS0,115200n8%s", c.node.OS.Kernel, iommu)
	for i, h := range c.node.HCAs {
		t := 9 + 0.4*float64(i)
		after(t, "mlx5_core %s: firmware version: %s", h.BusID, h.Firmware)
		after(t+0.2, "mlx5_core %s: Port module event: module 0, Cable plugged", h.BusID)
	}
	if len(c.node.GPUs) == 0 {
		return lines
	}
	after(14, "nvidia: loading out-of-tree module taints kernel.")
	after(14.3, "nvidia-nvlink: Nvlink Core is being initialized, major device number 511")
	after(15, "NVRM: loading NVIDIA UNIX Open Kernel Module for %s  %s  Release Build", c.node.Machine(), c.node.Driver)
	after(16, "nvidia-modeset: Loading NVIDIA UNIX Open Kernel Mode Setting Driver for %s  %s", c.node.Machine(), c.node.Driver)
	for i := range c.switches() {
		after(17+0.1*float64(i), "nvidia-nvswitch%d: using MSI-X", i)
	}
	return lines
}

// linkLog is the HCA driver's messages about cables.
func linkLog(c *call) []logLine {
	var lines []logLine
	for _, h := range c.node.HCAs {
		switch {
		case h.PhysState != "LinkUp":
			lines = append(lines, logLine{c.state.Now.Add(-time.Second), fmt.Sprintf("mlx5_core %s: Port module event: module 0, Cable unplugged", h.BusID)})
		case h.LinkDowned > 0:
			lines = append(lines,
				logLine{c.state.Now.Add(-2 * time.Second), fmt.Sprintf("mlx5_core %s ib%d: Lost carrier", h.BusID, h.Rail)},
				logLine{c.state.Now.Add(-time.Second), fmt.Sprintf("mlx5_core %s ib%d: Gained carrier", h.BusID, h.Rail)})
		}
	}
	return lines
}
