package node

import (
	"errors"
	"fmt"

	"github.com/firstlight/firstlight/internal/gate/hostcommand"
	"github.com/firstlight/firstlight/internal/probe/nvidia"
	"github.com/firstlight/firstlight/internal/probe/ssh"
)

const (
	remedyDCGM      = "install DCGM 3 or later on the host and start its host engine: systemctl enable --now nvidia-dcgm"
	remedyKernelLog = "let the site's user read the kernel log: root, or sysctl kernel.dmesg_restrict=0 on the host"
)

// oldestDCGM is the oldest major version whose diagnostic the gate reads: see nvidia.ParseDiag.
const oldestDCGM = 3

// HostCommands are the commands of Observe, for a preflight.
func (g *Gate) HostCommands() []hostcommand.Command {
	var hosts []string
	for _, n := range g.site.Inventory.Nodes {
		hosts = append(hosts, n.Name)
	}
	var out []hostcommand.Command
	for _, c := range g.commands() {
		if c.optional {
			continue
		}
		h := hostcommand.Command{
			Gate: Name, Hosts: hosts, Argv: c.argv, Trial: c.trial, Read: c.readTrial(), Modules: c.modules, Remedy: c.remedy,
		}
		if c.root {
			out = append(out, h.AsRoot(g.site.Reach.SSH)...)
		} else {
			out = append(out, h)
		}
	}
	return out
}

// readTrial parses the output of a trial as Observe parses that of the command, unless the
// command has a parser of its own.
func (c command) readTrial() func(ssh.Output) (string, error) {
	if c.read != nil {
		return c.read
	}
	return func(out ssh.Output) (string, error) {
		_, err := c.parse(out)
		return "", err
	}
}

// driverVersion refuses an nvidia-smi that reaches no driver. Lost GPUs are judged by the gate.
func driverVersion(out ssh.Output) (string, error) {
	parsed, err := smi(out)
	if err != nil {
		return "", err
	}
	f, ok := parsed.(smiFigures)
	switch {
	case !ok || !f.read():
		return "", errors.New("nvidia-smi printed no document")
	case f.Trouble.NVML != "":
		return "", errors.New(f.Trouble.NVML)
	case f.Log == nil:
		return "", nil
	}
	return f.Log.Driver, nil
}

// discovery refuses a dcgmi that is too old, or that reaches no host engine.
func discovery(out ssh.Output) (string, error) {
	d, err := nvidia.ParseDiscovery(out.Stdout)
	switch {
	case err != nil && len(out.Stderr) > 0:
		return "", fmt.Errorf("%w; stderr: %.200q", err, out.Stderr)
	case err != nil:
		return "", err
	case d.Major < oldestDCGM:
		return "", fmt.Errorf("DCGM %s is too old: its diagnostic cannot be read, want %d or later", d.Version, oldestDCGM)
	}
	return d.Version, nil
}
