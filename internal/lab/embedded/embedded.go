package embedded

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"sync"
	"sync/atomic"

	"k8s.io/client-go/kubernetes"

	"github.com/firstlight/firstlight/internal/lab"
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
	// Spec of the World; addresses are the lab's to give.
	Spec world.Spec
	// Owner ends the lab when it reaches EOF; nil keeps it up.
	Owner io.Reader
	// With are the extras that the lab starts with; see component.Extras.
	With []string
	// Programs brings the upstream programs of these names; see lab.Options.
	Programs func(ctx context.Context, names []string, tell func(lab.Event)) (upstream.Programs, error)
	Log      *slog.Logger
}

// sshPort of every host, each on an address of its own.
const sshPort = 2222

// maxHosts that a lab's loopback /24 has addresses for.
const maxHosts = 240

// embedded is one lab while it runs.
type embedded struct {
	opts Options
	dir  string

	mu       sync.Mutex // guards what follows, and orders changes of faults
	info     lab.Info
	world    *world.World
	ordered  world.State
	hosts    hosts
	sshd     *sshd.Server
	redfish  *redfish.Server
	cluster  *cluster.Cluster
	receiver *receiver
	control  *lab.Lab
	policies *policy.Engine
	// life ends what runs beside the World; running is what has to end then.
	life    context.CancelFunc
	running sync.WaitGroup
	// mirror, and told, which is control, are read where mu must not be waited for.
	mirror atomic.Pointer[mirror]
	told   atomic.Pointer[lab.Lab]
}

// Supervise runs the lab until it is stopped, its owner dies or ctx ends.
func Supervise(ctx context.Context, opts Options) error {
	if n := len(opts.Spec.GPUNodes) + len(opts.Spec.SystemNodes); n > maxHosts {
		return fmt.Errorf("a lab has addresses for %d hosts, not %d", maxHosts, n)
	}
	e := &embedded{opts: opts}
	so := lab.SuperviseOptions{
		Options: lab.Options{
			Name: opts.Name, Dir: opts.Dir, Log: opts.Log, With: opts.With,
			NetworkReady: e.startHosts,
			WorldReady:   e.startCluster,
			Events:       e.happened,
		},
		Owner:     opts.Owner,
		World:     e.handler,
		StopWorld: e.stop,
	}
	if opts.Programs != nil {
		so.Programs = func(ctx context.Context, names []string) (upstream.Programs, error) {
			return opts.Programs(ctx, names, e.tell)
		}
	}
	if err := lab.Supervise(ctx, so); err != nil {
		return fmt.Errorf("run lab: %w", err)
	}
	return nil
}

// tell reports the progress of a build. It does not take mu: its holder may be
// waiting for that build.
func (e *embedded) tell(ev lab.Event) {
	if control := e.told.Load(); control != nil {
		control.Tell(ev)
	}
}

// startHosts makes the World and everything of it that needs no control plane.
func (e *embedded) startHosts(ctx context.Context, info lab.Info) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.info, e.dir = info, info.Dir
	spec := e.opts.Spec
	spec.Name = e.opts.Name
	next := 10
	for _, nodes := range [][]world.NodeSpec{spec.GPUNodes, spec.SystemNodes} {
		for i := range nodes {
			nodes[i].Address = fmt.Sprintf("%s.%d:%d", info.Subnet, next, sshPort)
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
	e.hosts = hosts{
		user: e.sshd.User, identityFile: e.sshd.IdentityFile, knownHostsFile: e.sshd.KnownHostsFile,
		redfish: e.controllers(),
	}
	return e.writeSite()
}

// controllers are the Redfish services that the site names, with every PDU ordered.
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

// writeSite is called with mu held.
func (e *embedded) writeSite() error {
	now, info := e.world.State(), e.info
	if now.PrometheusReplicaStale {
		info.PrometheusURL = e.control.SharedPrometheusURL()
	}
	return writeSite(e.dir, siteOf(e.world.Spec(), e.ordered, now, info, e.hosts))
}

// startCluster makes the World's Kubernetes side.
func (e *embedded) startCluster(ctx context.Context, info lab.Info) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.info = info
	e.receiver = serveReceiver(info.AlertListener)
	c, err := cluster.Start(ctx, cluster.Config{
		RestConfig: info.RestConfig, World: e.world, Dir: filepath.Join(e.dir, "world"), Log: e.opts.Log, Pods: info.PodListener,
		Kubelet: &cluster.Kubelet{Address: info.Kubelet, Cert: info.KubeletCert, Key: info.KubeletKey, CA: info.CA},
	})
	if err != nil {
		return fmt.Errorf("start the world's nodes: %w", err)
	}
	e.cluster = c
	if err := e.startBeside(ctx, info); err != nil {
		return err
	}
	if err := c.Settle(ctx); err != nil {
		return fmt.Errorf("start the world's nodes: %w", err)
	}
	return nil
}

// startBeside starts what is of neither half: the faults that are policies, and
// the view of the lab's own processes. It is called with mu held.
func (e *embedded) startBeside(ctx context.Context, info lab.Info) error {
	client, err := kubernetes.NewForConfig(info.RestConfig)
	if err != nil {
		return fmt.Errorf("make client: %w", err)
	}
	log := e.opts.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	if e.policies, err = policy.New(info.RestConfig, log); err != nil {
		return fmt.Errorf("start the policies: %w", err)
	}
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
	return nil
}

// happened is told of every event of the control plane. It must not block.
func (e *embedded) happened(lab.Event) {
	if m := e.mirror.Load(); m != nil {
		m.wake()
	}
}

// stop ends the World, last started first.
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

// handler keeps the control plane and serves the faults.
func (e *embedded) handler(control *lab.Lab) http.Handler {
	e.mu.Lock()
	e.control = control
	e.told.Store(control)
	e.mu.Unlock()
	return e.routes()
}
