package profile_test

import (
	"os"
	"path/filepath"
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
	data, err := os.ReadFile(filepath.Join("data", "h100-sxm-ndr400.yaml"))
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
	for nodes, want := range map[int]float64{1: 480, 2: 487, 3: 386, 4: 386, 100: 386} {
		row, ok := p.Collective.CeilingFor(nodes)
		if !ok || row.Busbw.Value != want {
			t.Errorf("%d nodes: %v %v, want %v", nodes, row.Busbw.Value, ok, want)
		}
	}
	if _, ok := p.Collective.CeilingFor(0); ok {
		t.Error("a ceiling for no nodes")
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
	if _, ok := p.Collective.CeilingFor(1); ok {
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
		"rails":                  {func(p *profile.Profile) { p.Node.HCAs.Value = 1 }, "fabric.requiredStages"},
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
