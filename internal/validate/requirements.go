package validate

import (
	"fmt"
	"slices"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/conformance"
	"github.com/firstlight/firstlight/internal/conformance/access"
	"github.com/firstlight/firstlight/internal/conformance/autoscaling"
	"github.com/firstlight/firstlight/internal/conformance/catalog"
	"github.com/firstlight/firstlight/internal/conformance/controller"
	"github.com/firstlight/firstlight/internal/conformance/dra"
	"github.com/firstlight/firstlight/internal/conformance/gang"
	"github.com/firstlight/firstlight/internal/conformance/inference"
	"github.com/firstlight/firstlight/internal/conformance/metrics"
	"github.com/firstlight/firstlight/internal/conformance/recommended"
	"github.com/firstlight/firstlight/internal/conformance/servicemetrics"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
)

// describedCheck is a check that lists what it does.
type describedCheck interface {
	check.Check
	Describe() []string
}

// requirement constructs the check of a requirement.
type requirement func(*site.Site, *profile.Profile, conformance.Deps) describedCheck

// requirements maps the id of a requirement to its check.
var requirements = map[string]requirement{
	"dra_support":                 checkOf(dra.New),
	"secure_accelerator_access":   checkOf(access.New),
	"gang_scheduling":             checkOf(gang.New),
	"accelerator_metrics":         checkOf(metrics.New),
	"ai_service_metrics":          checkOf(servicemetrics.New),
	"pod_autoscaling":             checkOf(autoscaling.NewPods),
	"cluster_autoscaling":         checkOf(autoscaling.NewCluster),
	"ai_inference":                checkOf(inference.New),
	"robust_controller":           checkOf(controller.New),
	"driver_runtime_management":   checkOf(recommended.NewDrivers),
	"gpu_sharing":                 checkOf(recommended.NewSharing),
	"virtualized_accelerator":     checkOf(recommended.NewVGPU),
	"advanced_inference_ingress":  checkOf(recommended.NewPools),
	"high_performance_networking": checkOf(recommended.NewNetwork),
	"disaggregated_inference":     checkOf(recommended.NewDisaggregated),
	"workload_sandboxing":         checkOf(recommended.NewSandbox),
}

func checkOf[C describedCheck](construct func(*site.Site, *profile.Profile, conformance.Deps) C) requirement {
	return func(s *site.Site, p *profile.Profile, d conformance.Deps) describedCheck { return construct(s, p, d) }
}

// Requirements lists the ids of a version's requirements: the required ones in the order of
// the catalog, then the recommended ones. A requirement without a check is an error, since a
// run without it proves nothing.
func Requirements(version string) ([]string, error) {
	must, err := ofLevel(version, catalog.Must)
	if err != nil {
		return nil, err
	}
	should, err := Recommended(version)
	if err != nil {
		return nil, err
	}
	// Later versions leave it to Kubernetes' own conformance tests that GPUs can be claimed.
	// The other checks depend on it.
	if !slices.Contains(must, dra.Name) {
		must = append([]string{dra.Name}, must...)
	}
	return append(must, should...), nil
}

// Recommended lists those of a version's Requirements that fail no run: the platform should
// meet them.
func Recommended(version string) ([]string, error) { return ofLevel(version, catalog.Should) }

func ofLevel(version string, level catalog.Level) ([]string, error) {
	p, err := catalog.Load(version)
	if err != nil {
		return nil, fmt.Errorf("requirements of %s: %w", version, err)
	}
	var out []string
	for _, r := range p.Requirements {
		if r.Level != level {
			continue
		}
		if _, known := requirements[r.ID]; !known {
			return nil, fmt.Errorf("version %s requires %s, which has no check", version, r.ID)
		}
		out = append(out, r.ID)
	}
	return out, nil
}
