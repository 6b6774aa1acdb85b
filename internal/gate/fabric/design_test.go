package fabric_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	testingclock "k8s.io/utils/clock/testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/gate/fabric"
	"github.com/firstlight/firstlight/internal/gate/onhost"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/probe/ssh"
)

// ibnetdiscover is what the tool prints over the subnet, with the links that are up.
func (s *subnet) ibnetdiscover() string {
	var b strings.Builder
	id := func(node string) string { return fmt.Sprintf("N-%016x", s.guids[node]) }
	lines := map[string][]string{}
	var order []string
	add := func(node string, port int, peer string, peerPort int) {
		if lines[node] == nil {
			order = append(order, node)
		}
		lines[node] = append(lines[node], fmt.Sprintf("[%d]\t%q[%d]\t\t# %q lid 1 4xNDR\n", port, id(peer), peerPort, s.called(peer)))
	}
	for _, l := range s.links {
		if l.phys == "LinkUp" {
			add(l.a, l.aPort, l.b, l.bPort)
			add(l.b, l.bPort, l.a, l.aPort)
		}
	}
	for _, node := range order {
		kind, ports := "Switch", 64
		if strings.Contains(node, " ") {
			kind, ports = "Ca", 1
		}
		fmt.Fprintf(&b, "\nvendid=0x2c9\n%s\t%d %q\t\t# %q\n%s", kind, ports, id(node), s.called(node), strings.Join(lines[node], ""))
	}
	return b.String()
}

// Each error of the cabling is named port by port; a fabric as designed passes.
func TestCablesAgainstTheDesign(t *testing.T) {
	t.Parallel()
	text := func(text string) func() (ssh.Output, error) { return says(text, "", 0) }
	for name, tt := range map[string]struct {
		design           func(*subnet) string // the healthy subnet
		spoil            func(*subnet)
		others           []string
		verdict          check.Verdict
		suspect, message string
	}{
		"as designed":         {verdict: check.Passed},
		"adapter replaced":    {spoil: func(s *subnet) { s.guids["gpu-02 mlx5_1"] = 0xb0 }, verdict: check.Passed},
		"description changed": {spoil: rename("gpu-02 mlx5_1", "MT4129 ConnectX7"), verdict: check.Passed},
		"aggregation node": {spoil: func(s *subnet) {
			s.guids["Mellanox Technologies Aggregation Node"] = 0xb0
			s.link("Mellanox Technologies Aggregation Node", 1, "leaf-0", 65)
			s.summary = strings.Replace(s.summary, "Nodes    : 0", "Nodes    : 1", 1)
			out := strings.ReplaceAll(s.ibnetdiscover(), "Switch\t64", "Switch\t65")
			s.instead["gpu-01 ibnetdiscover"] = text(out)
		}, verdict: check.Passed},
		"node of others": {spoil: func(s *subnet) {
			s.guids["storage-1 mlx5_0"] = 0xb0
			s.link("storage-1 mlx5_0", 1, "leaf-0", 40)
			s.summary = strings.NewReplacer("Nodes             : 7", "Nodes             : 8", "Adapters     : 4", "Adapters     : 5").Replace(s.summary)
		}, others: []string{"storage-*"}, verdict: check.Passed},
		"node of others by the GUID of its port": {spoil: func(s *subnet) {
			s.guids["storage-1 mlx5_0"] = 0xb0
			s.link("storage-1 mlx5_0", 1, "leaf-0", 40)
			s.summary = strings.NewReplacer("Nodes             : 7", "Nodes             : 8", "Adapters     : 4", "Adapters     : 5").Replace(s.summary)
			of := regexp.MustCompile(`(# "storage-1 mlx5_0"\n\[1\])`).ReplaceAllString(s.ibnetdiscover(), "$1(b0)")
			s.instead["gpu-01 ibnetdiscover"] = text(strings.ReplaceAll(of, "N-00000000000000b0", "N-00000000000000af"))
		}, others: []string{"0xb0"}, verdict: check.Passed},
		"uplink missing":         {spoil: func(s *subnet) { s.links = s.links[:len(s.links)-1] }, verdict: check.Failed, suspect: "leaf-1/port33", message: `missing cable: no link leaf-1/port33 to spine-0/port2`},
		"uplink in another port": {spoil: func(s *subnet) { s.of("leaf-1").bPort = 7 }, verdict: check.Failed, suspect: "leaf-1/port33", message: `moved cable: link leaf-1/port33 to spine-0/port2 is wired as leaf-1/port33 to spine-0/port7`},
		"additional link":        {spoil: func(s *subnet) { s.link("leaf-0", 40, "leaf-1", 40) }, verdict: check.Failed, suspect: "leaf-0/port40", message: `extra cable: link leaf-0/port40 to leaf-1/port40 is not in the design`},
		"rails swapped": {spoil: func(s *subnet) {
			a, b := s.of("gpu-02 mlx5_0"), s.of("gpu-02 mlx5_1")
			a.b, a.bPort, b.b, b.bPort = b.b, b.bPort, a.b, a.bPort
		}, verdict: check.Failed, suspect: "gpu-02/mlx5_1", message: `swapped cable: links gpu-02/mlx5_0 to leaf-0/port2, gpu-02/mlx5_1 to leaf-1/port2 are wired as gpu-02/mlx5_0 to leaf-1/port2, gpu-02/mlx5_1 to leaf-0/port2`},
		"on the wrong rail": {spoil: func(s *subnet) { s.of("gpu-02 mlx5_1").b, s.of("gpu-02 mlx5_1").bPort = "leaf-0", 9 }, verdict: check.Failed, suspect: "gpu-02/mlx5_1", message: `gpu-02/mlx5_1 to leaf-1/port2 is wired as gpu-02/mlx5_1 to leaf-0/port9`},
		// Seen in NVIDIA/topograph pkg/ib/ib_test.go: "MF0;IB-ComputeLeaf-101:MQM8700/U1".
		"a switch with a slash in its description": {design: func(s *subnet) string { return managed.Replace(s.ibnetdiscover()) }, spoil: func(s *subnet) {
			s.of("gpu-02 mlx5_1").bPort = 9
			s.instead["gpu-01 ibnetdiscover"] = text(managed.Replace(s.ibnetdiscover()))
		}, verdict: check.Failed, suspect: "gpu-02/mlx5_1", message: `moved cable: link MF0;leaf-1:MQM9700/U1/port2 to gpu-02/mlx5_1 is wired as`},
		"no design": {design: func(*subnet) string { return "" }, verdict: check.Unobserved, suspect: "fabric.design", message: "cannot read the design"},
		"two adapters with one description": {spoil: func(s *subnet) {
			s.instead["gpu-01 ibnetdiscover"] = text(strings.ReplaceAll(strings.ReplaceAll(s.ibnetdiscover(), "N-", "M-"), "gpu-02 mlx5_1", "gpu-02 mlx5_0"))
		}, verdict: check.Unobserved, suspect: "fabric", message: "are both gpu-02/mlx5_0"},
		"a design with two adapters of one description": {design: func(s *subnet) string {
			return strings.ReplaceAll(s.ibnetdiscover(), "gpu-02 mlx5_1", "gpu-02 mlx5_0")
		}, verdict: check.Unobserved, suspect: "fabric.design", message: "the design is ambiguous: .* are both gpu-02/mlx5_0"},
		"an adapter with two ports": {design: twoPorts, spoil: func(s *subnet) {
			s.instead["gpu-01 ibnetdiscover"] = text(twoPorts(s))
		}, verdict: check.Passed},
		"output of another program": {spoil: func(s *subnet) {
			s.instead["gpu-01 ibnetdiscover"] = text("ibnetdiscover: usage: ...\n")
		}, verdict: check.Unobserved, suspect: "gpu-01", message: "ibnetdiscover"},
		"no ibnetdiscover": {spoil: func(s *subnet) { s.instead["gpu-01 ibnetdiscover"] = says("", "bash: command not found\n", 127) }, verdict: check.Unobserved, suspect: "gpu-01", message: "ibnetdiscover"},
		"a switch is silent": {spoil: func(s *subnet) {
			s.instead["gpu-01 ibnetdiscover"] = says(s.ibnetdiscover(), "ibwarn: [1] mad_rpc: _do_madrpc failed\n", 0)
		}, verdict: check.Unobserved, suspect: "gpu-01", message: "may be incomplete"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			of, p := declared()
			of.Fabric.Others = tt.others
			of.Fabric.Design = filepath.Join(t.TempDir(), "design.txt")
			design := newSubnet().ibnetdiscover()
			if tt.design != nil {
				design = tt.design(newSubnet())
			}
			if err := os.WriteFile(of.Fabric.Design, []byte(design), 0o600); err != nil {
				t.Fatal(err)
			}
			s := newSubnet()
			if tt.spoil != nil {
				tt.spoil(s)
			}
			obs := lookAt(t, s, of, p)
			if err := os.Remove(of.Fabric.Design); err != nil { // the evidence has the design
				t.Fatal(err)
			}
			j := plan.Judge(fabric.New(of, p, onhost.Deps{}), obs)
			if j.Verdict != tt.verdict {
				t.Errorf("%s: %s: %+v", j.Verdict, j.Reason, j.Findings)
			}
			message := regexp.MustCompile(tt.message)
			if tt.suspect != "" && !slices.ContainsFunc(j.Findings, func(f check.Finding) bool { return f.Suspect == tt.suspect && message.MatchString(f.Message) }) {
				t.Errorf("want %s: %s, got %+v", tt.suspect, tt.message, j.Findings)
			}
			if name == "rails swapped" { // a node that is left out is not compared
				g := fabric.New(of, p, onhost.Deps{}).Excluding([]string{"gpu-02"})
				if j := plan.Judge(g, obs); slices.ContainsFunc(j.Findings, func(f check.Finding) bool { return strings.Contains(f.Message, " cable: ") }) {
					t.Errorf("left out: %+v", j.Findings)
				}
			}
			for i, o := range obs { // without the observation, it does not pass
				if o.Kind == "design" || o.Kind == "ibnetdiscover" {
					if j := plan.Judge(fabric.New(of, p, onhost.Deps{}), slices.Delete(slices.Clone(obs), i, i+1)); j.Verdict == check.Passed {
						t.Errorf("passed without %s", o.Kind)
					}
				}
			}
		})
	}
}

// managed gives a switch the description that a managed one has.
var managed = strings.NewReplacer(`"leaf-1"`, `"MF0;leaf-1:MQM9700/U1"`)

// twoPorts is ibnetdiscover's output with a second port of an adapter, which the gate does not judge.
func twoPorts(s *subnet) string {
	s.link("gpu-02 mlx5_1", 2, "leaf-0", 41)
	out := s.ibnetdiscover()
	s.links = s.links[:len(s.links)-1]
	id := fmt.Sprintf("Ca\t1 \"N-%016x\"", s.guids["gpu-02 mlx5_1"])
	return strings.ReplaceAll(out, id, strings.Replace(id, "\t1", "\t2", 1))
}

// The figure has the cables that are as designed, and its limit is the number of designed cables.
func TestFigureOfTheDesign(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		spoil func(*subnet)
		want  float64
	}{
		"as designed":          {func(*subnet) {}, 6},
		"a cable is missing":   {func(s *subnet) { s.links = s.links[:5] }, 5},
		"cables are swapped":   {func(s *subnet) { a, b := s.of("leaf-0"), s.of("leaf-1"); a.bPort, b.bPort = b.bPort, a.bPort }, 4},
		"a cable is extra":     {func(s *subnet) { s.link("leaf-0", 40, "leaf-1", 40) }, 6},
		"no cable as designed": {func(s *subnet) { s.links = nil; s.link("leaf-0", 40, "leaf-1", 40) }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			of, p := declared()
			of.Fabric.Design = filepath.Join(t.TempDir(), "design.txt")
			if err := os.WriteFile(of.Fabric.Design, []byte(newSubnet().ibnetdiscover()), 0o600); err != nil {
				t.Fatal(err)
			}
			s := newSubnet()
			tt.spoil(s)
			j := plan.Judge(fabric.New(of, p, onhost.Deps{}), lookAt(t, s, of, p))
			if !slices.ContainsFunc(j.Figures, func(f check.Figure) bool {
				return f.Name == "cables as designed" && f.Value == tt.want && f.Limit == 6 && f.Relation == "=="
			}) {
				t.Errorf("%g of 6 cables are as designed: %+v", tt.want, j.Figures)
			}
		})
	}
}

// A missing design is unobserved, and a design that cannot be recorded ends the gate.
func TestADesignThatIsNotRecorded(t *testing.T) {
	t.Parallel()
	of, p := declared()
	of.Fabric.Design = filepath.Join(t.TempDir(), "missing.txt")
	j := plan.Judge(fabric.New(of, p, onhost.Deps{}), lookAt(t, newSubnet(), of, p))
	if j.Verdict != check.Unobserved || !slices.ContainsFunc(j.Findings, func(f check.Finding) bool {
		return f.Suspect == "fabric.design" && strings.Contains(f.Message, "no such file")
	}) {
		t.Errorf("%s: %+v", j.Verdict, j.Findings)
	}
	book := &designless{}
	clock := testingclock.NewFakePassiveClock(time.Unix(0, 0))
	wait := func(context.Context, time.Duration) error { return nil }
	if err := fabric.New(of, p, onhost.Deps{Hosts: newSubnet(), Clock: clock, Wait: wait}).Observe(t.Context(), book); !errors.Is(err, errFull) {
		t.Errorf("%v, want %v", err, errFull)
	}
}

var errFull = errors.New("no space left on device")

// designless records all but a design.
type designless struct{ book }

func (d *designless) Record(o check.Observation) (check.Observation, error) {
	if o.Kind == "design" {
		return o, errFull
	}
	return d.book.Record(o)
}

// rename changes the description of a node in ibnetdiscover.
func rename(from, to string) func(*subnet) {
	return func(s *subnet) {
		s.instead["gpu-01 ibnetdiscover"] = says(strings.ReplaceAll(s.ibnetdiscover(), from, to), "", 0)
	}
}
