package profile_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/firstlight/firstlight/internal/probe/nccl"
	"github.com/firstlight/firstlight/internal/profile"
)

// nodeProfile is what a file of recipes/nodes says of a machine, from the documents of its vendor.
type nodeProfile struct {
	Spec struct {
		InstanceType string `yaml:"instanceType"`
		GPU          struct {
			Product string  `yaml:"product"`
			Count   int     `yaml:"count"`
			Memory  float64 `yaml:"memory"` // MiB
		} `yaml:"gpu"`
		ExtendedResources []struct {
			Name     string `yaml:"name"`
			Quantity string `yaml:"quantity"`
			Use      string `yaml:"use"`
		} `yaml:"extendedResources"`
	} `yaml:"spec"`
}

func nodeProfiles(t *testing.T) map[string]nodeProfile {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "..", "recipes", "nodes", "*", "*.yaml"))
	if err != nil || len(files) < 30 {
		t.Fatalf("%d node profiles, %v", len(files), err)
	}
	out := map[string]nodeProfile{}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var n nodeProfile
		if err := yaml.Unmarshal(raw, &n); err != nil {
			t.Fatal(err)
		}
		out[n.Spec.InstanceType] = n
	}
	return out
}

// TestInstances: the profile of a machine type is of the GPUs and ports that the recipes' node
// profile of the same type has; each was written from other documents.
func TestInstances(t *testing.T) {
	t.Parallel()
	nodes := nodeProfiles(t)
	instances, err := profile.Instances()
	if err != nil || len(instances) < 15 {
		t.Fatalf("%d machine types, %v", len(instances), err)
	}
	compared := 0
	for name, instance := range instances {
		p, err := profile.Load(instance.Profile)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !strings.HasPrefix(instance.Source, "https://") {
			t.Errorf("%s: source %q", name, instance.Source)
		}
		n, ok := nodes[name]
		if !ok {
			continue
		}
		compared++
		gpu := n.Spec.GPU
		same := func(of string) bool { return profile.Product(of) == profile.Product(gpu.Product) }
		if !slices.ContainsFunc(p.GPU.Products, same) || int(p.Node.GPUs.Value) != gpu.Count {
			t.Errorf("%s: %s is %g x %v, the node profile has %d x %s", name, p.Name, p.Node.GPUs.Value, p.GPU.Products, gpu.Count, gpu.Product)
		}
		// an A100 40GB has less with old drivers
		if p.GPU.Memory.Value > gpu.Memory || p.GPU.Memory.Value < 0.98*gpu.Memory {
			t.Errorf("%s: %s demands %g MiB, the node profile has %g", name, p.Name, p.GPU.Memory.Value, gpu.Memory)
		}
		ports := 0
		for _, r := range n.Spec.ExtendedResources {
			if r.Use != "fabric" || strings.HasSuffix(r.Name, ".IP") {
				continue
			}
			var count int
			if _, err := fmt.Sscan(r.Quantity, &count); err != nil {
				t.Fatal(err)
			}
			ports += count
		}
		// a shared resource counts pods, and TCPXO has no resource
		if kind := p.Fabric.Kind; kind == profile.EFA || kind == profile.RoCE && strings.Contains(name, "gpu-8g") {
			if ports != int(p.Node.HCAs.Value) {
				t.Errorf("%s: %s has %g ports, the node profile %d", name, p.Name, p.Node.HCAs.Value, ports)
			}
		} else if ports == 0 && p.Rails() && kind != profile.TCPXO || ports > 0 && !p.Rails() {
			t.Errorf("%s: %s has %g ports, the node profile %d", name, p.Name, p.Node.HCAs.Value, ports)
		}
	}
	if compared < 15 {
		t.Errorf("%d machine types were compared: the search is broken", compared)
	}
}

// origin matches the source of a figure of hardware: a vendor's document, the output of a tool, a
// published run, or the statement that it is a class's or a decision.
var origin = regexp.MustCompile(`datasheet|user guide|User Guide|product brief|DGX|HGX|nvidia-smi|iblinkinfo|ibqueryerrors|infiniband-diags|DCGM|Azure|azure|AWS|Amazon|Google|InfiniBand|IEEE|Linux include|Linux mlx5|NVIDIA-certified|issue \d+|stas00|awsome|NVCRE|CoreWeave|aicr|GCM|superbenchmark|class floor: |class figure: |own decision: |^no (NVLinks?|compute)|as much as the GPUs`)

// hardware are the paths of figures that differ between machines; limits of tests have other sources.
var hardware = []string{"gpu.", "node.gpus", "node.hcas", "node.power", "node.heat", "node.weight", "fabric.", "collective.ceilings", "collective.suite"}

// Validate demands a source; a source of a machine's figure names where it can be looked up.
func TestFiguresOfHardwareNameTheirSource(t *testing.T) {
	t.Parallel()
	sources := map[string]bool{}
	for _, name := range profile.Names() {
		p, err := profile.Load(name)
		if err != nil {
			t.Fatal(err)
		}
		for path, f := range figures(p) {
			if !slices.ContainsFunc(hardware, func(prefix string) bool { return strings.HasPrefix(path, prefix) }) {
				continue
			}
			sources[f.Source] = true
			if !origin.MatchString(f.Source) {
				t.Errorf("%s: %s: source %q names no document, output, run or decision", name, path, f.Source)
			}
		}
	}
	if len(sources) < 100 {
		t.Errorf("%d sources: the search is broken", len(sources))
	}
	for _, empty := range []string{"known", "common value", "from experience"} {
		if origin.MatchString(empty) {
			t.Errorf("%q is taken for a source", empty)
		}
	}
}

// TestTheLargestSizeFitsInMemory: nccl-tests has a send buffer, a receive buffer and the expected result of the largest size,
// and leaves 1 GiB of every 16 GiB, at most 4, and one more (src/common.cu of NVIDIA/nccl-tests); otherwise it reduces the size.
func TestTheLargestSizeFitsInMemory(t *testing.T) {
	t.Parallel()
	const buffers, mebi, gibi = 3, 1 << 20, 1 << 30
	compared := 0
	for _, name := range profile.Names() {
		p, err := profile.Load(name)
		if err != nil {
			t.Fatal(err)
		}
		if !p.Collectives() {
			continue
		}
		compared++
		most, err := nccl.ParseSize(p.Collective.MaxBytes)
		if err != nil {
			t.Fatal(err)
		}
		memory := p.GPU.Memory.Value * mebi
		if left := memory - (min(4, math.Ceil(memory/gibi/16))+1)*gibi; buffers*float64(most) > left {
			t.Errorf("%s: %d buffers of %s do not fit in %.1f of %.1f GiB", name, buffers, p.Collective.MaxBytes, left/gibi, memory/gibi)
		}
	}
	if compared < 15 {
		t.Errorf("%d profiles were compared: the search is broken", compared)
	}
}

// TestPeaksAreThoseOfTheCards: figures of one card agree with each other, so that a typing error
// in one of them shows.
func TestPeaksAreThoseOfTheCards(t *testing.T) {
	t.Parallel()
	for _, name := range profile.Names() {
		p, err := profile.Load(name)
		if err != nil {
			t.Fatal(err)
		}
		line := p.Node.HCAs.Value * p.Fabric.Rate.Value / 8
		nvlink := p.GPU.NVLinks.Value * p.GPU.NVLinkRate.Value
		for _, row := range p.Collective.Ceilings {
			// NVLink SHARP reduces in the switch: busbw, computed for a ring, is up to 9 % above the links' rate
			if row.Nodes == 1 && row.Busbw.Value > 1.09*nvlink {
				t.Errorf("%s: %g GB/s in a node with %g GB/s of NVLink a GPU", name, row.Busbw.Value, nvlink)
			}
			if row.ClassFloor && row.Nodes > 1 && row.Busbw.Value > line {
				t.Errorf("%s: a class floor of %g GB/s over %g GB/s of fabric", name, row.Busbw.Value, line)
			}
		}
		gpus := float64(p.Node.GPUs.Value) * p.GPU.TDP.Value / 1000
		if power := p.Node.Power.Value; power < gpus || power > 3*gpus {
			t.Errorf("%s: %g kW a node with %g kW of GPUs", name, power, gpus)
		}
		if part := p.GPU.MinLoadSMClock.Value / p.GPU.MaxSMClock.Value; part < 0.75 || part > 0.95 {
			t.Errorf("%s: a card has to reach %.2f of its clock", name, part)
		}
		if p.Rails() && p.Collective.Transports == nil {
			t.Errorf("%s: no transports", name)
		}
	}
}

// TestCeilingsAreThoseOfPublishedOutputs compares ceilings with the outputs that they were
// taken from, read by the parser of the gate.
func TestCeilingsAreThoseOfPublishedOutputs(t *testing.T) {
	t.Parallel()
	dir := os.Getenv("FIRSTLIGHT_CORPUS")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "corpus")
	}
	if _, err := os.Stat(filepath.Join(dir, "INDEX.tsv")); os.IsNotExist(err) {
		t.Skipf("skipped: no corpus of real outputs at %s: set FIRSTLIGHT_CORPUS to its directory", dir)
	}
	for _, tt := range []struct {
		file, profile string
		nodes         int
	}{
		{"aks-01.txt", "a100-sxm-40gb-hdr200", 2},
		{"cw-02.txt", "gb200-nvl72", 18},
		{"cw-04.txt", "gb200-nvl72-ndr400", 360},
		{"oke-01.txt", "a100-sxm-40gb-roce200", 2},
	} {
		p, err := profile.Load(tt.profile)
		if err != nil {
			t.Fatal(err)
		}
		row, _ := p.CeilingFor(tt.nodes)
		f, err := os.Open(filepath.Join(dir, "nccltests", tt.file))
		if err != nil {
			t.Fatal(err)
		}
		runs, err := nccl.ParseTests(f)
		if closeErr := f.Close(); err != nil || closeErr != nil || len(runs) == 0 {
			t.Errorf("%s: %d runs, %v", tt.file, len(runs), err)
			continue
		}
		rows := runs[0].Rows
		got, ok := rows[len(rows)-1].BusBW()
		want := row.Busbw.Value
		if row.ClassFloor {
			got *= p.Collective.MinFraction.Value
		}
		if !ok || math.Abs(got-want) > 0.01*want {
			t.Errorf("%s: busbw %g, %s has %g of %d nodes", tt.file, got, tt.profile, want, tt.nodes)
		}
	}
}
