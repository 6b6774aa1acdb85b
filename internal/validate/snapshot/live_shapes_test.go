package snapshot_test

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	utilversion "k8s.io/apimachinery/pkg/util/version"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/lab/labtest"
	"github.com/firstlight/firstlight/internal/pipeline"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/recipe/model"
	"github.com/firstlight/firstlight/internal/recipe/resolve"
	"github.com/firstlight/firstlight/internal/recipe/tree"
	"github.com/firstlight/firstlight/internal/suite"
	"github.com/firstlight/firstlight/internal/validate"
	"github.com/firstlight/firstlight/internal/validate/snapshot"
	"github.com/firstlight/firstlight/internal/world"
	"github.com/firstlight/firstlight/recipes"
)

// machine is the GPU node that a recipe asks for.
type machine struct {
	accelerator string
	gpus        int
	profile     string
	// model of the fault gpu-model that gives the lab's hosts these GPUs; empty: they have them.
	model string
}

// labs have the machines of all recipes, by hardware. On H100 hosts the GPUs are replaced.
var labs = []struct {
	hardware string
	machines []machine
}{
	{world.DefaultHardware, []machine{
		{"h100", 8, "h100-sxm", ""},
		{"a100", 8, "a100-sxm-40gb", "a100-sxm-40gb"},
		{"h200", 8, "h200-sxm", "h200-sxm"},
		{"b200", 8, "b200-sxm", "b200-sxm"},
		{"l40s", 8, "l40s", "l40s"},
		{"l40s", 4, "l40s", "l40s"},
	}},
	{"gb200-nvl72-ndr400", []machine{{"gb200", 4, "gb200-nvl72", ""}}},
}

// images are the operating systems of the world by service and OS of the criteria: the oldest that the
// recipes allow.
var images = map[string]string{
	"aks ubuntu": "ubuntu-22.04", "oke ubuntu": "ubuntu-22.04", "eks ubuntu": "ubuntu-24.04", "generic ubuntu": "ubuntu-24.04",
	"eks amazonlinux": "amazonlinux-2023", "gke cos": "cos-121",
	"kind ": "ubuntu-22.04", " ": "ubuntu-22.04", // any
}

// older are the operating systems with an older version and an older kernel, by image. kernel is the
// beginning of its release.
var older = map[string]struct{ image, version, kernel string }{
	"ubuntu-24.04":     {"ubuntu-22.04", "22.04", "5.15."},
	"ubuntu-22.04":     {"ubuntu-20.04", "20.04", "5.4."},
	"amazonlinux-2023": {"amazonlinux-2", "2", "5.10."},
}

const (
	serverVersion = "K8s.server.version"
	gpuModel      = "GPU.smi.gpu.model"
	broken        = "gpu-02" // the node of the broken constraints
)

// breakOf is the fault that breaks a constraint on one node, and the beginning of the value that is then
// measured there.
func breakOf(c model.Constraint, m machine, image string) (f world.Fault, measured string, ok bool) {
	on := func(kind string, options map[string]string) world.Fault {
		return world.Fault{Kind: kind, Target: broken, Options: options}
	}
	o, hasOlder := older[image]
	switch c.Name {
	case gpuModel:
		return on("gpu-model", map[string]string{"model": "a100-sxm-40gb"}), "NVIDIA A100-SXM4-40GB", m.accelerator != "a100"
	case "GPU.smi.gpu-count":
		fewer := strconv.Itoa(m.gpus - 1)
		if m.model == "" {
			return on("gpu-count-short", nil), fewer, true
		}
		return on("gpu-model", map[string]string{"model": m.model, "gpus": fewer}), fewer, true
	case "OS.release.ID":
		if image == "cos-121" {
			return on("operating-system", map[string]string{"image": "ubuntu-24.04"}), "ubuntu", true
		}
		return on("operating-system", map[string]string{"image": "cos-121"}), "cos", true
	case "OS.release.VERSION_ID":
		return on("operating-system", map[string]string{"image": o.image}), o.version, hasOlder
	case "OS.sysctl./proc/sys/kernel/osrelease":
		return on("operating-system", map[string]string{"image": o.image}), o.kernel, hasOlder
	default:
		return f, "", false
	}
}

// leaf is a leaf recipe.
type leaf struct {
	name   string
	recipe *resolve.Result
}

// shape is the cluster that a recipe asks for.
type shape struct {
	accelerator string
	gpus        int
	image       string
}

// leavesByShape are all leaf recipes.
func leavesByShape(t *testing.T) map[shape][]leaf {
	t.Helper()
	loaded, problems := tree.Load(recipes.FS, tree.Options{Label: "recipes"})
	if err := problems.Err(); err != nil {
		t.Fatal(err)
	}
	out := map[shape][]leaf{}
	for _, o := range loaded.Recipes() {
		if !o.Leaf() {
			continue
		}
		r, err := resolve.Resolve(loaded, o.Criteria, resolve.Options{})
		if err != nil {
			t.Fatal(err)
		}
		s := shape{accelerator: cmp.Or(o.Criteria.Accelerator, "h100"), gpus: 8}
		if s.accelerator == "gb200" || s.accelerator == "l40s" && o.Criteria.Service != "eks" { // BM.GPU.L40S.4, servers with four cards
			s.gpus = 4
		}
		var ok bool
		if s.image, ok = images[o.Criteria.Service+" "+o.Criteria.OS]; !ok {
			t.Fatalf("recipe %s: the test has no operating system for service %q and OS %q", o.Name, o.Criteria.Service, o.Criteria.OS)
		}
		out[s] = append(out[s], leaf{o.Name, r})
	}
	return out
}

// decides reports whether the verdict depends on a constraint; idOf identifies it among those of all
// recipes.
func decides(c model.Constraint) bool { return c.Severity != "warning" }

func idOf(c model.Constraint) string { return c.Name + " " + c.Value }

// coverage has the leaf recipes for which the step has passed, and the constraints for which it has
// failed once they were broken.
type coverage struct{ passed, failed map[string]bool }

// bench is a lab, with the source of its measurements.
type bench struct {
	lab, guest *labtest.Lab
	// byPods: pods read what neither labels nor DRA slices have.
	byPods bool
	// server is the version of the API server, newer a constraint that it does not satisfy.
	server, newer string
	runs          int
	coverage
}

func newBench(t *testing.T, hardware string) *bench {
	t.Helper()
	spec, err := world.SpecOf(hardware, 2)
	if err != nil {
		t.Fatal(err)
	}
	l := labtest.Start(t, spec)
	info, err := l.Cluster.Client.Discovery().ServerVersion()
	if err != nil {
		t.Fatal(err)
	}
	v, err := utilversion.ParseGeneric(info.GitVersion)
	if err != nil {
		t.Fatal(err)
	}
	return &bench{lab: l, guest: l.Guest(t, snapshot.Rules()), server: info.GitVersion, newer: fmt.Sprintf(">= %d.%d", v.Major(), v.Minor()+1)}
}

// The step passes for every leaf recipe on a lab of the shape that the recipe asks for (accelerator, GPUs
// a node, architecture, operating system, kernel), and fails on a lab with one node that breaks a
// constraint, for every constraint of the recipes: with labels and DRA slices, and with pods.
func TestLiveShapes(t *testing.T) {
	suite.Live(t)
	suite.Require(t, suite.All)
	leaves := leavesByShape(t)
	sources := []string{"labels", "pods"}
	done := map[string]coverage{}
	for _, source := range sources {
		done[source] = coverage{map[string]bool{}, map[string]bool{}}
	}
	for _, at := range labs {
		t.Run(at.hardware, func(t *testing.T) {
			b := newBench(t, at.hardware)
			for _, source := range sources {
				t.Run(source, func(t *testing.T) {
					b.byPods, b.coverage = source == "pods", done[source]
					if b.byPods {
						defer pluginOnly(t, b.lab)()
					}
					for _, m := range at.machines {
						t.Run(fmt.Sprintf("%dx-%s", m.gpus, m.accelerator), func(t *testing.T) { b.machine(t, m, leaves) })
					}
				})
			}
		})
	}
	names, constraints := map[string]bool{}, map[string]bool{}
	for _, group := range leaves {
		for _, one := range group {
			names[one.name] = true
			for _, c := range one.recipe.Constraints {
				if decides(c) {
					constraints[idOf(c)] = true
				}
			}
		}
	}
	for _, source := range sources {
		unpassed, unbroken := without(names, done[source].passed), without(constraints, done[source].failed)
		t.Logf("by %s: the step passed for %d of %d leaf recipes on %d shapes, and failed for %d of %d constraints", source,
			len(names)-len(unpassed), len(names), len(leaves), len(constraints)-len(unbroken), len(constraints))
		if len(names) == 0 || len(constraints) == 0 || len(unpassed)+len(unbroken) > 0 {
			t.Errorf("by %s: the step did not pass on any lab for recipes %q, and did not fail for broken constraints %q", source, unpassed, unbroken)
		}
	}
}

// without are the names of all that are not in some.
func without(all, some map[string]bool) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(all)), func(name string) bool { return some[name] })
}

// machine runs the step for the recipes that ask for a machine.
func (b *bench) machine(t *testing.T, m machine, leaves map[shape][]leaf) {
	if m.model != "" {
		defer b.lab.Fault(t, world.Fault{Kind: "gpu-model", Target: world.FormCluster, Options: map[string]string{"model": m.model, "gpus": strconv.Itoa(m.gpus)}})()
	}
	for _, s := range slices.SortedFunc(maps.Keys(leaves), func(a, b shape) int { return cmp.Compare(a.image, b.image) }) {
		if s.accelerator == m.accelerator && s.gpus == m.gpus {
			t.Run(s.image, func(t *testing.T) { b.shape(t, m, s.image, leaves[s]) })
		}
	}
}

// shape runs the step for the recipes of a shape. Recipes with constraints of the same names share
// the observations: no request to the cluster depends on anything else that distinguishes them.
func (b *bench) shape(t *testing.T, m machine, image string, group []leaf) {
	defer b.lab.Fault(t, world.Fault{Kind: "operating-system", Options: map[string]string{"image": image}})()
	observed := map[string][]check.Observation{}
	for _, one := range group {
		d := b.demand(t, m, one)
		var names []string
		agents := 0
		for _, c := range d.Constraints {
			names = append(names, c.Name)
			if b.byPods && (c.Name == gpuModel || strings.HasPrefix(c.Name, "OS.release.")) {
				agents = len(d.Nodes)
			}
		}
		slices.Sort(names)
		key := strings.Join(slices.Compact(names), " ")
		if observed[key] == nil {
			observed[key] = b.observe(t, d)
		}
		j := snapshot.New(d, snapshot.Deps{}).Judge(observed[key])
		if got := answered(observed[key]); j.Verdict != check.Passed || len(got) != agents {
			t.Errorf("recipe %s: %s: %s; agents %v, want %d: %+v", one.name, j.Verdict, j.Reason, got, agents, j.Findings)
			continue
		}
		b.passed[one.name] = true
		for i, c := range d.Constraints {
			if decides(c) && !b.failed[idOf(c)] {
				b.failed[idOf(c)] = b.fails(t, m, image, d, i, observed[key])
			}
		}
	}
}

// demand is that of a validation of the recipe on the lab's site, with the machine's profile.
func (b *bench) demand(t *testing.T, m machine, one leaf) snapshot.Demand {
	t.Helper()
	p, err := profile.Load(m.profile)
	if err != nil {
		t.Fatal(err)
	}
	p.Node.GPUs.Value = float64(m.gpus) // a site with four L40S a node has a copy of the profile
	c, err := validate.Of(one.name, one.recipe, b.lab.Site, p, pipeline.Order{})
	if err != nil {
		t.Fatal(err)
	}
	return c.Snapshot
}

func (b *bench) observe(t *testing.T, d snapshot.Demand) []check.Observation {
	t.Helper()
	b.runs++
	rec := &labtest.Recorder{}
	deps := snapshot.Deps{Cluster: b.guest.Open, RunID: fmt.Sprintf("shapes-%d", b.runs), Image: b.lab.Site.Telemetry.LoadImage, Timeout: 3 * time.Minute}
	if err := snapshot.New(d, deps).Observe(t.Context(), rec); err != nil {
		t.Fatal(err)
	}
	return rec.Observations()
}

// fails breaks the i-th constraint of a demand on one node and reports whether the step fails, names
// constraint, value and node, and has no finding about the other node. The version of the server is the same for all
// nodes and cannot be changed: the recipe then requires a newer one. obs are those without the fault.
func (b *bench) fails(t *testing.T, m machine, image string, d snapshot.Demand, i int, obs []check.Observation) bool {
	t.Helper()
	c, suspect, measured := d.Constraints[i], broken, b.server
	if c.Name == serverVersion {
		suspect = "recipe constraint " + c.Name
		c.Value = b.newer
		d.Constraints = slices.Clone(d.Constraints)
		d.Constraints[i] = c
	} else {
		f, value, ok := breakOf(c, m, image)
		if !ok {
			t.Errorf("constraint %s: the test cannot break it on %d %s with %s", idOf(c), m.gpus, m.accelerator, image)
			return false
		}
		measured = value
		defer b.lab.Fault(t, f)()
		obs = b.observe(t, d)
	}
	j := snapshot.New(d, snapshot.Deps{}).Judge(obs)
	named := slices.ContainsFunc(j.Findings, func(f check.Finding) bool {
		return f.Suspect == suspect && strings.HasPrefix(f.Message, c.Name+" is "+measured) && strings.HasSuffix(f.Message, ", and the recipe requires "+c.Value)
	})
	others := slices.ContainsFunc(j.Findings, func(f check.Finding) bool { return f.Suspect != suspect })
	if j.Verdict != check.Failed || !named || others {
		t.Errorf("constraint %s, broken: %s: %s, want only findings about %s, one with %s is %s: %+v", idOf(c), j.Verdict, j.Reason, suspect, c.Name, measured, j.Findings)
		return false
	}
	return true
}
