package fabric_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/gate/fabric"
	"github.com/firstlight/firstlight/internal/gate/onhost"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/probe/ssh"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
)

// several is a site with two subnets of the same shape.
func several() (*site.Site, *profile.Profile) {
	s, p := declared()
	f := s.Fabric
	for _, name := range []string{"a", "b"} {
		s.Fabric.Subnets = append(s.Fabric.Subnets, site.Subnet{Name: name, HCAs: f.HCAs, Switches: f.Switches, Links: f.Links, Topology: f.Topology})
	}
	s.Fabric.Subnets[1].Port = "mlx5_8:2"
	s.Fabric.Switches, s.Fabric.Links, s.Fabric.Topology = nil, 0, ""
	return s, p
}

// in puts observations into the group of a subnet.
func in(name string, obs []check.Observation) []check.Observation {
	out := slices.Clone(obs)
	for i := range out {
		out[i].Group, out[i].ID = name, name+out[i].ID
	}
	return out
}

func TestSubnetsAreJudgedByThemselves(t *testing.T) {
	t.Parallel()
	s, p := several()
	g := fabric.NewSubnets(s, p, onhost.Deps{})
	down := newSubnet()
	l := down.of("gpu-02 mlx5_1")
	l.state, l.phys, l.rate = "Down", "Polling", 10
	a, b, broken := in("a", look(t, newSubnet())), in("b", look(t, newSubnet())), in("b", look(t, down))
	for name, tt := range map[string]struct {
		obs  []check.Observation
		want check.Verdict
		says string // the reason contains it
	}{
		"both healthy":           {slices.Concat(a, b), check.Passed, "a: 6 links up"},
		"one is not observed":    {a, check.Unobserved, "b: nothing was observed"},
		"a link of one is down":  {slices.Concat(a, broken), check.Failed, "b: "},
		"one fails, one missing": {broken, check.Failed, "b: "},
		"a subnet of no name":    {slices.Concat(a, b, in("c", look(t, newSubnet()))), check.Unobserved, `group "c"`},
		"observations of none":   {look(t, newSubnet()), check.Unobserved, `group ""`},
	} {
		j := plan.Judge(g, tt.obs)
		if j.Verdict != tt.want || !strings.Contains(j.Reason, tt.says) {
			t.Errorf("%s: %s: %s, want %s and %q", name, j.Verdict, j.Reason, tt.want, tt.says)
		}
		for _, f := range j.Findings {
			if !strings.HasPrefix(f.Message, "subnet b: ") {
				t.Errorf("%s: %s: %s", name, f.Suspect, f.Message)
			}
		}
		if tt.want == check.Failed && !slices.ContainsFunc(j.Findings, func(f check.Finding) bool { return f.Suspect == "gpu-02/mlx5_1" }) {
			t.Errorf("%s: gpu-02/mlx5_1 is not named: %+v", name, j.Findings)
		}
	}
}

// An adapter that is cabled to another subnet than its own is a node too many there.
func TestAnAdapterOnAnotherSubnet(t *testing.T) {
	t.Parallel()
	s, p := several()
	wrong := newSubnet()
	wrong.guids["gpu-02 mlx5_5"] = 0xc5
	wrong.link("gpu-02 mlx5_5", 1, "leaf-0", 5)
	obs := slices.Concat(in("a", look(t, newSubnet())), in("b", look(t, wrong)))
	j := plan.Judge(fabric.NewSubnets(s, p, onhost.Deps{}), obs)
	if j.Verdict != check.Failed || !slices.ContainsFunc(j.Findings, func(f check.Finding) bool {
		return strings.Contains(f.Suspect, "gpu-02/mlx5_5") && strings.HasPrefix(f.Message, "subnet b: ")
	}) {
		t.Errorf("%s: %+v", j.Verdict, j.Findings)
	}
}

// asked are hosts that record their commands.
type asked struct {
	mu    sync.Mutex
	lines []string
}

func (a *asked) Run(_ context.Context, host string, argv ...string) (ssh.Output, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if argv[0] != "sh" && argv[0] != "ibstat" {
		a.lines = append(a.lines, host+" "+strings.Join(argv, " "))
	}
	return ssh.Output{}, errors.New("no host")
}

// Without subnets, too, the tools see the subnet through an adapter of fabric.hcas: the first device of the host, which
// they take by themselves, may be on a storage network. It is not named where it is of fabric.hcas.
func TestTheSubnetIsSeenThroughItsAdapters(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		hcas []string
		host string
		want string // of sminfo and ibdiagnet
	}{
		"the first device":        {[]string{"mlx5_0", "mlx5_1"}, "gpu-01", "gpu-01 sminfo; gpu-01 ibdiagnet -o /var/tmp/firstlight-ibdiagnet --screen_num_errs 1000000"},
		"later devices":           {[]string{"mlx5_4", "mlx5_7"}, "gpu-01", "gpu-01 sminfo -C mlx5_4 -P 1; gpu-01 ibdiagnet -o /var/tmp/firstlight-ibdiagnet-mlx5_4-1 --screen_num_errs 1000000 -i mlx5_4 -p 1"},
		"a host of another group": {[]string{"mlx5_4", "mlx5_7"}, "cpu-01", "cpu-01 sminfo; cpu-01 ibdiagnet -o /var/tmp/firstlight-ibdiagnet --screen_num_errs 1000000"},
	} {
		s, p := declared()
		s.Fabric.HCAs, s.Reach.SSH.FabricHost = tt.hcas, tt.host
		hosts := &asked{}
		g := fabric.New(s, p, onhost.Deps{Hosts: hosts, Wait: func(context.Context, time.Duration) error { return nil }})
		if err := g.Observe(t.Context(), &book{}); err != nil {
			t.Fatal(err)
		}
		for line := range strings.SplitSeq(tt.want, "; ") {
			if !slices.Contains(hosts.lines, line) {
				t.Errorf("%s: %q is not in %q", name, line, hosts.lines)
			}
			_, command, _ := strings.Cut(line, " ")
			if !slices.ContainsFunc(g.RootCommands(), func(argv []string) bool { return strings.Join(argv, " ") == command }) {
				t.Errorf("%s: %q is not in the commands of sudoers: %q", name, command, g.RootCommands())
			}
		}
	}
}

// through are hosts whose first device, mlx5_0, is on another network: a tool without -C or -i fails, as does one through
// an adapter whose port is down.
type through struct {
	*subnet
	mu    sync.Mutex
	lines []string
}

func (h *through) Run(ctx context.Context, host string, argv ...string) (ssh.Output, error) {
	if argv[0] == "sh" || argv[0] == "ibstat" {
		return h.subnet.Run(ctx, host, argv...)
	}
	h.mu.Lock()
	h.lines = append(h.lines, strings.Join(argv, " "))
	h.mu.Unlock()
	i := slices.IndexFunc(argv, func(a string) bool { return a == "-C" || a == "-i" })
	if i < 0 || h.of(host+" "+argv[i+1]).state == "Down" {
		return ssh.Output{
			Stdout: []byte(argv[0] + ": iberror: failed: Failed to open '" + argv[i+1] + "' port '1'\n"),
			Exit:   255,
		}, nil
	}
	return h.subnet.Run(ctx, host, argv...)
}

// The first of fabric.hcas is down on a host that runs the tools: the finding is of its cable. The tools take the next
// adapter, and sudo allows them to.
func TestTheFirstAdapterIsDown(t *testing.T) {
	t.Parallel()
	for _, host := range []string{"gpu-01", "gpu-02"} {
		s := newSubnet()
		for _, l := range s.links {
			if node, device, ok := strings.Cut(l.a, " "); ok {
				name := node + " " + map[string]string{"mlx5_0": "mlx5_4", "mlx5_1": "mlx5_7"}[device]
				s.guids[name], l.a = s.guids[l.a], name
			}
		}
		l := s.of(host + " mlx5_4")
		l.state, l.phys, l.rate = "Down", "Polling", 10
		of, p := declared()
		of.Fabric.HCAs = []string{"mlx5_4", "mlx5_7"}
		hosts := &through{subnet: s}
		j := plan.Judge(fabric.New(of, p, onhost.Deps{}), lookAt(t, hosts, of, p))
		if j.Verdict != check.Failed || len(j.Findings) == 0 {
			t.Errorf("%s: %s: %s", host, j.Verdict, j.Reason)
		}
		for _, f := range j.Findings {
			if f.Suspect != host+"/mlx5_4" {
				t.Errorf("%s: %s: %s", host, f.Suspect, f.Message)
			}
		}
		allowed := fabric.New(of, p, onhost.Deps{}).RootCommands()
		for _, line := range hosts.lines {
			if !slices.ContainsFunc(allowed, func(argv []string) bool { return strings.Join(argv, " ") == line }) {
				t.Errorf("%q is not in the commands of sudoers: %q", line, allowed)
			}
		}
	}
}

// The tools of the fabric see each subnet through its own port.
func TestSubnetsAreSeenThroughTheirPorts(t *testing.T) {
	t.Parallel()
	s, p := several()
	s.Reach.SSH.FabricHost, s.Reach.SSH.Concurrency = "gpu-01", 2
	hosts := &asked{}
	g := fabric.NewSubnets(s, p, onhost.Deps{Hosts: hosts, Wait: func(context.Context, time.Duration) error { return nil }})
	if err := g.Observe(t.Context(), &book{}); err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, via := range [][3]string{{"-C mlx5_0 -P 1", "-i mlx5_0 -p 1", "mlx5_0-1"}, {"-C mlx5_8 -P 2", "-i mlx5_8 -p 2", "mlx5_8-2"}} {
		for range 2 {
			want = append(want, "gpu-01 sminfo "+via[0], "gpu-02 sminfo "+via[0], "gpu-01 ibqueryerrors --threshold-file /dev/null "+via[0])
		}
		want = append(want, "gpu-01 iblinkinfo -l "+via[0], "gpu-01 ibdiagnet -o /var/tmp/firstlight-ibdiagnet-"+via[2]+" --screen_num_errs 1000000 "+via[1])
	}
	slices.Sort(want)
	slices.Sort(hosts.lines)
	if diff := cmp.Diff(want, hosts.lines); diff != "" {
		t.Error(diff)
	}
	if n := len(g.RootCommands()); n != 8 || len(g.HostCommands()) == 0 || len(g.Nodes()) != 2 {
		t.Errorf("%d commands as root: %v", n, g.RootCommands())
	}
	if text := strings.Join(g.Describe(), "\n"); !strings.Contains(text, "subnet b, through port 2 of mlx5_8:") {
		t.Error(text)
	}
	s.Fabric.Soak = site.Duration(time.Second)
	if lowered := fabric.NewSubnets(s, p, onhost.Deps{}).Lowered(); len(lowered) != 1 {
		t.Errorf("lowered: %v", lowered)
	}
	if less, ok := g.Excluding([]string{"gpu-02"}).(*fabric.Subnets); !ok || len(less.Nodes()) != 1 || !strings.Contains(strings.Join(less.Describe(), "\n"), "gpu-01 and gpu-02, twice") {
		t.Errorf("without gpu-02: %v", less.Describe())
	}
}
