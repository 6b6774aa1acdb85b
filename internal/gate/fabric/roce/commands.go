package roce

import (
	"errors"
	"fmt"
	"strings"

	"github.com/firstlight/firstlight/internal/gate/hostcommand"
	"github.com/firstlight/firstlight/internal/gate/onhost"
	"github.com/firstlight/firstlight/internal/probe/infiniband"
	"github.com/firstlight/firstlight/internal/probe/roce"
	"github.com/firstlight/firstlight/internal/probe/ssh"
)

// folder is an HCA's folder in sysfs, quoted for a shell.
func folder(hca string) string { return ssh.Quote([]string{roce.SysfsRoot + hca}) }

// unsetGID is the value of unused entries of a GID table, of which a port has hundreds.
const unsetGID = "0000:0000:0000:0000:0000:0000:0000:0000"

// devicesCommand prints the attributes of HCAs, without files that do not exist and without those of
// unset GIDs, which cannot be read. The judge treats a missing attribute as unobserved.
func devicesCommand(hcas []string) []string {
	files, tables := "grep -Hs .", "grep -rHvx "+unsetGID
	for _, name := range hcas {
		dir := folder(name)
		for _, file := range []string{
			"hca_type", "fw_ver", "board_id", "ports/1/state", "ports/1/phys_state", "ports/1/rate", "ports/1/link_layer",
			"ports/1/gid_attrs/types/*", "ports/1/gid_attrs/ndevs/*", "device/net/*/operstate",
			"device/net/*/ecn/roce_np/enable/*", "device/net/*/ecn/roce_rp/enable/*",
		} {
			files += " " + dir + "/" + file
		}
		tables += " " + dir + "/ports/1/gids"
	}
	return []string{"sh", "-c", files + "; " + tables}
}

// linksCommand prints the network devices with their MTU and addresses.
func linksCommand() []string { return []string{"ip", "-j", "addr", "show"} }

// verbsCommand prints the active MTU of each HCA: no file of sysfs has it.
func verbsCommand(hcas []string) []string {
	var steps []string
	for _, name := range hcas {
		steps = append(steps, ssh.Quote([]string{"ibv_devinfo", "-d", name}))
	}
	return []string{"sh", "-c", strings.Join(steps, " && ")}
}

// port is an HCA and its network device.
type port struct{ hca, netdev string }

// qosCommand prints the QoS of each port, with NVIDIA's program or that of iproute2.
func qosCommand(ports []port, nvidia bool) []string {
	var steps []string
	for _, p := range ports {
		steps = append(steps, "echo "+roce.Heading(p.hca))
		if nvidia {
			steps = append(steps, ssh.Quote([]string{"mlnx_qos", "-i", p.netdev}))
			continue
		}
		for _, table := range []string{"pfc", "app"} {
			steps = append(steps, ssh.Quote([]string{"dcb", "-j", table, "show", "dev", p.netdev}))
		}
	}
	return []string{"sh", "-c", strings.Join(steps, "; ")}
}

// countersCommand prints the counters of each port.
func countersCommand(ports []port) []string {
	var steps []string
	for _, p := range ports {
		steps = append(steps, "echo "+roce.Heading(p.hca), ssh.Quote([]string{"ethtool", "-S", p.netdev}), "grep -Hs . "+folder(p.hca)+"/ports/1/hw_counters/*")
	}
	return []string{"sh", "-c", strings.Join(steps, "; ")}
}

// netdevName is printed in place of a network device where hosts have not been asked for theirs.
const netdevName = "NETDEV"

// HostCommands are the commands of Observe, for a preflight. None needs root: the kernel lets every
// user read these files, addresses, statistics (ETHTOOL_GSTATS) and DCB attributes (RTM_GETDCB).
func (g *Gate) HostCommands() []hostcommand.Command {
	nodes, hcas := g.site.NodeNames(), g.site.Fabric.HCAs
	modules := []string{"mlx5_core", "mlx5_ib"}
	of := func(argv, trial []string, read func(ssh.Output) (string, error)) hostcommand.Command {
		return hostcommand.Command{Gate: Name, Hosts: nodes, Argv: argv, Trial: trial, Modules: modules, Read: read}
	}
	qos := of([]string{"mlnx_qos", "-i", netdevName}, []string{"sh", "-c", "command -v mlnx_qos || command -v dcb"}, installed)
	qos.Remedy = "install mlnx_qos (mlnx-tools, with NVIDIA's drivers) or dcb (iproute2 5.11 or newer) on the host"
	commands := []hostcommand.Command{
		of(devicesCommand(hcas), nil, readable(devices)),
		of(linksCommand(), nil, readable(links)),
		of(verbsCommand(hcas), nil, readable(verbs)),
		of([]string{"ethtool", "-S", netdevName}, hostcommand.Installed("ethtool"), installed),
	}
	if g.classified() {
		commands = append(commands, qos)
	}
	return commands
}

// installed is the trial of a program that is not run.
func installed(out ssh.Output) (version string, err error) {
	if out.Exit != 0 {
		return "", errors.New("the program was not found")
	}
	return "", nil
}

// readable is the trial of a command whose output the gate reads.
func readable(parse onhost.Parser) func(ssh.Output) (version string, err error) {
	return func(out ssh.Output) (string, error) {
		_, err := parse(out)
		return "", err
	}
}

// devices ignores the exit code: grep fails if one file of many does not exist.
func devices(out ssh.Output) (any, error) { return roce.ParseDevices(out.Stdout) }

func links(out ssh.Output) (any, error) {
	if out.Exit != 0 {
		return nil, failed(out)
	}
	return roce.ParseLinks(out.Stdout)
}

func verbs(out ssh.Output) (any, error) {
	devices, err := infiniband.ParseDevInfo(out.Stdout)
	if err == nil && out.Exit != 0 {
		err = failed(out)
	}
	return devices, err
}

// qos: the exit code is that of the last command. A section that lacks a table is an error.
func qos(out ssh.Output) (any, error) {
	ports, err := roce.ParseQoS(out.Stdout)
	if err != nil && len(out.Stderr) > 0 {
		err = fmt.Errorf("%w (%.200s)", err, strings.TrimSpace(string(out.Stderr)))
	}
	return ports, err
}

// counters: a counter that is not listed is judged as unobserved.
func counters(out ssh.Output) (any, error) { return roce.ParseCounters(out.Stdout) }

func failed(out ssh.Output) error {
	return fmt.Errorf("output may be incomplete: the command failed: %.200s", strings.TrimSpace(string(out.Stderr)))
}
