package accept

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/evidence"
	"github.com/firstlight/firstlight/internal/probe/kube"
)

// A run whose objects are still in the cluster holds GPUs: it does not pass, in none of its
// files.
func TestAFailedCleanUpIsNotAPass(t *testing.T) {
	t.Parallel()
	for name, namespace := range map[string]string{"own namespace": "", "given namespace that the run created": "acceptance"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := sharedCluster()
			client, ok := c.Client.(*fake.Clientset)
			if !ok {
				t.Fatal("another client")
			}
			client.PrependReactor("delete", "namespaces", func(a clienttesting.Action) (bool, runtime.Object, error) {
				return true, nil, apierrors.NewForbidden(schema.GroupResource{Resource: "namespaces"}, "ours", errors.New("no rule"))
			})
			o := holding(t, t.TempDir(), c, func() {})
			o.Namespace = namespace
			r, err := Run(t.Context(), o)
			if err != nil || r.Verdict != check.Unobserved || !strings.Contains(strings.Join(r.NarrowedBy, "\n"), "clean-up failed: ") {
				t.Errorf("%s, narrowed by %q: %v", r.Verdict, r.NarrowedBy, err)
			}
			b, err := evidence.Load(r.Evidence)
			if err != nil || b.Verdict() != check.Unobserved || b.Summary().Verdict != check.Unobserved {
				t.Errorf("the stored run is %s, %v", b.Verdict(), err)
			}
			junit, err := os.ReadFile(filepath.Join(r.Evidence, "junit.xml"))
			if err != nil || !strings.Contains(string(junit), `errors="1"`) {
				t.Errorf("%s, %v", junit, err)
			}
			again, err := evidence.Replay(r.Evidence, func(*evidence.Bundle) (evidence.Derived, error) {
				return evidence.Derived{Checks: []check.Check{look("node")}}, nil
			})
			if err != nil || !again.Identical() || again.Again != check.Unobserved {
				t.Errorf("replayed: %+v, %v", again, err)
			}
		})
	}
}

// TestCleaningUpDoesNotWaitForTheCluster: its story is a facility gate of 0.1 s
// that took 6 s, because cleaning up after it waited for a lab to start.
func TestCleaningUpDoesNotWaitForTheCluster(t *testing.T) {
	t.Parallel()
	asked, never := make(chan struct{}), make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	w := &walk{opts: Options{Cluster: func(ctx context.Context) (*kube.Cluster, error) {
		close(asked)
		<-ctx.Done()
		close(never)
		return nil, ctx.Err()
	}}}
	reached := make(chan error, 1)
	go func() {
		_, err := w.reach(ctx)
		reached <- err
	}()
	<-asked
	if err := w.cleanGate(t.Context(), "facility"); err != nil {
		t.Error(err)
	}
	select {
	case <-never:
		t.Error("the cluster was waited for")
	default:
	}
	cancel()
	if err := <-reached; !errors.Is(err, context.Canceled) {
		t.Errorf("reach ended with %v", err)
	}
}
