package host

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/firstlight/firstlight/internal/world/fabric"
)

func uname(c *call) int {
	kernel := c.node.OS.Kernel
	switch {
	case c.has("-n"):
		c.printf("%s\n", c.node.Name)
	case c.has("-r"):
		c.printf("%s\n", kernel)
	case c.has("-a"):
		c.printf("Linux %s %s #1-Ubuntu SMP %[3]s %[3]s %[3]s GNU/Linux\n", c.node.Name, kernel, c.node.Machine())
	default:
		c.printf("Linux\n")
	}
	return 0
}

func hostname(c *call) int {
	if c.has("-I") {
		c.printf("%s \n", address(c.node))
		return 0
	}
	c.printf("%s\n", c.node.Name)
	return 0
}

func echo(c *call) int {
	c.printf("%s\n", strings.Join(c.args, " "))
	return 0
}

// ls supports ls -d of directories in /sys/module.
func ls(c *call) int {
	exit := 0
	for _, name := range c.args {
		if name == "-d" {
			continue
		}
		if module, ok := strings.CutPrefix(name, "/sys/module/"); ok && slices.Contains(c.modules(), module) {
			c.printf("%s\n", name)
			continue
		}
		c.errorf("ls: cannot access '%s': No such file or directory\n", name)
		exit = 2
	}
	return exit
}

// modules are the kernel modules of the drivers.
func (c *call) modules() []string {
	var out []string
	if len(c.node.GPUs) > 0 {
		out = append(out, "nvidia", "nvidia_uvm", "nvidia_modeset", "nvidia_peermem")
	}
	if c.node.EFADriver != "" {
		return append(out, "efa", "ib_core", "ib_uverbs")
	}
	if len(c.node.HCAs) > 0 {
		out = append(out, "mlx5_core", "mlx5_ib", "ib_core", "ib_uverbs")
		if !c.node.NoUMAD {
			out = append(out, "ib_umad")
		}
	}
	return out
}

// command supports command -v of one program.
func command(c *call) int {
	if len(c.args) != 2 || c.args[0] != "-v" {
		return 2
	}
	name := c.args[1]
	if !installed(c.node, name) {
		return 1
	}
	c.printf("/usr/bin/%s\n", name)
	return 0
}

// cat prints files of /sys and /proc.
func cat(c *call) int {
	exit := 0
	for _, name := range c.args {
		if text, ok := c.file(name); ok {
			c.printf("%s", text)
			continue
		}
		c.errorf("cat: %s: No such file or directory\n", name)
		exit = 1
	}
	return exit
}

// grepOther prints lines other than a fixed text in all files of directories: grep -rHvx TEXT
// DIR...
func grepOther(c *call) int {
	found, failed := false, false
	for _, dir := range c.args[2:] {
		files, ok := c.directory(dir)
		if !ok {
			c.errorf("grep: %s: No such file or directory\n", dir)
			failed = true
			continue
		}
		for _, name := range files {
			text, _ := c.file(name)
			if text = strings.TrimSuffix(text, "\n"); text != c.args[1] {
				c.printf("%s:%s\n", name, text)
				found = true
			}
		}
	}
	switch {
	case failed:
		return 2
	case found:
		return 0
	default:
		return 1
	}
}

// directory returns the files of a directory that grep supports: P_Key and GID tables.
func (c *call) directory(name string) ([]string, bool) {
	if dir, ok := strings.CutSuffix(name, "/ports/1/gids"); ok {
		return c.gidFiles(dir)
	}
	if _, ok := c.file(name + "/0"); !ok || !strings.HasSuffix(name, "/pkeys") {
		return nil, false
	}
	var files []string
	for i := range pkeyEntries {
		files = append(files, fmt.Sprintf("%s/%d", name, i))
	}
	return files, true
}

// pkeyEntries is the size of a ConnectX adapter's P_Key table.
const pkeyEntries = 128

// date prints the host's clock: +%s.%N, or the default format.
func date(c *call) int {
	now := c.state.Now.Add(c.node.ClockOffset).UTC()
	if c.has("+%s.%N") {
		c.printf("%d.%09d\n", now.Unix(), now.Nanosecond())
		return 0
	}
	c.printf("%s\n", now.Format("Mon Jan _2 15:04:05 MST 2006"))
	return 0
}

func (c *call) file(name string) (string, bool) {
	switch name {
	case "/proc/meminfo":
		return c.meminfo(), true
	case "/proc/cpuinfo":
		return c.cpuinfo(), true
	case "/etc/os-release":
		return c.node.OS.Release(), true
	case "/proc/sys/kernel/osrelease":
		return c.node.OS.Kernel + "\n", true
	case "/etc/hostname", "/proc/sys/kernel/hostname":
		return c.node.Name + "\n", true
	case "/proc/driver/nvidia/version":
		if len(c.node.GPUs) == 0 {
			return "", false
		}
		return "NVRM version: NVIDIA UNIX " + c.node.Machine() + " Kernel Module  " + c.node.Driver + "\n", true
	}
	if text, ok := c.sysfs()[name]; ok {
		return text, true
	}
	rest, ok := strings.CutPrefix(name, "/sys/class/infiniband/")
	if !ok {
		return "", false
	}
	parts := strings.Split(rest, "/")
	for _, h := range c.node.HCAs {
		if h.Name == parts[0] {
			return hcaFile(c, h, strings.Join(parts[1:], "/"))
		}
	}
	return "", false
}

func hcaFile(c *call, h fabric.HCA, name string) (string, bool) {
	switch name {
	case "hca_type":
		return c.node.Hardware.Fabric.CAType + "\n", true
	case "fw_ver":
		return h.Firmware + "\n", true
	case "board_id":
		return c.node.Hardware.Fabric.Board + "\n", true
	case "ports/1/state":
		return map[string]string{fabric.StateActive: "4: ACTIVE\n", fabric.StateInit: "2: INIT\n", fabric.StateDown: "1: DOWN\n"}[h.State], true
	case "ports/1/phys_state":
		return map[string]string{fabric.PhysLinkUp: "5: LinkUp\n", fabric.PhysPolling: "2: Polling\n", fabric.PhysDisabled: "3: Disabled\n"}[h.PhysState], true
	case "ports/1/link_layer":
		return linkLayer(h) + "\n", true
	case "ports/1/rate":
		speed := fabric.SpeedName(h.LaneGbps)
		if speed == "" {
			return "10 Gb/sec (4X SDR)\n", true
		}
		return strconv.Itoa(h.Rate) + " Gb/sec (" + strconv.Itoa(h.Width) + "X " + speed + ")\n", true
	case "ports/1/counters/link_downed":
		return strconv.FormatUint(h.LinkDowned, 10) + "\n", true
	}
	if text, ok := roceFile(h, name); ok {
		return text, true
	}
	if entry, ok := strings.CutPrefix(name, "ports/1/pkeys/"); ok {
		return pkeyFile(h, entry)
	}
	return "", false
}

// pkeyFile is one entry of a port's P_Key table; unset entries are zero.
func pkeyFile(h fabric.HCA, entry string) (string, bool) {
	i, err := strconv.Atoi(entry)
	if err != nil || i < 0 || i >= pkeyEntries {
		return "", false
	}
	var key uint16
	if i < len(h.PKeys) {
		key = h.PKeys[i]
	}
	return fmt.Sprintf("0x%04x\n", key), true
}
