package validate

import (
	"errors"
	"fmt"
	"slices"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/gate/gangjob"
	"github.com/firstlight/firstlight/internal/gate/inference"
	"github.com/firstlight/firstlight/internal/gate/training"
	"github.com/firstlight/firstlight/internal/pipeline"
	"github.com/firstlight/firstlight/internal/plan"
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

// Plan is the case's order as a Plan: a step of the pipeline is one Check, conformance
// one a requirement. The artifacts are no step of it: they are of what it leaves.
func (c Case) Plan(s *site.Site, p *profile.Profile, r Reach) (plan.Plan, error) {
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
		checks, err := c.checks(step.Name, s, p, r)
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
		demanded := slices.Concat(after, demandedOf(checks, recommended))
		for _, one := range checks {
			after := after
			if slices.Contains(recommended, one.Name()) {
				after = demanded // what is demanded waits for no recommendation
			}
			made := plan.Step{
				Check: one, Needs: needs, After: after, Describe: one.Describe(), NotApplicable: c.NotApplicable[one.Name()],
				Recommended: slices.Contains(recommended, one.Name()),
			}
			if exempt, ok := one.(interface{ Exempt() string }); ok && made.NotApplicable == "" {
				made.NotApplicable = exempt.Exempt()
			}
			if claiming, ok := one.(interface{ Claims() int }); ok {
				made.GPUs = claiming.Claims()
			}
			names[step.Name] = append(names[step.Name], one.Name())
			out.Steps = append(out.Steps, made)
		}
	}
	if err := errors.Join(out.Validate(), c.known(out)); err != nil {
		return plan.Plan{}, fmt.Errorf("plan the validation of %s: %w", s.Name, err)
	}
	return out, nil
}

// demandedOf are the names of the checks that are not only recommended.
func demandedOf(checks []described, recommended []string) []string {
	var out []string
	for _, one := range checks {
		if !slices.Contains(recommended, one.Name()) {
			out = append(out, one.Name())
		}
	}
	return out
}

// deviceClass is that of whole GPUs, by NVIDIA's DRA driver.
const deviceClass = "gpu.nvidia.com"

// Holding are the checks that hold their GPUs until the run ends, by the pipeline's data.
func (c Case) Holding() []string {
	for _, s := range c.Order.Steps {
		if s.Name == stepIntent && s.Held() > 0 {
			return []string{string(c.Order.Intent)}
		}
	}
	return nil
}

// planPrefix begins the name of every plan of a validation.
const planPrefix = "validation for "

// PlanName is what the plan of an intent on a site is called.
func PlanName(i pipeline.Intent, site string) string {
	return fmt.Sprintf("%s%s of %s", planPrefix, i, site)
}

// known refuses reasons for requirements that the plan does not have.
func (c Case) known(p plan.Plan) error {
	var problems []error
	for name := range c.NotApplicable {
		if _, ok := p.Step(name); !ok {
			problems = append(problems, fmt.Errorf("%w: %q is said not to be applicable, and there is no such check in the plan", plan.ErrInvalid, name))
		}
	}
	return errors.Join(problems...)
}

// checks of a step of the pipeline.
func (c Case) checks(step string, s *site.Site, p *profile.Profile, r Reach) ([]described, error) {
	job := gangjob.Deps{Cluster: r.Cluster, RunID: r.RunID, DeviceClass: deviceClass, Hold: true}
	switch step {
	case snapshot.Name:
		return []described{snapshot.New(c.Snapshot, snapshot.Deps{Cluster: r.Cluster})}, nil
	case resources.Name:
		return []described{resources.New(c.Resources, resources.Deps{Cluster: r.Cluster}, resources.Options{})}, nil
	case autoscaling.Name:
		return []described{autoscaling.New(s, autoscaling.Deps{Cluster: r.Cluster})}, nil
	case health.Name:
		return []described{health.New(c.Health, health.Deps{Cluster: r.Cluster}, health.Options{Timeout: s.HealthWithin()})}, nil
	case stepIntent:
		switch c.Order.Intent {
		case pipeline.Training:
			return []described{training.New(s, p, job)}, nil
		case pipeline.Inference:
			return []described{inference.New(s, p, job)}, nil
		case pipeline.Conformance:
		}
	case stepConformance:
		ids, err := Requirements(c.Version)
		if err != nil {
			return nil, err
		}
		var out []described
		for _, id := range ids {
			out = append(out, requirements[id](s, p, r, c.Disruptive))
		}
		return out, nil
	}
	return nil, fmt.Errorf("nothing carries out step %q for the intent %s", step, c.Order.Intent)
}

// Judges are the checks of a run's case with nothing to observe with.
func (c Case) Judges(s *site.Site, p *profile.Profile) ([]check.Check, error) {
	made, err := c.Plan(s, p, Reach{})
	if err != nil {
		return nil, err
	}
	var out []check.Check
	for _, step := range made.Steps {
		out = append(out, step.Check)
	}
	return out, nil
}
