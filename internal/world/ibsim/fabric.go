package ibsim

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/firstlight/firstlight/internal/poll"
	"github.com/firstlight/firstlight/internal/world/daemon"
	"github.com/firstlight/firstlight/internal/world/fabric"
)

// library replaces the umad devices of a program with ibsim.
const library = "/usr/lib/*/umad2sim/libumad2sim.so"

// devices are those of a machine with InfiniBand.
const devices = "/sys/class/infiniband_mad"

// ready is how long a program may take to be ready on a busy machine.
const ready = 3 * time.Minute

// grace is the time between SIGTERM and SIGKILL. Some of the programs ignore SIGTERM when they
// wait for each other.
const grace = time.Second

// Missing is the reason why the programs cannot run here; empty: they can.
func Missing() string {
	for _, p := range []string{"ibsim", "opensm", "sminfo", "iblinkinfo", "ibqueryerrors", "ibstat", "ibnetdiscover", "smpquery"} {
		if _, err := exec.LookPath(program(p)); err != nil {
			return p + " is not installed (Debian: ibsim-utils, opensm, infiniband-diags)"
		}
	}
	if _, err := umad2sim(); err != nil {
		return err.Error()
	}
	return ""
}

// program is a program's path: those of Debian are in /usr/sbin, which a user's PATH may lack.
func program(name string) string {
	if path := filepath.Join("/usr/sbin", name); exists(path) {
		return path
	}
	return name
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func umad2sim() (string, error) {
	found, err := filepath.Glob(library)
	if err != nil || len(found) == 0 {
		return "", errors.New(library + " not found (Debian: libumad2sim0)")
	}
	return found[0], nil
}

// Fabric is a running ibsim. Its programs end with the context of Start.
type Fabric struct {
	dir, library string
	env          []string
	sim          *daemon.Daemon
	console      *os.File
	prompts      int // that the console has shown when it is ready for the next command
}

// Start starts ibsim with a fabric. Its files are in a new directory below dir.
func Start(ctx context.Context, dir string, t fabric.Topology) (*Fabric, error) {
	lib, err := umad2sim()
	if err != nil {
		return nil, err
	}
	net, err := netfile(t)
	if err != nil {
		return nil, fmt.Errorf("write the fabric for ibsim: %w", err)
	}
	if dir, err = os.MkdirTemp(dir, "ibsim-"); err != nil {
		return nil, err
	}
	f := &Fabric{dir: dir, library: lib, prompts: 1}
	// The name of its sockets; there may be others on the machine.
	f.env = append(os.Environ(), fmt.Sprintf("IBSIM_SOCKNAME=%s-%d", filepath.Base(dir), os.Getpid()), "OSM_CACHE_DIR="+dir, "OSM_TMP_DIR="+dir)
	if err := os.WriteFile(filepath.Join(dir, "net"), net, 0o600); err != nil {
		return nil, err
	}
	stdin, console, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	f.console = console // ibsim ends with its input
	args := append(append([]string{"-s"}, room(t)...), "net")
	cmd := exec.Command(program("ibsim"), args...) //nolint:noctx // daemon.Start has the context
	cmd.Stdin, cmd.Dir, cmd.Env = stdin, dir, f.env
	f.sim = daemon.Start(ctx, cmd, grace)
	_ = context.AfterFunc(ctx, func() { _, _ = stdin.Close(), console.Close() }) // ends ibsim; a second Close has no effect
	if err := f.prompt(ctx); err != nil {
		return nil, fmt.Errorf("start ibsim: %w", err)
	}
	return f, nil
}

// room are the options by which ibsim accepts the fabric: it ends beyond 2,048 nodes, 256 switches
// or 13,312 ports without them, and refuses two nodes with one GUID.
func room(t fabric.Topology) []string {
	ports := len(t.HCAs)
	for _, s := range t.Switches {
		ports += s.Ports + 1 // port 0 is that of the switch itself
	}
	return []string{"-I", "-N", strconv.Itoa(len(t.HCAs) + len(t.Switches)), "-S", strconv.Itoa(len(t.Switches)), "-P", strconv.Itoa(ports)}
}

// prompt waits until the console is ready for the next command.
func (f *Fabric) prompt(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, ready)
	defer cancel()
	return poll.Until(ctx, 20*time.Millisecond, "the console of ibsim", func(context.Context) error {
		text := f.sim.Output()
		if n := strings.Count(text, "sim> "); n < f.prompts {
			return fmt.Errorf("%d of %d prompts: %s", n, f.prompts, daemon.Tail(text))
		}
		return f.sim.Alive()
	})
}

// Console runs a command of ibsim's console, such as `Unlink "leaf-0"[3]`.
func (f *Fabric) Console(ctx context.Context, command string) error {
	before := len(f.sim.Output())
	if _, err := f.console.WriteString(command + "\n"); err != nil {
		return fmt.Errorf("ibsim: %s: %w", command, err)
	}
	f.prompts++
	if err := f.prompt(ctx); err != nil {
		return fmt.Errorf("ibsim: %s: %w", command, err)
	}
	if answer := f.sim.Output()[before:]; strings.HasPrefix(answer, "#") || strings.Contains(answer, "\n#") || strings.Contains(answer, "unknown") {
		return fmt.Errorf("ibsim: %s: %s", command, strings.TrimSpace(answer))
	}
	return nil
}

// Run runs a program of infiniband-diags on an adapter ("gpu-02", "mlx5_3") or switch ("leaf-0",
// "") and returns its output and exit code. Its error is that of starting it.
func (f *Fabric) Run(ctx context.Context, node, device string, argv ...string) (stdout, stderr []byte, exit int, err error) {
	return f.run(ctx, f.at(node, device), argv)
}

// RunWithout runs a program without the devices of ibsim, as on a host without InfiniBand devices.
func (f *Fabric) RunWithout(ctx context.Context, argv ...string) (stdout, stderr []byte, exit int, err error) {
	return f.run(ctx, f.env, argv)
}

func (f *Fabric) run(ctx context.Context, env, argv []string) (stdout, stderr []byte, exit int, err error) {
	cmd := exec.CommandContext(ctx, program(argv[0]), argv[1:]...)
	cmd.Args[0], cmd.Dir, cmd.Env = argv[0], f.dir, env // its messages begin with its name
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err = cmd.Run()
	if exited, ok := errors.AsType[*exec.ExitError](err); ok && ctx.Err() == nil {
		return out.Bytes(), errs.Bytes(), exited.ExitCode(), nil
	}
	return out.Bytes(), errs.Bytes(), 0, err
}

// at is the environment of a program on a node.
func (f *Fabric) at(node, device string) []string {
	return append(f.env[:len(f.env):len(f.env)], "LD_PRELOAD="+f.library, "SIM_HOST="+nodeName(fabric.End{Node: node, Device: device}))
}
