package profile_test

import (
	"math"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/profile"
)

func TestShippedProfilesLoad(t *testing.T) {
	t.Parallel()
	names := profile.Names()
	if len(names) == 0 {
		t.Fatal("no profile ships")
	}
	for _, name := range names {
		p, err := profile.Load(name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if p.Name != name {
			t.Errorf("file %s holds profile %s", name, p.Name)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	data, err := profile.Raw("h100-sxm-ndr400")
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct{ name, old, new, want string }{
		{"a figure without source", `unit: W, source: "NVIDIA H100 SXM5 datasheet; DCGM diag-skus 2330 target_power 700"`, "unit: W", "a value, a unit and a source"},
		{"an unknown key", "summary:", "synopsis:", "synopsis"},
		{"another kind", "kind: Profile", "kind: Site", "must be firstlight/v1 and Profile"},
		{"no ceilings", "  ceilings:\n", "  ceilings: []\n  unused:\n", "unused"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if !strings.Contains(string(data), tt.old) {
				t.Fatalf("profile has no %q", tt.old)
			}
			_, err := profile.Parse("p.yaml", []byte(strings.Replace(string(data), tt.old, tt.new, 1)))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

func TestCeilingFor(t *testing.T) {
	t.Parallel()
	p, err := profile.Load("h100-sxm-ndr400")
	if err != nil {
		t.Fatal(err)
	}
	// 24 nodes are one doubling of 12, 100 are 3.06 of them, each with 2 % less
	for nodes, want := range map[int]float64{1: 480, 2: 487, 3: 386, 4: 386, 11: 386, 12: 386, 24: 378.28, 100: 362.86, 192: 356.04} {
		row, ok := p.CeilingFor(nodes)
		if !ok || math.Abs(row.Busbw.Value-want) > 0.01 {
			t.Errorf("%d nodes: %v %v, want %v", nodes, row.Busbw.Value, ok, want)
		}
		if computed := nodes > 12; computed != strings.HasPrefix(row.Busbw.Source, "rule: ") {
			t.Errorf("source of %d nodes: %s", nodes, row.Busbw.Source)
		}
	}
	if _, ok := p.CeilingFor(0); ok {
		t.Error("a ceiling for no nodes")
	}
	p.Collective.ScaleLoss = nil // as in a profile of before there was a rule
	if row, ok := p.CeilingFor(100); !ok || row.Busbw.Value != 386 {
		t.Errorf("without a rule: %v %v", row.Busbw.Value, ok)
	}
	// nothing connects two nodes without a fabric, or a nineteenth node to a rack
	for name, most := range map[string]int{"h100-sxm": 1, "gb200-nvl72": 18} {
		p, err := profile.Load(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := p.CeilingFor(most); !ok {
			t.Errorf("%s: no ceiling of %d nodes", name, most)
		}
		if row, ok := p.CeilingFor(most + 1); ok {
			t.Errorf("%s: a ceiling of %d nodes: %+v", name, most+1, row)
		}
	}
}

// A class floor is the limit itself, and hardware may be faster: no measurement is published.
func TestClassFloor(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name             string
		nodes            int
		limit, plausible float64
	}{
		{"h100-sxm-ndr400", 4, 0.92 * 386, 1.08 * 487},
		{"h200-sxm-roce400", 2, 340, 1.08 * 475}, // the fastest that was measured is one node
		{"h100-nvl", 1, 35, 1.08 * 12 * 26.562},  // nothing was measured: the links' rate
	} {
		p, err := profile.Load(tt.name)
		if err != nil {
			t.Fatal(err)
		}
		if limit, _, ok := p.Limit(tt.nodes); !ok || math.Abs(limit-tt.limit) > 0.01 {
			t.Errorf("%s: limit %v %v, want %v", tt.name, limit, ok, tt.limit)
		}
		if got := p.Plausible(); math.Abs(got-tt.plausible) > 0.01 {
			t.Errorf("%s: plausible up to %v, want %v", tt.name, got, tt.plausible)
		}
	}
}

// TestWithoutAFabric: hardware without a fabric between GPUs needs no fabric figures; other
// hardware does.
func TestWithoutAFabric(t *testing.T) {
	t.Parallel()
	p, err := profile.Load("a3-highgpu-1g")
	if err != nil {
		t.Fatal(err)
	}
	if p.Rails() || p.Collectives() || p.Node.GPUs.Value != 1 {
		t.Errorf("%+v", p.Node)
	}
	if _, ok := p.CeilingFor(1); ok {
		t.Error("a ceiling for a GPU alone")
	}
	eight, err := profile.Load("h100-sxm-ndr400")
	if err != nil || !eight.Rails() || !eight.Collectives() {
		t.Fatalf("%+v, %v", eight, err)
	}
	for name, tt := range map[string]struct {
		spoil func(p *profile.Profile)
		want  string
	}{
		"rails":                  {func(p *profile.Profile) { p.Node.HCAs.Value, p.Fabric.Kind = 1, profile.InfiniBand }, "fabric.requiredStages"},
		"GPUs joined by NVLinks": {func(p *profile.Profile) { p.Node.GPUs.Value, p.GPU.NVLinks.Value = 2, 18 }, "collective.ceilings"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spoilt := *p
			tt.spoil(&spoilt)
			if err := spoilt.Validate(); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, want %q", err, tt.want)
			}
		})
	}
}
