package host

import (
	"bytes"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/world"
)

// call is one command on one host.
type call struct {
	state    world.State
	node     world.Node
	args     []string // without the command
	out, err bytes.Buffer
	files    map[string]string // of sysfs, once it is needed
}

func (c *call) printf(format string, a ...any) { fmt.Fprintf(&c.out, format, a...) }
func (c *call) errorf(format string, a ...any) { fmt.Fprintf(&c.err, format, a...) }

// has reports whether one of the flags is an argument.
func (c *call) has(flags ...string) bool {
	return slices.ContainsFunc(c.args, func(a string) bool { return slices.Contains(flags, a) })
}

type tool func(*call) int

// The programs of the GPU driver and of DCGM.
const (
	smiProgram  = "nvidia-smi"
	dcgmProgram = "dcgmi"
	// managerProgram is the fabric manager, which is in the driver's container with the driver.
	managerProgram = "nv-fabricmanager"
	imexProgram    = "nvidia-imex-ctl"
)

// installed reports whether a host has a program.
func installed(n world.Node, program string) bool {
	_, ok := tools()[program]
	return ok && n.ToolMissing != program && (!n.InboxDrivers || program != "mlnx_qos") && (!n.ToolsInPods || program != smiProgram && program != dcgmProgram && program != managerProgram) &&
		(n.FabricManager.Version != "" || program != managerProgram) && (n.IMEX.Version != "" || program != imexProgram)
}

func tools() map[string]tool {
	return map[string]tool{
		smiProgram:      nvidiaSMI,
		dcgmProgram:     dcgmi,
		managerProgram:  nvFabricManager,
		imexProgram:     imexCtl,
		"systemctl":     systemctl,
		"readlink":      readlink,
		"ibstat":        ibstat,
		"ibv_devinfo":   ibvDevinfo,
		"sminfo":        sminfo,
		"iblinkinfo":    iblinkinfo,
		"ibqueryerrors": ibqueryerrors,
		"ibdiagnet":     ibdiagnet,
		"ibnetdiscover": ibnetdiscover,
		"dmesg":         dmesg,
		"lspci":         lspci,
		"ethtool":       ethtool,
		"fi_info":       fiInfo,
		"mlnx_qos":      mlnxQoS,
		"dcb":           dcb,
		"ip":            ipAddr,
		"uname":         uname,
		"hostname":      hostname,
		"cat":           cat,
		"grep":          grep,
		"date":          date,
		"ls":            ls,
		"command":       command,
		"echo":          echo,
		"true":          func(*call) int { return 0 },
		"false":         func(*call) int { return 1 },
	}
}

// Run runs argv on a host and returns its output and exit code.
func Run(ctx context.Context, state world.State, node string, argv []string) (stdout, stderr []byte, exit int) {
	if err := ctx.Err(); err != nil {
		return nil, []byte(err.Error() + "\n"), 130
	}
	n, ok := state.Node(node)
	if !ok {
		return nil, fmt.Appendf(nil, "unknown host: %s\n", node), 255
	}
	if stdout, stderr, exit, done := asRoot(n, argv); done {
		return stdout, stderr, exit
	}
	argv = strip(argv)
	if len(argv) == 0 {
		return nil, nil, 0
	}
	if !installed(n, path.Base(argv[0])) {
		return nil, fmt.Appendf(nil, "bash: %s: command not found\n", argv[0]), 127
	}
	return start(state, n, argv)
}

func start(state world.State, n world.Node, argv []string) (stdout, stderr []byte, exit int) {
	c := &call{state: state, node: n, args: argv[1:]}
	exit = tools()[path.Base(argv[0])](c)
	return c.out.Bytes(), c.err.Bytes(), exit
}

// Loads reports whether a command is a diagnostic that loads the host's GPUs: level 2 and above.
func Loads(argv []string) bool {
	if len(argv) > 1 && argv[0] == "sudo" && slices.Contains(argv[:len(argv)-len(strip(argv))], "-l") {
		return false // it is only listed
	}
	argv = strip(argv)
	if len(argv) == 0 || path.Base(argv[0]) != dcgmProgram {
		return false
	}
	c := &call{args: argv[1:]}
	level, ok := c.level()
	return c.has("diag") && ok && level > 1
}

// strip removes wrappers: sudo, env with its assignments, timeout.
func strip(argv []string) []string {
	for len(argv) > 0 {
		switch {
		case argv[0] == "sudo" || argv[0] == "env":
			argv = argv[1:]
			for len(argv) > 0 && strings.HasPrefix(argv[0], "-") {
				argv = argv[1:]
			}
		case argv[0] == "timeout" && len(argv) > 1:
			argv = argv[2:]
		case strings.Contains(argv[0], "=") && !strings.HasPrefix(argv[0], "="):
			argv = argv[1:]
		default:
			return argv
		}
	}
	return argv
}
