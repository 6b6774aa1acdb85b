package validate

import (
	"errors"
	"fmt"
	"slices"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/conformance"
	"github.com/firstlight/firstlight/internal/conformance/catalog"
	"github.com/firstlight/firstlight/internal/conformance/dra"
	"github.com/firstlight/firstlight/internal/gate/gangjob"
	"github.com/firstlight/firstlight/internal/gate/inference"
	"github.com/firstlight/firstlight/internal/gate/training"
	"github.com/firstlight/firstlight/internal/pipeline"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/podpatch"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
	"github.com/firstlight/firstlight/internal/validate/autoscaling"
	"github.com/firstlight/firstlight/internal/validate/health"
	"github.com/firstlight/firstlight/internal/validate/resources"
	"github.com/firstlight/firstlight/internal/validate/snapshot"
)

// The pipeline's steps, by the names of its data.
const (
	stepConformance = "conformance"
	stepIntent      = "intent"
	stepArtifacts   = "artifacts"
)

// Plan converts the case's order to a Plan: a step of the pipeline is one Check, the step
// conformance one Check per requirement. The step artifacts is not included: Collect writes it from the result.
func (c Case) Plan(s *site.Site, p *profile.Profile, deps conformance.Deps) (plan.Plan, error) {
	if len(s.Groups) > 0 {
		return plan.Plan{}, fmt.Errorf("plan the validation of %s: a recipe has one kind of GPU node, and the site has groups of nodes with others: make a site file for each group", s.Name)
	}
	deps.PodPatches = podpatch.Alone(s.PodPatches("")...) // all namespaces of the checks are of the run
	out := plan.Plan{Name: PlanName(c.Order.Intent, s.Name)}
	recommended, err := Recommended(c.Version)
	if err != nil {
		return plan.Plan{}, err
	}
	names := map[string][]string{}
	for _, step := range c.Order.Steps {
		if step.Name == stepArtifacts {
			continue
		}
		checks, err := c.checks(step.Name, s, p, deps)
		if err != nil {
			return plan.Plan{}, err
		}
		var needs, after []string
		for _, need := range step.Needs {
			if slices.Contains(step.ContinueOnFailure, need) {
				after = append(after, names[need]...)
			} else {
				needs = append(needs, names[need]...)
			}
		}
		required := slices.Concat(after, requiredOf(checks, recommended))
		for _, one := range checks {
			after := after
			if slices.Contains(recommended, one.Name()) {
				after = required // required checks do not wait for recommended ones
			}
			planned := plan.Step{
				Check: one, Needs: needs, After: after, Describe: one.Describe(), NotApplicable: c.NotApplicable[one.Name()],
				Recommended: slices.Contains(recommended, one.Name()),
			}
			if one.Name() == autoscaling.Name && planned.NotApplicable == "" {
				planned.NotApplicable = c.withoutAutoscaling()
			}
			if exempt, ok := one.(interface{ Exempt() string }); ok && planned.NotApplicable == "" {
				planned.NotApplicable = exempt.Exempt()
			}
			if planned.NotApplicable == "" {
				if planned.NotApplicable, err = withoutDRA(one.Name(), c.Version, s); err != nil {
					return plan.Plan{}, err
				}
			}
			if claiming, ok := one.(interface{ Claims() int }); ok {
				planned.GPUs = claiming.Claims()
			}
			names[step.Name] = append(names[step.Name], one.Name())
			out.Steps = append(out.Steps, planned)
		}
	}
	if err := errors.Join(out.Validate(), c.known(out)); err != nil {
		return plan.Plan{}, fmt.Errorf("plan the validation of %s: %w", s.Name, err)
	}
	return out, nil
}

// requiredOf lists the names of the checks that are not only recommended.
func requiredOf(checks []describedCheck, recommended []string) []string {
	var out []string
	for _, one := range checks {
		if !slices.Contains(recommended, one.Name()) {
			out = append(out, one.Name())
		}
	}
	return out
}

// earlier reports whether the order is of a version whose step autoscaling always looks for an autoscaler of nodes.
func (c Case) earlier() bool {
	return slices.ContainsFunc(c.Order.Steps, func(s pipeline.Step) bool {
		return s.Name == stepConformance && !slices.Contains(s.ContinueOnFailure, autoscaling.Name)
	})
}

// withoutAutoscaling is why the step autoscaling does not apply: neither of its requirements does. Empty if it does.
func (c Case) withoutAutoscaling() string {
	nodes, pods := c.NotApplicable["cluster_autoscaling"], c.NotApplicable["pod_autoscaling"]
	if nodes == "" || pods == "" || c.earlier() {
		return ""
	}
	return fmt.Sprintf("cluster_autoscaling does not apply (%s), nor does pod_autoscaling (%s)", nodes, pods)
}

// withoutDRA is why a check of a version does not apply to a site without a DRA driver; empty if it
// does. A version that requires dra_support requires the driver.
func withoutDRA(name, version string, s *site.Site) (string, error) {
	if name != dra.Name || s.GPUStack.DRADriver != site.DRANone {
		return "", nil
	}
	must, err := ofLevel(version, catalog.Must)
	if err != nil || slices.Contains(must, dra.Name) {
		return "", err
	}
	return fmt.Sprintf("the site declares that no DRA driver is installed (gpustack.draDriver: %s): the device plugin alone offers GPUs; version %s of the conformance program does not require %s", site.DRANone, version, dra.Name), nil
}

// Holding lists the checks that hold their GPUs until the run ends, by the pipeline's data.
func (c Case) Holding() []string {
	for _, s := range c.Order.Steps {
		if s.Name == stepIntent && s.Held() > 0 {
			return []string{string(c.Order.Intent)}
		}
	}
	return nil
}

// planPrefix of the name of every plan of a validation.
const planPrefix = "validation for "

// PlanName is the name of the plan of an intent on a site.
func PlanName(i pipeline.Intent, site string) string {
	return fmt.Sprintf("%s%s of %s", planPrefix, i, site)
}

// known rejects reasons for requirements that are not in the plan.
func (c Case) known(p plan.Plan) error {
	var problems []error
	for name := range c.NotApplicable {
		if _, ok := p.Step(name); !ok {
			problems = append(problems, fmt.Errorf("%w: %q is declared not applicable, but the plan has no such check", plan.ErrInvalid, name))
		}
	}
	return errors.Join(problems...)
}

// checks constructs the checks of a step of the pipeline.
func (c Case) checks(step string, s *site.Site, p *profile.Profile, deps conformance.Deps) ([]describedCheck, error) {
	job := gangjob.Deps{Cluster: deps.Cluster, RunID: deps.RunID, PreferClaims: s.GPUStack.DRADriver != site.DRANone, Hold: true}
	switch step {
	case snapshot.Name:
		return []describedCheck{snapshot.New(c.Snapshot, snapshot.Deps{Cluster: deps.Cluster, RunID: deps.RunID, Image: s.Telemetry.LoadImage, PodPatches: deps.PodPatches})}, nil
	case resources.Name:
		return []describedCheck{resources.New(c.Resources, resources.Deps{Cluster: deps.Cluster}, resources.Options{})}, nil
	case autoscaling.Name:
		_, fixed := c.NotApplicable["cluster_autoscaling"]
		return []describedCheck{autoscaling.New(s, autoscaling.Deps{Cluster: deps.Cluster}, autoscaling.Options{FixedNodes: fixed && !c.earlier()})}, nil
	case health.Name:
		return []describedCheck{health.New(c.Health, health.Deps{Cluster: deps.Cluster}, health.Options{Timeout: s.HealthWithin(), Lowered: s.LoweredHealth()})}, nil
	case stepIntent:
		switch c.Order.Intent {
		case pipeline.Training:
			return []describedCheck{training.New(s, p, job)}, nil
		case pipeline.Inference:
			return []describedCheck{inference.New(s, p, job)}, nil
		case pipeline.Conformance:
		}
	case stepConformance:
		ids, err := Requirements(c.Version)
		if err != nil {
			return nil, err
		}
		deps.Disruptive = c.Disruptive
		var out []describedCheck
		for _, id := range ids {
			out = append(out, requirements[id](s, p, deps))
		}
		return out, nil
	}
	return nil, fmt.Errorf("unknown step %q of the intent %s", step, c.Order.Intent)
}

// Judges constructs the checks of a run's case without dependencies, to judge only.
func (c Case) Judges(s *site.Site, p *profile.Profile) ([]check.Check, error) {
	planned, err := c.Plan(s, p, conformance.Deps{})
	if err != nil {
		return nil, err
	}
	var out []check.Check
	for _, step := range planned.Steps {
		out = append(out, step.Check)
	}
	return out, nil
}
