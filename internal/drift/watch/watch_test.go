package watch

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	testingclock "k8s.io/utils/clock/testing"

	"github.com/firstlight/firstlight/internal/gate/node"
	"github.com/firstlight/firstlight/internal/probe/ssh"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
	"github.com/firstlight/firstlight/internal/world"
	"github.com/firstlight/firstlight/internal/world/sshd"
)

// hosts are those of a world over SSH; some may hang.
type hosts struct {
	*ssh.Pool
	world *world.World
	mu    sync.Mutex
	// hang are hosts whose commands ignore their context until release is closed.
	hang    map[string]bool
	release chan struct{}
}

func (h *hosts) hangs(name string, hangs bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.hang[name] = hangs
}

func (h *hosts) Run(ctx context.Context, name string, argv ...string) (ssh.Output, error) {
	h.mu.Lock()
	hangs := h.hang[name]
	h.mu.Unlock()
	if hangs {
		<-h.release
		return ssh.Output{}, errors.New("released")
	}
	return h.Pool.Run(ctx, name, argv...)
}

// fault adds a fault and returns what clears it.
func (h *hosts) fault(t *testing.T, kind, target string) (repair func()) {
	t.Helper()
	f, err := h.world.AddFault(world.Fault{Kind: kind, Target: target})
	if err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := h.world.ClearFault(f.ID); err != nil {
			t.Fatal(err)
		}
	}
}

// rig is a watch of four hosts of a world, against what its first round sees.
type rig struct {
	*hosts
	options Options
	clock   *testingclock.FakeClock
	*Watch
	// lines are the transitions that were reported since the last call of round.
	lines []Transition
}

func newRig(t *testing.T) *rig {
	t.Helper()
	spec := world.DefaultSpec(4)
	for i := range spec.GPUNodes {
		spec.GPUNodes[i].Address = fmt.Sprintf("127.85.%d.%d", len(t.Name()), i+1)
	}
	w, err := world.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	server, err := sshd.Start(context.WithoutCancel(t.Context()), w, sshd.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Stop)
	s := &site.Site{Name: "lab", Fabric: site.Fabric{HCAs: spec.HCAs}, Reach: site.Reach{GPUTools: site.ToolsOnHost, SSH: site.SSH{
		Concurrency: 3, User: server.User, IdentityFile: server.IdentityFile, KnownHostsFile: server.KnownHostsFile, Timeout: site.Duration(time.Minute), ConnectTimeout: site.Duration(site.DefaultSSHConnectTimeout),
	}}}
	for _, n := range spec.GPUNodes {
		s.Inventory.Nodes = append(s.Inventory.Nodes, site.Node{Name: n.Name, Address: server.Nodes[n.Name]})
	}
	p, err := profile.Load(spec.Hardware)
	if err != nil {
		t.Fatal(err)
	}
	pool, err := ssh.NewPool(t.Context(), s, ssh.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = pool.Close() })
	r := &rig{hosts: &hosts{Pool: pool, world: w, hang: map[string]bool{}, release: make(chan struct{})}, clock: testingclock.NewFakeClock(noon)}
	g := node.NewLowLoad(s, p, node.Deps{Hosts: r.hosts, Clock: r.clock})
	rec := &recorder{}
	for _, name := range g.Nodes() {
		if err := g.Observe(t.Context(), rec, name); err != nil {
			t.Fatal(err)
		}
	}
	declared, err := Declared(s, p)
	if err != nil {
		t.Fatal(err)
	}
	r.options = Options{
		Accepted: Accepted{Header: header, Machines: node.Inventory(rec.obs), Declared: declared},
		Gates:    []*node.LowLoad{g}, Declared: declared, Every: 5 * time.Minute, Dir: Dir(t.TempDir(), header.Run), Clock: r.clock,
		Command: "firstlight accept",
		Report:  func(tr Transition) error { r.lines = append(r.lines, tr); return nil },
	}
	r.open(t)
	t.Cleanup(func() { _ = r.Close() })
	return r
}

func (r *rig) open(t *testing.T) {
	t.Helper()
	var err error
	if r.Watch, err = Open(r.options); err != nil {
		t.Fatal(err)
	}
}

// round runs one round, five minutes after the last one, and returns its transitions.
func (r *rig) round(t *testing.T) []Transition {
	t.Helper()
	r.lines = nil
	r.clock.Step(r.options.Every)
	if err := r.Round(t.Context()); err != nil {
		t.Fatal(err)
	}
	return r.lines
}

func texts(lines []Transition) []string {
	var out []string
	for _, l := range lines {
		suspects := map[string]bool{}
		for _, f := range l.Findings {
			suspects[f.Suspect] = true
		}
		out = append(out, fmt.Sprintf("%s %s %s %v", l.Node, strings.Join(l.Checks, ","), short(l), slices.Sorted(maps.Keys(suspects))))
	}
	return out
}

// scrape reads the metrics as Prometheus does: by series with labels.
func (r *rig) scrape(t *testing.T) map[string]float64 {
	t.Helper()
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(r.Watch)
	server := httptest.NewServer(promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	defer server.Close()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatal(resp.Status, err)
	}
	out := map[string]float64{}
	for name, family := range families {
		for _, m := range family.GetMetric() {
			key := []string{strings.TrimPrefix(name, "firstlight_watch_")}
			for _, l := range m.GetLabel() {
				if l.GetName() != "site" {
					key = append(key, l.GetValue())
				}
			}
			out[strings.Join(key, " ")] = m.GetGauge().GetValue() + m.GetCounter().GetValue()
		}
	}
	return out
}

func (r *rig) stored(t *testing.T) []Transition {
	t.Helper()
	data, err := os.ReadFile(r.Journal())
	if err != nil {
		t.Fatal(err)
	}
	_, transitions, whole, err := parseJournal(data)
	if err != nil || whole != len(data) {
		t.Fatal(whole, len(data), err)
	}
	return transitions
}
