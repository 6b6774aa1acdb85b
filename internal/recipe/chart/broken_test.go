package chart_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/recipe/chart"
)

// A defect of a chart, or of the values that recipes give it, is reported with its position;
// the footprint is not changed.
func TestBrokenCharts(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		spoil   func(s *shop)
		outcome chart.Outcome
		want    []string // in the reason or in the errors of the attempts
	}{
		"no Chart.yaml": {func(s *shop) { s.remove("Chart.yaml") }, chart.Unavailable, []string{"Chart.yaml file is missing"}},
		"no name":       {func(s *shop) { s.inChart("Chart.yaml", "name: shop\n", "") }, chart.Unavailable, []string{"chart.metadata.name is required"}},
		"another chart": {func(s *shop) { s.inChart("Chart.yaml", "name: shop", "name: store") }, chart.Unavailable, []string{"found chart store, want shop"}},
		"another version": {func(s *shop) { s.inChart("Chart.yaml", "version: 1.2.3", "version: 1.2.4") }, chart.Unavailable,
			[]string{"found chart version 1.2.4, want 1.2.3"}},
		"nothing there":  {func(s *shop) { s.chart += "/nothing" }, chart.Unavailable, []string{"not found"}},
		"no values.yaml": {func(s *shop) { s.inChart("values.yaml", "replicas: 1\n", "replicas: [\n") }, chart.Unavailable, []string{"values.yaml"}},
		"template error": {func(s *shop) {
			s.inChart("templates/counter.yaml", "{{ .Values.replicas }}", "{{ .Values.replicas.what }}")
		}, chart.Broken,
			[]string{"for recipe eks", "shop/templates/counter.yaml:7"}},
		"template syntax": {func(s *shop) { s.inChart("templates/secret.yaml", "{{ randAlphaNum 32 }}", "{{ if }}") }, chart.Broken, []string{"shop/templates/secret.yaml:4"}},
		"fail function":   {func(s *shop) { s.remove("crds/till.yaml") }, chart.Broken, []string{"the chart's own kinds are installed before"}},
		"no YAML":         {func(s *shop) { s.inChart("templates/secret.yaml", "kind: Secret", "kind: [Secret") }, chart.Broken, []string{"shop/templates/secret.yaml"}},
		"schema": {func(s *shop) { s.edit("overlays/gke.yaml", "replicas: 3", "replicas: many") }, chart.Broken,
			[]string{"for recipe gke", "/replicas", "want integer"}},
		"a later Kubernetes": {func(s *shop) { s.inChart("Chart.yaml", ">=1.30.0-0", ">=1.99.0-0") }, chart.Broken, []string{"kubeVersion: >=1.99.0-0"}},
		"an old kind":        {func(s *shop) { s.inChart("templates/counter.yaml", "apps/v1", "extensions/v1beta1") }, chart.Broken, []string{"shop/templates/counter.yaml: Kubernetes v1.34.0 does not serve Deployment of extensions/v1beta1"}},
		"no pod":             {func(s *shop) { s.inChart("templates/agent.yaml", "tolerations: [", "tolerations: 5 # [") }, chart.Broken, []string{"shop/templates/agent.yaml: invalid DaemonSet", "tolerations"}},
		"no quantity":        {func(s *shop) { s.inChart("templates/agent.yaml", "cpu: 30m,", "cpu: much,") }, chart.Broken, []string{"shop/templates/agent.yaml", "quantities must match"}},
		"no name of a kind":  {func(s *shop) { s.inChart("templates/agent.yaml", "metadata: {name: agent}", "metadata: {}") }, chart.Broken, []string{"DaemonSet without a name"}},
		"twice":              {func(s *shop) { s.inChart("templates/clock.yaml", "name: clock", "name: migrate") }, chart.Broken, []string{"the chart renders two objects Job migrate"}},
		"random": {func(s *shop) {
			s.inChart("templates/agent.yaml", "labels: {app: agent}", `labels: {app: "{{ randAlphaNum 8 }}"}`)
		}, chart.Broken, []string{"renders differently each time, but the pods differ: DaemonSet agent pod.labels.app"}},
		"by other components": {func(s *shop) {
			s.inChart("templates/clock.yaml", "kind: ServiceMonitor\nmetadata: {name: monitored}", "kind: ServiceMonitor\nmetadata: {name: monitored}\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: watch}\nspec: {containers: [{name: c, image: i}]}")
		}, chart.Broken,
			[]string{"recipes eks and eks-training have the same values but different namespaces or other components, but the pods differ: Job watch"}},
		"pods of an operator": {func(s *shop) {
			s.inChart("templates/clock.yaml", "kind: ServiceMonitor\nmetadata: {name: monitored}", "kind: ServiceMonitor\nmetadata: {name: monitored}\n---\napiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {name: watch}\nspec: {replicatedJobs: [{template: {spec: {template: {spec: {containers: [{name: c, image: i}]}}}}}]}")
		}, chart.Broken,
			[]string{"shop/templates/clock.yaml: unknown pods of kind JobSet of jobset.x-k8s.io/v1alpha2", "createdBy: JobSet"}},
		"no pods": {func(s *shop) { s.remove("templates"); s.remove("charts/side/templates") }, chart.Broken, []string{"the chart renders no pods, but the footprint has workloads"}},
		"a missing dependency": {func(s *shop) {
			s.edit("overlays/gke.yaml", "side: {enabled: false}", "side: {enabled: false}, far: {enabled: true}")
		}, chart.Unavailable, []string{"chart shop depends on far 2.0.0, which is not packaged with it and not available"}},
		"a range": {func(s *shop) {
			s.inChart("Chart.yaml", "version: 2.0.0", `version: ">=2.0.0"`)
			s.edit("overlays/gke.yaml", "side: {enabled: false}", "far: {enabled: true}")
		}, chart.Unavailable, []string{"depends on the version range far >=2.0.0: package the chart with helm dependency build"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newShop(t)
			tt.spoil(s)
			before := s.read(shopFile)
			r := s.run(chart.Options{})
			var text strings.Builder
			text.WriteString(r.Reason)
			for _, a := range r.Attempts {
				text.WriteString("\n" + a.Error)
			}
			if r.Outcome != tt.outcome || slices.ContainsFunc(tt.want, func(w string) bool { return !strings.Contains(text.String(), w) }) {
				t.Errorf("%s: %s\nwant %s: %q", r.Outcome, text.String(), tt.outcome, tt.want)
			}
			if strings.Contains(text.String(), "correct-horse") {
				t.Error("the output contains a value")
			}
			if s.read(shopFile) != before {
				t.Error("the footprint was changed")
			}
			if r.Failed() == r.Unobserved() {
				t.Error("the result must be either failed or unobserved")
			}
		})
	}
}

// A chart without pods passes if its footprint declares no workloads.
func TestChartWithoutPods(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.remove("templates")
	s.remove("charts/side/templates")
	s.write(shopFile, "apiVersion: firstlight/v1\nkind: Footprint\nmetadata: {name: shop}\nspec:\n  chart: {repository: https://charts.invalid/shop, name: shop, version: 1.2.3}\n  source: documented\n  workloads: []\n")
	s.expect(s.run(chart.Options{}), chart.Locked, "2 sets of values, 0 workloads")
	s.expect(s.run(chart.Options{Check: true}), chart.UpToDate, "")
}

// A declared dependency that is missing is fetched if the values enable it; otherwise it is
// not requested.
func TestDependencyIsFetched(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.edit("overlays/gke.yaml", "side: {enabled: false}", "side: {enabled: false}, far: {enabled: true}")
	s.edit(shopFile, "path: deploy/charts/shop}", "path: deploy/charts/shop, dependencies: [{name: far, module: example.com/far, moduleVersion: v0.9.0, path: chart}]}")
	cache := t.TempDir()
	far := filepath.Join(cache, "example.com/far@v0.9.0/chart")
	s.write(filepath.Join(far, "Chart.yaml"), "apiVersion: v2\nname: far\nversion: 0.0.0\n")
	s.write(filepath.Join(far, "templates/d.yaml"), "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: far}\nspec: {template: {metadata: {labels: {v: \"{{ .Chart.Version }}\"}}, spec: {containers: [{name: c, image: i}]}}}\n")
	r := s.run(chart.Options{Sources: chart.Sources{chart.File{Path: s.chart}, chart.Modules{Cache: cache}}})
	s.expect(r, chart.Locked, "2 sets of values, 10 workloads")
	if !strings.Contains(s.read(shopFile), "name: far\n          replicas: 1\n          pod:\n            labels: {v: 2.0.0}\n") {
		t.Error(s.read(shopFile))
	}
	if !slices.Contains(r.Notes, "the dependency far 2.0.0 is not packaged with it: taken from module example.com/far@v0.9.0/chart") {
		t.Errorf("%q", r.Notes)
	}
}

// A chart in a source tree has neither its version nor, at times, Chart.yaml.
func TestUnreleasedChart(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	cache := t.TempDir()
	at := filepath.Join(cache, "example.com/shop@v1.2.3/deploy/charts/shop")
	if err := os.CopyFS(at, os.DirFS(s.chart)); err != nil {
		t.Fatal(err)
	}
	s.edit(filepath.Join(at, "Chart.yaml"), "version: 1.2.3\nappVersion: \"7.1\"\n", "version: 0.0.0\n")
	s.write(filepath.Join(at, ".helmignore"), "Chart.template.yaml\n*.bak\n")
	if err := os.Rename(filepath.Join(at, "Chart.yaml"), filepath.Join(at, "Chart.template.yaml")); err != nil {
		t.Fatal(err)
	}
	s.write(shopFile, locked(t))
	r := s.run(chart.Options{Check: true, Sources: chart.Sources{chart.Modules{Cache: cache}}})
	s.expect(r, chart.UpToDate, "")
	if len(r.Notes) != 3 { // Chart.yaml, version, digest
		t.Errorf("%q", r.Notes)
	}
}

func (s *shop) remove(file string) {
	s.t.Helper()
	if err := os.RemoveAll(filepath.Join(s.chart, file)); err != nil {
		s.t.Fatal(err)
	}
}

func (s *shop) inChart(file, old, text string) {
	s.t.Helper()
	s.edit(filepath.Join(s.chart, file), old, text)
}
