package operand

import (
	"log/slog"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"
)

// Without the index of pods by their nodes no node has an operand, so that every node has lost its GPUs: New
// ignored the error. Another user's index of nodes is not in its way.
func TestNewNeedsItsIndex(t *testing.T) {
	t.Parallel()
	client := fake.NewClientset()
	other := func(any) ([]string, error) { return nil, nil }
	for name, c := range map[string]struct {
		indexers cache.Indexers
		fails    bool
	}{
		"an informer of its own":    {cache.Indexers{}, false},
		"another user's index":      {cache.Indexers{"node": other}, false},
		"an index of the same name": {cache.Indexers{byNode: other}, true},
	} {
		pods := coreinformers.NewPodInformer(client, metav1.NamespaceAll, 0, c.indexers)
		o, err := New(client, nil, pods, slog.New(slog.DiscardHandler))
		if (err != nil) != c.fails || (o == nil) != c.fails {
			t.Errorf("%s: %v, want an error %t", name, err, c.fails)
		}
	}
}
