package node

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/firstlight/firstlight/internal/probe/infiniband"
	"github.com/firstlight/firstlight/internal/probe/linuxhost"
	"github.com/firstlight/firstlight/internal/probe/nvidia"

	"github.com/firstlight/firstlight/internal/probe/ssh"
	"github.com/firstlight/firstlight/internal/probe/sudo"
)

// command is one command on a host.
type command struct {
	kind string
	argv []string
	// root: the command needs root.
	root bool
	// optional: the gate notes that the host cannot run it, and a preflight does not try it.
	optional bool
	// parse returns the figures of the output.
	parse func(ssh.Output) (any, error)
	// trial, if set, replaces argv in a preflight, and read parses its output.
	trial []string
	read  func(ssh.Output) (version string, err error)
	// modules are the kernel modules that the program needs.
	modules []string
	// remedy is the next action if a preflight cannot run it; empty: install the program.
	remedy string
}

// usesDriver reports whether the command runs nvidia-smi or dcgmi, which do not end where the driver hangs.
func (c command) usesDriver() bool { return slices.Contains(c.modules, "nvidia") || c.kind == kindHost }

// commands run on every host in this order: the kernel log last, so that it includes errors
// during the diagnostic.
func (g *Gate) commands() []command {
	level := strconv.Itoa(int(g.profile.Node.DiagnosticLevel.Value))
	driver := []string{"nvidia"}
	query := command{kind: kindBefore, argv: []string{"nvidia-smi", "-q", "-x"}, parse: smi, read: driverVersion, modules: driver}
	linkErrors := command{kind: kindErrorsBefore, argv: []string{"nvidia-smi", "nvlink", "-e"}, parse: nvlinkErrors, modules: driver}
	commands := []command{
		query,
		{kind: kindNVLinks, argv: []string{"nvidia-smi", "nvlink", "-s"}, parse: nvlinks, modules: driver},
	}
	if g.rails() {
		commands = append(commands, command{kind: kindHCAs, argv: []string{"ibstat"}, parse: hcas, modules: []string{"mlx5_ib"}})
	}
	commands = append(commands, command{kind: kindHost, argv: linuxhost.Command(), parse: hostFacts})
	if g.peers() && !g.lowLoad {
		commands = append(commands, command{kind: kindBridges, argv: linuxhost.BridgesCommand(), root: true, optional: true, parse: bridges})
	}
	if g.switches() {
		commands = append(commands, command{kind: kindManager, argv: nvidia.FabricManagerCommand(), parse: fabricManager, read: managerVersion, remedy: remedyManagerSeen})
	}
	if g.imex() {
		commands = append(commands, command{kind: kindIMEX, argv: nvidia.IMEXCommand(), parse: imexFigures, read: imexTrial, remedy: remedyIMEXSeen})
	}
	if g.nvlinks() {
		commands = append(commands, linkErrors)
	}
	kernel := command{kind: kindKernel, argv: []string{"dmesg"}, root: true, parse: kernelLog, remedy: remedyKernelLog}
	if g.lowLoad {
		return append(commands, kernel)
	}
	commands = append(commands, command{
		kind: kindDiag, argv: []string{"dcgmi", "diag", "-r", level, "-p", g.generation(), "-j"}, root: true, parse: diagnostic,
		trial: nvidia.DiscoveryCommand(), read: discovery, modules: driver, remedy: remedyDCGM,
	})
	query.kind, linkErrors.kind = kindAfter, kindErrorsAfter
	commands = append(commands, query)
	if g.nvlinks() {
		commands = append(commands, linkErrors)
	}
	return append(commands, kernel)
}

// argv is the command line of a command on the site's hosts.
func (g *Gate) argv(c command) []string {
	if c.root {
		return sudo.Argv(g.site.Reach.SSH, c.argv)
	}
	return c.argv
}

// lines are the command lines of commands on the site's hosts.
func (g *Gate) lines(commands []command) []string {
	var out []string
	for _, c := range commands {
		out = append(out, ssh.Quote(g.argv(c)))
	}
	return out
}

// RootCommands are the commands that need root.
func (g *Gate) RootCommands() [][]string {
	var out [][]string
	for _, c := range g.commands() {
		if c.root {
			out = append(out, c.argv)
		}
	}
	return out
}

// generation is the parameter of DCGM's pcie test for the profile's PCIe generation, checked
// while it copies, since an idle link may run at a lower one. DCGM's default is generation 3.
func (g *Gate) generation() string {
	return "pcie.h2d_d2h_single_pinned.min_pci_generation=" + strconv.FormatFloat(g.profile.GPU.PCIeGen.Value, 'f', -1, 64)
}

// nvlinks reports whether the GPUs have NVLinks and error counters.
func (g *Gate) nvlinks() bool { return g.profile.GPU.NVLinks.Value > 0 }

// rails reports whether nodes have adapters of a compute fabric. Without them, ibstat is not
// required.
func (g *Gate) rails() bool { return len(g.site.Fabric.HCAs) > 0 }

// peers reports whether GPUs exchange data with adapters, or with other GPUs, over PCIe.
func (g *Gate) peers() bool { return g.rails() || !g.nvlinks() && g.gpus() > 1 }

func bridges(out ssh.Output) (any, error) {
	if out.Exit != 0 {
		return nil, failed(out)
	}
	found, err := linuxhost.ParseBridges(out.Stdout)
	if err != nil {
		return nil, err
	}
	return bridgeFigures{Bridges: found}, nil
}

func smi(out ssh.Output) (any, error) {
	trouble, err := nvidia.ParseSMIErrors(out.Stdout, out.Stderr)
	if err != nil {
		return nil, err
	}
	f := smiFigures{Trouble: trouble}
	log, err := nvidia.ParseSMI(out.Stdout)
	switch {
	case err == nil:
		f.Log = &log
	case !f.Trouble.Any():
		return nil, err
	}
	if out.Exit != 0 && !f.Trouble.Any() && len(f.Trouble.Faulty) == 0 {
		return nil, failed(out)
	}
	return f, nil
}

func nvlinks(out ssh.Output) (any, error) {
	gpus, err := nvidia.ParseNVLinks(out.Stdout)
	if err != nil {
		return nil, err
	}
	trouble, err := nvidia.ParseSMIErrors(out.Stdout, out.Stderr)
	if err != nil {
		return nil, err
	}
	if out.Exit != 0 && !trouble.Any() && len(trouble.Faulty) == 0 {
		return nil, failed(out)
	}
	return linkFigures{GPUs: gpus}, nil
}

func nvlinkErrors(out ssh.Output) (any, error) {
	gpus, err := nvidia.ParseNVLinkErrors(out.Stdout)
	if err != nil {
		return nil, err
	}
	return errorFigures{GPUs: gpus}, nil
}

// hostFacts parses the output of several commands and ignores the exit code. Missing facts
// are nil.
func hostFacts(out ssh.Output) (any, error) {
	h, err := linuxhost.Parse(out.Stdout)
	if err != nil {
		return nil, err
	}
	return hostFigures{Host: h, AskedAt: out.At, AnsweredAt: out.At.Add(out.Took)}, nil
}

func hcas(out ssh.Output) (any, error) {
	found, err := infiniband.ParseStat(out.Stdout)
	if err != nil {
		return nil, err
	}
	if out.Exit != 0 {
		return nil, failed(out)
	}
	return hcaFigures{HCAs: found}, nil
}

// diagnostic parses the document first: dcgmi writes one with exit codes 205 and 226.
func diagnostic(out ssh.Output) (any, error) {
	outcome, meaning := nvidia.DiagExit(out.Exit)
	diag, err := nvidia.ParseDiag(out.Stdout)
	if err != nil {
		return nil, fmt.Errorf("%w (%s)", err, meaning)
	}
	return diagFigures{Outcome: outcome, Meaning: meaning, Diag: diag}, nil
}

func kernelLog(out ssh.Output) (any, error) {
	if out.Exit != 0 {
		return nil, failed(out)
	}
	log, err := nvidia.ParseXids(out.Stdout)
	if err != nil {
		return nil, err
	}
	return log, nil
}

// failed quotes the output of a failed command.
func failed(out ssh.Output) error {
	for _, stream := range [][]byte{out.Stderr, out.Stdout} {
		line, _, _ := bytes.Cut(bytes.TrimSpace(stream), []byte("\n"))
		if len(line) > 0 && !bytes.HasPrefix(line, []byte("<?xml")) {
			return fmt.Errorf("the command failed: %.200s", line)
		}
	}
	return errors.New("the command failed without output")
}
