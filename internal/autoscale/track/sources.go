package track

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/cache"

	"context"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/firstlight/firstlight/internal/probe/kube"
)

// sources lists all sources except nodes.
func (t *Tracker) sources() []source {
	out := []source{t.podSource(), t.hpaSource(), t.eventSource(), t.apiServiceSource()}
	out = append(out, t.programSources()...)
	if t.o.Karpenter {
		out = append(out, t.claimSource(), t.poolSource())
	}
	if t.o.Queues {
		out = append(out, t.queueSource())
	}
	return out
}

// chosen is a ListWatch of a typed client.
func chosen(c cache.Getter, resource, namespace, labels, fields string) *cache.ListWatch {
	return cache.NewFilteredListWatchFromClient(c, resource, namespace, func(o *metav1.ListOptions) {
		o.LabelSelector, o.FieldSelector = labels, fields
	})
}

// untyped is a ListWatch of the dynamic client.
func untyped(c dynamic.Interface, r schema.GroupVersionResource) *cache.ListWatch {
	return &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			return c.Resource(r).List(ctx, o)
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			return c.Resource(r).Watch(ctx, o)
		},
	}
}

// ours reports whether an object has the run's label.
func (t *Tracker) ours(o metav1.Object) bool { return o.GetLabels()[kube.LabelRun] == t.o.Run }
