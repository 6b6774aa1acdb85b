package ssh_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	cryptossh "golang.org/x/crypto/ssh"

	"github.com/firstlight/firstlight/internal/probe/ssh"
	"github.com/firstlight/firstlight/internal/site"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// echo prints its command line; "fail" exits 3, "wait" runs until it is signalled.
func echo(line string, ch cryptossh.Channel, closed <-chan struct{}) uint32 {
	switch line {
	case "fail":
		_, _ = io.WriteString(ch.Stderr(), "it failed\n")
		return 3
	case "wait":
		<-closed
		return 0
	case "much":
		chunk := bytes.Repeat([]byte("x"), 1<<20)
		for range ssh.MaxOutput>>20 + 1 {
			if _, err := ch.Write(chunk); err != nil {
				return 1
			}
		}
		return 0
	default:
		_, _ = io.WriteString(ch, line)
		return 0
	}
}

func pool(t *testing.T, s *site.Site) *ssh.Pool {
	t.Helper()
	p, err := ssh.NewPool(t.Context(), s, ssh.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

// host starts one host and a pool that knows it as gpu-01.
func host(t *testing.T, run command) (*server, *site.Site) {
	t.Helper()
	user, key := ed25519Key(t)
	h := newServer(t, user.PublicKey(), run)
	return h, newSite(t, key, map[string]*server{"gpu-01": h})
}

func TestRun(t *testing.T) {
	t.Parallel()
	h, s := host(t, echo)
	p := pool(t, s)
	out, err := p.Run(t.Context(), "gpu-01", "nvidia-smi", "-q", "it's two words")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(out.Stdout), `nvidia-smi -q 'it'\''s two words'`; got != want || out.Exit != 0 || out.At.IsZero() || out.Took <= 0 {
		t.Errorf("%q exit %d at %s took %s, want %q", got, out.Exit, out.At, out.Took, want)
	}
	out, err = p.Run(t.Context(), "gpu-01", "fail")
	if err != nil || out.Exit != 3 || string(out.Stderr) != "it failed\n" {
		t.Errorf("%+v, %v", out, err)
	}
	if n := h.logins.Load(); n != 1 {
		t.Errorf("%d logins for two commands, want 1", n)
	}
}

func TestRunRefuses(t *testing.T) {
	t.Parallel()
	_, s := host(t, echo)
	p := pool(t, s)
	if _, err := p.Run(t.Context(), "gpu-01"); err == nil {
		t.Error("ran nothing")
	}
	if _, err := p.Run(t.Context(), "gpu-99", "true"); err == nil || !strings.Contains(err.Error(), "inventory") {
		t.Errorf("a missing host: %v", err)
	}
	if _, err := p.Run(t.Context(), "gpu-01", "much"); !errors.Is(err, ssh.ErrTooMuchOutput) {
		t.Errorf("257 MiB: %v", err)
	}
}

func TestReconnects(t *testing.T) {
	t.Parallel()
	h, s := host(t, echo)
	p := pool(t, s)
	for i := range 3 {
		if _, err := p.Run(t.Context(), "gpu-01", "true"); err != nil {
			t.Fatalf("after %d lost connections: %v", i, err)
		}
		h.hangUp()
	}
	if n := h.logins.Load(); n != 3 {
		t.Errorf("%d logins, want 3", n)
	}
}

func TestUnreachable(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		spoil  func(t *testing.T, h *server, s *site.Site)
		remedy string
	}{
		"no listener": {func(t *testing.T, h *server, _ *site.Site) {
			t.Helper()
			_ = h.listener.Close()
		}, "powered"},
		"unknown host key": {func(t *testing.T, _ *server, s *site.Site) {
			t.Helper()
			write(t, s.Reach.SSH.KnownHostsFile, nil)
		}, "knownHostsFile"},
		"changed host key": {func(t *testing.T, h *server, _ *site.Site) {
			t.Helper()
			fresh, _ := ed25519Key(t)
			h.config.AddHostKey(fresh)
		}, "knownHostsFile"},
		"wrong user key": {func(t *testing.T, _ *server, s *site.Site) {
			t.Helper()
			_, key := ed25519Key(t)
			write(t, s.Reach.SSH.IdentityFile, key)
		}, "identityFile"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h, s := host(t, echo)
			tt.spoil(t, h, s)
			_, err := pool(t, s).Run(t.Context(), "gpu-01", "true")
			u, ok := errors.AsType[*ssh.UnreachableError](err)
			if !ok || !errors.Is(err, ssh.ErrUnreachable) {
				t.Fatalf("%v, want an UnreachableError", err)
			}
			if !strings.Contains(u.Remedy(), tt.remedy) || u.Host != "gpu-01" {
				t.Errorf("%s: remedy %q, want it to name %s", u.Host, u.Remedy(), tt.remedy)
			}
		})
	}
}

func TestACommandHasItsTime(t *testing.T) {
	t.Parallel()
	_, s := host(t, echo)
	s.Reach.SSH.Timeout = site.Duration(200 * time.Millisecond)
	p := pool(t, s)
	if _, err := p.Run(t.Context(), "gpu-01", "wait"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
}

// A host that accepts connections and then falls silent must not hold up its
// caller beyond the time it has.
func TestSilentHosts(t *testing.T) {
	t.Parallel()
	for name, silence := range map[string]func(*server){
		"no handshake": func(h *server) { h.silent.Store(true) },
		"no session":   func(h *server) { h.mute.Store(true) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h, s := host(t, echo)
			silence(h)
			p := pool(t, s)
			ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
			defer cancel()
			if _, err := p.Run(ctx, "gpu-01", "true"); !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, ssh.ErrUnreachable) {
				t.Errorf("%v", err)
			}
			h.silent.Store(false)
			h.mute.Store(false)
			if _, err := p.Run(t.Context(), "gpu-01", "true"); err != nil {
				t.Errorf("it speaks again: %v", err)
			}
		})
	}
}

// A host that does not answer the request of a terminal must not hold up the caller of a load beyond the time it has.
func TestNoAnswerToTheTerminal(t *testing.T) {
	t.Parallel()
	h, s := host(t, echo)
	h.noTerminal.Store(true)
	p := pool(t, s)
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	returned := make(chan error, 1)
	go func() {
		_, err := p.Run(ssh.WithLoad(ctx, time.Minute), "gpu-01", "true")
		returned <- err
	}()
	select {
	case err := <-returned:
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
	case <-time.After(20 * time.Second):
		t.Error("the command did not return at the end of its context")
		h.hangUp()
		<-returned
	}
}

func TestConcurrency(t *testing.T) {
	t.Parallel()
	user, key := ed25519Key(t)
	release := make(chan struct{})
	h := newServer(t, user.PublicKey(), func(string, cryptossh.Channel, <-chan struct{}) uint32 {
		<-release
		return 0
	})
	for name, tt := range map[string]struct {
		site, want int32
		hosts      int
	}{"the site's": {3, 3, 12}, "a host's": {32, 8, 1}} {
		servers := map[string]*server{}
		for i := range tt.hosts {
			servers[fmt.Sprintf("gpu-%02d", i+1)] = h
		}
		s := newSite(t, key, servers)
		s.Reach.SSH.Concurrency = int(tt.site)
		p := pool(t, s)
		h.most.Store(0)
		var wg sync.WaitGroup
		for i := range 12 {
			wg.Go(func() {
				if _, err := p.Run(t.Context(), fmt.Sprintf("gpu-%02d", i%tt.hosts+1), "true"); err != nil {
					t.Error(err)
				}
			})
		}
		for range 12 {
			release <- struct{}{}
		}
		wg.Wait()
		if most := h.most.Load(); most > tt.want {
			t.Errorf("%s limit: %d commands at a time, want at most %d", name, most, tt.want)
		}
	}
}

// The commands of a host share a slot: one in parallel with a long one does not wait for the long ones of other hosts, and a command on
// a host without a slot does.
func TestCommandsOfAHostShareASlot(t *testing.T) {
	t.Parallel()
	user, key := ed25519Key(t)
	release, started := make(chan struct{}), make(chan struct{})
	h := newServer(t, user.PublicKey(), func(line string, _ cryptossh.Channel, _ <-chan struct{}) uint32 {
		if line == "long" {
			started <- struct{}{}
			<-release
		}
		return 0
	})
	s := newSite(t, key, map[string]*server{"gpu-01": h, "gpu-02": h})
	s.Reach.SSH.Concurrency = 1
	p := pool(t, s)
	var long sync.WaitGroup
	long.Go(func() {
		if _, err := p.Run(t.Context(), "gpu-01", "long"); err != nil {
			t.Error(err)
		}
	})
	<-started
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for range 3 {
		if _, err := p.Run(ctx, "gpu-01", "short"); err != nil {
			t.Error(err)
		}
	}
	waits, end := context.WithCancel(ctx)
	other := make(chan error, 1)
	go func() {
		_, err := p.Run(waits, "gpu-02", "short")
		other <- err
	}()
	select {
	case err := <-other:
		t.Errorf("another host did not wait: %v", err)
		other <- err
	case <-time.After(300 * time.Millisecond): // a command takes some ms
	}
	end()
	if err := <-other; !errors.Is(err, context.Canceled) {
		t.Errorf("another host at the end of its context: %v", err)
	}
	go func() {
		_, err := p.Run(ctx, "gpu-02", "short")
		other <- err
	}()
	close(release)
	long.Wait()
	if err := <-other; err != nil {
		t.Errorf("after the long command: %v", err)
	}
}

func TestClosed(t *testing.T) {
	t.Parallel()
	_, s := host(t, echo)
	p := pool(t, s)
	if _, err := p.Run(t.Context(), "gpu-01", "true"); err != nil {
		t.Fatal(err)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Run(t.Context(), "gpu-01", "true"); err == nil {
		t.Error("a closed pool ran a command")
	}
}

func TestNewPoolRefuses(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		spoil func(t *testing.T, s *site.Site)
		want  string
	}{
		"no identity":     {func(_ *testing.T, s *site.Site) { s.Reach.SSH.IdentityFile += ".gone" }, "identityFile"},
		"no known hosts":  {func(_ *testing.T, s *site.Site) { s.Reach.SSH.KnownHostsFile += ".gone" }, "knownHostsFile"},
		"not a key":       {func(t *testing.T, s *site.Site) { t.Helper(); write(t, s.Reach.SSH.IdentityFile, []byte("hunter2")) }, "identity"},
		"not known hosts": {func(t *testing.T, s *site.Site) { t.Helper(); write(t, s.Reach.SSH.KnownHostsFile, []byte("a b c\n")) }, "known"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, key := ed25519Key(t)
			s := newSite(t, key, nil)
			s.Inventory.Nodes = []site.Node{{Name: "gpu-01"}}
			tt.spoil(t, s)
			_, err := ssh.NewPool(t.Context(), s, ssh.Options{})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("%v, want it to name %s", err, tt.want)
			}
			if strings.Contains(err.Error(), "hunter2") {
				t.Error("the error shows the key")
			}
		})
	}
}
