package lab

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/lab/component"
	"github.com/firstlight/firstlight/internal/lab/instances"
	"github.com/firstlight/firstlight/internal/lab/process"
	"github.com/firstlight/firstlight/internal/poll"
)

// StepHosts is the step after which the world's hosts are reachable and the site file exists. The
// lab is not ready yet.
const StepHosts = "hosts"

// StepCluster is the step after which the control plane works and has the world's nodes.
// Prometheus and Alertmanager may still be starting or being built.
const StepCluster = "cluster"

// startLate are components that may start after the others, while their programs are built. The
// others start together: when kwok started a minute after the nodes existed, the world's
// DaemonSets did not become ready.
var startLate = []string{component.Prometheus, component.Alertmanager, component.GPUOperator, component.NFDMaster}

// Start steps other than components.
const (
	stepMetrics           = "metrics-apis"
	stepKueueCertificates = "kueue-certificates"
	stepDiscovery         = "discovery"
	stepWorld             = "world"
	stepSettled           = "world-settled"
	stepRayCluster        = "ray-cluster"
	stepCanary            = "canary"

	stepKwokRetrier = "kwok-retrier"
)

// Start starts the lab and returns when it is ready. After an error, call Stop.
func (l *Lab) Start(ctx context.Context) error {
	if err := l.start(ctx); err != nil {
		l.event(Event{Kind: KindFailed, Message: err.Error()})
		return fmt.Errorf("start lab %s: %w", l.opts.Name, err)
	}
	l.mu.Lock()
	l.ready = l.opts.Clock.Now()
	took := l.ready.Sub(l.started)
	l.mu.Unlock()
	close(l.up)
	l.event(Event{Kind: KindReady, Took: metav1.Duration{Duration: took}})
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
	building, stop := context.WithCancel(ctx)
	programs, err := l.opts.Programs(building, namesOf(component.All(l.conf)))
	if err != nil {
		stop()
		return err
	}
	l.mu.Lock()
	l.programs, l.building = programs, stop
	everyLabs := l.conf
	l.mu.Unlock()
	everyLabs.With = nil
	for _, c := range component.All(everyLabs) {
		if slices.Contains(startLate, c.Name) {
			continue
		}
		if err := programs.Built(ctx, c.Name); err != nil {
			return err
		}
	}
	if i, ok := userInotify(); ok {
		reserve := func() (func(), error) { return i.reserve(l.id) }
		release, err := l.reserveInotify(ctx, reserve, inotifyTimeout)
		if err != nil {
			return err
		}
		defer release()
	}
	l.mu.Lock()
	l.started = l.opts.Clock.Now()
	l.mu.Unlock()
	return runSteps(ctx, l.steps())
}

// prepare creates what needs no program: directory, addresses, certificates, kubeconfigs.
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
	types, err := instanceTypesFile()
	if err != nil {
		return err
	}
	net, err := claimNetwork(ctx, l.opts.Hosts, l.opts.With...)
	if err != nil {
		return err
	}
	if err := net.claimStack(ctx, l.opts.GPUStack.Stack); err != nil {
		net.close()
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.net = net
	l.conf = component.Config{
		Dir: l.opts.Dir, Address: net.address(), Ports: net.ports, Hosts: l.opts.Hosts,
		Purpose: l.opts.Purpose, Profiling: l.opts.Profiling, With: l.opts.With, InstanceTypes: types,
		Stack: l.opts.GPUStack.Stack, ControlNode: l.opts.GPUStack.Cluster.ControlNode,
	}
	if l.conf.Tokens, err = tokensFor(l.opts.Purpose.TokenUsers()); err != nil {
		return err
	}
	l.conf.AlertWebhook = fmt.Sprintf("http://%s:%d/", net.address(), net.ports.AlertWebhook)
	l.conf.PodNetwork = fmt.Sprintf("http://%s:%d", net.address(), net.ports.PodNetwork)
	if err := l.conf.PKI().Write(l.opts.Name, l.conf.Address, l.opts.Clock.Now()); err != nil {
		return err
	}
	if err := writeKubeconfigs(l.opts.Name, l.conf); err != nil {
		return err
	}
	l.rest, err = restConfig(l.conf)
	return err
}

// steps returns all start steps: the components and the lab's own steps between them.
func (l *Lab) steps() []step {
	var steps []step
	everyLabs := l.conf
	everyLabs.With = nil
	for _, c := range component.All(everyLabs) {
		if l.conf.Stack == component.StackNone && slices.Contains([]string{component.GPUOperator, component.NFDMaster}, c.Name) {
			continue // it runs while its pod does
		}
		needs := c.Needs
		if c.Name == component.NFDMaster && l.opts.WorldReady != nil {
			needs = append(slices.Clone(needs), stepWorld) // the node that it updates
		}
		steps = append(steps, step{name: c.Name, needs: needs, run: func(ctx context.Context) error {
			return l.startComponent(ctx, c)
		}})
	}
	for _, name := range l.conf.With {
		steps = append(steps, l.extraSteps(l.conf, name)...)
	}
	if l.conf.Purpose != component.Store { // a lab without a scheduler
		steps = append(steps, l.own(stepCanary, l.canaryNeeds(), l.canary))
	}
	worldNeeds := component.APIServer
	if l.conf.Purpose == component.Everything {
		worldNeeds = component.Objects
		steps = append(steps,
			l.own(component.Serving, []string{component.Etcd}, awaiting(l.conf.ServingProbe(), "the API server to respond")),
			l.own(component.Roles, []string{component.APIServer}, awaiting(l.conf.RolesProbe(), "the default roles")),
			l.own(component.Objects, []string{component.APIServer}, l.createObjects),
			l.own(stepDiscovery, []string{component.Objects}, l.forwardDiscovery),
		)
	}
	clusterNeeds := []string{stepCanary}
	settledNeeds := []string{stepWorld}
	if l.conf.Stack == component.StackReal {
		steps = append(steps, l.own(component.StackObjects, []string{component.APIServer}, l.createStack))
		settledNeeds = append(settledNeeds, component.GPUOperator, component.NFDMaster)
	}
	if l.opts.WorldReady != nil {
		clusterNeeds = append(clusterNeeds, stepWorld)
		steps = append(steps, l.own(stepWorld, []string{worldNeeds}, func(ctx context.Context) error {
			info := l.info()
			info.RestConfig = l.rest
			return l.opts.WorldReady(ctx, info)
		}))
	}
	if l.opts.WorldReady != nil && l.opts.WorldSettled != nil {
		clusterNeeds = append(clusterNeeds, stepSettled)
		steps = append(steps, l.own(stepSettled, settledNeeds, l.opts.WorldSettled))
	}
	if l.conf.Purpose == component.Everything {
		steps = append(steps,
			l.own(StepCluster, clusterNeeds, func(context.Context) error { return nil }),
			// kwok processes pods after the canary step.
			step{name: stepKwokRetrier, needs: []string{stepCanary}, run: l.startKwokRetrier},
		)
	}
	return steps
}

// own returns a step of the lab itself, which reports an event when it is done.
func (l *Lab) own(name string, needs []string, run func(context.Context) error) step {
	return step{name: name, needs: needs, run: func(ctx context.Context) error {
		begin := l.opts.Clock.Now()
		ctx, cancel := l.bounded(ctx, name)
		defer cancel()
		if err := run(ctx); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		l.event(Event{Kind: KindStep, Name: name, Took: metav1.Duration{Duration: l.opts.Clock.Since(begin)}})
		return nil
	}}
}

// bounded limits one start step. Build time is not counted.
func (l *Lab) bounded(ctx context.Context, step string) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, l.opts.StartTimeout, fmt.Errorf("%s not ready after %s", step, l.opts.StartTimeout))
}

// startComponent starts a component as soon as its program is built.
func (l *Lab) startComponent(ctx context.Context, c component.Component) error {
	spec, err := l.spec(ctx, c)
	if err != nil {
		return err
	}
	ctx, cancel := l.bounded(ctx, c.Name)
	defer cancel()
	l.mu.Lock()
	ports := portsOf(l.conf.Ports, c.Name)
	l.mu.Unlock()
	l.net.release(ctx, ports...)
	err = l.sup.Start(ctx, spec)
	if i, ok := userInotify(); ok && err != nil {
		return i.explain(err)
	}
	return err
}

// awaiting waits until the probe succeeds.
func awaiting(p component.Probe, what string) func(ctx context.Context) error {
	return func(ctx context.Context) error {
		ready, err := prober(p)
		if err != nil {
			return err
		}
		return poll.Until(ctx, pollInterval, what, ready)
	}
}

// forwardDiscovery accepts the connections that wait at the port Discovery, and later ones.
func (l *Lab) forwardDiscovery(context.Context) error {
	listener := l.net.listener(l.conf.Ports.Discovery)
	if listener == nil {
		return errStopped
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.discovery = takeTurns(listener, hostPort(l.conf.Address, l.conf.Ports.APIServer))
	return nil
}

// instanceTypesFile is the file of instance types that the lab's Karpenter can create.
func instanceTypesFile() (string, error) {
	types, err := instances.Load()
	if err != nil {
		return "", err
	}
	raw, err := instances.KWOK(types)
	return string(raw), err
}

// spec writes a component's files, returns its process specification and records it as launched.
func (l *Lab) spec(ctx context.Context, c component.Component) (process.Spec, error) {
	l.mu.Lock()
	programs := l.programs
	l.mu.Unlock()
	path, err := programs.Path(ctx, cmp.Or(c.Program, c.Name))
	if err != nil {
		return process.Spec{}, err
	}
	for path, content := range c.Files {
		if err := writeFile(path, content); err != nil {
			return process.Spec{}, fmt.Errorf("configure %s: %w", c.Name, err)
		}
	}
	for to, from := range c.Copies {
		if err := copyFile(from, to); err != nil {
			return process.Spec{}, fmt.Errorf("configure %s: %w", c.Name, err)
		}
	}
	l.mu.Lock()
	l.launched[c.Name] = c
	l.mu.Unlock()
	ready, err := prober(c.Probe)
	if err != nil {
		return process.Spec{}, err
	}
	return process.Spec{
		Name: c.Name, Path: path, Root: c.Root, Args: slices.Clone(c.Argv),
		// The user's environment is not inherited: proxies, KUBECONFIG, HOME.
		Env: append([]string{
			Marker + "=" + l.id,
			"PATH=/usr/local/bin:/usr/bin:/bin",
			"HOME=" + filepath.Join(l.opts.Dir, "tmp"),
			"TMPDIR=" + filepath.Join(l.opts.Dir, "tmp"),
		}, c.Env...),
		Dir:     filepath.Join(l.opts.Dir, "tmp"),
		LogPath: l.LogPath(c.Name),
		Needs:   c.Needs,
		Grace:   c.StopGrace,
		Ready:   ready,
	}, nil
}

func copyFile(from, to string) error {
	content, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return writeFile(to, string(content))
}

func writeFile(path, content string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(content), 0o600)
}

// LogPath is the log file of a component.
func (l *Lab) LogPath(name string) string { return LogPathIn(l.opts.Dir, name) }

// LogPathIn is the log file of a component of the lab in dir.
func LogPathIn(dir, name string) string { return filepath.Join(dir, "logs", name+".log") }
