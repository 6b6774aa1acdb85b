package catalog_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/conformance/catalog"
)

// wanted says in which version a requirement is, at which level: a row each, M for
// MUST, S for SHOULD, - for not there.
const wanted = `
accelerators dra_support                     M M - -
accelerators driver_runtime_management       - S S S
accelerators gpu_sharing                     - S S S
accelerators virtualized_accelerator         - S S S
networking ai_inference                      M M M M
networking advanced_inference_ingress        - - S S
networking high_performance_networking       - - S S
networking disaggregated_inference           - - S S
schedulingOrchestration gang_scheduling      M M M M
schedulingOrchestration cluster_autoscaling  M M M M
schedulingOrchestration pod_autoscaling      M M M M
observability accelerator_metrics            M M M M
observability ai_service_metrics             M M M M
security secure_accelerator_access           M M M M
security workload_sandboxing                 - - - S
operator robust_controller                   M M M M
`

func TestEveryVersionHasWhatTheTableSays(t *testing.T) {
	t.Parallel()
	versions := catalog.Versions()
	if diff := cmp.Diff([]string{"1.34", "1.35", "1.36", "1.37"}, versions); diff != "" {
		t.Fatal(diff)
	}
	levels := map[string]catalog.Level{"M": catalog.Must, "S": catalog.Should}
	for i, version := range versions {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			type row struct {
				Category, ID string
				Level        catalog.Level
			}
			var want, got []row
			for line := range strings.Lines(strings.TrimSpace(wanted)) {
				f := strings.Fields(line)
				if level, there := levels[f[2+i]]; there {
					want = append(want, row{f[0], f[1], level})
				}
			}
			p := load(t, version)
			for _, r := range p.Requirements {
				got = append(got, row{r.Category, r.ID, r.Level})
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestCounts(t *testing.T) {
	t.Parallel()
	for version, want := range map[string][2]int{"1.34": {9, 0}, "1.35": {9, 3}, "1.36": {8, 6}, "1.37": {8, 7}} {
		var got [2]int
		for _, r := range load(t, version).Requirements {
			if r.Level == catalog.Must {
				got[0]++
			} else {
				got[1]++
			}
		}
		if got != want {
			t.Errorf("%s: %d MUST and %d SHOULD, want %d and %d", version, got[0], got[1], want[0], want[1])
		}
	}
}

// TestWording: a requirement that stays has its words from the version before,
// but for the one where 1.37 has a slip of its own, which is kept.
func TestWording(t *testing.T) {
	t.Parallel()
	before := load(t, "1.34")
	for _, version := range catalog.Versions()[1:] {
		now := load(t, version)
		for _, r := range now.Requirements {
			was, there := before.Find(r.ID)
			if !there || was.Description == r.Description {
				continue
			}
			slip := strings.Replace(was.Description, "makes them available", "makes they available", 1)
			if version != "1.37" || r.ID != "accelerator_metrics" || r.Description != slip {
				t.Errorf("%s of %s says something else than before: %s", r.ID, version, r.Description)
			}
		}
		before = now
	}
}

func TestMetadata(t *testing.T) {
	t.Parallel()
	known := map[string]bool{}
	for _, f := range catalog.Fields() {
		known[f.Key] = true
	}
	for _, version := range catalog.Versions() {
		p := load(t, version)
		if len(p.Placeholders) < 10 {
			t.Errorf("%s has %d keys of metadata", version, len(p.Placeholders))
		}
		for key, value := range p.Placeholders {
			switch {
			case !known[key]:
				t.Errorf("%s has the key %s, which is unknown", version, key)
			case key == catalog.KubernetesVersion:
				if value != "v"+version {
					t.Errorf("%s says that it is for %s", version, value)
				}
			case !catalog.Placeholder(value):
				t.Errorf("%s: %s of %s is not a placeholder", value, key, version)
			}
		}
		if len(p.Source.ReadFrom) == 0 || len(p.Source.ComparedWith) == 0 {
			t.Errorf("%s does not say where it is from, or what it was compared with", version)
		}
	}
}

func TestSnake(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]string{
		"kubernetesVersion": "kubernetes_version", "k8sConformanceUrl": "k8s_conformance_url", "description": "description",
		"contactEmailAddress": "contact_email_address",
	} {
		if got := catalog.Snake(key); got != want {
			t.Errorf("%s is %s, want %s", key, got, want)
		}
	}
}

func TestVersionsThatThereAreNot(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"", "1.33", "1.36.1", "v1", "../sources", "vv1.36"} {
		if _, err := catalog.Load(version); !errors.Is(err, catalog.ErrNoVersion) || !strings.Contains(err.Error(), "1.34, 1.35, 1.36, 1.37") {
			t.Errorf("%q: %v", version, err)
		}
	}
	if p, err := catalog.Load("v1.36"); err != nil || p.Version != "1.36" {
		t.Errorf("v1.36: %+v %v", p.Version, err)
	}
}

func TestFindAndOf(t *testing.T) {
	t.Parallel()
	p := load(t, "1.36")
	if _, there := p.Find("dra_support"); there {
		t.Error("1.36 has dra_support")
	}
	if r, there := p.Find("gpu_sharing"); !there || r.Level != catalog.Should || r.Category != "accelerators" {
		t.Errorf("%+v %v", r, there)
	}
	if got := p.Of("observability"); len(got) != 2 || got[1].ID != "ai_service_metrics" {
		t.Errorf("%+v", got)
	}
}

func load(t *testing.T, version string) catalog.Programme {
	t.Helper()
	p, err := catalog.Load(version)
	if err != nil {
		t.Fatal(err)
	}
	return p
}
