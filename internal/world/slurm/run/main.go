// Command run accepts a Slurm cluster of this machine: a real slurmctld, slurmdbd and slurmd of Debian's
// packages, over simulated hosts and a simulated fabric. Its argument is the program firstlight; others are
// passed to firstlight accept.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/firstlight/firstlight/internal/site"
	"github.com/firstlight/firstlight/internal/world"
	"github.com/firstlight/firstlight/internal/world/slurm"
	"github.com/firstlight/firstlight/internal/world/sshd"
)

// nodes of the cluster, with gpus each of a type that slurm.conf has.
const (
	nodes   = 4
	gpus    = 8
	gpuType = "h100"
)

// packages are those of Debian that have the programs.
const packages = "slurm-wlm slurmdbd munge mariadb-server"

func main() {
	if exit, is := slurm.Task(context.Background(), os.Stdout, os.Stderr); is { //nolint:forbidigo // the program's own
		os.Exit(exit)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM) //nolint:forbidigo // the program's own
	exit, err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "slurm:", err)
		exit = 3
	}
	os.Exit(exit)
}

func run(ctx context.Context, args []string) (exit int, err error) {
	if len(args) == 0 {
		return 0, errors.New("name the program firstlight")
	}
	if slurm.Missing() != "" && os.Geteuid() == 0 {
		if err := install(ctx); err != nil {
			return 0, err
		}
	}
	if why := slurm.Missing(); why != "" {
		return 0, errors.New(why)
	}
	dir, err := os.MkdirTemp("", "firstlight-slurm-")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	w, err := slurm.NewWorld(nodes, nil)
	if err != nil {
		return 0, err
	}
	server, err := sshd.Start(ctx, w, sshd.Options{Dir: dir, Forward: true})
	if err != nil {
		return 0, err
	}
	defer server.Stop()
	var names []string
	for _, n := range w.State().GPUNodes() {
		names = append(names, n.Name)
	}
	fmt.Fprintf(os.Stderr, "starting slurmctld, slurmdbd and %d slurmd\n", nodes)
	cluster, err := slurm.Start(ctx, dir, slurm.Options{Nodes: names, GPUs: gpus, Type: gpuType})
	if cluster != nil {
		defer cluster.Close()
	}
	if err != nil {
		return 0, err
	}
	if err := cluster.Programs(nodes, nil); err != nil {
		return 0, err
	}
	file := filepath.Join(dir, "slurm.yaml")
	if err := os.WriteFile(file, siteFile(w, server, names, cluster.Setup()), 0o600); err != nil {
		return 0, err
	}
	cmd := exec.CommandContext(ctx, args[0], append([]string{"accept", "--spine", site.SpineSlurm, "--site", file}, args[1:]...)...)
	cmd.Env, cmd.Stdout, cmd.Stderr = cluster.Env(), os.Stdout, os.Stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	err = cmd.Run()
	if exited, ok := errors.AsType[*exec.ExitError](err); ok {
		return exited.ExitCode(), nil
	}
	return 0, err
}

// install installs the packages on Debian. No service of them starts: the cluster has its own.
func install(ctx context.Context) (err error) {
	fmt.Fprintln(os.Stderr, "installing", packages)
	const policy = "/usr/sbin/policy-rc.d"
	if _, err := os.Stat(policy); errors.Is(err, os.ErrNotExist) {
		if err := os.WriteFile(policy, []byte("#!/bin/sh\nexit 101\n"), 0o755); err != nil { //nolint:gosec // a program
			return err
		}
		defer func() { err = errors.Join(err, os.Remove(policy)) }()
	}
	for _, args := range []string{"update -q", "install -q -y --no-install-recommends " + packages} {
		cmd := exec.CommandContext(ctx, "apt-get", strings.Fields(args)...)
		cmd.Env, cmd.Stdout, cmd.Stderr = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive"), os.Stderr, os.Stderr
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("apt-get %s: %w", args, err)
		}
	}
	return nil
}

// siteFile is the example's site with the hosts and the fabric of a world, and this machine as login host.
func siteFile(w *world.World, server *sshd.Server, names []string, setup string) []byte {
	var inventory, switches []string
	for _, name := range names {
		inventory = append(inventory, fmt.Sprintf("    - {name: %s, address: %q}", name, server.Nodes[name]))
	}
	for _, s := range w.State().Switches {
		switches = append(switches, s.Name)
	}
	text := string(site.SlurmExample())
	begin, end := strings.Index(text, "    - {name: gpu-01}"), strings.Index(text, "  systemNodes:")
	text = text[:begin] + strings.Join(inventory, "\n") + "\n" + text[end:]
	return []byte(strings.NewReplacer(
		"name: slurm-1", "name: slurm-simulated", "  systemNodes:\n    - {name: login-01}\n", "", "    user: ops\n", "    user: "+server.User+"\n    identityFile: "+server.IdentityFile+"\n",
		"knownHostsFile: known_hosts", "knownHostsFile: "+server.KnownHostsFile, "    become: sudo", "    # become: sudo",
		"[leaf-1, leaf-2, spine-1, spine-2]", "["+strings.Join(switches, ", ")+"]", "links: 48", fmt.Sprintf("links: %d", len(w.State().Links)), "soak: 10m", "soak: 20s",
		"  loginHost: login-01", "  local: true", "containers: pyxis", "containers: none", "mpi: pmix", "mpi: none", "    image: registry", "    # image: registry", "  # setup: module load cuda", "  setup: "+setup,
	).Replace(text))
}
