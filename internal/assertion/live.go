package assertion

import (
	"cmp"
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/restmapper"
	"k8s.io/utils/clock"
)

// rediscover is the minimum interval between discoveries while a kind is missing.
const rediscover = 2 * time.Second

// pageSize of lists.
const pageSize = 500

// Live answers reads from a cluster. It is safe for concurrent use.
type Live struct {
	objects dynamic.Interface
	server  discovery.DiscoveryInterface
	clock   clock.PassiveClock

	mu     sync.Mutex // guards what follows
	mapper *restmapper.DeferredDiscoveryRESTMapper
	asked  time.Time
}

// NewLive returns a Live of a cluster's clients; a nil clock is the real one.
func NewLive(objects dynamic.Interface, server discovery.DiscoveryInterface, c clock.PassiveClock) *Live {
	c = cmp.Or[clock.PassiveClock](c, clock.RealClock{})
	return &Live{objects: objects, server: server, clock: c, mapper: restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(server))}
}

// Ask performs one read.
func (l *Live) Ask(ctx context.Context, r Read) Read {
	if err := l.query(ctx, &r); err != nil {
		r.Failure = failureOf(err)
	}
	return r
}

func (l *Live) query(ctx context.Context, r *Read) error {
	if r.Verb == verbVersion {
		info, err := l.server.ServerVersion()
		r.Version = info
		return err
	}
	mapping, err := l.mapping(r.gvk())
	if err != nil {
		return err
	}
	r.Namespaced = mapping.Scope.Name() == meta.RESTScopeNameNamespace
	var from dynamic.ResourceInterface = l.objects.Resource(mapping.Resource)
	if r.Namespaced {
		from = l.objects.Resource(mapping.Resource).Namespace(r.Namespace)
	}
	switch r.Verb {
	case verbGet:
		got, err := from.Get(ctx, r.Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		r.Objects = []unstructured.Unstructured{*got}
	case verbList:
		return list(ctx, from, r)
	}
	return nil
}

// list reads all pages, in the API server's order.
func list(ctx context.Context, from dynamic.ResourceInterface, r *Read) error {
	opts := metav1.ListOptions{LabelSelector: r.Selector, Limit: pageSize}
	for {
		page, err := from.List(ctx, opts)
		if err != nil {
			return err
		}
		r.Objects = append(r.Objects, page.Items...)
		if opts.Continue = page.GetContinue(); opts.Continue == "" {
			return nil
		}
	}
}

// mapping returns the REST mapping of a kind.
func (l *Live) mapping(gvk schema.GroupVersionKind) (*meta.RESTMapping, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	found, err := l.mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	if meta.IsNoMatchError(err) && l.clock.Since(l.asked) >= rediscover {
		l.asked = l.clock.Now()
		l.mapper.Reset()
		found, err = l.mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	}
	return found, err
}
