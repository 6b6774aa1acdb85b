package embedded

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"github.com/firstlight/firstlight/internal/lab"
	"github.com/firstlight/firstlight/internal/lab/component"
	"github.com/firstlight/firstlight/internal/lab/gpustack"
	"github.com/firstlight/firstlight/internal/lab/policy"
	"github.com/firstlight/firstlight/internal/site"
	"github.com/firstlight/firstlight/internal/upstream"
	"github.com/firstlight/firstlight/internal/world"
	"github.com/firstlight/firstlight/internal/world/cluster"
	"github.com/firstlight/firstlight/internal/world/redfish"
	"github.com/firstlight/firstlight/internal/world/sshd"
)

// Options of Supervise.
type Options struct {
	Name, Dir string
	// Spec of the World; the lab assigns the addresses.
	Spec world.Spec
	// Owner stops the lab at its EOF; nil keeps the lab running.
	Owner io.Reader
	// Stack manages the GPUs.
	Stack component.Stack
	// With lists the initial extras; see component.Extras.
	With []string
	// Firstlight returns the path of firstlight, which pods of its image run; nil: their image cannot be
	// pulled.
	Firstlight func(context.Context) (string, error)
	// Programs returns upstream programs; see lab.Options.
	Programs func(ctx context.Context, names []string, tell func(lab.Event)) (upstream.Programs, error)
	Log      *slog.Logger
}

// sshPort of every host; each host has its own address.
const sshPort = 2222

type embedded struct {
	opts Options
	dir  string

	mu       lock // guards the fields below and serializes changes of faults
	info     lab.Info
	world    *world.World
	ordered  world.State
	hosts    hosts
	sshd     *sshd.Server
	redfish  *redfish.Server
	cluster  *cluster.Cluster
	settled  bool   // the start has ended
	chart    string // the GPU Operator's chart of component.StackNone
	receiver *receiver
	control  *lab.Lab
	policies *policy.Engine
	rules    *rules
	// life cancels the other goroutines; running counts them.
	life    context.CancelFunc
	running sync.WaitGroup
	// mirror, controlRef (the control plane) and clusterRef (cluster) are read without mu.
	mirror     atomic.Pointer[mirror]
	controlRef atomic.Pointer[lab.Lab]
	clusterRef atomic.Pointer[cluster.Cluster]
}

// Supervise runs the lab until it is stopped, its owner ends or ctx ends.
func Supervise(ctx context.Context, opts Options) error {
	stack, err := gpuStack(opts)
	if err != nil {
		return err
	}
	e := &embedded{opts: opts, mu: newLock()}
	so := lab.SuperviseOptions{
		Options: lab.Options{
			Name: opts.Name, Dir: opts.Dir, Log: opts.Log, With: opts.With, GPUStack: stack,
			Hosts:        len(opts.Spec.GPUNodes) + len(opts.Spec.SystemNodes),
			NetworkReady: e.startHosts,
			WorldReady:   e.startCluster,
			WorldSettled: e.settleCluster,
			RayReady:     e.startRay,
			Events:       e.happened,
		},
		Owner:     opts.Owner,
		World:     e.handler,
		StopWorld: e.stop,
	}
	if opts.Programs != nil {
		so.Programs = func(ctx context.Context, names []string) (upstream.Programs, error) {
			return opts.Programs(ctx, names, e.report)
		}
	}
	if err := lab.Supervise(ctx, so); err != nil {
		return fmt.Errorf("run lab: %w", err)
	}
	return nil
}

// report sends build progress. It does not lock mu, whose holder may be waiting for the build.
func (e *embedded) report(ev lab.Event) {
	if control := e.controlRef.Load(); control != nil {
		control.Tell(ev)
	}
}

// startHosts starts the parts of the World that need no control plane.
func (e *embedded) startHosts(ctx context.Context, info lab.Info) error {
	if err := e.mu.LockContext(ctx); err != nil {
		return err
	}
	defer e.mu.Unlock()
	e.info, e.dir = info, info.Dir
	spec := e.opts.Spec
	spec.Name = e.opts.Name
	next := 0
	for _, nodes := range [][]world.NodeSpec{spec.GPUNodes, spec.SystemNodes} {
		for i := range nodes {
			nodes[i].Address = net.JoinHostPort(info.HostAddress(next), strconv.Itoa(sshPort))
			next++
		}
	}
	w, err := world.New(spec)
	if err != nil {
		return fmt.Errorf("make the world: %w", err)
	}
	e.world, e.ordered = w, w.State()
	dir := filepath.Join(e.dir, "world")
	if e.sshd, err = sshd.Start(context.WithoutCancel(ctx), w, sshd.Options{Dir: dir}); err != nil {
		return fmt.Errorf("start the hosts: %w", err)
	}
	if e.redfish, err = redfish.Start(context.WithoutCancel(ctx), w, redfish.Options{Dir: dir, Address: net.JoinHostPort(info.Address, "0")}); err != nil {
		return fmt.Errorf("start the power controllers: %w", err)
	}
	if e.opts.Stack == component.StackNone {
		if e.chart, err = gpustack.Package(filepath.Join(dir, "charts")); err != nil {
			return err
		}
	}
	e.hosts = hosts{
		user: e.sshd.User, identityFile: e.sshd.IdentityFile, knownHostsFile: e.sshd.KnownHostsFile,
		redfish: e.controllers(),
	}
	return e.writeSite()
}

// controllers are the site's Redfish services, one per PDU.
func (e *embedded) controllers() []site.Redfish {
	r := site.Redfish{
		Name: "row-a", URL: e.redfish.URL, User: e.redfish.User,
		PasswordFile: e.redfish.PasswordFile, CAFile: e.redfish.CAFile,
	}
	for _, p := range e.ordered.Facility.PDUs {
		r.PDUs = append(r.PDUs, p.ID)
	}
	for _, n := range e.ordered.GPUNodes() {
		r.Chassis = append(r.Chassis, n.Name)
	}
	return []site.Redfish{r}
}

// writeSite requires mu.
func (e *embedded) writeSite() error {
	now, info := e.world.State(), e.info
	if now.PrometheusReplicaStale {
		info.PrometheusURL = e.control.SharedPrometheusURL()
	}
	s := siteOf(e.world.Spec(), e.ordered, now, info, e.hosts)
	if e.chart != "" {
		s.Reach.Charts = map[string]string{operatorChart: e.chart}
	}
	return writeSite(e.dir, s)
}

// startCluster starts the World's Kubernetes side.
func (e *embedded) startCluster(ctx context.Context, info lab.Info) error {
	if err := e.mu.LockContext(ctx); err != nil {
		return err
	}
	defer e.mu.Unlock()
	e.info = info
	e.receiver = serveReceiver(info.AlertListener)
	c, err := cluster.Start(ctx, cluster.Config{
		RestConfig: info.RestConfig, World: e.world, Dir: filepath.Join(e.dir, "world"), Log: e.opts.Log, Pods: info.PodListener, Images: images(),
		Kubelet:          &cluster.Kubelet{Address: info.Kubelet, Cert: info.KubeletCert, Key: info.KubeletKey, CA: info.CA},
		ExternalOperator: e.opts.Stack.External(), Processes: info.Metrics, Firstlight: e.opts.Firstlight,
	})
	if err != nil {
		return fmt.Errorf("start the world's nodes: %w", err)
	}
	e.cluster = c
	e.clusterRef.Store(c)
	return e.startHelpers(ctx, info)
}

// settleCluster waits until the API matches the World.
func (e *embedded) settleCluster(ctx context.Context) error {
	if err := e.mu.LockContext(ctx); err != nil {
		return err
	}
	defer e.mu.Unlock()
	if err := e.cluster.Settle(ctx); err != nil {
		return fmt.Errorf("start the world's nodes: %w", err)
	}
	e.settled = true
	return nil
}

// startRay creates the RayCluster and waits for it. It does not lock mu, whose holder may wait for the addition of
// the extra.
func (e *embedded) startRay(ctx context.Context) error { return e.clusterRef.Load().StartRay(ctx) }

// gpuStack returns the GPU stack for a lab's hardware.
func gpuStack(opts Options) (lab.GPUStack, error) {
	stack := lab.GPUStack{Stack: opts.Stack}
	if !opts.Stack.External() {
		return stack, nil
	}
	hardware, err := world.LoadHardware(opts.Spec.Hardware)
	if err != nil {
		return stack, fmt.Errorf("configure the GPU Operator: %w", err)
	}
	node := opts.Spec.GPUNodes[0].Name
	if len(opts.Spec.SystemNodes) > 0 {
		node = opts.Spec.SystemNodes[0].Name
	}
	stack.Cluster = gpustack.Cluster{Driver: hardware.Software.Driver, RDMA: len(opts.Spec.HCAs) > 0, ControlNode: node}
	return stack, nil
}

// startHelpers starts the policy engine and the mirror of the lab's processes. It requires mu.
func (e *embedded) startHelpers(ctx context.Context, info lab.Info) error {
	client, err := kubernetes.NewForConfig(info.RestConfig)
	if err != nil {
		return fmt.Errorf("make client: %w", err)
	}
	log := cmp.Or(e.opts.Log, slog.New(slog.DiscardHandler))
	if e.policies, err = policy.New(info.RestConfig, log); err != nil {
		return fmt.Errorf("start the policies: %w", err)
	}
	objects, err := dynamic.NewForConfig(info.RestConfig)
	if err != nil {
		return fmt.Errorf("make client: %w", err)
	}
	e.rules = newRules(objects, e.control.SetRules, log)
	node := ""
	if system := e.world.Spec().SystemNodes; len(system) > 0 {
		node = system[0].Name
	}
	view := newMirror(client, node, e.control.Components, log)
	e.mirror.Store(view)
	life, cancel := context.WithCancel(context.WithoutCancel(ctx))
	e.life = cancel
	e.running.Go(func() { e.policies.Run(life) })
	e.running.Go(func() { view.run(life) })
	if e.opts.Stack == component.StackNone {
		programs := newPodPrograms(client, e.control.RunForPod, e.control.EndWithPod, log)
		e.running.Go(func() { programs.follow(life) })
	}
	e.running.Go(func() { e.rules.run(life) })
	return nil
}

// happened handles every event of the control plane. It must not block.
func (e *embedded) happened(lab.Event) {
	if m := e.mirror.Load(); m != nil {
		m.wake()
	}
}

// stop stops the World in reverse order.
func (e *embedded) stop(ctx context.Context) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	var errs []error
	if e.life != nil {
		e.life()
		e.running.Wait()
	}
	if e.cluster != nil {
		errs = append(errs, e.cluster.Stop(ctx))
	}
	if e.receiver != nil {
		errs = append(errs, e.receiver.close())
	}
	if e.redfish != nil {
		e.redfish.Stop()
	}
	if e.sshd != nil {
		e.sshd.Stop()
	}
	return errors.Join(errs...)
}

// handler stores the control plane and returns the faults API.
func (e *embedded) handler(control *lab.Lab) http.Handler {
	e.mu.Lock()
	e.control = control
	e.controlRef.Store(control)
	e.mu.Unlock()
	return e.routes()
}
