package profile_test

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/probe/nccl"
	"github.com/firstlight/firstlight/internal/profile"
)

func load(t *testing.T, name string) *profile.Profile {
	t.Helper()
	p, err := profile.Load(name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// The limits of collectives: a published figure for its number of nodes only, else a part of what
// the links allow by the definition of busbw.
func TestLimitOf(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		profile, collective string
		nodes               int
		limit               float64 // 0: nothing connects the nodes
		source              string
	}{
		{"h100-sxm-ndr400", profile.AllReduce, 4, 0.92 * 386, "CoreWeave"},
		{"h100-sxm-ndr400", profile.AllGather, 1, 0.6 * 18 * 26.562, "the NVLinks of a GPU"},
		{"h100-sxm-ndr400", profile.AllGather, 2, 0.6 * 400, "the 8 ports of a node"},
		{"h100-sxm-ndr400", profile.ReduceScatter, 64, 0.6 * 400, "the 8 ports of a node"},
		{"h100-sxm-ndr400", profile.AllToAll, 2, 0.6 * 50 * 15 / 8, "8 outside of the node"},
		{"h100-sxm-ndr400", profile.AllToAll, 4, 0.6 * 50 * 31 / 24, "24 outside of the node"},
		{"h100-sxm-ndr400", profile.SendRecv, 4, 0.6 * 50, "the ports of one GPU"},
		{"h100-sxm-efa-p5", profile.SendRecv, 2, 0.6 * 50, "the ports of one GPU"},
		{"h100-sxm-efa-p5", profile.AllGather, 2, 0.92 * 338, "NVCRE"},
		{"h100-sxm-efa-p5", profile.AllGather, 4, 0.6 * 400, "class floor: rule: "},
		{"h100-sxm-efa-p5", profile.AllToAll, 2, 0.92 * 79, "NVCRE"},
		{"h100-sxm-tcpxo", profile.AllToAll, 2, 0.92 * 40, "NVCRE"},
		{"gb200-nvl72", profile.AllGather, 4, 0.92 * 609, "NVCRE"},
		{"gb200-nvl72", profile.AllToAll, 18, 0.6 * 900, "the NVLinks of a GPU"},
		{"gb200-nvl72-ndr400", profile.AllToAll, 36, 0.6 * 50 * 143 / 72, "72 outside of the node or NVLink domain"},
		{"gb200-nvl72-ndr400", profile.SendRecv, 36, 0.6 * 50, "the ports of one GPU"},
		{"gb200-nvl72", profile.AllGather, 36, 0, ""},
		{"h100-sxm", profile.AllToAll, 2, 0, ""},
		{"h100-nvl", profile.AllGather, 1, 0.6 * 35, "the limit of an all-reduce in a node"},
		{"a100-sxm-40gb", profile.AllToAll, 1, 0.92 * 224, "superbenchmark"},
		{"a100-sxm-40gb", profile.SendRecv, 1, 0.6 * 300, "the NVLinks of a GPU"},
		{"a3-highgpu-1g", profile.SendRecv, 1, 0, ""},
	} {
		limit, row, ok := load(t, tt.profile).LimitOf(tt.collective, tt.nodes)
		if ok != (tt.limit > 0) || math.Abs(limit-tt.limit) > 0.01*max(1, tt.limit) || !strings.Contains(row.Busbw.Source, tt.source) {
			t.Errorf("%s, %s on %d nodes: %v, %g of %q, want %g of %q", tt.profile, tt.collective, tt.nodes, ok, limit, row.Busbw.Source, tt.limit, tt.source)
		}
	}
}

// A limit is below what the links can show, for every profile and number of nodes that has one, and no
// class floor is above a published figure.
func TestLimitsOfTheSuiteAreBelowTheLinks(t *testing.T) {
	t.Parallel()
	compared := 0
	for _, name := range profile.Names() {
		p := load(t, name)
		for _, collective := range profile.CollectiveNames() {
			for _, nodes := range []int{1, 2, 4, 18, 36, 128} {
				limit, row, ok := p.LimitOf(collective, nodes)
				most, known := p.PlausibleOf(collective, nodes)
				if !ok {
					continue
				}
				compared++
				if !known || limit <= 0 || limit >= most {
					t.Errorf("%s, %s on %d nodes: limit %g of at most %g (%t)", name, collective, nodes, limit, most, known)
				}
				if collective != profile.AllReduce && row.ClassFloor != strings.HasPrefix(row.Busbw.Source, "class floor: rule: ") {
					t.Errorf("%s, %s on %d nodes: class floor %t of %q", name, collective, nodes, row.ClassFloor, row.Busbw.Source)
				}
			}
		}
		p.Collective.SuiteFloor = nil
		if _, _, ok := p.LimitOf(profile.SendRecv, 1); ok {
			t.Errorf("%s has a class floor without a rule", name)
		}
	}
	if compared < 200 {
		t.Errorf("%d limits were compared: the search is broken", compared)
	}
}

// An unknown collective and contradictory rows are refused.
func TestValidateSuite(t *testing.T) {
	t.Parallel()
	row := profile.Ceiling{Nodes: 2, Busbw: profile.Figure{Value: 100, Unit: "GB/s", Source: "a run"}}
	floor := row
	floor.ClassFloor = true
	for want, suite := range map[string]map[string]profile.Published{
		"unknown collective.suite.broadcast":  {"broadcast": {Ceilings: []profile.Ceiling{row}}},
		"unknown collective.suite.all-reduce": {profile.AllReduce: {Ceilings: []profile.Ceiling{row}}},
		"ceilings[1].nodes: 2":                {profile.AllGather: {Ceilings: []profile.Ceiling{row, row}}},
		"classFloor is true":                  {profile.AllGather: {Ceilings: []profile.Ceiling{floor}}},
	} {
		p := load(t, "h100-sxm-ndr400")
		p.Collective.Suite = suite
		if err := p.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	p := load(t, "h100-sxm-ndr400")
	p.Collective.Suite = map[string]profile.Published{profile.AllGather: {Ceilings: []profile.Ceiling{row}}}
	if err := p.Validate(); err != nil {
		t.Error(err)
	}
}

// The figures of collectives are those of the outputs that they were taken from.
func TestSuiteIsThatOfPublishedOutputs(t *testing.T) {
	t.Parallel()
	dir := os.Getenv("FIRSTLIGHT_CORPUS")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "corpus")
	}
	if _, err := os.Stat(filepath.Join(dir, "INDEX.tsv")); os.IsNotExist(err) {
		t.Skipf("skipped: no corpus of real outputs at %s: set FIRSTLIGHT_CORPUS to its directory", dir)
	}
	for _, tt := range []struct {
		file, profile, collective string
		nodes                     int
	}{
		{"superb-03.txt", "a100-sxm-40gb", profile.AllToAll, 1},
		{"superb-06.txt", "a100-sxm-40gb", profile.ReduceScatter, 1},
		{"gcp-03.txt", "h100-sxm-tcpxo", profile.AllGather, 2},
	} {
		rows := load(t, tt.profile).Collective.Suite[tt.collective].Ceilings
		i := slices.IndexFunc(rows, func(r profile.Ceiling) bool { return r.Nodes == tt.nodes })
		if i < 0 {
			t.Errorf("%s has no figure of %s on %d nodes", tt.profile, tt.collective, tt.nodes)
			continue
		}
		f, err := os.Open(filepath.Join(dir, "nccltests", tt.file))
		if err != nil {
			t.Fatal(err)
		}
		runs, err := nccl.ParseTests(f)
		if closeErr := f.Close(); err != nil || closeErr != nil || len(runs) == 0 {
			t.Errorf("%s: %d runs, %v", tt.file, len(runs), err)
			continue
		}
		table := runs[0].Rows
		if got, ok := table[len(table)-1].BusBW(); !ok || math.Abs(got-rows[i].Busbw.Value) > 0.01*got {
			t.Errorf("%s: busbw %g, %s has %g", tt.file, got, tt.profile, rows[i].Busbw.Value)
		}
	}
}

// The network of four nodes of GB200 gives an all-reduce of 250 GB/s at most: 191.4 were measured with NVLink between
// nodes off, and 882.5 with it.
func TestNetworkOf(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		profile, collective string
		nodes               int
		want                float64 // GB/s; 0: no network between nodes
	}{
		{"gb200-nvl72-ndr400", profile.AllReduce, 4, 250},
		{"gb200-nvl72-ndr400", profile.AllReduce, 2, 350},
		{"gb200-nvl72-ndr400", profile.AllReduce, 1, 0},
		{"gb200-nvl72-ndr400", profile.AllToAll, 4, 62.5},
		{"gb200-nvl72-ndr400", profile.SendRecv, 4, 200},
		{"gb200-nvl72", profile.AllReduce, 4, 0},
	} {
		p := load(t, tt.profile)
		if got, ok := p.NetworkOf(tt.collective, tt.nodes); ok != (tt.want > 0) || ok && got != tt.want {
			t.Errorf("%s, %s on %d nodes: %g, %t, want %g", tt.profile, tt.collective, tt.nodes, got, ok, tt.want)
		}
		if p.Node.NVLinkDomain.Value != 18 {
			t.Errorf("%s is changed", tt.profile)
		}
	}
}
