package slurm

import (
	"context"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/gate"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/probe/ssh"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
	"github.com/firstlight/firstlight/internal/world"
)

func TestMain(m *testing.M) {
	if exit, is := Task(context.Background(), os.Stdout, os.Stderr); is { //nolint:forbidigo // before any test
		os.Exit(exit)
	}
	os.Exit(m.Run())
}

// nodes of the cluster, which are those of a world.
const nodes = 3

func newWorld(faults []world.Fault) (*world.World, error) { return NewWorld(nodes, faults) }

// cluster is a running cluster and its site.
type cluster struct {
	*Cluster
	site    *site.Site
	profile *profile.Profile
}

const login = "login-01"

// Run implements gate.Hosts for the login host.
func (c cluster) RunOn(ctx context.Context, host string, argv ...string) (ssh.Output, error) {
	if host != login {
		return ssh.Output{}, fmt.Errorf("no command of Slurm runs on %s", host)
	}
	out := ssh.Output{At: time.Now(), Origin: ssh.OnHost}
	var err error
	out.Stdout, out.Stderr, out.Exit, err = c.Run(ctx, argv...)
	out.Took = time.Since(out.At)
	return out, err
}

// dial opens a connection from a host: all hosts are this machine.
func dial(ctx context.Context, _, address string) (net.Conn, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ssh.ErrNotConnected, err)
	}
	return conn, nil
}

type hosts func(ctx context.Context, host string, argv ...string) (ssh.Output, error)

func (h hosts) Run(ctx context.Context, host string, argv ...string) (ssh.Output, error) {
	return h(ctx, host, argv...)
}

// startCluster starts a cluster of the site of the example, without containers.
func startCluster(t *testing.T) cluster {
	t.Helper()
	if why := Missing(); why != "" {
		t.Skip(why)
	}
	s, p := slurmSite(t)
	s.Slurm.OutputDirectory = t.TempDir()
	c, err := Start(t.Context(), t.TempDir(), Options{Nodes: s.NodeNames(), GPUs: int(p.Node.GPUs.Value), Type: "h100"})
	if c != nil {
		t.Cleanup(func() {
			if t.Failed() {
				for _, name := range []string{"slurmctld.log", "slurmdbd.log", "slurmd-gpu-01.log"} {
					text, _ := os.ReadFile(c.path(name)) // none is nothing to show
					t.Logf("%s: %s", name, text[max(0, len(text)-4000):])
				}
			}
			c.Close()
		})
	}
	if err != nil {
		t.Fatal(err)
	}
	s.Slurm.Setup = c.Setup()
	out := cluster{c, s, p}
	out.faults(t)
	return out
}

// faults puts faults of the world into the jobs of the collective.
func (c cluster) faults(t *testing.T, faults ...world.Fault) {
	t.Helper()
	if err := c.Programs(nodes, faults); err != nil {
		t.Fatal(err)
	}
}

// siteText is the site of the example with three nodes, without containers and MPI.
func siteText(t *testing.T) string {
	t.Helper()
	text := string(site.SlurmExample())
	for old, with := range map[string]string{
		"    - {name: gpu-04}\n": "", "  containers: pyxis": "  containers: none", "  mpi: pmix": "  mpi: none", "jobTimeout: 5m": "jobTimeout: 40s",
		"    image: registry": "    # image: registry", "    timeout: 30m": "    timeout: 2m", "    timeout: 15m": "    timeout: 2m",
	} {
		if !strings.Contains(text, old) {
			t.Fatalf("the example has no %q", old)
		}
		text = strings.ReplaceAll(text, old, with)
	}
	return text
}

func slurmSite(t *testing.T) (*site.Site, *profile.Profile) {
	t.Helper()
	s, err := site.Parse("slurm.yaml", []byte(siteText(t)))
	if err != nil {
		t.Fatal(err)
	}
	p, err := profile.Load(s.Profile)
	if err != nil {
		t.Fatal(err)
	}
	return s, p
}

// judge observes and judges one gate.
func (c cluster) judge(t *testing.T, name string) check.Judgement {
	t.Helper()
	j, err := c.judgeOn(t.Context(), name, c.RunOn)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// judgeOn observes and judges one gate with other hosts.
func (c cluster) judgeOn(ctx context.Context, name string, h hosts) (check.Judgement, error) {
	p, err := gate.Playbook(c.site, c.profile, gate.Access{Hosts: h, Dial: dial, RunID: "t1"})
	if err != nil {
		return check.Judgement{}, err
	}
	for _, step := range p.Steps {
		if step.Name() != name {
			continue
		}
		var b book
		if err := step.Check.Observe(ctx, &b); err != nil {
			return check.Judgement{}, err
		}
		return plan.Judge(step.Check, b.obs), nil
	}
	return check.Judgement{}, fmt.Errorf("no gate %s", name)
}

type book struct {
	mu  sync.Mutex
	obs []check.Observation
}

func (b *book) Record(o check.Observation) (check.Observation, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	o.ID = fmt.Sprint(len(b.obs))
	b.obs = append(b.obs, o)
	return o, nil
}

func (b *book) Progress(string, ...any) {}

// links is the number of links of a world's fabric.
func links(w *world.World) string { return strconv.Itoa(len(w.State().Links)) }
