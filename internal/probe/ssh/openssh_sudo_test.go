package ssh_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/probe/ssh"
	"github.com/firstlight/firstlight/internal/probe/ssh/opensshtest"
	"github.com/firstlight/firstlight/internal/probe/sudo"
	"github.com/firstlight/firstlight/internal/site"
)

// becoming is a host whose user may run what sudoers says, in a mount namespace of its own.
type becoming struct {
	h    *opensshtest.Server
	site *site.Site
	pool *ssh.Pool
	// bin has the programs that the rules name.
	bin string
}

func newBecoming(t *testing.T) *becoming {
	t.Helper()
	return newBecomingOn(t, opensshtest.Start)
}

// newBecomingOn is newBecoming on a server that start starts.
func newBecomingOn(t *testing.T, start func(*testing.T, ...string) *opensshtest.Server) *becoming {
	t.Helper()
	for _, program := range []string{"sudo", "visudo"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip("needs sudo: apt-get install sudo")
		}
	}
	if os.Getuid() != 0 {
		t.Skip("needs root, to give a user of a mount namespace its sudoers file")
	}
	b := &becoming{}
	b.h, b.site = siteOf(t, start(t))
	b.site.Reach.SSH.Become = site.Sudo
	b.bin = b.h.File("bin")
	if err := os.Mkdir(b.bin, 0o755); err != nil {
		t.Fatal(err)
	}
	b.program(t, "dcgmi", `echo "$(id -u): $*"; exit 226`)
	b.program(t, "dmesg", `echo "$(id -u): $*"`)
	b.program(t, "sminfo", `echo "$(id -u)"; echo "sminfo: failed" >&2; exit 1`)
	b.sudoers(t)
	var err error
	if b.pool, err = ssh.NewPool(t.Context(), b.site, ssh.Options{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.pool.Close() })
	return b
}

func (b *becoming) program(t *testing.T, name, script string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(b.bin, name), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
}

// sudoers replaces the rules of the host; visudo must accept them.
func (b *becoming) sudoers(t *testing.T, rules ...string) {
	t.Helper()
	file := filepath.Join(b.h.File("sudoers.d"), "firstlight")
	text := fmt.Sprintf("Defaults secure_path=\"%s:/usr/sbin:/usr/bin\"\n%s\n", b.bin, strings.Join(rules, "\n"))
	if err := os.WriteFile(file, []byte(text), 0o440); err != nil {
		t.Fatal(err)
	}
	opensshtest.Tool(t, "visudo", "-cf", file)
}

func (b *becoming) rule(t *testing.T, command ...string) string {
	t.Helper()
	rule, err := sudo.Rule(b.h.User, command, map[string]string{command[0]: filepath.Join(b.bin, command[0])})
	if err != nil {
		t.Fatal(err)
	}
	return rule
}

func (b *becoming) run(t *testing.T, command ...string) (ssh.Output, error) {
	t.Helper()
	return b.pool.Run(t.Context(), "gpu-01", sudo.Argv(b.site.Reach.SSH, command)...)
}

var diagnostic = []string{"dcgmi", "diag", "-r", "3", "-p", "pcie.h2d_d2h_single_pinned.min_pci_generation=5", "-j"}

// The rules allow exactly the commands that they are made of.
func TestOpenSSHSudo(t *testing.T) {
	t.Parallel()
	b := newBecoming(t)
	b.sudoers(t, b.rule(t, diagnostic...), b.rule(t, "dmesg"), b.rule(t, "sminfo"))
	for want, command := range map[string][]string{
		"0: " + strings.Join(diagnostic[1:], " "): diagnostic, "0: ": {"dmesg"},
	} {
		out, err := b.run(t, command...)
		if err != nil || strings.TrimRight(string(out.Stdout), "\n") != want {
			t.Errorf("%v: %q, %v, want %q", command, out.Stdout, err, want)
		}
	}
	if out, err := b.run(t, diagnostic...); err != nil || out.Exit != 226 {
		t.Errorf("exit %d, %v: the exit code of the command is not kept", out.Exit, err)
	}
	// A command that is allowed and exits 1, as sudo does when it refuses, is not refused.
	if out, err := b.run(t, "sminfo"); err != nil || out.Exit != 1 || string(out.Stdout) != "0\n" {
		t.Errorf("%q exit %d, %v", out.Stdout, out.Exit, err)
	}
	b.sudoers(t, b.rule(t, "sminfo"), "Defaults fqdn") // sudo warns that it cannot resolve the host's name
	if out, err := b.run(t, "sminfo"); err != nil || out.Exit != 1 {
		t.Errorf("exit %d, %v, stderr %q", out.Exit, err, out.Stderr)
	}
	b.sudoers(t, b.rule(t, diagnostic...), b.rule(t, "dmesg"))
	// A command without sudo does not run as root.
	if name, err := whoami(t, b.site, ssh.Options{}); err != nil || name != b.h.User {
		t.Errorf("%q, %v", name, err)
	}
	for _, command := range [][]string{{"dmesg", "--clear"}, {"dcgmi", "diag", "-r", "3"}, append(slices.Clone(diagnostic), "-v"), {"dcgmi"}, {"sh", "-c", "id"}} {
		if _, err := b.run(t, command...); !isRefused(err) {
			t.Errorf("%v is allowed: %v", command, err)
		}
	}
}

func isRefused(err error) bool {
	_, ok := errors.AsType[*sudo.RefusedError](err)
	return ok
}

// A refusal names the host, the command, sudo's reason and the line that allows the command.
func TestOpenSSHSudoRefused(t *testing.T) {
	t.Parallel()
	b := newBecoming(t)
	user := b.h.User
	for name, tt := range map[string]struct {
		rules   []string
		command []string
		want    []string
	}{
		"no rule":           {nil, []string{"dmesg"}, []string{"gpu-01", `"dmesg"`, "password is required", user + ` ALL=(root) NOPASSWD: /usr/bin/dmesg ""`, "firstlight accept sudoers"}},
		"other command":     {[]string{b.rule(t, "sminfo")}, []string{"dmesg"}, []string{"password is required", `/usr/bin/dmesg ""`}},
		"other arguments":   {[]string{b.rule(t, "dcgmi", "diag", "-r", "1")}, diagnostic, []string{"password is required", `/usr/bin/dcgmi diag -r 3 -p pcie.h2d_d2h_single_pinned.min_pci_generation\=5 -j`}},
		"not authenticated": {[]string{b.rule(t, "sminfo"), "Defaults:" + user + " !authenticate"}, []string{"dmesg"}, []string{"is not allowed to execute", `/usr/bin/dmesg ""`}},
		"with a password":   {[]string{b.rule(t, "sminfo"), user + " ALL=(root) PASSWD: " + b.bin + "/dmesg"}, []string{"dmesg"}, []string{"password is required"}},
		"needs a terminal":  {[]string{b.rule(t, "dmesg"), "Defaults:" + user + " requiretty"}, []string{"dmesg"}, []string{"tty"}},
		"missing program":   {[]string{b.rule(t, "dmesg"), user + " ALL=(root) NOPASSWD: ALL"}, []string{"dcgmproftester99", "-l"}, []string{"dcgmproftester99: command not found", "secure_path"}},
		"unresolvable host": {[]string{"Defaults fqdn"}, []string{"dmesg"}, []string{"password is required"}},
	} {
		// One after the other: the host has one sudoers file.
		b.sudoers(t, tt.rules...)
		out, err := b.run(t, tt.command...)
		if !isRefused(err) {
			t.Errorf("%s: %v, stdout %q, stderr %q", name, err, out.Stdout, out.Stderr)
			continue
		}
		for _, want := range tt.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v has not %q", name, err, want)
			}
		}
	}
}

// Without sudo on the host the remedy is to install it. The shell is the login user's.
func TestOpenSSHNoSudo(t *testing.T) {
	t.Parallel()
	h, s := opensshSite(t, "SetEnv PATH=/nonexistent")
	s.Reach.SSH.Become = site.Sudo
	p, err := ssh.NewPool(t.Context(), s, ssh.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close() //nolint:errcheck // a test's
	_, err = p.Run(t.Context(), "gpu-01", sudo.Argv(s.Reach.SSH, []string{"dmesg"})...)
	if !isRefused(err) || !strings.Contains(err.Error(), "install sudo") || !strings.Contains(err.Error(), h.User) {
		t.Errorf("%v", err)
	}
}
