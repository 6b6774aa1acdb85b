package fabric_test

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/gate/fabric"
	"github.com/firstlight/firstlight/internal/gate/onhost"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/probe/ssh"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestHealthyPasses(t *testing.T) {
	t.Parallel()
	j := judge(look(t, newSubnet()))
	if j.Verdict != check.Passed || len(j.Findings) != 0 {
		t.Fatalf("%+v", j)
	}
	for name, want := range map[string]float64{"links up": 6, "adapters active at rate": 4, "subnet nodes": 7, "largest increase beyond a limit": 0, "ibdiagnet errors": 0} {
		if !slices.ContainsFunc(j.Figures, func(f check.Figure) bool { return f.Name == name && f.Value == want && f.Source != "" }) {
			t.Errorf("figure %s = %g is missing in %+v", name, want, j.Figures)
		}
	}
}

// Real fabrics have these properties, and the gate must pass them.
func TestHealthyVariations(t *testing.T) {
	t.Parallel()
	for name, vary := range map[string]func(*subnet){
		"old errors": func(s *subnet) { s.of("gpu-02 mlx5_1").before[0]["SymbolErrorCounter"] = 250 },
		"old errors in a counter of 64 bits": func(s *subnet) {
			l := s.of("gpu-02 mlx5_1")
			l.before[0], l.after[0] = map[string]int{"PortRcvErrors": 70000, "LinkDownedCounter": 300}, map[string]int{"PortRcvErrors": 70014, "LinkDownedCounter": 300}
		},
		"a few more receive errors": func(s *subnet) {
			s.of("gpu-02 mlx5_1").after[0] = map[string]int{"PortRcvErrors": 114}
		},
		"a banner of the host's shell": func(s *subnet) {
			s.instead["gpu-01 iblinkinfo"] = says(s.iblinkinfo(), "Warning: Permanently added 'gpu-01' (ED25519) to the list of known hosts.\n", 0)
		},
		"a counter without a limit": func(s *subnet) {
			s.of("gpu-02 mlx5_1").after[1] = map[string]int{"PortRcvErrors": 14, "PortXmitWait": 999999}
		},
		"descriptions are the model's": func(s *subnet) {
			for _, l := range s.links {
				if strings.HasPrefix(l.a, "gpu-01") {
					old := l.a
					l.a = strings.Replace(l.a, "gpu-01 ", "MT4129 ConnectX7 ", 1)
					s.guids[l.a] = s.guids[old]
				}
			}
			healthy := newSubnet()
			s.instead["gpu-01 ibstat"] = func() (ssh.Output, error) { return ssh.Output{Stdout: []byte(healthy.ibstat("gpu-01"))}, nil }
			s.instead["gpu-01 sh"] = says(healthy.verbs("gpu-01"), "", 0)
		},
		"SHARP's aggregation nodes": func(s *subnet) {
			s.guids["Mellanox Technologies Aggregation Node"] = 0xb0
			s.link("Mellanox Technologies Aggregation Node", 1, "leaf-0", 65)
			s.of("Mellanox Technologies Aggregation Node").lane = 53.125
			s.summary = strings.Replace(s.summary, "Nodes    : 0", "Nodes    : 1", 1)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSubnet()
			vary(s)
			if j := judge(look(t, s)); j.Verdict != check.Passed {
				t.Errorf("%s: %+v", j.Reason, j.Findings)
			}
		})
	}
}

func TestEachDefect(t *testing.T) {
	t.Parallel()
	const nobody = "sminfo: iberror: query failed\n"
	tests := map[string]struct {
		spoil   func(*subnet)
		suspect string
		message string
	}{
		"link down at an adapter": {func(s *subnet) {
			l := s.of("gpu-02 mlx5_1")
			l.state, l.phys, l.rate = "Down", "Polling", 10
		}, "gpu-02/mlx5_1", "Polling"},
		"link down between switches":           {func(s *subnet) { l := s.of("leaf-1"); l.state, l.phys = "Down", "Polling" }, "leaf-1 to spine-0", "0 links"},
		"link between switches not configured": {func(s *subnet) { s.of("leaf-1").state = "Armed" }, "leaf-1 to spine-0", "0 links"},
		"link at half rate":                    {func(s *subnet) { l := s.of("gpu-02 mlx5_0"); l.lane, l.rate = 53.125, 200 }, "gpu-02/mlx5_0", `link gpu-02/mlx5_0 to leaf-0/port2 runs at 53.125 Gb/s per lane.*200 Gb/s, want 400`},
		"link at half width":                   {func(s *subnet) { l := s.of("gpu-01 mlx5_0"); l.width, l.rate = 2, 200 }, "gpu-01/mlx5_0", "2X wide"},
		"uplink at half rate":                  {func(s *subnet) { s.of("leaf-0").lane = 53.125 }, "leaf-0/port33", "leaf-0/port33 to spine-0/port1"},
		"only the adapter knows its rate":      {func(s *subnet) { s.of("gpu-01 mlx5_1").rate = 200 }, "gpu-01/mlx5_1", "200 Gb/s"},
		"link of an adapter not in ibstat":     {func(s *subnet) { s.instead["gpu-02 ibstat"] = firstOf(s, "gpu-02") }, "gpu-02/mlx5_1", "no adapter mlx5_1"},
		"switch gone": {func(s *subnet) {
			s.links = slices.DeleteFunc(s.links, func(l *cable) bool { return l.b == "spine-0" })
		}, "spine-0", "not in the subnet"},
		"one cable too many": {func(s *subnet) { s.link("leaf-0", 34, "leaf-1", 34) }, "fabric", "7 links"},
		"link fell and rose": {func(s *subnet) {
			s.of("gpu-02 mlx5_1").after[1] = map[string]int{"PortRcvErrors": 14, "LinkDownedCounter": 2}
		}, "gpu-02/mlx5_1", `LinkDownedCounter of leaf-1/port2 grew by 2 .*link gpu-02/mlx5_1 to leaf-1/port2`},
		"many receive errors":         {func(s *subnet) { s.of("leaf-0").after[0] = map[string]int{"PortRcvErrors": 115} }, "leaf-0/port33", "grew by 101"},
		"a node left during the soak": {func(s *subnet) { s.nodes[1] = 6 }, "fabric", "1 nodes left"},
		"subnet manager dead":         {func(s *subnet) { s.sms = map[string]string{"gpu-01": nobody, "gpu-02": nobody} }, "subnet manager", "no subnet manager answers"},
		"subnet manager frozen":       {func(s *subnet) { s.tick = 0 }, "subnet manager", "stays at"},
		// OpenSM counts its answers: it was active, by the gate's own queries.
		"subnet manager that only answers":  {func(s *subnet) { s.tick = 2 }, "subnet manager", "does not sweep.*3 are answers to this gate"},
		"subnet manager that sweeps a part": {func(s *subnet) { s.tick = 4 }, "subnet manager", "a sweep of 3 switches"},
		"subnet manager runs back":          {func(s *subnet) { s.tick = -1 }, "subnet manager", "stays at"},
		"subnet manager standby": {func(s *subnet) {
			for h, text := range s.sms {
				s.sms[h] = strings.Replace(text, "3 SMINFO_MASTER", "2 SMINFO_STANDBY", 1)
			}
		}, "subnet manager", "state 2"},
		"two masters":             {func(s *subnet) { s.sms["gpu-02"] = strings.Replace(s.sms["gpu-02"], "aef1", "bef1", 1) }, "subnet manager", "two subnet managers"},
		"adapters follow another": {func(s *subnet) { s.smLID["gpu-02/mlx5_0"] = 8 }, "subnet manager", "gpu-02/mlx5_0.*LID 8.*LID 1"},
		"ports not configured": {func(s *subnet) {
			for _, l := range s.links {
				l.state = "Initialize"
			}
		}, "subnet manager", "no subnet manager has configured"},
		"two masters, by ibdiagnet": {func(s *subnet) {
			s.errors["Subnet Manager"] = []string{"Found more than one master SM in the discover fabric"}
		}, "subnet manager", "more than one master"},
		"ibdiagnet names a link": {func(s *subnet) {
			s.errors["Speed / Width checks"] = []string{"Link: Sa088c20300d70010/Na088c20300d70010/P2<-->Sa088c20300d70060/Na088c20300d70060/P1 - Unexpected actual link speed 53", "Link Speed Check finished with errors"}
		}, "gpu-02/mlx5_1", "Unexpected actual link speed"},
		"ibdiagnet names a port": {func(s *subnet) {
			s.errors["Port Counters"] = []string{"Sa088c20300d70000/Na088c20300d70000/P33 - \"symbol_error_counter\" increased during the run"}
		}, "leaf-0/port33", "symbol_error_counter"},
		"ibdiagnet names an adapter": {func(s *subnet) {
			s.errors["Port Counters"] = []string{"Sa088c20300d70060/Na088c20300d70060/P1 - \"symbol_error_counter\" increased during the run"}
		}, "gpu-02/mlx5_1", "symbol_error_counter"},
		"ibdiagnet names port 1 of a switch": {func(s *subnet) {
			s.errors["Port Counters"] = []string{"Sa088c20300d70020/Na088c20300d70020/P1 - \"symbol_error_counter\" increased during the run"}
		}, "leaf-0/port33", "symbol_error_counter"},
		"ibdiagnet names an adapter that is not of the site": {func(s *subnet) {
			s.guids["storage-1 mlx5_0"] = 0xb0
			s.link("storage-1 mlx5_0", 1, "leaf-0", 40)
			s.errors["Virtualization"] = []string{"S00000000000000b0/N00000000000000b0/P1 - something is wrong"}
		}, "fabric", "something is wrong"},
		"ibdiagnet names a stranger": {func(s *subnet) {
			s.errors["Virtualization"] = []string{"S1111111111111111/N1111111111111111/P1 - something is wrong"}
		}, "fabric", "something is wrong"},
		"half the nodes": {func(s *subnet) { s.summary = strings.Replace(s.summary, "Adapters     : 4", "Adapters     : 2", 1) }, "fabric", "2 adapters, the site expects 3 and 4"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSubnet()
			tt.spoil(s)
			obs := look(t, s)
			j := judge(obs)
			if j.Verdict != check.Failed {
				t.Fatalf("%s: %s: %+v", j.Verdict, j.Reason, j.Findings)
			}
			message := regexp.MustCompile(tt.message)
			if !slices.ContainsFunc(j.Findings, func(f check.Finding) bool {
				return f.Suspect == tt.suspect && message.MatchString(f.Message) && f.Remedy != "" && len(f.Observations) > 0
			}) {
				t.Errorf("want %s: %s, got %+v", tt.suspect, tt.message, j.Findings)
			}
			for range 20 { // maps are read in any order: the judgement is not
				if diff := cmp.Diff(j, judge(obs)); diff != "" {
					t.Fatalf("the same observations, another judgement: %s", diff)
				}
			}
		})
	}
}

// firstOf is ibstat with only the first adapter of a host.
func firstOf(s *subnet, host string) func() (ssh.Output, error) {
	return func() (ssh.Output, error) {
		text := s.ibstat(host)
		return ssh.Output{Stdout: []byte(text[:strings.Index(text[1:], "CA '")+1])}, nil
	}
}

// says is a tool's answer: both its streams and its exit code.
func says(stdout, stderr string, exit int) func() (ssh.Output, error) {
	return func() (ssh.Output, error) {
		return ssh.Output{Stdout: []byte(stdout), Stderr: []byte(stderr), Exit: exit}, nil
	}
}

func TestNotSeenIsUnobserved(t *testing.T) {
	t.Parallel()
	gone := func() (ssh.Output, error) { return ssh.Output{}, errGone }
	missing := func() (ssh.Output, error) {
		return ssh.Output{Exit: 127, Stderr: []byte("bash: command not found\n")}, nil
	}
	for name, spoil := range map[string]func(*subnet){
		"a host is gone": func(s *subnet) {
			s.instead["gpu-02 ibstat"], s.instead["gpu-02 sminfo"] = gone, gone
		},
		"no sminfo":        func(s *subnet) { s.instead["gpu-01 sminfo"] = missing },
		"no iblinkinfo":    func(s *subnet) { s.instead["gpu-01 iblinkinfo"] = missing },
		"no ibqueryerrors": func(s *subnet) { s.instead["gpu-01 ibqueryerrors"] = missing },
		"no ibdiagnet":     func(s *subnet) { s.instead["gpu-01 ibdiagnet"] = missing },
		"no ibstat":        func(s *subnet) { s.instead["gpu-01 ibstat"] = missing },
		"stage skipped": func(s *subnet) {
			s.stages = slices.DeleteFunc(s.stages, func(n string) bool { return n == "Subnet Manager" })
		},
		"ibqueryerrors without a subnet manager": func(s *subnet) {
			s.instead["gpu-01 ibqueryerrors"] = says("", "Query SA failed: Connection timed out; sa call path_query failed\n", 0)
		},
		"stage named and skipped": func(s *subnet) { s.comment = map[string]string{"Subnet Manager": "skipped by the user"} },
		"no fabric summary":       func(s *subnet) { s.summary = "" },
		"an sminfo without state": func(s *subnet) {
			for h := range s.sms {
				s.sms[h] = "sminfo: sm lid 0x1 sm guid 0x2c9010b7c2ae1, activity count %d priority 1\n"
			}
		},
		"a counter was cleared":      func(s *subnet) { s.of("leaf-0").after[0] = map[string]int{"PortRcvErrors": 3} },
		"a port's counters are gone": func(s *subnet) { s.of("leaf-0").after[0] = nil },
		"a counter is at its end": func(s *subnet) {
			l := s.of("leaf-0")
			l.before[0] = map[string]int{"LinkDownedCounter": 255}
			l.after[0] = l.before[0]
		},
		"a counter reaches its end within its limit": func(s *subnet) { // how far it would have gone is not known
			l := s.of("leaf-0")
			l.before[0], l.after[0] = map[string]int{"PortRcvErrors": 65500}, map[string]int{"PortRcvErrors": 65535}
		},
		"ports whose counters do not answer, before and after": func(s *subnet) { s.unanswered = [2]int{7, 7} },
		"ports whose counters do not answer, before": func(s *subnet) { // their old counters look new afterwards
			s.unanswered[0] = 1
			s.of("leaf-0").before[0], s.of("leaf-0").after[0] = nil, map[string]int{"SymbolErrorCounter": 250}
		},
		"ports whose counters do not answer, after": func(s *subnet) {
			s.unanswered[1] = 1
			s.of("leaf-0").after[0] = nil
		},
		"a port with errors that is not listed, before": func(s *subnet) {
			s.unlisted[0] = 1
			s.of("leaf-0").before[0], s.of("leaf-0").after[0] = nil, map[string]int{"SymbolErrorCounter": 250}
		},
		"a port with errors that is not listed, after": func(s *subnet) {
			s.unlisted[1] = 1
			s.of("leaf-0").after[0] = nil
		},
		"an adapter whose ibstat fails": func(s *subnet) {
			s.instead["gpu-01 ibstat"] = says(s.ibstat("gpu-01"), "ibpanic: [1400444] main: stat of IB device 'mlx5_2' failed: No such file or directory\n", 255)
		},
		"ibstat fails on one stream": func(s *subnet) {
			s.instead["gpu-01 ibstat"] = says(s.ibstat("gpu-01")+"ibpanic: [1400444] main: stat of IB device 'mlx5_2' failed: No such file or directory\n", "", 0)
		},
		"a switch did not answer iblinkinfo": func(s *subnet) {
			s.instead["gpu-01 iblinkinfo"] = says(s.iblinkinfo(), "src/query_smp.c:197; umad (DR path slid 0; dlid 0; 0,1,5 Attr 0x11:0) bad status 110; Connection timed out\n", 1)
		},
		"iblinkinfo got no answer, and exits 0": func(s *subnet) {
			s.instead["gpu-01 iblinkinfo"] = says(s.iblinkinfo(), "ibwarn: [4711] mad_rpc: _do_madrpc failed; dport (DR path slid 0; dlid 0; 0,1,5)\n", 0)
		},
		"ibqueryerrors exits with another error": func(s *subnet) {
			s.instead["gpu-01 ibqueryerrors"] = says(s.ibqueryerrors(0), "", 255)
		},
		"ibqueryerrors warns": func(s *subnet) {
			s.instead["gpu-01 ibqueryerrors"] = says(s.ibqueryerrors(0), "ibwarn: [4711] _do_madrpc: recv failed: Connection timed out\n", 1)
		},
		"ibqueryerrors warns on one stream": func(s *subnet) {
			s.instead["gpu-01 ibqueryerrors"] = says("ibwarn: [4711] _do_madrpc: recv failed: Connection timed out\n"+s.ibqueryerrors(0), "", 1)
		},
		"ibdiagnet fails, and its summary is clean": func(s *subnet) {
			s.instead["gpu-01 ibdiagnet"] = says(s.ibdiagnet(), "", 1)
		},
		"sminfo fails, and prints an answer": func(s *subnet) {
			s.instead["gpu-01 sminfo"] = says(strings.Replace(s.sms["gpu-01"], "%d", "7", 1), "ibwarn: [4711] _do_madrpc: recv failed: Connection timed out\n", 255)
		},
		"cut short": func(s *subnet) {
			text := s.ibqueryerrors(0)
			s.instead["gpu-01 ibqueryerrors"] = func() (ssh.Output, error) { return ssh.Output{Stdout: []byte(text[:100])}, nil }
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSubnet()
			spoil(s)
			j := judge(look(t, s))
			if j.Verdict != check.Unobserved || len(j.Findings) == 0 {
				t.Errorf("%s: %s: %+v", j.Verdict, j.Reason, j.Findings)
			}
		})
	}
}

func TestEachMissingObservationIsUnobserved(t *testing.T) {
	t.Parallel()
	all := look(t, newSubnet())
	if len(all) != 12 {
		t.Fatalf("%d observations, want 4 sminfo, 2 ibqueryerrors, iblinkinfo, ibdiagnet, 2 ibstat, 2 ibv_devinfo", len(all))
	}
	if j := judge(nil); j.Verdict != check.Unobserved {
		t.Errorf("nothing: %+v", j)
	}
	for i, o := range all {
		if j := judge(slices.Delete(slices.Clone(all), i, i+1)); j.Verdict == check.Passed {
			t.Errorf("passed without %s of %s", o.Kind, o.Target)
		}
		spoilt := slices.Clone(all)
		spoilt[i].Figures = nil
		if j := judge(spoilt); j.Verdict == check.Passed {
			t.Errorf("passed without the figures of %s of %s", o.Kind, o.Target)
		}
	}
}

// A site may have thousands of hosts: each is asked twice, for what only it can tell.
func TestAHostIsAskedTwice(t *testing.T) {
	t.Parallel()
	s, of, p := railed(4, 2)
	lookAt(t, s, of, p)
	asked := map[string]int{}
	for command, n := range s.calls {
		if host, tool, _ := strings.Cut(command, " "); host == "gpu-2" {
			asked[tool] += n
		}
	}
	if diff := cmp.Diff(map[string]int{"ibstat": 1, "sh": 1}, asked); diff != "" {
		t.Error(diff)
	}
}

// ibv_devinfo fails where one device of a host does, such as an Ethernet adapter whose
// ports are virtual functions: only the adapters of the site are asked.
func TestOnlyTheSitesAdaptersAreAsked(t *testing.T) {
	t.Parallel()
	s, of, p := railed(1, 2)
	const want = "sh -c ibv_devinfo -d mlx5_0 && ibv_devinfo -d mlx5_1 && " +
		"grep -rHvx 0x0000 /sys/class/infiniband/mlx5_0/ports/1/pkeys /sys/class/infiniband/mlx5_1/ports/1/pkeys"
	for _, o := range check.OfKind(lookAt(t, s, of, p), "ibv_devinfo") {
		if o.Command != want {
			t.Errorf("%s\nwant %s", o.Command, want)
		}
	}
}

func TestAShortSoakIsUnobserved(t *testing.T) {
	t.Parallel()
	all := look(t, newSubnet())
	for i := range all {
		all[i].At = all[0].At
	}
	if j := judge(all); j.Verdict != check.Unobserved || !strings.Contains(j.Reason, "soak") && !strings.Contains(j.Reason, "observed for") {
		t.Errorf("%s: %s", j.Verdict, j.Reason)
	}
}

// OpenSM sweeps every 10 s: a shorter time between two answers may have no sweep.
func TestASoakWithoutASweepIsUnobserved(t *testing.T) {
	t.Parallel()
	of, p := declared()
	of.Fabric.Soak = site.Duration(19 * time.Second)
	s := newSubnet()
	s.tick = 2
	obs := lookAt(t, s, of, p)
	if j := plan.Judge(fabric.New(of, p, onhost.Deps{}), obs); j.Verdict != check.Unobserved || !strings.Contains(j.Reason, "no sweep") {
		t.Errorf("%s: %s", j.Verdict, j.Reason)
	}
	s.tick, of.Fabric.Soak = 6, site.Duration(2*time.Second) // answers to sminfo of 2 hosts and to ibdiagnet, and a sweep of 3 switches
	if j := plan.Judge(fabric.New(of, p, onhost.Deps{}), lookAt(t, s, of, p)); j.Verdict != check.Passed {
		t.Errorf("%s: %s", j.Verdict, j.Reason)
	}
}

func TestNothingExpectedIsUnobserved(t *testing.T) {
	t.Parallel()
	all := look(t, newSubnet())
	for name, empty := range map[string]func(*site.Site){
		"no nodes":    func(s *site.Site) { s.Inventory.Nodes = nil },
		"no adapters": func(s *site.Site) { s.Fabric.HCAs = nil },
		"no links":    func(s *site.Site) { s.Fabric.Links = 0 },
	} {
		s, p := declared()
		empty(s)
		if j := fabric.New(s, p, onhost.Deps{}).Judge(all); j.Verdict == check.Passed || !slices.ContainsFunc(j.Findings, func(f check.Finding) bool { return f.Suspect == "site fabric" }) {
			t.Errorf("%s: %s: %+v", name, j.Verdict, j.Findings)
		}
	}
}

func TestObserveEnds(t *testing.T) {
	t.Parallel()
	s, p := declared()
	full := errors.New("disk full")
	g := fabric.New(s, p, onhost.Deps{Hosts: newSubnet()})
	if err := g.Observe(t.Context(), &book{fail: full}); !errors.Is(err, full) {
		t.Errorf("a store that is full: %v", err)
	}
	// The soak is real time here: the end of the context ends it.
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := g.Observe(ctx, &book{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("an ended context: %v", err)
	}
}

func TestWithTheShippedProfile(t *testing.T) {
	t.Parallel()
	s, _ := declared()
	p, err := profile.Load("h100-sxm-ndr400")
	if err != nil {
		t.Fatal(err)
	}
	healthy := newSubnet()
	healthy.stages = append(healthy.stages, "Nodes Information")
	if j := fabric.New(s, p, onhost.Deps{}).Judge(look(t, healthy)); j.Verdict != check.Passed {
		t.Errorf("%s: %+v", j.Reason, j.Findings)
	}
}
