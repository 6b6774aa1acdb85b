package component

import (
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/firstlight/firstlight/internal/golden"
	"github.com/firstlight/firstlight/internal/lab/gpustack"
)

func realStack() Config {
	c := config()
	c.With, c.Stack, c.ControlNode = nil, StackReal, "system-01"
	c.Ports.GPUOperatorHealth, c.Ports.GPUOperatorMetrics, c.Ports.NFDMaster = 8085, 8086, 21003
	return c
}

func TestGoldensOfTheStack(t *testing.T) {
	t.Parallel()
	c := realStack()
	operator := c.GPUOperator()
	before := len(operator.Files)
	maps.DeleteFunc(operator.Files, func(path, _ string) bool { return strings.Contains(path, "/opt/gpu-operator/") })
	if left := len(operator.Files); left != 1 || before < 100 {
		t.Errorf("%d files below /opt/gpu-operator and %d others, want its manifests and os-release", before-left, left)
	}
	golden.Compare(t, "testdata/gpu-operator.golden", "root "+operator.Root+"\n"+text(operator))
	golden.Compare(t, "testdata/nfd-master.golden", text(c.NFDMaster()))
	golden.Compare(t, "testdata/prometheus-real.golden", text(c.Prometheus()))
	c.Faults.ExportersUnscraped = true
	golden.Compare(t, "testdata/exporters-unscraped.golden", text(c.Prometheus()))
	var all []string
	for _, c := range All(realStack()) {
		all = append(all, c.Name)
	}
	if diff := cmp.Diff([]string{Etcd, APIServer, ControllerManager, Scheduler, Kwok, Prometheus, Alertmanager, GPUOperator, NFDMaster}, all); diff != "" {
		t.Error(diff)
	}
}

// NFD's master has the configuration of the chart, and the pods of its Deployments represent the
// programs.
func TestStackMatchesItsChart(t *testing.T) {
	t.Parallel()
	values, err := gpustack.Values(gpustack.Cluster{Driver: "580.105.08", ControlNode: "system-01"})
	if err != nil {
		t.Fatal(err)
	}
	chart, err := gpustack.Render(t.Context(), values)
	if err != nil {
		t.Fatal(err)
	}
	deployments := map[string]bool{}
	var config any
	for _, o := range chart.Objects {
		switch o.GetKind() {
		case "Deployment":
			deployments[o.GetName()] = true
		case "ConfigMap":
			if text, ok, _ := unstructured.NestedString(o.Object, "data", "nfd-master.conf"); ok {
				config = parsed(t, text)
			}
		}
	}
	for name := range StackDeployments() {
		if !deployments[name] {
			t.Errorf("the chart has no Deployment %s, it has %v", name, deployments)
		}
	}
	if len(deployments) != len(StackDeployments()) {
		t.Errorf("a Deployment of the chart has no program: %v", deployments)
	}
	for _, text := range realStack().NFDMaster().Files {
		if diff := cmp.Diff(config, parsed(t, text)); diff != "" {
			t.Errorf("the configuration of NFD's master differs from the chart's: %s", diff)
		}
	}
}

func parsed(t *testing.T, text string) any {
	t.Helper()
	var v any
	if err := yaml.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func TestUnknownStack(t *testing.T) {
	t.Parallel()
	for stack, ok := range map[Stack]bool{"": true, StackMinimal: true, StackReal: true, StackNone: true, "true": false} {
		if err := CheckStack(stack); (err == nil) != ok {
			t.Errorf("%q: %v", stack, err)
		}
	}
}

// A job of Prometheus once kept a placeholder that another change had renamed: it discovered nothing,
// and gate telemetry had no series.
func TestNoPlaceholderIsLeft(t *testing.T) {
	t.Parallel()
	for _, c := range []Config{config(), realStack()} {
		for _, component := range All(c) {
			for path, content := range component.Files {
				if strings.HasSuffix(path, ".yaml") && strings.Contains(content, "${") && component.Name == Prometheus {
					t.Errorf("%s of %s has a placeholder:\n%s", path, component.Name, content)
				}
			}
		}
	}
}
