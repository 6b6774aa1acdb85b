package fabric_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	testingclock "k8s.io/utils/clock/testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/gate/fabric"
	"github.com/firstlight/firstlight/internal/gate/onhost"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/probe/ssh"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
)

// subnet is a fabric that prints what the tools print over a real one: two
// hosts with two adapters, two leaves, a spine.
type subnet struct {
	links []*cable
	// nodes and ports that ibqueryerrors counts before and after the soak.
	nodes [2]int
	// unanswered are queries of counters that fail, before and after the soak.
	unanswered [2]int
	// silent are the nodes of these queries, by description.
	silent []string
	// left are nodes that iblinkinfo does not list after the soak, by description.
	left []string
	// unlisted are ports with errors that ibqueryerrors counts and its output lacks, before and after the soak.
	unlisted [2]int
	sms      map[string]string // answer of sminfo by host; %d is the activity count
	tick     int               // how much a question adds to the activity count
	smLID    map[string]int    // by adapter, 1 where not given
	baseLID  map[string]int    // by adapter, 762 where not given
	// what is another than everywhere else, by adapter.
	firmware, board map[string]string
	mtu             map[string]int
	keys            map[string][]string
	// comment of a stage in ibdiagnet's summary.
	comment map[string]string
	// stages of ibdiagnet; lines by stage.
	stages  []string
	errors  map[string][]string
	summary string
	// guids by node description.
	guids map[string]uint64
	// description of a switch, where it is another than its name here.
	description map[string]string
	// instead answers in place of a tool: by "host tool".
	instead map[string]func() (ssh.Output, error)

	mu    sync.Mutex
	calls map[string]int
}

type cable struct {
	a, b         string // "gpu-01 mlx5_0", "leaf-0"
	aPort, bPort int
	state, phys  string
	width        int
	lane         float64
	rate         int
	// counters of both ends, before and after the soak.
	before, after [2]map[string]int
}

const soak = 5 * time.Minute

func newSubnet() *subnet {
	s := &subnet{
		nodes: [2]int{7, 7}, tick: 300, smLID: map[string]int{}, baseLID: map[string]int{}, errors: map[string][]string{}, calls: map[string]int{},
		instead: map[string]func() (ssh.Output, error){}, guids: map[string]uint64{},
		firmware: map[string]string{}, board: map[string]string{}, mtu: map[string]int{}, keys: map[string][]string{},
		stages: []string{"Discovery", "Lids Check", "Links Check", "Subnet Manager", "Port Counters", "Speed / Width checks", "Virtualization"},
		sms: map[string]string{
			"gpu-01": "sminfo: sm lid 1 sm guid 0x7cfe90030016aef1, activity count %d priority 14 state 3 SMINFO_MASTER\n",
			"gpu-02": "sminfo: sm lid 1 sm guid 0x7cfe90030016aef1, activity count %d priority 14 state 3 SMINFO_MASTER\n",
		},
	}
	for i, l := range []string{"leaf-0", "leaf-1", "spine-0", "gpu-01 mlx5_0", "gpu-01 mlx5_1", "gpu-02 mlx5_0", "gpu-02 mlx5_1"} {
		s.guids[l] = 0xa088c20300d70000 + uint64(i)*16
	}
	s.link("gpu-01 mlx5_0", 1, "leaf-0", 1)
	s.link("gpu-02 mlx5_0", 1, "leaf-0", 2)
	s.link("gpu-01 mlx5_1", 1, "leaf-1", 1)
	s.link("gpu-02 mlx5_1", 1, "leaf-1", 2)
	s.link("leaf-0", 33, "spine-0", 1)
	s.link("leaf-1", 33, "spine-0", 2)
	s.summary = "Total Nodes             : 7\nIB Switches             : 3\nIB Channel Adapters     : 4\nIB Aggregation Nodes    : 0\n"
	return s
}

func (s *subnet) link(a string, aPort int, b string, bPort int) {
	old := map[string]int{"PortRcvErrors": 14}
	s.links = append(s.links, &cable{
		a: a, b: b, aPort: aPort, bPort: bPort, state: "Active", phys: "LinkUp", width: 4, lane: 106.25, rate: 400,
		before: [2]map[string]int{old, old}, after: [2]map[string]int{old, old},
	})
}

// of is the cable of an adapter, or the one between two switches.
func (s *subnet) of(end string) *cable {
	for _, l := range s.links {
		if l.a == end {
			return l
		}
	}
	return nil
}

// Run is what a host's shell would do.
func (s *subnet) Run(_ context.Context, host string, argv ...string) (ssh.Output, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls[host+" "+argv[0]]++
	n := s.calls[host+" "+argv[0]]
	if f, ok := s.instead[host+" "+argv[0]]; ok {
		return f()
	}
	switch argv[0] {
	case "sminfo":
		text := s.sms[host]
		if strings.Contains(text, "%d") {
			text = fmt.Sprintf(text, 4484381+n*s.tick)
		}
		return ssh.Output{Stdout: []byte(text)}, nil
	case "iblinkinfo":
		return ssh.Output{Stdout: []byte(s.iblinkinfoAfter(n - 1))}, nil
	case "ibqueryerrors":
		return ssh.Output{Stdout: []byte(s.ibqueryerrors(n - 1)), Stderr: []byte(s.warnings(n - 1)), Exit: 1}, nil
	case "ibnetdiscover":
		return ssh.Output{Stdout: []byte(s.ibnetdiscover())}, nil
	case "ibdiagnet":
		return ssh.Output{Stdout: []byte(s.ibdiagnet())}, nil
	case "ibstat":
		return ssh.Output{Stdout: []byte(s.ibstat(host))}, nil
	case "sh":
		return ssh.Output{Stdout: []byte(s.verbs(host))}, nil
	default:
		return ssh.Output{Exit: 127, Stderr: []byte("bash: " + argv[0] + ": command not found\n")}, nil
	}
}

func (s *subnet) called(node string) string { return cmp.Or(s.description[node], node) }

func (s *subnet) iblinkinfo() string {
	var b strings.Builder
	line := func(l *cable, node string, port int, peer string, peerPort int) {
		if l.phys != "LinkUp" {
			fmt.Fprintf(&b, "0x%016x \"%30s\" %6d %4d[  ] ==(                %s/ %s)==>             [  ] \"\" ( )\n", s.guids[node], s.called(node), 9, port, l.state, l.phys)
			return
		}
		fmt.Fprintf(&b, "0x%016x \"%30s\" %6d %4d[  ] ==( %dX %13g Gbps %s/  %s)==>  0x%016x %6d %4d[  ] \"%s\" ( )\n",
			s.guids[node], s.called(node), 9, port, l.width, l.lane, l.state, l.phys, s.guids[peer], 10, peerPort, s.called(peer))
	}
	for _, l := range s.links {
		if l.phys == "LinkUp" || !strings.Contains(l.a, " ") {
			line(l, l.a, l.aPort, l.b, l.bPort)
		}
		line(l, l.b, l.bPort, l.a, l.aPort)
	}
	return b.String()
}

// iblinkinfoAfter lacks the nodes that left.
func (s *subnet) iblinkinfoAfter(after int) string {
	var b strings.Builder
	for line := range strings.Lines(s.iblinkinfo()) {
		if after == 0 || !slices.ContainsFunc(s.left, func(node string) bool { return strings.Contains(line, node+`"`) }) {
			b.WriteString(line)
		}
	}
	return b.String()
}

// warnings are the lines of ibqueryerrors on stderr (infiniband-diags/ibqueryerrors.c).
func (s *subnet) warnings(after int) string {
	var b strings.Builder
	if s.unanswered[min(after, 1)] > 0 {
		for _, node := range s.silent {
			fmt.Fprintf(&b, "ibwarn: [4711] print_errors: IB_GSI_PORT_COUNTERS query failed on %s, Lid 25 port 1\n", node)
		}
	}
	return b.String()
}

func (s *subnet) ibqueryerrors(after int) string {
	var b strings.Builder
	bad := 0
	for _, l := range s.links {
		for i, counters := range l.before {
			node, port := l.a, l.aPort
			if i == 1 {
				node, port = l.b, l.bPort
			}
			if after > 0 {
				counters = l.after[i]
			}
			if len(counters) == 0 {
				continue
			}
			bad++
			if strings.Contains(node, " ") {
				fmt.Fprintf(&b, "Errors for %q\n", node)
			} else {
				fmt.Fprintf(&b, "Errors for 0x%x %q\n   GUID 0x%x port ALL: [PortRcvErrors == 28]\n", s.guids[node], s.called(node), s.guids[node])
			}
			fmt.Fprintf(&b, "   GUID 0x%x port %d:", s.guids[node], port)
			for _, name := range slices.Sorted(maps.Keys(counters)) {
				fmt.Fprintf(&b, " [%s == %d]", name, counters[name])
			}
			b.WriteString("\n")
		}
	}
	fmt.Fprintf(&b, "\n## Summary: %d nodes checked, 2 bad nodes found\n##          99 ports checked, %d ports have errors beyond threshold\n## Thresholds: \n", s.nodes[min(after, 1)], bad+s.unlisted[min(after, 1)])
	if n := s.unanswered[min(after, 1)]; n > 0 {
		fmt.Fprintf(&b, "##          %d PMA query failures\n", n)
	}
	b.WriteString("## Suppressed:\n")
	return b.String()
}

func (s *subnet) ibdiagnet() string {
	const dashes = "---------------------------------------------\n"
	var b, rows strings.Builder
	for _, stage := range s.stages {
		b.WriteString(dashes + stage + "\n")
		for _, line := range s.errors[stage] {
			b.WriteString("-E- " + line + "\n")
		}
		fmt.Fprintf(&rows, "-I- %-36s%-11d%-11d%s\n", stage, 0, len(s.errors[stage]), s.comment[stage])
	}
	b.WriteString(dashes + "Fabric Summary\n\n" + s.summary + "\n" + dashes + "Summary\n-I- Stage                               Warnings   Errors     Comment   \n")
	return b.String() + rows.String() + "\n-I- You can find detailed errors/warnings in: /var/tmp/ibdiagnet2/ibdiagnet2.log\n"
}

func (s *subnet) ibstat(host string) string {
	var b strings.Builder
	for _, l := range s.links {
		node, device, _ := strings.Cut(l.a, " ")
		if node != host || device == "" {
			continue
		}
		lid := s.smLID[host+"/"+device]
		if lid == 0 {
			lid = 1
		}
		state := map[string]string{"Initialize": "Initializing"}[l.state]
		if state == "" {
			state = l.state
		}
		fmt.Fprintf(&b, `CA '%s'
	CA type: MT4129
	Number of ports: 1
	Firmware version: %s
	Hardware version: 0
	Node GUID: 0x%016x
	System image GUID: 0x%016x
	Port 1:
		State: %s
		Physical state: %s
		Rate: %d
		Base lid: %d
		LMC: 0
		SM lid: %d
		Capability mask: 0xa651e848
		Port GUID: 0x%016x
		Link layer: InfiniBand
`, device, s.firmwareOf(host+"/"+device), s.guids[l.a], s.guids[l.a], state, l.phys, l.rate, cmp.Or(s.baseLID[host+"/"+device], 762), lid, s.guids[l.a])
	}
	return b.String()
}

// firmwareOf is an adapter's; "none": the tool does not report it.
func (s *subnet) firmwareOf(adapter string) string {
	return strings.Replace(cmp.Or(s.firmware[adapter], usualFirmware), "none", "", 1)
}

// verbs is what ibv_devinfo and grep over the P_Key tables print.
func (s *subnet) verbs(host string) string {
	var devices, keys strings.Builder
	for _, l := range s.links {
		node, device, _ := strings.Cut(l.a, " ")
		if node != host || device == "" {
			continue
		}
		name := host + "/" + device
		state := map[string]string{"Active": "PORT_ACTIVE (4)", "Initialize": "PORT_INIT (2)", "Down": "PORT_DOWN (1)"}[l.state]
		code := map[int]string{0: "4096 (5)", 2048: "2048 (4)", -1: "invalid MTU (0)"}[s.mtu[name]]
		fmt.Fprintf(&devices, "hca_id:\t%s\n\ttransport:\t\t\tInfiniBand (0)\n\tfw_ver:\t\t\t\t%s\n\tboard_id:\t\t\t%s\n\tphys_port_cnt:\t\t\t1\n"+
			"\t\tport:\t1\n\t\t\tstate:\t\t\t%s\n\t\t\tmax_mtu:\t\t4096 (5)\n\t\t\tactive_mtu:\t\t%s\n\t\t\tlink_layer:\t\tInfiniBand\n\n",
			device, cmp.Or(s.firmware[name], usualFirmware), cmp.Or(s.board[name], "MT_0000000838"), state, code)
		table, ok := s.keys[name]
		if !ok {
			table = []string{"0xffff", "0x8001"}
		}
		for i, key := range table {
			fmt.Fprintf(&keys, "/sys/class/infiniband/%s/ports/1/pkeys/%d:%s\n", device, i, key)
		}
	}
	return devices.String() + keys.String()
}

const usualFirmware = "28.39.1002"

// declared is the site and profile that the subnet fulfils.
func declared() (*site.Site, *profile.Profile) {
	f := func(v float64, unit string) profile.Figure {
		return profile.Figure{Value: v, Unit: unit, Source: "test"}
	}
	return &site.Site{
			Inventory: site.Inventory{Nodes: []site.Node{{Name: "gpu-01"}, {Name: "gpu-02"}}},
			Reach:     site.Reach{SSH: site.SSH{FabricHost: "gpu-01", Concurrency: 4}},
			Fabric: site.Fabric{
				Switches: []string{"leaf-0", "leaf-1", "spine-0"}, HCAs: []string{"mlx5_0", "mlx5_1"}, Links: 6, Soak: site.Duration(soak),
			},
		}, &profile.Profile{Fabric: profile.Fabric{
			Kind: "infiniband", Rate: f(400, "Gb/s"), Width: f(4, "lanes"), LaneSpeed: f(106.25, "Gb/s"),
			CounterLimits: map[string]profile.Figure{
				"SymbolErrorCounter": f(0, "errors"), "LinkDownedCounter": f(0, "events"), "PortRcvErrors": f(100, "errors"),
			},
			RequiredStages: []string{"Discovery", "Lids Check", "Subnet Manager", "Speed / Width checks"},
		}}
}

// book keeps what is recorded.
type book struct {
	mu   sync.Mutex
	obs  []check.Observation
	fail error
}

func (b *book) Record(o check.Observation) (check.Observation, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.fail != nil {
		return o, b.fail
	}
	o.ID = fmt.Sprintf("%04d-%s-%s", len(b.obs), o.Kind, o.Target)
	b.obs = append(b.obs, o)
	return o, nil
}

func (b *book) Progress(string, ...any) {}

// look observes a subnet.
func look(t *testing.T, s *subnet) []check.Observation {
	t.Helper()
	of, p := declared()
	return lookAt(t, s, of, p)
}

// lookAt observes the subnet of a site.
func lookAt(t *testing.T, hosts onhost.Hosts, of *site.Site, p *profile.Profile) []check.Observation {
	t.Helper()
	clock := testingclock.NewFakePassiveClock(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC))
	wait := func(ctx context.Context, d time.Duration) error {
		clock.SetTime(clock.Now().Add(d))
		return ctx.Err()
	}
	var b book
	if err := fabric.New(of, p, onhost.Deps{Hosts: hosts, Clock: clock, Wait: wait}).Observe(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	return b.obs
}

// judge judges as replay does: with nothing to observe with.
func judge(obs []check.Observation) check.Judgement {
	s, p := declared()
	return plan.Judge(fabric.New(s, p, onhost.Deps{}), obs)
}

var errGone = errors.New("host gpu-02 (gpu-02:22) is unreachable over SSH: no route to host")
