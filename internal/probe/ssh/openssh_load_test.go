package ssh_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/probe/ssh"
	"github.com/firstlight/firstlight/internal/probe/ssh/opensshtest"
	"github.com/firstlight/firstlight/internal/probe/sudo"
)

// A diagnostic that sudo runs as root ends with its session: the login user may not send it a signal, and without a
// terminal it ran on after the timeout of its command.
func TestOpenSSHLoadEndsWithItsSession(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(b *becoming, cancel func()){
		"the end of the context":    func(_ *becoming, cancel func()) { cancel() },
		"the end of the connection": func(b *becoming, _ func()) { b.h.HangUp() },
		"the end of the pool":       func(b *becoming, _ func()) { _ = b.pool.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBecomingOn(t, opensshtest.StartAsRoot)
			file := b.h.File("pid")
			b.program(t, "dcgmi", fmt.Sprintf(`echo "$(id -u) $$" > %s.new; mv %s.new %s; exec sleep 600`, file, file, file))
			b.sudoers(t, b.rule(t, diagnostic...))
			ctx, cancel := context.WithCancel(ssh.WithLoad(t.Context(), 2*loaded))
			defer cancel()
			ended := make(chan error, 1)
			go func() {
				_, err := b.pool.Run(ctx, "gpu-01", sudo.Argv(b.site.Reach.SSH, diagnostic)...)
				ended <- err
			}()
			var pid int
			eventually(t, "the diagnostic", func() (err error) {
				select {
				case err := <-ended:
					t.Fatalf("it ended: %v", err)
				default:
				}
				data, err := os.ReadFile(file)
				if err != nil {
					return err
				}
				user, id, _ := strings.Cut(strings.TrimSpace(string(data)), " ")
				if user != "0" {
					t.Fatalf("it runs as user %s", user)
				}
				pid, err = strconv.Atoi(id)
				return err
			})
			t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGKILL) }) // where the test has failed
			end(b, cancel)
			if err := <-ended; err == nil {
				t.Error("the command has no error")
			}
			eventually(t, "the end of the diagnostic", func() error {
				if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
					return fmt.Errorf("process %d: %w", pid, err)
				}
				return nil
			})
		})
	}
}

// The output and the exit code of a load are those of any command, with sudo's reason if it refuses, and also on a host
// that allows no terminal.
func TestOpenSSHLoad(t *testing.T) {
	t.Parallel()
	b := newBecomingOn(t, opensshtest.StartAsRoot)
	b.program(t, "dcgmi", `printf '{\n "a": 1\n}\n'; test -t 1 && printf terminal; exit 226`)
	ctx := ssh.WithLoad(t.Context(), time.Second)
	if _, err := b.pool.Run(ctx, "gpu-01", sudo.Argv(b.site.Reach.SSH, diagnostic)...); !isRefused(err) || !strings.Contains(err.Error(), "a password is required") {
		t.Errorf("not refused: %v", err)
	}
	b.sudoers(t, b.rule(t, diagnostic...))
	out, err := b.pool.Run(ctx, "gpu-01", sudo.Argv(b.site.Reach.SSH, diagnostic)...)
	if got, want := string(out.Stdout), "{\n \"a\": 1\n}\nterminal"; err != nil || out.Exit != 226 || got != want {
		t.Errorf("%q, exit %d, %v, want %q", got, out.Exit, err, want)
	}
	_, s := siteOf(t, opensshtest.StartAsRoot(t, "PermitTTY no"))
	p, err := ssh.NewPool(t.Context(), s, ssh.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close() //nolint:errcheck // a test's
	if out, err := p.Run(ctx, "gpu-01", "echo", "ran"); err != nil || string(out.Stdout) != "ran\n" {
		t.Errorf("without a terminal: %q, %v", out.Stdout, err)
	}
}
