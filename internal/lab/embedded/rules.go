package embedded

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"sync/atomic"
	"time"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/tools/cache"
)

// rules gives the lab's Prometheus the rules of all PrometheusRules, as prometheus-operator, the
// kubelet and the config reloader of a Prometheus pod do together.
type rules struct {
	objects cache.SharedIndexInformer
	apply   func(ctx context.Context, files map[string]string) error
	log     *slog.Logger
	changed chan struct{}
	// unselected: Prometheus' ruleSelector selects none. frozen: applied files neither change nor end.
	unselected, frozen atomic.Bool
	// applied are the files of the last sync.
	applied map[string]string
}

func newRules(client dynamic.Interface, apply func(context.Context, map[string]string) error, log *slog.Logger) *rules {
	kind := schema.GroupVersionResource{Group: "monitoring.coreos.com", Version: "v1", Resource: "prometheusrules"}
	r := &rules{apply: apply, log: log, changed: make(chan struct{}, 1)}
	r.objects = dynamicinformer.NewDynamicSharedInformerFactory(client, 0).ForResource(kind).Informer()
	// AddEventHandler fails only on a stopped informer.
	_, _ = r.objects.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(any) { r.wake() }, UpdateFunc: func(_, _ any) { r.wake() }, DeleteFunc: func(any) { r.wake() },
	})
	return r
}

// wake requests a sync.
func (r *rules) wake() {
	select {
	case r.changed <- struct{}{}:
	default: // already requested
	}
}

// set makes Prometheus select no PrometheusRule, or all, and keep the rules that it has, or not.
func (r *rules) set(unselected, frozen bool) {
	r.unselected.Store(unselected)
	r.frozen.Store(frozen)
	r.wake()
}

// ruleRetry is the interval of repeating a failed sync: Prometheus may not have started.
const ruleRetry = time.Second

// run syncs after every change until ctx ends.
func (r *rules) run(ctx context.Context) {
	done := make(chan struct{})
	go func() { defer close(done); r.objects.RunWithContext(ctx) }()
	defer func() { <-done }()
	for {
		var retry <-chan time.Time
		if err := r.sync(ctx); err != nil {
			r.log.Debug("apply PrometheusRules", "err", err)
			retry = time.After(ruleRetry)
		}
		select {
		case <-ctx.Done():
			return
		case <-r.changed:
		case <-retry:
		}
	}
}

func (r *rules) sync(ctx context.Context) error {
	files := map[string]string{}
	if !r.unselected.Load() {
		for _, o := range r.objects.GetStore().List() {
			u, ok := o.(*unstructured.Unstructured)
			if !ok {
				continue
			}
			text, err := yaml.Marshal(u.Object["spec"])
			if err != nil {
				return fmt.Errorf("encode PrometheusRule %s/%s: %w", u.GetNamespace(), u.GetName(), err)
			}
			files[u.GetNamespace()+"-"+u.GetName()+".yaml"] = string(text)
		}
	}
	if r.frozen.Load() {
		maps.Copy(files, r.applied)
	}
	if err := r.apply(ctx, files); err != nil {
		return err
	}
	r.applied = files
	return nil
}
