package chart_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/golden"
	"github.com/firstlight/firstlight/internal/recipe/chart"
	"github.com/firstlight/firstlight/internal/recipe/criteria"
	"github.com/firstlight/firstlight/internal/recipe/footprint"
	"github.com/firstlight/firstlight/internal/recipe/resolve"
	"github.com/firstlight/firstlight/internal/recipe/tree"
)

const shopFile = "footprints/shop.yaml"

// The lock has every fact that the scheduler sees, and none of the values; hand-written
// parts are kept.
func TestUpdateLocks(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	before := s.read(shopFile)
	s.expect(s.run(chart.Options{}), chart.Locked, "2 sets of values, 9 workloads")
	locked := s.read(shopFile)
	golden.Compare(t, "testdata/shop.golden.yaml", locked)
	if strings.Contains(locked, "correct-horse") {
		t.Error("a value is in the lock")
	}
	for line := range strings.Lines(before) {
		if !strings.Contains(line, "chart:") && !strings.Contains(line, "source:") && !strings.Contains(locked, line) {
			t.Errorf("lost %q", line)
		}
	}
	s.expect(s.run(chart.Options{}), chart.Unchanged, "")
	if again := s.read(shopFile); again != locked {
		t.Error("a second run writes other bytes")
	}
	s.expect(s.run(chart.Options{Check: true}), chart.UpToDate, "")
	entries, err := os.ReadDir(filepath.Join(s.dir, "footprints"))
	if err != nil || len(entries) != 2 {
		t.Errorf("files left behind: %v, %v", entries, err)
	}
}

// locked is the footprint with its lock, as TestUpdateLocks makes it.
func locked(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile("testdata/shop.golden.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// The lock is what the recipes' pods are made of.
func TestLockIsUsed(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.write(shopFile, locked(t))
	loaded, problems := tree.Load(os.DirFS(s.dir), tree.Options{Label: "recipes"})
	if err := problems.Err(); err != nil {
		t.Fatal(err)
	}
	set, problems := footprint.Load(loaded)
	if err := problems.Err(); err != nil {
		t.Fatal(err)
	}
	r, err := resolve.Resolve(loaded, criteria.Criteria{Service: "gke"}, resolve.Options{})
	if err != nil {
		t.Fatal(err)
	}
	components, problems := set.Components(r)
	if err := problems.Err(); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, w := range components[0].Workloads {
		got = append(got, fmt.Sprintf("%s %s %s %d", w.Kind, w.Name, w.Class, w.Replicas))
	}
	want := []string{"DaemonSet agent any 0", "Deployment shop-counter system 3", "Job clock system 2", "Job migrate system 1", "Deployment till any 1"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// A packed chart, a chart in a Go module and a chart in a directory next to the tree give the
// same result.
func TestSourcesAreTheSameChart(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.write(shopFile, locked(t))
	packed := filepath.Join(t.TempDir(), "shop.tgz")
	if err := os.WriteFile(packed, pack(t, s.chart, "shop"), 0o600); err != nil {
		t.Fatal(err)
	}
	cache, beside := t.TempDir(), t.TempDir()
	for _, at := range []string{filepath.Join(cache, "example.com/shop@v1.2.3/deploy/charts/shop"), filepath.Join(beside, "shop")} {
		if err := os.CopyFS(at, os.DirFS(s.chart)); err != nil {
			t.Fatal(err)
		}
	}
	for name, source := range map[string]chart.Source{
		"packed": chart.File{Path: packed}, "module": chart.Modules{Cache: cache}, "beside": chart.Directory{Dir: beside},
	} {
		r := s.run(chart.Options{Check: true, Sources: chart.Sources{chart.Directory{Dir: t.TempDir()}, source}})
		s.expect(r, chart.UpToDate, "")
		if len(r.Notes) > 0 {
			t.Errorf("%s: %q", name, r.Notes)
		}
		if len(r.Attempts) != 2 || r.Attempts[0].Error == "" || r.Attempts[1].Error != "" {
			t.Errorf("%s: %+v", name, r.Attempts)
		}
	}
}

// Check finds each fact that is another, at its line.
func TestCheckFindsDrift(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ old, text, want, line string }{
		"request":     {"requests: {cpu: 150m", "requests: {cpu: 151m", `Deployment shop-counter: pod.requests.cpu: the footprint has "151m", the chart "150m"`, "cpu: 151m"},
		"resource":    {`, nvidia.com/gpu: "1"}`, "}", `DaemonSet agent: pod.requests["nvidia.com/gpu"]: the footprint has nothing, the chart "1"`, "requests: {cpu: 50m}"},
		"replicas":    {"replicas: 3", "replicas: 2", "Deployment shop-counter: replicas: the footprint has 2, the chart 3", "replicas: 2"},
		"selector":    {"nodeSelector: {node-type: system}", "nodeSelector: {node-type: accelerated}", `pod.nodeSelector.node-type: the footprint has "accelerated", the chart "system"`, "nodeSelector: {node-type: accelerated}"},
		"priority":    {"            priorityClassName: system-cluster-critical\n", "", `pod.priorityClassName: the footprint has nothing, the chart "system-cluster-critical"`, "pod:"},
		"scheduler":   {"schedulerName: kai-scheduler", "schedulerName: other", `Job migrate: pod.schedulerName: the footprint has "other", the chart "kai-scheduler"`, "schedulerName: other"},
		"ports":       {"hostPorts: [9100, 9200]", "hostPorts: [9200]", "pod.hostPorts: the footprint has [9200], the chart [9100,9200]", "hostPorts: [9200]"},
		"network":     {"            hostNetwork: true\n", "", "DaemonSet agent: pod.hostNetwork: the footprint has nothing, the chart true", "pod:"},
		"label":       {"labels: {app: agent}", "labels: {app: agend}", `pod.labels.app: the footprint has "agend", the chart "agent"`, "app: agend"},
		"toleration":  {"key: nvidia.com/gpu, operator: Exists", "key: nvidia.com/gpx, operator: Exists", "pod.tolerations: the footprint has", "nvidia.com/gpx"},
		"spread":      {"maxSkew: 1", "maxSkew: 2", "pod.topologySpreadConstraints: the footprint has", "topologySpreadConstraints"},
		"affinity":    {"topologyKey: kubernetes.io/hostname", "topologyKey: kubernetes.io/arch", "pod.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution: the footprint has", "kubernetes.io/arch"},
		"not there":   {"name: store\n", "name: shelf\n", "StatefulSet shelf: the footprint has it, the chart does not have it", "kind: StatefulSet"},
		"not known":   {"name: store\n", "name: shelf\n", "StatefulSet store: the footprint does not have it, the chart has it", "workloads:"},
		"same amount": {"requests: {cpu: 150m, memory: 1Gi}", "requests: {cpu: 0.15, memory: 1024Mi}", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newShop(t)
			head, renders, _ := strings.Cut(locked(t), "renders:")
			if !strings.Contains(renders, tt.old) {
				t.Fatalf("the lock does not have %q", tt.old)
			}
			file := head + "renders:" + strings.Replace(renders, tt.old, tt.text, 1)
			s.write(shopFile, file)
			r := s.run(chart.Options{Check: true})
			if tt.want == "" {
				s.expect(r, chart.UpToDate, "")
				return
			}
			s.expect(r, chart.Drifted, "differences between lock and chart")
			i := slices.IndexFunc(r.Drift, func(d chart.Drift) bool { return strings.Contains(d.String(), tt.want) })
			if i < 0 {
				t.Fatalf("%v does not say %q", r.Drift, tt.want)
			}
			d := r.Drift[i]
			around := strings.Join(strings.Split(file, "\n")[max(d.Line-2, 0):d.Line], "\n")
			if d.File != "recipes/"+shopFile || d.Line == 0 || !strings.Contains(around, strings.SplitN(tt.line, "\n", 2)[0]) {
				t.Errorf("told to be at %s:\n%s", d.Pos, around)
			}
			if s.read(shopFile) != file {
				t.Error("--check writes")
			}
		})
	}
}

// Values that no recipe has any more, and values that are new, are drift.
func TestCheckFindsOtherValues(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.write(shopFile, locked(t))
	s.edit("overlays/gke.yaml", "replicas: 3", "replicas: 4")
	r := s.run(chart.Options{Check: true})
	s.expect(r, chart.Drifted, "2 differences")
	for _, d := range r.Drift {
		if d.Workload != "" || d.Line == 0 || len(d.Recipes) != 1 || d.Recipes[0] != "gke" {
			t.Errorf("%+v", d)
		}
	}
	s.expect(s.run(chart.Options{}), chart.Locked, "")
	s.expect(s.run(chart.Options{Check: true}), chart.UpToDate, "")
}

// The rules of a documented footprint are compared with the chart.
func TestCheckVerifiesRules(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	r := s.run(chart.Options{Check: true})
	s.expect(r, chart.Drifted, "differences between rules and chart")
	var all []string
	for _, d := range r.Drift {
		all = append(all, d.String())
	}
	text := strings.Join(all, "\n")
	for _, want := range []string{
		`Deployment shop-counter: pod.requests.cpu: the footprint has nothing, the chart "150m"`,
		`Deployment shop-counter: replicas: the footprint has 1, the chart 3`,
		`StatefulSet store: the footprint has it, the chart does not have it`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%s\ndoes not contain %s", text, want)
		}
	}
	if strings.Contains(text, "pod.labels") || strings.Contains(text, "till") {
		t.Errorf("labels that rules leave out, and objects that an operator creates, are not drift:\n%s", text)
	}
	if r.Drift[0].Line < 14 {
		t.Errorf("at %s", r.Drift[0].Pos)
	}
}

// The notes list the manual edits that the new lock requires.
func TestUpdateListsManualEdits(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.edit(shopFile, "    - {kind: Job, name: migrate, class: system}\n", "    - {kind: Job, name: gone, class: system}\n")
	r := s.run(chart.Options{})
	s.expect(r, chart.Locked, "")
	for _, want := range []string{"add Job migrate with its class to workloads", "remove Job gone from workloads: the chart does not have it"} {
		if !slices.Contains(r.Notes, want) {
			t.Errorf("%q does not contain %q", r.Notes, want)
		}
	}
}

// A new version of the chart in the recipes becomes the footprint's.
func TestUpdateTakesTheRecipesVersion(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.edit("registry.yaml", "1.2.3", "v1.3.0")
	s.edit(filepath.Join(s.chart, "Chart.yaml"), "version: 1.2.3", "version: 1.3.0")
	r := s.run(chart.Options{})
	s.expect(r, chart.Locked, "")
	if !strings.Contains(s.read(shopFile), "version: v1.3.0, digest: ") || !slices.Contains(r.Notes, "the footprint was for 1.2.3, recipes deploy v1.3.0") {
		t.Errorf("%q\n%s", r.Notes, s.read(shopFile))
	}
	s.edit("overlays/gke.yaml", "- name: shop\n", "- name: shop\n      version: 2.0.0\n")
	r = s.run(chart.Options{Check: true})
	s.expect(r, chart.Drifted, "1 differences") // the values of gke are no longer those of this chart
	s.edit("registry.yaml", "v1.3.0", "1.9.0")
	s.expect(s.run(chart.Options{Check: true}), chart.Broken, "which the footprint is for; it can describe one version only")
	s.edit("registry.yaml", "charts.invalid/shop", "charts.invalid/store")
	s.expect(s.run(chart.Options{Check: true}), chart.Broken, "but the footprint is for")
}

// Files in other YAML styles are edited as well; a file that cannot be edited is not changed.
func TestUpdateEditsOtherStyles(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		old, text string
		want      []string
	}{
		"block chart": {
			old:  "  chart: {repository: https://charts.invalid/shop, name: shop, version: 1.2.3, module: example.com/shop, path: deploy/charts/shop} # of the shop\n",
			text: "  chart:\n    repository: https://charts.invalid/shop\n    version: '1.2.3' # pinned\n    name: shop\n",
			want: []string{"    version: '1.2.3' # pinned\n    digest: "},
		},
		"quoted source": {old: "source: documented # for now", text: `source: "documented"`, want: []string{"source: rendered\n"}},
		"a digest":      {old: "version: 1.2.3,", text: `version: 1.2.3, digest: "old",`, want: []string{"version: 1.2.3, digest: "}},
		"keys behind":   {old: "  namespace: shops\n", text: "  namespace: shops\n  renders: []\n  # about publishes\n  publishes: []\n", want: []string{"  # about publishes\n  publishes: []\n"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newShop(t)
			s.edit(shopFile, tt.old, tt.text)
			s.expect(s.run(chart.Options{}), chart.Locked, "")
			for _, want := range tt.want {
				if !strings.Contains(s.read(shopFile), want) {
					t.Errorf("%q is not in\n%s", want, s.read(shopFile))
				}
			}
			s.expect(s.run(chart.Options{Check: true}), chart.UpToDate, "")
			before := s.read(shopFile)
			s.expect(s.run(chart.Options{}), chart.Unchanged, "")
			if !bytes.Equal([]byte(before), []byte(s.read(shopFile))) {
				t.Error("the second run changed it")
			}
		})
	}
	s := newShop(t)
	s.write(shopFile, "{apiVersion: firstlight/v1, kind: Footprint, metadata: {name: shop}, spec: {chart: {repository: https://charts.invalid/shop, name: shop, version: 1.2.3}, source: documented, workloads: [{kind: Job, name: migrate, class: system}]}}\n")
	before := s.read(shopFile)
	s.expect(s.run(chart.Options{}), chart.Broken, "spec must be a block mapping")
	if s.read(shopFile) != before {
		t.Error("it was written to")
	}
}
