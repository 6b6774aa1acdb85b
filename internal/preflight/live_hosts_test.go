package preflight_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/firstlight/firstlight/internal/site"
	"github.com/firstlight/firstlight/internal/world"
)

// fault injects a fault until the obstacle is removed.
func fault(kind, target string, options ...string) func(*testing.T, *planted) {
	return func(t *testing.T, p *planted) {
		t.Helper()
		f := world.Fault{Kind: kind, Target: target, Options: map[string]string{}}
		for i := 0; i+1 < len(options); i += 2 {
			f.Options[options[i]] = options[i+1]
		}
		p.undo = append(p.undo, p.lab.Fault(t, f))
	}
}

// swapHostKey gives gpu-03 the key of gpu-02 in a copy of known_hosts.
func swapHostKey(t *testing.T, p *planted) {
	t.Helper()
	data, err := os.ReadFile(p.site.Reach.SSH.KnownHostsFile)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(data, []byte("\n")) // in the order of the nodes
	_, key, _ := bytes.Cut(lines[1], []byte(" "))
	address, _, _ := bytes.Cut(lines[2], []byte(" "))
	lines[2] = append(append(bytes.Clone(address), ' '), key...)
	path := filepath.Join(t.TempDir(), "known_hosts")
	if err := os.WriteFile(path, bytes.Join(lines, nil), 0o600); err != nil {
		t.Fatal(err)
	}
	p.site.Reach.SSH.KnownHostsFile = path
}

// refusesSudo logs in without root, on a host whose sudo runs nothing.
func refusesSudo(how string) func(*testing.T, *planted) {
	return func(t *testing.T, p *planted) {
		t.Helper()
		p.site.Reach.SSH.Become = site.Sudo
		fault("sudo-refused", "gpu-02", "how", how)(t, p)
	}
}

var hostObstacles = []obstacle{
	{name: "sudo with a password", plant: refusesSudo(world.SudoPassword), what: "sudo", target: "gpu-02", seen: "sudo: a password is required"},
	{name: "sudo with a terminal", plant: refusesSudo(world.SudoTerminal), what: "sudo", target: "gpu-02", seen: "sorry, you must have a tty to run sudo"},
	{name: "sudo without a rule", plant: refusesSudo(world.SudoRule), what: "sudo", target: "gpu-02", seen: "does not run dcgmi, dmesg as root for user"},
	{name: "host down", plant: fault("host-unreachable", "gpu-02"), what: "ssh", target: "gpu-02", seen: "unreachable"},
	{name: "host key changed", plant: swapHostKey, what: "ssh", target: "gpu-03", seen: "host key of"},
	{name: "dcgmi missing", plant: fault("tool-missing", "gpu-02"), what: "dcgmi", target: "gpu-02", seen: "not found"},
	{name: "nvidia-smi missing", plant: fault("tool-missing", "gpu-03", "tool", "nvidia-smi"), what: "nvidia-smi", target: "gpu-03", seen: "not found"},
	{name: "host engine down", plant: fault("hostengine-down", "gpu-04"), what: "dcgmi", target: "gpu-04", seen: "Unable to connect to host engine"},
	{name: "kernel log unreadable", plant: fault("kernel-log-restricted", "gpu-03"), what: "dmesg", target: "gpu-03", seen: "Operation not permitted"},
	{name: "kernel module missing", plant: fault("umad-module-missing", "gpu-01"), what: "kernel modules", target: "gpu-01", seen: "ib_umad"},
	{name: "clock skew", plant: fault("clock-skew", "gpu-03"), what: "clock", target: "gpu-03", seen: "differs"},
}
