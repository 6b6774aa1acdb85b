package ciworkflow_test

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/rhysd/actionlint"
	"sigs.k8s.io/yaml"

	"github.com/firstlight/firstlight/internal/ciworkflow"
	"github.com/firstlight/firstlight/internal/pipeline"
)

func options(t *testing.T, intent pipeline.Intent, gpus int) ciworkflow.ValidationOptions {
	t.Helper()
	steps, err := pipeline.Steps()
	if err != nil {
		t.Fatal(err)
	}
	o, err := pipeline.Derive(steps, intent, gpus)
	if err != nil {
		t.Fatal(err)
	}
	return ciworkflow.ValidationOptions{Order: o, Source: own, Runner: "ubuntu-24.04", Extras: []string{"karpenter", "trainer"}}
}

// parsed is the part of a workflow that is compared with the order.
type parsed struct {
	Jobs map[string]struct {
		Steps []struct {
			ID, Name, If, Run string
			With              map[string]any
		}
	}
}

// For every intent the workflow has the steps of the pipeline, with the same names, in the
// same order, and actionlint accepts it.
func TestValidationHasPipelineSteps(t *testing.T) {
	t.Parallel()
	for _, intent := range pipeline.Intents() {
		for _, gpus := range []int{1, 32} {
			for _, cluster := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s on %d, cluster %v", intent, gpus, cluster), func(t *testing.T) {
					t.Parallel()
					o := options(t, intent, gpus)
					if cluster {
						o.Own, o.Version, o.Runner, o.Site, o.Recipe = false, "v1.2.3", "gpu-cluster", "sites/prod.yaml", "h100-eks-ubuntu-training"
					}
					data, err := ciworkflow.RenderValidation(o)
					if err != nil {
						t.Fatal(err)
					}
					linter, err := actionlint.NewLinter(io.Discard, &actionlint.LinterOptions{Shellcheck: "", Pyflakes: ""})
					if err != nil {
						t.Fatal(err)
					}
					problems, err := linter.Lint("validate-"+string(intent)+".yaml", data, nil)
					if err != nil {
						t.Fatal(err)
					}
					for _, p := range problems {
						if cluster && strings.Contains(p.Message, "label \"gpu-cluster\" is unknown") {
							continue // self-hosted runner
						}
						t.Errorf("%s\n%s", p, data)
					}
					var w parsed
					if err := yaml.Unmarshal(data, &w); err != nil {
						t.Fatal(err)
					}
					var got, want []string
					for _, s := range w.Jobs["validate"].Steps {
						if s.ID == "" {
							continue
						}
						got = append(got, s.ID+": "+s.Name)
						if s.If != "${{ !cancelled() }}" || !strings.Contains(s.Run, "firstlight validate --intent "+string(intent)) {
							t.Errorf("%+v", s)
						}
						if last := s.ID == "artifacts"; last == strings.Contains(s.Run, "--until "+s.ID) {
							t.Errorf("%s runs %s", s.ID, s.Run)
						}
						if cluster != strings.Contains(s.Run, "--site sites/prod.yaml --recipe h100-eks-ubuntu-training") {
							t.Errorf("%s runs %s", s.ID, s.Run)
						}
					}
					for _, s := range o.Order.Steps {
						want = append(want, s.Name+": "+s.Title)
					}
					if !slices.Equal(got, want) {
						t.Errorf("rendered steps %v, want %v", got, want)
					}
				})
			}
		}
	}
}

func TestInvalidValidationOptions(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(o *ciworkflow.ValidationOptions){
		"no runner":            func(o *ciworkflow.ValidationOptions) { o.Runner = "" },
		"shell metacharacters": func(o *ciworkflow.ValidationOptions) { o.Site, o.Recipe = "x; rm", "r" },
		"an expression":        func(o *ciworkflow.ValidationOptions) { o.Runner = "${{ github.token }}" },
		"a site alone":         func(o *ciworkflow.ValidationOptions) { o.Site = "prod.yaml" },
		"no release":           func(o *ciworkflow.ValidationOptions) { o.Own, o.Version = false, "main" },
		"a flag for a site":    func(o *ciworkflow.ValidationOptions) { o.Site, o.Recipe = "--help", "r" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := options(t, pipeline.Training, 8)
			spoil(&o)
			if data, err := ciworkflow.RenderValidation(o); err == nil {
				t.Errorf("want an error, got:\n%s", data)
			}
		})
	}
}
