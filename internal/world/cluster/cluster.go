package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/firstlight/firstlight/internal/poll"
	"github.com/firstlight/firstlight/internal/world"
	"github.com/firstlight/firstlight/internal/world/exporter"
	"github.com/firstlight/firstlight/internal/world/gateway"
	"github.com/firstlight/firstlight/internal/world/nfd"
	"github.com/firstlight/firstlight/internal/world/operand"
	"github.com/firstlight/firstlight/internal/world/operator"
)

// Config is the cluster to simulate hardware for.
type Config struct {
	RestConfig *rest.Config
	World      *world.World
	// Dir is the parent of the directory for pod logs.
	Dir string
	// ExporterPort on the nodes' addresses; 0: the exporter's default.
	ExporterPort int
	// Kubelet is kwok's server; without it, following a log does not end.
	Kubelet *Kubelet
	// Images are on every host: its kubelet reports them.
	Images []string
	// ExternalOperator: NVIDIA's GPU Operator and Node Feature Discovery's master run outside the
	// world, which imitates them otherwise.
	ExternalOperator bool
	// Processes has the host:port of metrics servers of processes outside the world that pods
	// represent, by the pods' label.
	Processes map[string]string
	// Firstlight returns the path of the program that pods of its image run; nil: their image cannot be
	// pulled.
	Firstlight func(context.Context) (string, error)
	// Pods serves the HTTP proxy to pod addresses; nil: none. Stop closes it.
	Pods net.Listener
	// Log is for debugging; nil discards it.
	Log *slog.Logger
}

// podsDir is the directory for pod logs in Config.Dir.
const podsDir = "pods"

// Cluster is the world's side of one API server.
type Cluster struct {
	config Config
	client kubernetes.Interface
	dyn    dynamic.Interface
	log    *slog.Logger

	nodes     *nodes
	runtime   *runtime
	logProxy  *logProxy
	network   *podNetwork
	instances *instances
	driver    *driver
	second    *secondPlugin
	rays      *rayCluster
	packaged  *packaged
	operands  *operand.Operands
	operator  *operator.Operator // nil with an external operator
	workers   *nfd.Workers       // nil without one
	policy    *operand.Policy    // nil without one
	exporters *exporter.Exporters
	gateways  *gateway.Gateways

	cancel context.CancelFunc
	wg     sync.WaitGroup
}

// Start returns when every node is registered with its resources. ctx bounds the start; the
// Cluster runs until Stop.
func Start(ctx context.Context, cfg Config) (*Cluster, error) {
	if cfg.RestConfig == nil || cfg.World == nil || cfg.Dir == "" {
		return nil, errors.New("start the world's cluster: RestConfig, World and Dir are required")
	}
	cfg.Log = cmp.Or(cfg.Log, slog.New(slog.DiscardHandler))
	cfg.Dir = filepath.Join(cfg.Dir, podsDir)
	if err := os.MkdirAll(cfg.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("start the world's cluster: %w", err)
	}
	client, err := kubernetes.NewForConfig(cfg.RestConfig)
	if err != nil {
		return nil, fmt.Errorf("start the world's cluster: %w", err)
	}
	dyn, err := dynamic.NewForConfig(cfg.RestConfig)
	if err != nil {
		return nil, fmt.Errorf("start the world's cluster: %w", err)
	}
	c := &Cluster{config: cfg, client: client, dyn: dyn, log: cfg.Log}
	if err := c.start(ctx); err != nil {
		c.stop()
		return nil, fmt.Errorf("start the world's cluster: %w", err)
	}
	return c, nil
}

func (c *Cluster) start(ctx context.Context) error {
	life, cancel := context.WithCancel(context.WithoutCancel(ctx))
	c.cancel = cancel
	exporters, err := exporter.Start(life, c.config.World, exporter.Options{Port: c.config.ExporterPort, Log: c.log})
	if err != nil {
		return err
	}
	c.exporters = exporters

	nodeInformer := coreinformers.NewNodeInformer(c.client, 0, nil)
	podInformer := coreinformers.NewPodInformer(c.client, metav1.NamespaceAll, 0, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	c.nodes = newNodes(c.client, c.config.World, nodeInformer, c.log)
	c.nodes.images = imagesOf(c.config.Images)
	server, err := c.client.Discovery().ServerVersion()
	if err != nil {
		return fmt.Errorf("read the version of the API server: %w", err)
	}
	c.nodes.version = server.GitVersion
	if c.operands, err = operand.New(c.client, c.config.World, podInformer, c.log); err != nil {
		return err
	}
	if c.config.ExternalOperator {
		c.nodes.follow(c.operands, podInformer)
		c.workers = nfd.New(nfd.Config{Dynamic: c.dyn, World: c.config.World, Pods: podInformer, Nodes: nodeInformer, Operands: c.operands, Log: c.log})
		c.policy = operand.NewPolicy(c.client, c.dyn, c.config.World, c.log)
	}
	c.second = &secondPlugin{client: c.client, world: c.config.World}
	c.rays = &rayCluster{client: c.client, dyn: c.dyn, world: c.config.World}
	c.packaged = &packaged{client: c.client, world: c.config.World}
	c.driver = newDriver(c.client, c.config.World, nodeInformer, c.log)
	c.instances = newInstances(c.client, c.dyn, c.config.World, nodeInformer, c.log)
	c.runtime = newRuntime(life, c.client, c.dyn, c.config, podInformer)
	if c.config.Pods != nil {
		c.network = servePods(c.config.Pods, func(address string) string {
			return cmp.Or(c.runtime.listener(address), processOf(podInformer.GetStore(), c.config.Processes, address))
		}, c.log)
	}
	if k := c.config.Kubelet; k != nil {
		if c.logProxy, err = startLogProxy(life, *k, c.runtime, execs{world: c.config.World, pods: podInformer.GetStore()}, c.log); err != nil {
			return err
		}
		c.nodes.kubeletPort = c.logProxy.port
	}
	for _, i := range []cache.SharedIndexInformer{nodeInformer, podInformer, c.driver.slices} {
		c.wg.Go(func() { i.RunWithContext(life) })
	}
	c.wg.Go(func() { c.driver.run(life) })
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		if c.config.ExternalOperator {
			return nil
		}
		c.operator, err = operator.Start(ctx, operator.Config{Client: c.client, Dynamic: c.dyn, World: c.config.World, ExporterPort: c.config.ExporterPort}, c.log)
		return err
	})
	group.Go(func() (err error) {
		c.gateways, err = gateway.Start(ctx, gateway.Config{Client: c.client, Dynamic: c.dyn, World: c.config.World, Pods: podInformer, Log: c.log})
		return err
	})
	group.Go(func() error {
		if !cache.WaitFor(ctx, "", nodeInformer.HasSyncedChecker(), podInformer.HasSyncedChecker()) {
			return fmt.Errorf("list nodes and pods: %w", context.Cause(ctx))
		}
		if err := c.nodes.register(ctx); err != nil {
			return err
		}
		c.wg.Go(func() { c.nodes.run(life) })
		c.wg.Go(func() { c.instances.run(life) })
		c.wg.Go(func() { c.operands.Run(life) })
		if c.config.ExternalOperator {
			c.wg.Go(func() { c.workers.Run(life) })
			c.wg.Go(func() { c.policy.Run(life) })
		}
		return nil
	})
	return group.Wait()
}

// Settle returns when the API matches the world: nodes Ready with their resources and devices,
// exporters, the operator's status, gateways and the autoscaler's instances.
func (c *Cluster) Settle(ctx context.Context) error {
	for _, part := range []struct {
		name    string
		settled func(ctx context.Context) error
	}{
		{"the exporters", c.exporters.Settle},
		{"the GPU operator", c.operatorSettled},
		{"the nodes", func(context.Context) error { return c.nodes.settled() }},
		{"the DRA driver", func(context.Context) error { return c.driver.settled() }},
		{"the gateways", func(context.Context) error { return c.gateways.Settled() }},
		{"the second device plugin", c.second.sync},
		{"the RayCluster", c.rays.sync},
		{"the packaged components of k3s", c.packaged.sync},
		{"the autoscaler's instances", func(ctx context.Context) error { _, err := c.instances.sync(ctx); return err }},
	} {
		if err := poll.Until(ctx, settleInterval, part.name, part.settled); err != nil {
			return err
		}
	}
	return nil
}

// operatorSettled returns nil when the operands' pods, the nodes' labels and the ClusterPolicy match
// the world.
func (c *Cluster) operatorSettled(ctx context.Context) error {
	if !c.config.ExternalOperator {
		return errors.Join(c.operator.Settled(ctx), c.operands.Settled())
	}
	installed, err := c.policy.Exists(ctx)
	if err != nil || !installed {
		return errors.Join(err, c.operands.Settled())
	}
	if err := errors.Join(c.workers.Settled(), c.operands.Settled()); err != nil {
		return err
	}
	return c.policy.Settled(ctx)
}

const settleInterval = 50 * time.Millisecond

// Stop stops everything and waits until ctx ends. API objects remain.
func (c *Cluster) Stop(ctx context.Context) error {
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.stop()
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("stop the world's cluster: %w", context.Cause(ctx))
	}
}

func (c *Cluster) stop() {
	if c.cancel != nil {
		c.cancel()
	}
	if c.operator != nil {
		c.operator.Stop()
	}
	if c.gateways != nil {
		c.gateways.Stop()
	}
	if c.logProxy != nil {
		c.logProxy.stop()
	}
	if c.network != nil {
		c.network.close()
	}
	if c.runtime != nil {
		c.runtime.stop()
	}
	if c.exporters != nil {
		c.exporters.Stop()
	}
	c.wg.Wait()
}
