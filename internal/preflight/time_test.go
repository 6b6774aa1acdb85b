package preflight

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firstlight/firstlight/internal/gate/hostcommand"
	"github.com/firstlight/firstlight/internal/probe/linuxhost"
	"github.com/firstlight/firstlight/internal/probe/redfish"
	"github.com/firstlight/firstlight/internal/probe/ssh"
	"github.com/firstlight/firstlight/internal/site"
)

// slow answers every command after some seconds.
type slow time.Duration

func (s slow) Run(ctx context.Context, _ string, argv ...string) (ssh.Output, error) {
	select {
	case <-ctx.Done():
		return ssh.Output{}, fmt.Errorf("wait to run %s: %w", argv[0], ctx.Err())
	case <-time.After(time.Duration(s)):
	}
	out := ssh.Output{}
	switch line := strings.Join(argv, " "); {
	case line == strings.Join(linuxhost.ClockCommand(), " "):
		out.Stdout = []byte("1763686800.000000000\n")
	case strings.Contains(line, "/sys/module"):
		out.Stdout = []byte("/sys/module/nvidia\n")
	}
	return out, nil
}

func manyHosts(n int) (names []string) {
	for i := range n {
		names = append(names, fmt.Sprintf("gpu-%04d", i+1))
	}
	return names
}

// A host that the preflight has no time for is unobserved: a thousand sound hosts of 8 s each were reported as obstacles from the
// 400th on. A site of that size has the time.
func TestHostsWithoutTime(t *testing.T) {
	t.Parallel()
	const hosts, atOnce = 1000, 16
	commands := []hostcommand.Command{{Argv: []string{"nvidia-smi"}, Hosts: manyHosts(hosts), Modules: []string{"nvidia"}, Read: func(ssh.Output) (string, error) { return "", nil }}}
	s := &site.Site{Reach: site.Reach{SSH: site.SSH{Concurrency: atOnce}}}
	for _, name := range manyHosts(hosts) {
		s.Inventory.Nodes = append(s.Inventory.Nodes, site.Node{Name: name})
	}
	for within, want := range map[time.Duration]Result{areaWithin: Unobserved, Options{Site: s}.within(areaHosts): OK} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), within)
			defer cancel()
			lines := judgeHosts(observeHosts(ctx, slow(2500*time.Millisecond), commands, atOnce), 0)
			reported := map[string]bool{}
			for _, l := range lines {
				if l.Result == WouldStop || l.Result == Unobserved && !strings.Contains(l.Observed, "ran out of time") {
					t.Fatalf("%s: %+v", within, l)
				}
				reported[l.Target] = true
			}
			if got := overall(lines); got != want || len(reported) != hosts {
				t.Errorf("%s: %s, want %s; lines of %d hosts", within, got, want, len(reported))
			}
		})
	}
}

// Controllers are read concurrently, and one that there is no time for is unobserved.
func TestControllersWithoutTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var controllers []site.Redfish
		for _, name := range manyHosts(60) {
			controllers = append(controllers, site.Redfish{Name: name, Chassis: []string{"1"}})
		}
		read := func(ctx context.Context, r site.Redfish) (redfish.Reading, error) {
			took := 15 * time.Second
			if r.Name == "gpu-0007" {
				took = time.Hour
			}
			select {
			case <-ctx.Done():
				return redfish.Reading{}, ctx.Err()
			case <-time.After(took):
				return redfish.Reading{Controller: r.Name}, nil
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), areaWithin)
		defer cancel()
		lines := judgeFacility(observeControllers(ctx, controllers, read), site.SignOff{}, time.Now())
		lines = slices.DeleteFunc(lines, func(l Line) bool { return l.Check != "Redfish" })
		require(t, "controllers", lines, "unobserved Redfish gpu-0007: the preflight ran out of time")
		if len(lines) != len(controllers) {
			t.Errorf("%d lines", len(lines))
		}
	})
}
