package gateway

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	gwv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/firstlight/firstlight/internal/world"
)

const (
	// ControllerName is that of the classes whose Gateways the world plays.
	ControllerName = "world.firstlight/gateway"
	// ClassName is the class that it creates.
	ClassName = "world"
)

// again is the pause before something is tried again that went wrong.
const again = time.Second

// Config of Start.
type Config struct {
	Client  kubernetes.Interface
	Dynamic dynamic.Interface
	World   *world.World
	// Pods of the cluster; whoever gives it runs it.
	Pods cache.SharedIndexInformer
	Log  *slog.Logger
}

// Gateways run until Stop.
type Gateways struct {
	config    Config
	hosts     []string
	transport *http.Transport
	backends  *backends
	poke      chan struct{}

	classes, gateways, routes, services, forwards cache.SharedIndexInformer

	// mu guards what follows; a look holds it.
	mu    sync.Mutex
	doors map[types.UID]*door
	rules map[types.UID]map[string]*rule
	shown world.Gateway // the faults that the doors have
	wrong error         // of the last look

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

// Start creates the class and follows what is of it; it bounds starting by ctx, and
// what it started runs until Stop. An API server that does not have the Gateway API
// has no gateways: there is nothing to play then.
func Start(ctx context.Context, cfg Config) (*Gateways, error) {
	g := &Gateways{
		config: cfg, transport: &http.Transport{MaxIdleConnsPerHost: 16, IdleConnTimeout: time.Minute}, poke: make(chan struct{}, 1),
		doors: map[types.UID]*door{}, rules: map[types.UID]map[string]*rule{}, cancel: func() {},
	}
	there, err := g.there(ctx)
	if err != nil || !there {
		return g, err
	}
	if g.hosts, err = hostsOf(cfg.World.State()); err != nil {
		return nil, fmt.Errorf("start the gateways: %w", err)
	}
	if err := g.createClass(ctx); err != nil {
		return nil, fmt.Errorf("start the gateways: %w", err)
	}
	life, cancel := context.WithCancel(context.WithoutCancel(ctx))
	g.cancel = cancel
	g.watch(life)
	g.wg.Go(func() { g.run(life) })
	return g, nil
}

// Stop ends everything that listens, and waits. Objects stay.
func (g *Gateways) Stop() {
	g.cancel()
	g.wg.Wait()
	g.mu.Lock()
	defer g.mu.Unlock()
	for id, d := range g.doors {
		d.close()
		delete(g.doors, id)
	}
	g.transport.CloseIdleConnections()
}

// there: the API server has the definitions.
func (g *Gateways) there(ctx context.Context) (bool, error) {
	definitions := g.config.Dynamic.Resource(resource("v1", "apiextensions.k8s.io", "customresourcedefinitions"))
	_, err := definitions.Get(ctx, "gatewayclasses."+gwv1.GroupName, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("look for the Gateway API: %w", err)
	}
	return true, nil
}

func (g *Gateways) createClass(ctx context.Context) error {
	class := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": gwv1.GroupVersion.String(), "kind": "GatewayClass", "metadata": map[string]any{"name": ClassName},
		"spec": map[string]any{"controllerName": ControllerName, "description": "Gateways that the lab's world plays: HTTP on loopback addresses."},
	}}
	tick := time.NewTicker(again / 10)
	defer tick.Stop()
	for {
		_, err := g.config.Dynamic.Resource(classResource()).Create(ctx, class, metav1.CreateOptions{})
		if err == nil || apierrors.IsAlreadyExists(err) {
			return nil
		}
		if apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) {
			return fmt.Errorf("create GatewayClass %s: %w", ClassName, err) // will not get better
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("create GatewayClass %s: %w: %w", ClassName, context.Cause(ctx), err)
		case <-tick.C:
		}
	}
}

// watch follows what decides; pods and where they listen are looked up as requests come.
func (g *Gateways) watch(life context.Context) {
	dyn := dynamicinformer.NewDynamicSharedInformerFactory(g.config.Dynamic, 0)
	g.classes, g.gateways, g.routes = dyn.ForResource(classResource()).Informer(), dyn.ForResource(gatewayResource()).Informer(), dyn.ForResource(routeResource()).Informer()
	g.forwards = dyn.ForResource(resource("v1alpha1", "kwok.x-k8s.io", "portforwards")).Informer()
	g.services = informers.NewSharedInformerFactory(g.config.Client, 0).Core().V1().Services().Informer()
	g.backends = &backends{services: g.services.GetStore(), pods: g.config.Pods.GetStore(), forwards: g.forwards.GetStore()}
	for _, i := range []cache.SharedIndexInformer{g.classes, g.gateways, g.routes, g.services} {
		// Adding a handler fails only on an informer that has stopped.
		_, _ = i.AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc: func(any) { g.signal() }, UpdateFunc: func(_, _ any) { g.signal() }, DeleteFunc: func(any) { g.signal() },
		})
	}
	for _, i := range g.informers() {
		g.wg.Go(func() { i.RunWithContext(life) })
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
		if !cache.WaitForCacheSync(life.Done(), i.HasSynced) {
			return
		}
	}
	notices, cancel := g.config.World.Subscribe()
	defer cancel()
	tick := time.NewTicker(again)
	defer tick.Stop()
	for {
		err := g.look(life)
		if err != nil && life.Err() == nil {
			g.config.Log.Warn("gateways", "err", err)
		}
		retry := tick.C
		if err == nil {
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

// Settle returns when every Gateway shows the faults that the world has now.
func (g *Gateways) Settle(ctx context.Context) error {
	if g.classes == nil {
		return nil
	}
	tick := time.NewTicker(again / 10)
	defer tick.Stop()
	for {
		err := g.settled()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", context.Cause(ctx), err)
		case <-tick.C:
		}
	}
}

func (g *Gateways) settled() error {
	want := g.config.World.State().Gateway
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.wrong == nil && g.shown != want {
		return errors.New("the gateways do not show what the world has")
	}
	return g.wrong
}

// hostsOf are the addresses that Gateways may have: beside those of the world's hosts.
func hostsOf(s world.State) ([]string, error) {
	if len(s.Nodes) == 0 {
		return nil, errors.New("the world has no hosts")
	}
	return hosts(hostIP(s.Nodes[0].Address))
}
