package sshd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	gossh "golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"

	"github.com/firstlight/firstlight/internal/poll/polltest"
	"github.com/firstlight/firstlight/internal/world"
	"github.com/firstlight/firstlight/internal/world/worldtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func start(t *testing.T) (*world.World, *Server) {
	t.Helper()
	spec := world.DefaultSpec(2)
	for i := range spec.GPUNodes {
		// A separate address: no other process takes its port while it is closed.
		spec.GPUNodes[i].Address = fmt.Sprintf("127.83.%d.%d", len(t.Name()), i+1)
	}
	w, err := world.New(spec, worldtest.Shared(t))
	if err != nil {
		t.Fatal(err)
	}
	s, err := Start(context.WithoutCancel(t.Context()), w, Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	return w, s
}

func dial(t *testing.T, s *Server, node, user string) (*gossh.Client, error) {
	t.Helper()
	data, err := os.ReadFile(s.IdentityFile)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := gossh.ParsePrivateKey(data)
	if err != nil {
		t.Fatal(err)
	}
	check, err := knownhosts.New(s.KnownHostsFile)
	if err != nil {
		t.Fatal(err)
	}
	return gossh.Dial("tcp", s.Nodes[node], &gossh.ClientConfig{
		User: user, Auth: []gossh.AuthMethod{gossh.PublicKeys(signer)}, HostKeyCallback: check, Timeout: time.Minute,
	})
}

func TestCommandsOverSSH(t *testing.T) {
	t.Parallel()
	_, s := start(t)
	client, err := dial(t, s, "gpu-02", User)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	for _, tt := range []struct {
		name, command, out, err string
		exit                    int
	}{
		{"host name", "uname -n", "gpu-02\n", "", 0},
		{"quoted words", `'nvidia-smi' "--query-gpu=index" --format=csv,noheader`, "0\n1\n2\n3\n4\n5\n6\n7\n", "", 0},
		{"unknown command", "rm -rf /", "", "bash: rm: command not found\n", 127},
		{"sequence", "false && echo no || echo yes; uname -n", "yes\ngpu-02\n", "", 0},
		{"a shell's own line", `sh -c 'hostname && false || echo "no"; false'`, "gpu-02\nno\n", "", 1},
		{"redirection", "nosuch 2>&1", "bash: nosuch: command not found\n", "", 127},
		{"no pipes", "ibstat | head", "", "bash: '|' is not supported on this host\n", 2},
		{"a script", "sh -c 'echo =a=; uname -n 2>&1; false'", "=a=\ngpu-02\n", "", 1},
		{"a script's pipes", "sh -c 'ibstat | head'", "", "bash: '|' is not supported on this host\n", 2},
		{"missing file", "cat /etc/shadow", "", "cat: /etc/shadow: No such file or directory\n", 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			sess, err := client.NewSession()
			if err != nil {
				t.Fatal(err)
			}
			var out, errOut bytes.Buffer
			sess.Stdout, sess.Stderr = &out, &errOut
			err = sess.Run(tt.command)
			exit := 0
			var exitErr *gossh.ExitError
			if errors.As(err, &exitErr) {
				exit = exitErr.ExitStatus()
			} else if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]any{tt.out, tt.err, tt.exit}, []any{out.String(), errOut.String(), exit}); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestLoginOnATerminal(t *testing.T) {
	t.Parallel()
	_, s := start(t)
	client, err := dial(t, s, "gpu-01", User)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	sess, err := client.NewSession()
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	sess.Stdout = &out
	sess.Stdin = strings.NewReader("uname -n\rexit\r")
	if err := sess.RequestPty("xterm", 24, 80, nil); err != nil {
		t.Fatal(err)
	}
	if err := sess.Shell(); err != nil {
		t.Fatal(err)
	}
	if err := sess.Wait(); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "gpu-01:~$ ") || !strings.Contains(out.String(), "\r\ngpu-01\r\n") {
		t.Errorf("terminal showed %q", out.String())
	}
}

// Swapped addresses reach the other host until the fault is cleared.
func TestSwappedAddresses(t *testing.T) {
	t.Parallel()
	w, s := start(t)
	name := func(node string) string {
		client, err := dial(t, s, node, User)
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close() //nolint:errcheck // nothing is left in it
		sess, err := client.NewSession()
		if err != nil {
			t.Fatal(err)
		}
		out, err := sess.Output("sh -c 'uname -n'")
		if err != nil {
			t.Fatal(err)
		}
		return string(out)
	}
	f, err := w.AddFault(world.Fault{Kind: "ssh-hosts-swapped", Target: "gpu-01"})
	if err != nil {
		t.Fatal(err)
	}
	if a, b := name("gpu-01"), name("gpu-02"); a != "gpu-02\n" || b != "gpu-01\n" {
		t.Errorf("swapped, they are %q and %q", a, b)
	}
	if err := w.ClearFault(f.ID); err != nil {
		t.Fatal(err)
	}
	if a := name("gpu-01"); a != "gpu-01\n" {
		t.Errorf("put right, it is %q", a)
	}
}

// A diagnostic loads the GPUs until an nvidia-smi has run; locked clocks show then and not at
// idle.
func TestDiagnosticLoadsTheGPUs(t *testing.T) {
	t.Parallel()
	w, s := start(t)
	if _, err := w.AddFault(world.Fault{Kind: "clocks-locked", Target: "gpu-01/gpu1"}); err != nil {
		t.Fatal(err)
	}
	client, err := dial(t, s, "gpu-01", User)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	output := func(command string) string {
		sess, err := client.NewSession()
		if err != nil {
			t.Error(err)
			return ""
		}
		out, err := sess.Output(command)
		if err != nil {
			t.Error(err)
		}
		return string(out)
	}
	const query = "nvidia-smi --query-gpu=utilization.gpu,clocks.sm --format=csv,noheader"
	rest := strings.Repeat("0 %, 345 MHz\n", 8)
	if got := output(query); got != rest {
		t.Errorf("at rest: %s", got)
	}
	var diag string
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		diag = output("dcgmi diag -r 3 -j")
	}()
	want := "100 %, 1755 MHz\n100 %, 1500 MHz\n" + strings.Repeat("100 %, 1755 MHz\n", 6)
	polltest.Until(t, "GPUs under load", func() bool {
		select {
		case <-ended:
			t.Fatal("the diagnostic ended without load")
		default:
		}
		return output(query) == want
	})
	<-ended
	if !strings.Contains(diag, "Pass") {
		t.Errorf("the diagnostic said %s", diag)
	}
	if got := output(query); got != rest {
		t.Errorf("at rest again: %s", got)
	}
}

func TestLoginRefused(t *testing.T) {
	t.Parallel()
	_, s := start(t)
	if _, err := dial(t, s, "gpu-01", "root"); err == nil {
		t.Error("another user got in")
	}
	data, err := os.ReadFile(s.IdentityFile)
	if err != nil {
		t.Fatal(err)
	}
	stranger := &Server{Nodes: s.Nodes, KnownHostsFile: s.KnownHostsFile, IdentityFile: t.TempDir() + "/other"}
	if _, err := makeKey(stranger.IdentityFile, "x"); err != nil {
		t.Fatal(err)
	}
	if _, err := dial(t, stranger, "gpu-01", User); err == nil {
		t.Error("another key got in")
	}
	info, err := os.Stat(s.IdentityFile)
	if err != nil || info.Mode().Perm() != 0o600 || len(data) == 0 {
		t.Errorf("identity file: mode %v, %v", info.Mode(), err)
	}
}

func TestUnreachableHostRecovers(t *testing.T) {
	t.Parallel()
	w, s := start(t)
	f, err := w.AddFault(world.Fault{Kind: "host-unreachable", Target: "gpu-02"})
	if err != nil {
		t.Fatal(err)
	}
	polltest.Until(t, "gpu-02 to refuse connections", func() bool {
		c, err := dial(t, s, "gpu-02", User)
		if err == nil {
			_ = c.Close()
		}
		return err != nil
	})
	c, err := dial(t, s, "gpu-01", User)
	if err != nil {
		t.Fatalf("the other host is gone too: %v", err)
	}
	_ = c.Close()
	if err := w.ClearFault(f.ID); err != nil {
		t.Fatal(err)
	}
	polltest.Until(t, "gpu-02 to be back", func() bool {
		c, err := dial(t, s, "gpu-02", User)
		if err == nil {
			_ = c.Close()
		}
		return err == nil
	})
}
