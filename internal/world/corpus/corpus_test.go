package corpus

import (
	"bytes"
	"context"
	_ "embed"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/firstlight/firstlight/internal/world"
	"github.com/firstlight/firstlight/internal/world/collective"
	"github.com/firstlight/firstlight/internal/world/inference"
	"github.com/firstlight/firstlight/internal/world/training"
)

//go:embed unverified.yaml
var unverifiedFile []byte

// printer is a tool that the world imitates.
type printer struct {
	world func(t *testing.T) string
	real  string // files of the corpus
	shape func(text string) (shapes, error)
}

// printed is a golden file of the world: its own tests hold it to what is printed.
func printed(path string) func(t *testing.T) string {
	return func(t *testing.T) string {
		t.Helper()
		data, err := os.ReadFile(filepath.Join("..", filepath.FromSlash(path)))
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
}

func printers() map[string]printer {
	tables := only(`(?:^|>: ?|^\d+: )(?:# |#$|\s+\d+\s+\d+\s+float)`, lines(`^>: ?`, ``, `on +\S+ device`, `on h device`, `\[[0-9a-f:.x]+\] NVIDIA.*`, `[P] NVIDIA`,
		`^(\s+)(\d.*float.*)$`, `row $2`, `  +`, ` `))
	ncclLines := lines(`(?:\[\d+\]\w+:\d+/(\w+) ?)+`, `DEVICE/$1 `, `OOB \S+?:`, `OOB i:`, `busId \w+`, `busId B`, `UUID \w+\.\w+`, `UUID U`, `cliqueId \w+`, `cliqueId C`, `(?: +\d+){2,}$`, ` RANKS`)
	counters := lines(`"[^"]*"`, `"N"`, `0x\w+ "N"`, `"N"`, `(?: \[\w+ == \d+\])+`, ` [COUNTERS]`)
	return map[string]printer{
		"nvidia-smi -q -x":                      {printed("host/testdata/nvidia-smi-xml.xml"), "smi-xml/*.xml", elements},
		"nvidia-smi nvlink":                     {printed("host/testdata/nvidia-smi-nvlink.txt"), "nvlink/*", lines(`NVIDIA [^(]*`, `NVIDIA P `)},
		"dcgmi diag, DCGM 3":                    {printed("host/testdata/dcgmi-diag-3.json"), "dcgm/*.json", members("DCGM GPU Diagnostic")},
		"dcgmi diag, DCGM 4":                    {printed("host/testdata/dcgmi-diag-4.json"), "dcgm/*.json", members("DCGM Diagnostic")},
		"ibstat":                                {printed("host/testdata/ibstat.txt"), "ibstat/gpud-ibstat.4*", lines()},
		"sminfo":                                {printed("host/testdata/sminfo.txt"), "sminfo/oscar.txt", lines()},
		"ibdiagnet":                             {printed("host/testdata/ibdiagnet.txt"), "ibdiagnet/*", lines(`\s+\d+\s+\d+$`, `  9  9`)},
		"ibqueryerrors":                         {printed("host/testdata/ibqueryerrors.txt"), "ibqueryerrors/listarchive-srp.txt", counters},
		"iblinkinfo -l":                         {printed("host/testdata/iblinkinfo-line.txt"), "iblinkinfo/*", lines(`"[^"]*"`, `"N"`, ` {2,}(0x|\d)`, ` $1`, `\([^=()]*\)$`, `(HINTS)`)},
		"vLLM":                                  {contextError, "vllm/*", only(`model's max seq len`, lines())},
		"dcgm-exporter":                         {printed("exporter/testdata/gpu-01.txt"), "prom/*", only(`^# (?:HELP|TYPE) `, lines())},
		"nccl-tests":                            {collectiveOutput(false), "nccltests/*", tables},
		"nccl-tests, other programs":            {otherPrograms, "nccltests/*", tables},
		"NCCL_DEBUG=INFO":                       {collectiveOutput(true), "nccllog/*", only(`NCCL INFO `, ncclLines)},
		"NCCL_DEBUG=INFO, NVLink between nodes": {nvlinkOutput, "nccllog/*", only(`NCCL INFO (?:Bootstrap|.*MNNVL)`, ncclLines)},
		"torchtitan":                            {trainingOutput(training.Torchtitan), "torchtitan/*", only(`step: +\d+  loss`, lines(`: +`, `: `, `\x1b\[\d+m`, ``))},
		"Megatron-LM":                           {trainingOutput(training.Megatron), "megatron/*", only(`iteration +\d+/ *\d+ \|`, fields)},
	}
}

// contextError is how vLLM ends if a request of the maximum length does not fit.
func contextError(*testing.T) string {
	return (&inference.ContextError{MaxModelLen: 4096, CacheTokens: 3664}).Error()
}

func collectiveOutput(debug bool) func(t *testing.T) string {
	return func(t *testing.T) string {
		t.Helper()
		r := runOf(t, debug)
		var b strings.Builder
		if _, err := r.Write(&b); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
}

// runOf is a run of two nodes.
func runOf(t *testing.T, debug bool) collective.Run {
	t.Helper()
	hw := hardware(t)
	r := collective.Run{Fabric: hw.Fabric, CUDA: hw.Software.CUDA, MinBytes: 8 << 20, MaxBytes: 64 << 20, Repetitions: 1, Debug: debug, Seed: 7}
	for i := range 2 {
		n := collective.Node{Host: "nccl-" + string(rune('0'+i)), Address: "10.0.0.1", NVLS: true, GPUDirect: true, Slow: 1}
		for d := range hw.Node.GPUs {
			n.Devices = append(n.Devices, collective.Device{Index: d, BusID: hw.GPU.BusIDs[d], Product: hw.GPU.Product})
			n.HCAs = append(n.HCAs, collective.HCA{Name: "mlx5_" + string(rune('0'+d)), Gbps: 400})
		}
		r.Nodes = append(r.Nodes, n)
	}
	return r
}

// nvlinkOutput is a run over an NVLink domain, and one that falls back to the network.
func nvlinkOutput(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	for _, off := range []bool{false, true} {
		r := runOf(t, true)
		for i := range r.Nodes {
			r.Nodes[i].Cluster, r.Nodes[i].MNNVLOff = "58d72354-d167-41a4-b3e7-327dc0246b7d", off
		}
		if _, err := r.Write(&b); err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}

// otherPrograms are the tables of the programs other than all_reduce_perf: each row of a real output has the same
// columns, whatever the program.
func otherPrograms(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	for _, name := range collective.ProgramNames()[1:] {
		program, _ := collective.ProgramIn(name)
		r := runOf(t, false)
		r.Program = program
		if _, err := r.Write(&b); err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}

func trainingOutput(framework string) func(t *testing.T) string {
	return func(t *testing.T) string {
		t.Helper()
		hw := hardware(t)
		j := training.Job{
			Figures: hw.Training, MemoryGiB: 80, Framework: framework, Model: "llama3_8b", Steps: 3, Seed: 3, MFUFactor: 1,
			Nodes: []training.Node{{GPUs: 8, Slow: 1}}, Start: time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC),
		}
		var b strings.Builder
		if err := j.Run(t.Context(), &b, func(context.Context, time.Duration) error { return nil }); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
}

func hardware(t *testing.T) world.Hardware {
	t.Helper()
	hw, err := world.LoadHardware("h100-sxm-ndr400")
	if err != nil {
		t.Fatal(err)
	}
	return hw
}

// unverified are shapes that no real output shows.
type unverified struct {
	Source string
	Shapes []string
}

func known(t *testing.T) map[string]unverified {
	t.Helper()
	var out map[string]unverified
	dec := yaml.NewDecoder(bytes.NewReader(unverifiedFile))
	dec.KnownFields(true)
	if err := dec.Decode(&out); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestWorldAgreesWithRealTools: each output of the world has the structure, names, units and spacing
// of a real output, or is listed as unverified.
func TestWorldAgreesWithRealTools(t *testing.T) {
	t.Parallel()
	dir := os.Getenv("FIRSTLIGHT_CORPUS")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "..", "shared", "corpus")
	}
	if _, err := os.Stat(dir); os.IsNotExist(err) {
		t.Skipf("skipped: no corpus of real outputs at %s: set FIRSTLIGHT_CORPUS to its directory", dir)
	}
	excused := known(t)
	for tool, p := range printers() {
		t.Run(tool, func(t *testing.T) {
			t.Parallel()
			ours, err := p.shape(p.world(t))
			if err != nil {
				t.Fatal(err)
			}
			theirs, files := realShapes(t, dir, p)
			missed := difference(ours, theirs)
			if len(ours) == 0 || files == 0 || len(theirs) == 0 || len(missed) == len(ours) {
				t.Fatalf("%d shapes of the world, %d in %d real files, %d missing there: nothing was compared", len(ours), len(theirs), files, len(missed))
			}
			for _, problem := range compare(ours, missed, excused[tool]) {
				t.Error(problem)
			}
			t.Logf("%d of %d shapes are in %d real files, %d are unverified", len(ours)-len(missed), len(ours), files, len(missed))
		})
	}
	for tool := range excused {
		if _, ok := printers()[tool]; !ok {
			t.Errorf("unverified.yaml has an unknown tool %s", tool)
		}
	}
}

func realShapes(t *testing.T, dir string, p printer) (all shapes, files int) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, filepath.FromSlash(p.real)))
	if err != nil {
		t.Fatal(err)
	}
	all = shapes{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		found, err := p.shape(string(text))
		if err != nil {
			t.Logf("%s is left out: %v", path, err)
			continue
		}
		if files++; len(found) > 0 {
			maps.Copy(all, found)
		}
	}
	return all, files
}

// difference are the shapes that only the first has.
func difference(ours, theirs shapes) []string {
	var out []string
	for _, shape := range slices.Sorted(maps.Keys(ours)) {
		if _, ok := theirs[shape]; !ok {
			out = append(out, shape)
		}
	}
	return out
}

// compare returns the shapes that are neither real nor listed, and the listed ones that are real or
// no longer printed.
func compare(ours shapes, missed []string, listed unverified) []string {
	var out []string
	for _, shape := range missed {
		if !slices.Contains(listed.Shapes, shape) {
			out = append(out, "no real output has "+shape+"\n  printed: "+ours[shape])
		}
	}
	for _, shape := range listed.Shapes {
		if !slices.Contains(missed, shape) {
			out = append(out, "unverified.yaml lists a shape that is real or not printed: "+shape)
		}
	}
	if len(listed.Shapes) > 0 && listed.Source == "" {
		out = append(out, "unverified.yaml has no source")
	}
	return out
}

// A moved column, another name and another unit are found.
func TestDifferencesAreFound(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		shape      func(string) (shapes, error)
		ours, real string
		want       string
	}{
		"spacing": {lines(), "CA 'a'\n  Rate: 400\n", "CA 'a'\n\tRate: 100\n", "  Rate: 9"},
		"tabs":    {lines(), "\t Link 3: 26.562 GB/s\n", "         Link 11: 25 GB/s\n", ""},
		"unit":    {elements, "<a><t>5 C</t></a>", "<a><t>5 F</t></a>", "a/t = number C"},
		"name":    {elements, "<a><temp>5</temp></a>", "<a><t>5</t></a>", "a/temp|a/temp = number "},
		"absent":  {elements, "<a><t>N/A</t></a>", "<a><t>5 C</t></a>", ""},
		"value":   {members("r"), `{"r":{"tests":[{"name":"Denylist"}]}}`, `{"r":{"tests":[{"name":"Blacklist"}]}}`, "/r/tests[]/name: Denylist"},
		"type":    {members("r"), `{"r":{"id":5}}`, `{"r":{"id":"5"}}`, "/r/id: float64"},
	} {
		ours, err := tt.shape(tt.ours)
		if err != nil {
			t.Fatal(err)
		}
		theirs, err := tt.shape(tt.real)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(difference(ours, theirs), "|"); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
	if got := compare(shapes{"a": "x", "b": "y"}, []string{"a"}, unverified{Shapes: []string{"c"}}); len(got) != 3 {
		t.Errorf("%q", got)
	}
}
