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

// Controllers are read concurrently. One that does not answer in its own time is an obstacle, and one that the area has no time for is unobserved.
func TestControllersWithoutTime(t *testing.T) {
	t.Parallel()
	for within, want := range map[time.Duration]string{
		2 * areaWithin:  "would-stop Redfish gpu-0007: did not answer within 3m0s",
		2 * time.Minute: "unobserved Redfish gpu-0007: the preflight ran out of time",
	} {
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
			ctx, cancel := context.WithTimeout(t.Context(), within)
			defer cancel()
			lines := judgeFacility(observeControllers(ctx, controllers, read), site.SignOff{}, time.Now())
			lines = slices.DeleteFunc(lines, func(l Line) bool { return l.Check != "Redfish" })
			require(t, "controllers", lines, want)
			if len(lines) != len(controllers) {
				t.Errorf("%d lines", len(lines))
			}
		})
	}
}

// hanging answers all commands but one at once, and that one never.
type hanging string

func (h hanging) Run(ctx context.Context, host string, argv ...string) (ssh.Output, error) {
	if argv[0] == string(h) {
		<-ctx.Done()
		return ssh.Output{}, ctx.Err()
	}
	return slow(time.Second).Run(ctx, host, argv...)
}

// A host that hangs while the preflight has time is an obstacle.
func TestAHostThatHangs(t *testing.T) {
	t.Parallel()
	commands := []hostcommand.Command{}
	for _, program := range []string{"one", "two", "three", "four"} {
		commands = append(commands, hostcommand.Command{Argv: []string{program}, Hosts: manyHosts(1), Read: func(ssh.Output) (string, error) { return "", nil }})
	}
	for name, tt := range map[string]struct {
		hosts Hosts
		want  string
	}{
		"the first command": {hanging(linuxhost.ClockCommand()[0]), "would-stop ssh gpu-0001: did not answer within 3m0s"},
		"every program":     {allButTheClock{}, "would-stop programs gpu-0001: three: did not answer within 3m0s"},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := &site.Site{Inventory: site.Inventory{Nodes: make([]site.Node, 1)}, Reach: site.Reach{SSH: site.SSH{Concurrency: 16}}}
			ctx, cancel := context.WithTimeout(t.Context(), Options{Site: s}.within(areaHosts))
			defer cancel()
			lines := judgeHosts(observeHosts(ctx, tt.hosts, commands, 1), 0)
			if !slices.ContainsFunc(lines, func(l Line) bool {
				return strings.HasPrefix(fmt.Sprintf("%s %s %s: %s", l.Result, l.Check, l.Target, l.Observed), tt.want)
			}) {
				t.Errorf("%s: %+v, want %q", name, lines, tt.want)
			}
		})
	}
}

// allButTheClock answers the first command alone.
type allButTheClock struct{}

func (allButTheClock) Run(ctx context.Context, host string, argv ...string) (ssh.Output, error) {
	if strings.Join(argv, " ") == strings.Join(linuxhost.ClockCommand(), " ") {
		return slow(time.Second).Run(ctx, host, argv...)
	}
	<-ctx.Done()
	return ssh.Output{}, ctx.Err()
}
