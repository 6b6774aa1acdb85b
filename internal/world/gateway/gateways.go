package gateway

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	gwv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/firstlight/firstlight/internal/world"
)

// ControllerName of the classes that this package implements.
const ControllerName = "firstlight.dev/world-gateway"

// again is the retry interval.
const again = time.Second

// Config is the cluster whose Gateways are served.
type Config struct {
	Client  kubernetes.Interface
	Dynamic dynamic.Interface
	World   *world.World
	// Pods of the cluster; the caller runs the informer.
	Pods cache.SharedIndexInformer
	Log  *slog.Logger
}

// Gateways is the simulated gateway controller.
type Gateways struct {
	config    Config
	hosts     []string
	transport *http.Transport
	backends  *backends
	poke      chan struct{}

	classes, gateways, routes, services, forwards cache.SharedIndexInformer

	// mu guards the fields below; sync holds it.
	mu        sync.Mutex
	listeners map[types.UID]*listener
	rules     map[types.UID]map[string]*rule
	// running: the API exists and the informers are synced.
	running bool
	applied world.Gateway // the listeners' faults
	waiting bool          // a Gateway waits for a free port
	syncErr error         // of the last sync

	cancel context.CancelFunc
	wg     sync.WaitGroup
}

func resource(version, group, plural string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: group, Version: version, Resource: plural}
}

func classResource() schema.GroupVersionResource {
	return resource("v1", gwv1.GroupName, "gatewayclasses")
}

func gatewayResource() schema.GroupVersionResource {
	return resource("v1", gwv1.GroupName, "gateways")
}

func routeResource() schema.GroupVersionResource {
	return resource("v1", gwv1.GroupName, "httproutes")
}

// Start waits in the background until the API server serves the Gateway API, which may be never,
// and then reconciles the world's classes until Stop.
func Start(ctx context.Context, cfg Config) (*Gateways, error) {
	hosts, err := hostsOf(cfg.World.Recent())
	if err != nil {
		return nil, fmt.Errorf("start the gateways: %w", err)
	}
	life, cancel := context.WithCancel(context.WithoutCancel(ctx))
	g := &Gateways{
		config: cfg, hosts: hosts, transport: &http.Transport{MaxIdleConnsPerHost: 16, IdleConnTimeout: time.Minute}, poke: make(chan struct{}, 1),
		listeners: map[types.UID]*listener{}, rules: map[types.UID]map[string]*rule{}, cancel: cancel,
	}
	g.follow()
	g.wg.Go(func() {
		if g.awaitAPI(life) {
			g.run(life)
		}
	})
	return g, nil
}

// Stop closes all listeners and waits. Objects remain.
func (g *Gateways) Stop() {
	g.cancel()
	g.wg.Wait()
	g.mu.Lock()
	defer g.mu.Unlock()
	for id, d := range g.listeners {
		d.close()
		delete(g.listeners, id)
	}
	g.transport.CloseIdleConnections()
}

// awaitAPI returns true when the API server serves the Gateway API and false when life ends.
func (g *Gateways) awaitAPI(life context.Context) bool {
	const often, seldom, soon = 500 * time.Millisecond, 5 * time.Second, 120
	tick := time.NewTicker(often)
	defer tick.Stop()
	for n := 0; ; n++ {
		served := true
		for _, kind := range []schema.GroupVersionResource{classResource(), gatewayResource(), routeResource()} {
			_, err := g.config.Dynamic.Resource(kind).List(life, metav1.ListOptions{Limit: 1})
			served = served && err == nil
		}
		if served {
			return true
		}
		if n == soon {
			tick.Reset(seldom) // a later installation is unlikely
		}
		select {
		case <-life.Done():
			return false
		case <-tick.C:
		}
	}
}

// follow creates the informers. Pods and their addresses are resolved per request.
func (g *Gateways) follow() {
	dyn := dynamicinformer.NewDynamicSharedInformerFactory(g.config.Dynamic, 0)
	g.classes, g.gateways, g.routes = dyn.ForResource(classResource()).Informer(), dyn.ForResource(gatewayResource()).Informer(), dyn.ForResource(routeResource()).Informer()
	g.forwards = dyn.ForResource(resource("v1alpha1", "kwok.x-k8s.io", "portforwards")).Informer()
	g.services = coreinformers.NewServiceInformer(g.config.Client, metav1.NamespaceAll, 0, nil)
	g.backends = &backends{services: g.services.GetStore(), pods: g.config.Pods.GetStore(), forwards: g.forwards.GetStore()}
	for _, i := range []cache.SharedIndexInformer{g.classes, g.gateways, g.routes, g.services} {
		// AddEventHandler fails only on a stopped informer.
		_, _ = i.AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc: func(any) { g.signal() }, UpdateFunc: func(_, _ any) { g.signal() }, DeleteFunc: func(any) { g.signal() },
		})
	}
}

func (g *Gateways) informers() []cache.SharedIndexInformer {
	return []cache.SharedIndexInformer{g.classes, g.gateways, g.routes, g.services, g.forwards}
}

func (g *Gateways) signal() {
	select {
	case g.poke <- struct{}{}:
	default:
	}
}

func (g *Gateways) run(life context.Context) {
	for _, i := range g.informers() {
		g.wg.Go(func() { i.RunWithContext(life) })
	}
	for _, i := range g.informers() {
		if !cache.WaitFor(life, "", i.HasSyncedChecker()) {
			return
		}
	}
	notices, cancel := g.config.World.Subscribe()
	defer cancel()
	tick := time.NewTicker(again)
	defer tick.Stop()
	g.mu.Lock()
	g.running = true
	g.mu.Unlock()
	for {
		err := g.sync(life)
		if err != nil && life.Err() == nil {
			g.config.Log.Warn("gateways", "err", err)
		}
		retry := tick.C
		if err == nil && !g.waits() {
			retry = nil
		}
		select {
		case <-life.Done():
			return
		case <-notices:
		case <-g.poke:
		case <-retry:
		}
	}
}

func (g *Gateways) waits() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.waiting
}

// Settled returns nil when every Gateway has the faults of the world's current state.
func (g *Gateways) Settled() error {
	want := g.config.World.Recent().Gateway
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.running && g.syncErr == nil && g.applied != want {
		return errors.New("the gateways do not have the world's faults yet")
	}
	return g.syncErr
}

// hostsOf returns the addresses for Gateways in the subnet of the world's hosts.
func hostsOf(s world.State) ([]string, error) {
	if len(s.Nodes) == 0 {
		return nil, errors.New("the world has no hosts")
	}
	return hosts(hostIP(s.Nodes[0].Address))
}
