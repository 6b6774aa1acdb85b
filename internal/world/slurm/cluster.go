package slurm

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/firstlight/firstlight/internal/poll"
	"github.com/firstlight/firstlight/internal/world/daemon"
)

// ready is how long a program may take to be ready on a busy machine.
const ready = 3 * time.Minute

// grace is the time between SIGTERM and SIGKILL: slurmctld saves its state when it ends.
const grace = 10 * time.Second

// Partition is the only partition.
const Partition = "batch"

// Missing is the reason why the programs cannot run here; empty: they can.
func Missing() string {
	if os.Geteuid() != 0 {
		return "a Slurm cluster of tests needs root"
	}
	for _, p := range []string{"slurmctld", "slurmd", "slurmdbd", "munged", "mariadbd", "mariadb-install-db", "scontrol", "srun", "sacct"} {
		if _, err := exec.LookPath(program(p)); err != nil {
			return p + " is not installed (Debian: slurm-wlm, slurmdbd, munge, mariadb-server)"
		}
	}
	return ""
}

// program is a program's path: those of Debian are in /usr/sbin, which a user's PATH may lack.
func program(name string) string {
	path := filepath.Join("/usr/sbin", name)
	if _, err := os.Stat(path); err == nil {
		return path
	}
	return name
}

// Options of a cluster.
type Options struct {
	Nodes []string
	// GPUs of each node, of this type.
	GPUs int
	Type string
}

// Settings are what a test can change of a running cluster; the zero value is healthy.
type Settings struct {
	NoProlog, NoEpilog, NoAccounting, NoGPURecords bool
	// Configured is another number of GPUs of a node in slurm.conf, Reported in gres.conf.
	Configured, Reported map[string]int
}

// Cluster is a running cluster. Its programs end with the context of Start.
type Cluster struct {
	options                      Options
	settings                     Settings
	dir                          string
	env                          []string
	controllerPort, databasePort int
	nodePorts                    []int
	running                      map[string]*daemon.Daemon
	// start starts a program, which ends with the context of Start, also if it is started later.
	start func(*exec.Cmd) *daemon.Daemon
}

// Start starts a cluster and waits until every node is idle. Its files are in a new directory below dir.
func Start(ctx context.Context, dir string, o Options) (*Cluster, error) {
	dir, err := os.MkdirTemp(dir, "slurm-")
	if err != nil {
		return nil, err
	}
	c := &Cluster{options: o, dir: dir, running: map[string]*daemon.Daemon{}, start: func(cmd *exec.Cmd) *daemon.Daemon { return daemon.Start(ctx, cmd, grace) }}
	for _, sub := range []string{"munge", "dev", "state", "bin", "tmp"} {
		if err := os.Mkdir(c.path(sub), 0o700); err != nil {
			return nil, err
		}
	}
	for i := range o.GPUs {
		if err := os.WriteFile(c.device(i), nil, 0o600); err != nil {
			return nil, err
		}
	}
	ports, err := freePorts(2 + len(o.Nodes))
	if err != nil {
		return nil, err
	}
	c.controllerPort, c.databasePort, c.nodePorts = ports[0], ports[1], ports[2:]
	for _, e := range os.Environ() {
		if !strings.HasPrefix(e, "SLURM_") && !strings.HasPrefix(e, "PATH=") {
			c.env = append(c.env, e)
		}
	}
	c.env = append(c.env, "SLURM_CONF="+c.path("slurm.conf"), "PATH="+c.path("bin")+":/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C")
	for _, hook := range []string{"prolog", "epilog"} {
		if err := c.Hook(hook, ""); err != nil {
			return nil, err
		}
	}
	if err := c.write(); err != nil {
		return nil, err
	}
	for _, step := range []func(context.Context) error{c.startMunge, c.startMariaDB, c.StartSlurmdbd, c.StartSlurmctld, c.startNodes, c.Idle} {
		if err := step(ctx); err != nil {
			return c, err
		}
	}
	return c, nil
}

func (c *Cluster) path(name string) string { return filepath.Join(c.dir, name) }

// freePorts are ports on which nothing listens now.
func freePorts(n int) ([]int, error) {
	var out []int
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // it returns at once
		if err != nil {
			return nil, err
		}
		defer l.Close()
		out = append(out, l.Addr().(*net.TCPAddr).Port)
	}
	return out, nil
}

func (c *Cluster) write() error {
	for name, text := range map[string]string{"slurm.conf": c.slurmConf(), "gres.conf": c.gresConf(), "slurmdbd.conf": c.slurmdbdConf()} {
		if err := os.WriteFile(c.path(name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// Hook replaces the prolog or epilog by a script, which fails where it exits with another code than 0.
func (c *Cluster) Hook(name, script string) error {
	return c.script(c.path(name), script+"\nexit 0\n")
}

// Program puts a script into the PATH of jobs.
func (c *Cluster) Program(name, script string) error { return c.script(c.path("bin/"+name), script) }

func (c *Cluster) script(path, text string) error {
	if err := os.WriteFile(path+".new", []byte("#!/bin/sh\n"+text), 0o600); err != nil {
		return err
	}
	if err := os.Chmod(path+".new", 0o700); err != nil { //nolint:gosec // a program
		return err
	}
	return os.Rename(path+".new", path) // a running script keeps its file
}

// launch starts a program and waits until it is up.
func (c *Cluster) launch(ctx context.Context, name string, env []string, up func(context.Context) error, argv ...string) error {
	cmd := exec.Command(program(argv[0]), argv[1:]...) //nolint:noctx // daemon.Start has the context
	cmd.Dir, cmd.Env = c.dir, append(slices.Clone(c.env), env...)
	p := c.start(cmd)
	c.running[name] = p
	ctx, cancel := context.WithTimeout(ctx, ready)
	defer cancel()
	return poll.Until(ctx, 50*time.Millisecond, "the start of "+name, func(ctx context.Context) error {
		if err := p.Alive(); err != nil {
			return poll.Stop(fmt.Errorf("%s: %w", name, err))
		}
		return up(ctx)
	})
}

func dials(network, address string) func(context.Context) error {
	return func(ctx context.Context) error {
		conn, err := (&net.Dialer{}).DialContext(ctx, network, address)
		if err == nil {
			err = conn.Close()
		}
		return err
	}
}

func (c *Cluster) startMunge(ctx context.Context) error {
	key := make([]byte, 128)
	_, _ = rand.Read(key) // never fails
	if err := os.WriteFile(c.path("munge/key"), key, 0o600); err != nil {
		return err
	}
	return c.launch(ctx, "munged", nil, dials("unix", c.path("munge/socket")), "munged", "-F", "--force", "--num-threads=4", "--socket="+c.path("munge/socket"),
		"--key-file="+c.path("munge/key"), "--pid-file="+c.path("munge/pid"), "--log-file="+c.path("munge/log"), "--seed-file="+c.path("munge/seed"))
}

func (c *Cluster) startMariaDB(ctx context.Context) error {
	install := exec.CommandContext(ctx, program("mariadb-install-db"), "--no-defaults", "--user=root", "--datadir="+c.path("mariadb"), "--auth-root-authentication-method=normal", "--skip-test-db")
	// MariaDB deletes the temporary tables of other servers in its directory when it starts.
	tmp := "TMPDIR=" + c.path("tmp")
	install.Env = append(slices.Clone(c.env), tmp)
	if out, err := install.CombinedOutput(); err != nil {
		// Its last lines are general advice: the cause is before them.
		return fmt.Errorf("mariadb-install-db: %w: %s", err, out[:min(len(out), 2000)])
	}
	return c.launch(ctx, "mariadbd", []string{tmp}, dials("unix", c.path("mariadb.socket")), "mariadbd", "--no-defaults", "--user=root", "--datadir="+c.path("mariadb"),
		"--socket="+c.path("mariadb.socket"), "--skip-networking", "--skip-grant-tables", "--pid-file="+c.path("mariadb.pid"), "--innodb-buffer-pool-size=32M",
		"--innodb-flush-log-at-trx-commit=0")
}

// StartSlurmdbd starts the daemon of the accounting database.
func (c *Cluster) StartSlurmdbd(ctx context.Context) error {
	return c.launch(ctx, "slurmdbd", []string{"SLURM_CONF=" + c.path("slurmdbd.conf"), "MYSQL_UNIX_PORT=" + c.path("mariadb.socket")},
		dials("tcp", net.JoinHostPort("localhost", strconv.Itoa(c.databasePort))), "slurmdbd", "-D")
}

// StartSlurmctld starts the controller.
func (c *Cluster) StartSlurmctld(ctx context.Context) error {
	return c.launch(ctx, "slurmctld", nil, func(ctx context.Context) error {
		out, errs, exit, err := c.Run(ctx, "scontrol", "ping")
		if err == nil && exit != 0 {
			err = fmt.Errorf("scontrol ping: %s%s", out, errs)
		}
		return err
	}, "slurmctld", "-D")
}

// StartNode starts the slurmd of a node.
func (c *Cluster) StartNode(ctx context.Context, node string) error {
	i := slices.Index(c.options.Nodes, node)
	if i < 0 {
		return fmt.Errorf("unknown node %s", node)
	}
	return c.launch(ctx, node, nil, dials("tcp", net.JoinHostPort("localhost", strconv.Itoa(c.nodePorts[i]))), "slurmd", "-D", "-N", node)
}

func (c *Cluster) startNodes(ctx context.Context) error {
	var errs []error
	for _, node := range c.options.Nodes {
		errs = append(errs, c.StartNode(ctx, node))
	}
	return errors.Join(errs...)
}

// Stop ends a program: slurmctld, slurmdbd, or the slurmd of a node by its name.
func (c *Cluster) Stop(name string) {
	if p := c.running[name]; p != nil {
		p.Stop()
		delete(c.running, name)
	}
}

// Close ends all programs, those that need others first.
func (c *Cluster) Close() {
	for _, name := range append(slices.Clone(c.options.Nodes), "slurmctld", "slurmdbd", "mariadbd", "munged") {
		c.Stop(name)
	}
}

// Set restarts Slurm with other settings, and waits until idle returns.
func (c *Cluster) Set(ctx context.Context, s Settings, idle func(context.Context) error) error {
	c.settings = s
	if err := c.write(); err != nil {
		return err
	}
	for _, name := range append(slices.Clone(c.options.Nodes), "slurmctld") {
		c.Stop(name)
	}
	for _, step := range []func(context.Context) error{c.StartSlurmctld, c.startNodes, idle} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// Idle waits until every node is idle, and resumes drained nodes.
func (c *Cluster) Idle(ctx context.Context) error {
	return c.States(ctx, func(states []string) error {
		for i, state := range states {
			if state == "IDLE" {
				continue
			}
			if strings.Contains(state, "DRAIN") || strings.HasPrefix(state, "DOWN") {
				_, _, _, _ = c.Run(ctx, "scontrol", "update", "NodeName="+c.options.Nodes[i], "State=RESUME")
			}
			return fmt.Errorf("node %s is %s", c.options.Nodes[i], state)
		}
		return nil
	})
}

// States waits until the states of all nodes, as scontrol prints them, are as wanted.
func (c *Cluster) States(ctx context.Context, wanted func(states []string) error) error {
	ctx, cancel := context.WithTimeout(ctx, ready)
	defer cancel()
	return poll.Until(ctx, 100*time.Millisecond, "the states of nodes", func(ctx context.Context) error {
		out, errs, exit, err := c.Run(ctx, "scontrol", "show", "nodes", "-o")
		if err != nil || exit != 0 {
			return errors.Join(fmt.Errorf("scontrol show nodes: %s", errs), err)
		}
		var states []string
		for line := range strings.Lines(string(out)) {
			_, rest, _ := strings.Cut(line, " State=")
			state, _, _ := strings.Cut(rest, " ")
			states = append(states, state)
		}
		if len(states) != len(c.options.Nodes) {
			return fmt.Errorf("%d nodes", len(states))
		}
		return wanted(states)
	})
}

// Env is the environment of a login host.
func (c *Cluster) Env() []string { return slices.Clone(c.env) }

// Run runs a client command as on a login host, and returns its output and exit code. Its error is
// that of starting it.
func (c *Cluster) Run(ctx context.Context, argv ...string) (stdout, stderr []byte, exit int, err error) {
	cmd := exec.CommandContext(ctx, program(argv[0]), argv[1:]...)
	cmd.Dir, cmd.Env = c.dir, c.env
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = grace
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err = cmd.Run()
	if exited, ok := errors.AsType[*exec.ExitError](err); ok && ctx.Err() == nil {
		return out.Bytes(), errs.Bytes(), exited.ExitCode(), nil
	}
	return out.Bytes(), errs.Bytes(), 0, err
}
