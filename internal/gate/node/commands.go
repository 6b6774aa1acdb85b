package node

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"

	"github.com/firstlight/firstlight/internal/probe/infiniband"
	"github.com/firstlight/firstlight/internal/probe/linuxhost"
	"github.com/firstlight/firstlight/internal/probe/nvidia"

	"github.com/firstlight/firstlight/internal/probe/ssh"
)

// command is one look at a host.
type command struct {
	kind string
	argv []string
	// parse makes figures of the output, or says why it can't.
	parse func(ssh.Output) (any, error)
}

// commands are run on every host in this order: the kernel log last, so that it
// has what the diagnostic provoked.
func (g *Gate) commands() []command {
	level := strconv.Itoa(int(g.profile.Node.DiagnosticLevel.Value))
	commands := []command{
		{kindBefore, []string{"nvidia-smi", "-q", "-x"}, smi},
		{kindNVLinks, []string{"nvidia-smi", "nvlink", "-s"}, nvlinks},
	}
	if g.rails() {
		commands = append(commands, command{kindHCAs, []string{"ibstat"}, hcas})
	}
	commands = append(commands, command{kindHost, linuxhost.Command(), hostFacts})
	if g.nvlinks() {
		commands = append(commands, command{kindErrorsBefore, []string{"nvidia-smi", "nvlink", "-e"}, nvlinkErrors})
	}
	commands = append(commands,
		command{kindDiag, []string{"dcgmi", "diag", "-r", level, "-p", g.generation(), "-j"}, diagnostic},
		command{kindAfter, []string{"nvidia-smi", "-q", "-x"}, smi})
	if g.nvlinks() {
		commands = append(commands, command{kindErrorsAfter, []string{"nvidia-smi", "nvlink", "-e"}, nvlinkErrors})
	}
	return append(commands, command{kindKernel, []string{"dmesg"}, kernelLog})
}

// generation is the parameter by which DCGM's pcie test demands the profile's PCIe
// generation while it copies: at rest a link may run at a lower one. Its own demand is
// generation 3 for every card.
func (g *Gate) generation() string {
	return "pcie.h2d_d2h_single_pinned.min_pci_generation=" + strconv.FormatFloat(g.profile.GPU.PCIeGen.Value, 'f', -1, 64)
}

// nvlinks tells that the GPUs have NVLinks, and so counters of their errors.
func (g *Gate) nvlinks() bool { return g.profile.GPU.NVLinks.Value > 0 }

// rails tells that nodes have adapters of a compute fabric: without them neither
// ibstat nor an answer of it has to be on the host.
func (g *Gate) rails() bool { return len(g.site.Fabric.HCAs) > 0 }

func smi(out ssh.Output) (any, error) {
	trouble, err := nvidia.ParseSMIErrors(out.Stdout, out.Stderr)
	if err != nil {
		return nil, err //nolint:wrapcheck // says what it was doing
	}
	f := smiFigures{Trouble: trouble}
	log, err := nvidia.ParseSMI(out.Stdout)
	switch {
	case err == nil:
		f.Log = &log
	case !f.Trouble.Any():
		return nil, err //nolint:wrapcheck // says what it was doing
	}
	if out.Exit != 0 && !f.Trouble.Any() {
		return nil, failed(out)
	}
	return f, nil
}

func nvlinks(out ssh.Output) (any, error) {
	gpus, err := nvidia.ParseNVLinks(out.Stdout)
	if err != nil {
		return nil, err //nolint:wrapcheck // says what it was doing
	}
	trouble, err := nvidia.ParseSMIErrors(out.Stdout, out.Stderr)
	if err != nil {
		return nil, err //nolint:wrapcheck // says what it was doing
	}
	if out.Exit != 0 && !trouble.Any() {
		return nil, failed(out)
	}
	return linkFigures{GPUs: gpus}, nil
}

func nvlinkErrors(out ssh.Output) (any, error) {
	gpus, err := nvidia.ParseNVLinkErrors(out.Stdout)
	if err != nil {
		return nil, err //nolint:wrapcheck // says what it was doing
	}
	return errorFigures{GPUs: gpus}, nil
}

// hostFacts takes the output of several commands, whatever the last one exited with: what
// one of them could not say is left out.
func hostFacts(out ssh.Output) (any, error) {
	h, err := linuxhost.Parse(out.Stdout)
	if err != nil {
		return nil, err //nolint:wrapcheck // says what it was doing
	}
	return hostFigures{Host: h, AskedAt: out.At, AnsweredAt: out.At.Add(out.Took)}, nil
}

func hcas(out ssh.Output) (any, error) {
	found, err := infiniband.ParseStat(out.Stdout)
	if err != nil {
		return nil, err //nolint:wrapcheck // says what it was doing
	}
	if out.Exit != 0 {
		return nil, failed(out)
	}
	return hcaFigures{HCAs: found}, nil
}

// diagnostic reads the document first: dcgmi exits 205 and 226 with one.
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
		return nil, err //nolint:wrapcheck // says what it was doing
	}
	return log, nil
}

// failed quotes what a command said when it should have done its work.
func failed(out ssh.Output) error {
	for _, stream := range [][]byte{out.Stderr, out.Stdout} {
		line, _, _ := bytes.Cut(bytes.TrimSpace(stream), []byte("\n"))
		if len(line) > 0 && !bytes.HasPrefix(line, []byte("<?xml")) {
			return fmt.Errorf("the command failed: %.200s", line)
		}
	}
	return errors.New("the command failed without a word")
}
