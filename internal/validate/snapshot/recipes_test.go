package snapshot

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/recipe/criteria"
	"github.com/firstlight/firstlight/internal/recipe/resolve"
	"github.com/firstlight/firstlight/internal/recipe/tree"
	"github.com/firstlight/firstlight/recipes"
)

// shape is a cluster that the criteria of a recipe describe.
type shape struct {
	product         string // as nvidia-smi prints it
	gpus            int
	release, kernel string
	server          string
}

func shapeOf(t *testing.T, c criteria.Criteria) shape {
	t.Helper()
	s := shape{gpus: 8, server: "v1.34.1"}
	s.product = map[string]string{
		"": "NVIDIA H100 80GB HBM3", "a100": "NVIDIA A100-SXM4-80GB", "h100": "NVIDIA H100 80GB HBM3", "h200": "NVIDIA H200", "b200": "NVIDIA B200",
		"gb200": "NVIDIA GB200", "l40s": "NVIDIA L40S",
	}[c.Accelerator]
	switch c.OS {
	case "ubuntu", "": // kind: the nodes are containers on the user's host
		s.release, s.kernel = ubuntu2404, "6.8.0-1024-aws"
	case "amazonlinux":
		s.release, s.kernel = amazon2023, "6.1.153-175.280.amzn2023.x86_64"
	case "cos":
		s.release, s.kernel = cos117, "6.6.87+"
	}
	switch c.Service {
	case "gke":
		s.server = "v1.34.1-gke.1829001"
	case "eks":
		s.server = "v1.34.1-eks-3025e55"
	}
	if c.Accelerator == "gb200" || c.Accelerator == "l40s" && c.Service != "eks" { // BM.GPU.L40S.4, servers with four cards
		s.gpus = 4
	}
	if s.product == "" || s.release == "" {
		t.Fatalf("no shape of %+v", c)
	}
	return s
}

// breaks has, for each measurement that a shipped recipe constrains, a cluster without it.
var breaks = map[string]func(*shape) (measured string){
	"GPU.smi.gpu.model":  func(s *shape) string { s.product = "Tesla T4"; return s.product },
	"GPU.smi.gpu-count":  func(s *shape) string { s.gpus = 2; return "2" },
	"K8s.server.version": func(s *shape) string { s.server = "v1.26.15"; return s.server },
	"OS.release.ID": func(s *shape) string {
		s.release = "ID=\"rhel\"\nVERSION_ID=\"99.4\"\n"
		return "rhel"
	},
	"OS.release.VERSION_ID": func(s *shape) string {
		lines := strings.Split(s.release, "\n")
		for i, line := range lines {
			if strings.HasPrefix(line, "VERSION_ID=") {
				lines[i] = `VERSION_ID="2.1"`
			}
		}
		s.release = strings.Join(lines, "\n")
		return "2.1"
	},
	"OS.sysctl./proc/sys/kernel/osrelease": func(s *shape) string { s.kernel = "4.18.0-553.el8.x86_64"; return s.kernel },
}

// sources of the measurements of a node.
const (
	fromAgents = "a pod on each node, device plugin"
	fromLabels = "labels and DRA slices"
)

// cache has the answers by their logs: the same few are parsed for every recipe.
type cache map[string]Answer

var answers = cache{}

func (c cache) of(log string, want request) (Answer, error) {
	if a, ok := c[log]; ok {
		return a, nil
	}
	a, err := parseAnswer([]byte(log), want)
	if err == nil {
		c[log] = a
	}
	return a, err
}

// step is the judgement of a recipe on a cluster of a shape.
func step(t *testing.T, r *resolve.Result, s shape, source string, smi []byte) check.Judgement {
	t.Helper()
	d := Demand{
		Nodes: []string{"n1", "n2"}, GPUs: s.gpus, GPUsSource: "the shape", Products: []string{s.product}, Constraints: r.Constraints,
	}
	var nodes []Node
	for _, name := range d.Nodes {
		n := Node{Name: name, Ready: true, Kernel: s.kernel, Labels: map[string]string{driverLabel: "580.105.08", productLabel: dashed(s.product)}}
		if source == fromAgents {
			n.Capacity, n.Allocatable = s.gpus, s.gpus
		}
		nodes = append(nodes, n)
	}
	obs := observed(t, Server{Version: s.server}, nodes)
	if source == fromLabels {
		release, err := parseRelease(s.release)
		if err != nil {
			t.Fatal(err)
		}
		for i := range nodes {
			for key, value := range release {
				nodes[i].Labels[releaseLabel+key] = value
			}
		}
		obs = append(observed(t, Server{Version: s.server}, nodes), slicesOf(t, d.Nodes, s))
		return New(d, Deps{}).Judge(obs)
	}
	for _, want := range New(d, Deps{}).requests(nodes, nil) {
		log := logBegin + "\n"
		if want.release {
			log += logRelease + "\n" + s.release
		}
		if want.gpu {
			log += logSMI + "\n" + strings.ReplaceAll(string(smi), "NVIDIA L40S", s.product)
		}
		answer, err := answers.of(log+logEnd+"\n", want)
		o := check.Observation{ID: "agent-" + want.node, Kind: kindAgent, Target: want.node}
		if err != nil {
			o.Err = err.Error()
		} else if o, err = o.WithFigures(answer); err != nil {
			t.Fatal(err)
		}
		obs = append(obs, o)
	}
	return New(d, Deps{}).Judge(obs)
}

// Every constraint of every recipe that ships is measured: the step passes on a cluster of the
// recipe's criteria, and fails with the key, the wanted and the measured value where a constraint
// does not hold. Regression: GPU.smi.gpu.model and the kernel were never measured, so 46 of 62 leaf
// recipes were unobserved.
func TestEveryConstraintOfEveryRecipeIsMeasured(t *testing.T) {
	t.Parallel()
	corpus := os.Getenv("FIRSTLIGHT_CORPUS")
	if corpus == "" {
		corpus = "../../../../shared/corpus"
	}
	smi, err := os.ReadFile(filepath.Join(corpus, "smi-xml", "hw-l40s.xml")) // the only product of it is replaced
	if err != nil {
		t.Skipf("no output of nvidia-smi: %v", err)
	}
	loaded, problems := tree.Load(recipes.FS, tree.Options{Label: "recipes"})
	if err := problems.Err(); err != nil {
		t.Fatal(err)
	}
	leaves, judged := 0, map[string]int{}
	for _, o := range loaded.Recipes() {
		if !o.Leaf() {
			continue
		}
		leaves++
		r, err := resolve.Resolve(loaded, o.Criteria, resolve.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, source := range []string{fromAgents, fromLabels} {
			if j := step(t, r, shapeOf(t, o.Criteria), source, smi); j.Verdict != check.Passed {
				t.Errorf("%s, %s: %s: %s", o.Name, source, j.Verdict, j.Reason)
			}
			for _, c := range r.Constraints {
				spoil, ok := breaks[c.Name]
				if !ok {
					t.Errorf("%s: no measurement of %s is tested", o.Name, c.Name)
					continue
				}
				s := shapeOf(t, o.Criteria)
				measured := spoil(&s)
				j := step(t, r, s, source, smi)
				want := fmt.Sprintf("%s is %s, and the recipe requires %s", c.Name, measured, c.Value)
				if j.Verdict != check.Failed || !findingSays(j, "recipe constraint "+c.Name, want) {
					t.Errorf("%s, %s, without %s: %s, want %q in %+v", o.Name, source, c.Name, j.Verdict, want, j.Findings)
				}
				judged[c.Name]++
			}
		}
	}
	if leaves < 60 || len(judged) != len(breaks) {
		t.Errorf("%d leaf recipes, constraints %v: want at least 60 and all of %v", leaves, judged, maps.Keys(breaks))
	}
}

func findingSays(j check.Judgement, suspect, text string) bool {
	for _, f := range j.Findings {
		if f.Suspect == suspect && strings.Contains(f.Message, text) {
			return true
		}
	}
	return false
}
