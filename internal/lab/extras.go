package lab

import (
	"context"
	"errors"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/lab/component"
	"github.com/firstlight/firstlight/internal/lab/manifest"
)

var errStopped = errors.New("the lab is stopping")

// Ensure adds the extras that the lab does not have: it builds missing programs, creates their
// objects, starts their components and returns when they are ready. It waits for a lab that is
// starting. After an error the lab is unchanged, except for created objects.
func (l *Lab) Ensure(ctx context.Context, extras []string) error {
	if err := component.CheckExtras(extras); err != nil {
		return err
	}
	if !l.opts.Purpose.Extendable() && len(extras) > 0 {
		return fmt.Errorf("a lab for %s has no extras: cannot add %v", l.opts.Purpose, extras)
	}
	select {
	case <-l.up:
	case <-l.stopping:
		return errStopped
	case <-ctx.Done():
		return fmt.Errorf("wait for the lab: %w", context.Cause(ctx))
	}
	if err := l.takeTurn(ctx, l.adding); err != nil {
		return err
	}
	defer func() { <-l.adding }()
	for _, name := range extras {
		if slices.Contains(l.With(), name) {
			continue
		}
		if err := l.addExtra(ctx, name); err != nil {
			return fmt.Errorf("add %s to the lab: %w", name, err)
		}
	}
	return nil
}

// takeTurn waits for the token of a kind of change.
func (l *Lab) takeTurn(ctx context.Context, of chan struct{}) error {
	select {
	case of <- struct{}{}:
		return nil
	case <-l.stopping:
		return errStopped
	case <-ctx.Done():
		return fmt.Errorf("wait for another change of the lab: %w", context.Cause(ctx))
	}
}

// With returns the extras of the lab.
func (l *Lab) With() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.conf.With)
}

func (l *Lab) addExtra(ctx context.Context, name string) error {
	begin := l.opts.Clock.Now()
	names := namesOf(component.Config{}.Extra(name))
	programs, err := l.opts.Programs(ctx, names)
	if err != nil {
		return err
	}
	for _, program := range names { // a build must not delay changes of faults
		if _, err := programs.Path(ctx, program); err != nil {
			return err
		}
	}
	if err := l.takeTurn(ctx, l.changing); err != nil {
		return err
	}
	defer func() { <-l.changing }()
	if err := l.net.claimExtra(ctx, name); err != nil {
		return err
	}
	l.mu.Lock()
	l.programs = l.programs.With(programs)
	l.conf.Ports = l.net.ports
	conf := l.conf
	l.mu.Unlock()
	conf.With = append(slices.Clone(conf.With), name)

	steps := append([]step{completed(component.APIServer), completed(component.Roles), completed(component.Prometheus), completed(stepSettled)}, l.extraSteps(conf, name)...)
	if err := runSteps(ctx, steps); err != nil {
		for _, c := range slices.Backward(conf.Extra(name)) {
			l.sup.Remove(c.Name)
		}
		return err
	}
	l.mu.Lock()
	l.conf.With = conf.With
	l.mu.Unlock()
	l.event(Event{Kind: KindExtra, Name: name, Took: metav1.Duration{Duration: l.opts.Clock.Since(begin)}})
	return nil
}

// completed returns a step that is already done.
func completed(name string) step {
	return step{name: name, run: func(context.Context) error { return nil }}
}

// extraSteps create the objects of an extra, start its components and create the objects that
// these admit.
func (l *Lab) extraSteps(conf component.Config, name string) []step {
	steps := []step{l.own(component.ObjectsOf(name), []string{component.APIServer, component.Roles}, func(ctx context.Context) error {
		return l.createExtra(ctx, conf, name)
	})}
	steps = append(steps, l.own(name+"-defaults", namesOf(conf.Extra(name)), func(ctx context.Context) error {
		return l.createAfter(ctx, name)
	}))
	if name == component.ExtraAdapter {
		steps = append(steps, l.own(stepMetrics, []string{component.Adapter}, l.registerMetrics))
	}
	if name == component.ExtraKueue {
		steps = append(steps, l.own(stepKueueCertificates, []string{component.ObjectsOf(name)}, func(ctx context.Context) error {
			return l.mountKueueCertificates(ctx, conf)
		}))
	}
	if name == component.ExtraRay && l.opts.RayReady != nil {
		steps = append(steps, l.own(stepRayCluster, []string{component.KubeRay, stepSettled}, l.opts.RayReady))
	}
	for _, c := range conf.Extra(name) {
		steps = append(steps, step{name: c.Name, needs: c.Needs, run: func(ctx context.Context) error {
			return l.startComponent(ctx, c)
		}})
	}
	return steps
}

// createExtra creates the objects that an extra needs before its components start.
func (l *Lab) createExtra(ctx context.Context, conf component.Config, name string) error {
	values, err := extraValues(conf)
	if err != nil {
		return err
	}
	definitions, objects, err := manifest.Extra(name, values)
	if err != nil {
		return err
	}
	client, err := l.dynamicClient()
	if err != nil {
		return err
	}
	if err := create(ctx, client, definitions); err != nil {
		return err
	}
	for _, d := range definitions {
		if err := awaitCondition(ctx, client, d, "Established"); err != nil {
			return err
		}
	}
	return create(ctx, client, objects)
}

// createAfter creates the objects that the webhooks of an extra's programs admit.
func (l *Lab) createAfter(ctx context.Context, name string) error {
	objects, err := manifest.After(name)
	if err != nil || len(objects) == 0 {
		return err
	}
	client, err := l.dynamicClient()
	if err != nil {
		return err
	}
	if err := create(ctx, client, objects); err != nil || name != component.ExtraTrainer {
		return err
	}
	return awaitRuntimes(ctx, client)
}

// namesOf returns program names; a component has the name of its program.
func namesOf(components []component.Component) []string {
	names := make([]string, 0, len(components))
	for _, c := range components {
		names = append(names, c.Name)
	}
	return names
}

// withoutRepeats removes duplicates and keeps the order.
func withoutRepeats(names []string) []string {
	var once []string
	for _, n := range names {
		if !slices.Contains(once, n) {
			once = append(once, n)
		}
	}
	return once
}
