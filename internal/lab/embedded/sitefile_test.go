package embedded

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/lab"
	"github.com/firstlight/firstlight/internal/site"
	"github.com/firstlight/firstlight/internal/world"
)

func sample(t *testing.T, nodes int) (*world.World, lab.Info, hosts) {
	t.Helper()
	return sampleOf(t, world.DefaultSpec(nodes))
}

func sampleOf(t *testing.T, spec world.Spec) (*world.World, lab.Info, hosts) {
	t.Helper()
	for i := range spec.GPUNodes {
		spec.GPUNodes[i].Address = "127.1.2." + string(rune('1'+i)) + ":2222"
	}
	w, err := world.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	info := lab.Info{Kubeconfig: "/k", PrometheusURL: "https://127.1.2.1:9090", AlertmanagerURL: "https://127.1.2.1:9093", CA: "/ca", ClientCert: "/c", ClientKey: "/key"}
	return w, info, hosts{user: "root", identityFile: "/id", knownHostsFile: "/known"}
}

// TestSiteIsValid: the lab's site file is valid and describes the same world.
func TestSiteIsValid(t *testing.T) {
	t.Parallel()
	w, info, h := sample(t, 3)
	dir := t.TempDir()
	if err := writeSite(dir, siteOf(w.Spec(), w.State(), w.State(), info, h)); err != nil {
		t.Fatal(err)
	}
	s, err := site.Load(filepath.Join(dir, SiteFile))
	if err != nil {
		t.Fatal(err)
	}
	again := SpecOf(s)
	if len(again.GPUNodes) != 3 || again.Spines != w.Spec().Spines || len(again.HCAs) != len(w.Spec().HCAs) {
		t.Errorf("the site describes %+v", again)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("other files exist: %v %v", entries, err)
	}
}

// TestFaultsDoNotChangeExpectations: no fault reduces what the site expects.
func TestFaultsDoNotChangeExpectations(t *testing.T) {
	t.Parallel()
	w, info, h := sample(t, 3)
	ordered := w.State()
	// A fault may change the facility.
	demanded := func() site.Site {
		d := siteOf(w.Spec(), ordered, w.State(), info, h).Demand()
		d.Facility = site.Facility{}
		return d
	}
	healthy := demanded()
	for _, kind := range world.Catalogue() {
		if kind.Hardware() != world.DefaultHardware {
			continue
		}
		f, err := w.AddFault(world.Fault{Kind: kind.Kind})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(healthy, demanded()); diff != "" {
			t.Errorf("%s changes what the site demands (-want +got):\n%s", kind.Kind, diff)
		}
		if err := w.ClearFault(f.ID); err != nil {
			t.Fatal(err)
		}
	}
}

// TestSiteOfOneGPU: the site lists gates that do not apply, with reasons.
func TestSiteOfOneGPU(t *testing.T) {
	t.Parallel()
	spec, err := world.SpecOf("a3-highgpu-1g", 1)
	if err != nil {
		t.Fatal(err)
	}
	w, err := world.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	_, info, h := sample(t, 1)
	dir := t.TempDir()
	if err := writeSite(dir, siteOf(w.Spec(), w.State(), w.State(), info, h)); err != nil {
		t.Fatal(err)
	}
	s, err := site.Load(filepath.Join(dir, SiteFile))
	if err != nil {
		t.Fatal(err)
	}
	if s.Profile != "a3-highgpu-1g" || len(s.NotApplicable) != 2 || s.NotApplicable["fabric"] == "" || s.NotApplicable["collective"] == "" {
		t.Errorf("%s: %+v", s.Profile, s.NotApplicable)
	}
	if s.Workloads.Training.Model != "llama3-1b" || s.Workloads.Training.Nodes != 1 {
		t.Errorf("%+v", s.Workloads.Training)
	}
	again := SpecOf(s)
	if again.Hardware != spec.Hardware || len(again.GPUNodes) != 1 || len(again.HCAs)+again.Spines != 0 {
		t.Errorf("the site describes %+v", again)
	}
	if _, err := world.New(again); err != nil {
		t.Error(err)
	}
}

// TestSiteOfARack: a rack with NVLink between nodes has a valid site.
func TestSiteOfARack(t *testing.T) {
	t.Parallel()
	spec, err := world.SpecOf("gb200-nvl72-ndr400", 2)
	if err != nil {
		t.Fatal(err)
	}
	w, info, h := sampleOf(t, spec)
	dir := t.TempDir()
	if err := writeSite(dir, siteOf(w.Spec(), w.State(), w.State(), info, h)); err != nil {
		t.Fatal(err)
	}
	s, err := site.Load(filepath.Join(dir, SiteFile))
	if err != nil {
		t.Fatal(err)
	}
	if s.Profile != "gb200-nvl72-ndr400" || len(s.Fabric.HCAs) != 4 || !s.NVLink.OnHost() || len(s.NotApplicable) != 0 {
		t.Errorf("%s: %+v, not applicable: %v", s.Profile, s.Fabric, s.NotApplicable)
	}
	if again, err := world.New(SpecOf(s)); err != nil || again.State().Nodes[1].NVLinkCluster != w.State().Nodes[1].NVLinkCluster {
		t.Errorf("the site describes another rack: %v", err)
	}
}
