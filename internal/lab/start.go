package lab

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/firstlight/firstlight/internal/lab/component"
	"github.com/firstlight/firstlight/internal/lab/process"
)

// StepHosts is the step after which the world's hosts can be reached and the
// lab's site is written, long before the lab is ready.
const StepHosts = "hosts"

// Names of the steps of a start that are no component.
const (
	stepMetrics = "metrics-apis"
	stepWorld   = "world"
	stepCanary  = "canary"
)

// Start brings the lab up and returns when it is ready. After an error, Stop
// ends what was started.
func (l *Lab) Start(ctx context.Context) error {
	if err := l.start(ctx); err != nil {
		l.event(Event{Kind: KindFailed, Message: err.Error()})
		return fmt.Errorf("start lab %s: %w", l.opts.Name, err)
	}
	l.mu.Lock()
	l.ready = l.opts.Clock.Now()
	took := l.ready.Sub(l.started)
	l.mu.Unlock()
	l.event(Event{Kind: KindReady, Took: took})
	l.opts.Log.Info("lab ready", "took", took.String())
	return nil
}

func (l *Lab) start(ctx context.Context) error {
	if err := l.prepare(ctx); err != nil {
		return err
	}
	if l.opts.NetworkReady != nil {
		if err := l.opts.NetworkReady(ctx, l.info()); err != nil {
			return fmt.Errorf("prepare the world: %w", err)
		}
		l.event(Event{Kind: KindStep, Name: StepHosts})
	}
	programs, err := l.opts.Programs(ctx)
	if err != nil {
		return err
	}
	l.mu.Lock()
	l.programs, l.started = programs, l.opts.Clock.Now()
	l.mu.Unlock()

	ctx, cancel := context.WithTimeoutCause(ctx, l.opts.StartTimeout,
		fmt.Errorf("the lab was not ready within %s", l.opts.StartTimeout))
	defer cancel()
	return runSteps(ctx, l.steps())
}

// prepare makes everything that needs no program: directory, addresses,
// certificates, kubeconfigs.
func (l *Lab) prepare(ctx context.Context) error {
	if err := ownDir(l.opts.Dir); err != nil {
		return err
	}
	if err := l.discard(); err != nil {
		return err
	}
	for _, d := range []string{"conf", "data", "logs", "tmp"} {
		if err := os.MkdirAll(filepath.Join(l.opts.Dir, d), 0o700); err != nil {
			return fmt.Errorf("make the lab's directory: %w", err)
		}
	}
	net, err := claimNetwork(ctx)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.net = net
	l.conf = component.Config{Dir: l.opts.Dir, Address: net.address(), Ports: net.ports}
	l.conf.AlertWebhook = fmt.Sprintf("http://%s:%d/", net.address(), net.ports.AlertWebhook)
	if err := l.conf.PKI().Write(l.opts.Name, l.conf.Address, l.opts.Clock.Now()); err != nil {
		return err
	}
	if err := writeKubeconfigs(l.opts.Name, l.conf); err != nil {
		return err
	}
	l.rest, err = restConfig(l.conf)
	return err
}

// steps are the whole start: each component after what it needs, and what the
// lab itself does between.
func (l *Lab) steps() []step {
	own := func(name string, needs []string, run func(context.Context) error) step {
		return step{name: name, needs: needs, run: func(ctx context.Context) error {
			begin := l.opts.Clock.Now()
			if err := run(ctx); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			l.event(Event{Kind: KindStep, Name: name, Took: l.opts.Clock.Since(begin)})
			return nil
		}}
	}
	var steps []step
	for _, c := range component.All(l.conf) {
		steps = append(steps, step{name: c.Name, needs: c.Needs, run: func(ctx context.Context) error {
			return l.startComponent(ctx, c)
		}})
	}
	steps = append(steps,
		own(component.Objects, []string{component.APIServer}, l.createObjects),
		own(stepMetrics, []string{component.Adapter}, l.registerMetrics),
		own(stepCanary, []string{component.ControllerManager, component.Scheduler, component.Kwok}, l.canary),
	)
	if l.opts.WorldReady != nil {
		steps = append(steps, own(stepWorld, []string{component.Objects}, func(ctx context.Context) error {
			info := l.info()
			info.RestConfig = l.rest
			return l.opts.WorldReady(ctx, info)
		}))
	}
	return steps
}

func (l *Lab) startComponent(ctx context.Context, c component.Component) error {
	spec, err := l.spec(c)
	if err != nil {
		return err
	}
	l.net.release(portsOf(l.conf.Ports, c.Name)...)
	return l.sup.Start(ctx, spec)
}

// spec writes a component's files and says how to run it.
func (l *Lab) spec(c component.Component) (process.Spec, error) {
	for path, content := range c.Files {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			return process.Spec{}, fmt.Errorf("configure %s: %w", c.Name, err)
		}
	}
	path, err := l.programs.Path(c.Name)
	if err != nil {
		return process.Spec{}, err
	}
	ready, err := prober(c.Probe)
	if err != nil {
		return process.Spec{}, err
	}
	return process.Spec{
		Name: c.Name, Path: path, Args: slices.Clone(c.Argv),
		// Nothing of the user's environment: proxies, KUBECONFIG, HOME.
		Env: []string{
			Marker + "=" + l.id,
			"PATH=/usr/local/bin:/usr/bin:/bin",
			"HOME=" + filepath.Join(l.opts.Dir, "tmp"),
			"TMPDIR=" + filepath.Join(l.opts.Dir, "tmp"),
		},
		Dir:     filepath.Join(l.opts.Dir, "tmp"),
		LogPath: l.LogPath(c.Name),
		Grace:   c.StopGrace,
		Ready:   ready,
	}, nil
}

// LogPath is the log file of a component.
func (l *Lab) LogPath(name string) string { return LogPathIn(l.opts.Dir, name) }

// LogPathIn is the log file of a component of the lab in dir.
func LogPathIn(dir, name string) string { return filepath.Join(dir, "logs", name+".log") }
