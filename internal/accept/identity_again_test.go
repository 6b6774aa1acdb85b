package accept

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	ktesting "k8s.io/client-go/testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/evidence"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/probe/kube"
)

// patient is a gate that uses the cluster, and ends once the cluster has answered.
type patient struct {
	look
	reach    Reach
	answered chan struct{}
	answers  bool
}

func (p patient) Observe(ctx context.Context, rec check.Recorder) error {
	for range 2 {
		_, _ = p.reach(ctx)
	}
	if p.answers {
		select {
		case <-p.answered:
		case <-time.After(10 * time.Second): // it is not asked again
		case <-ctx.Done():
		}
	}
	return p.look.Observe(ctx, rec)
}

// The cluster is identified as soon as it answers, also if requests or the connection failed before. Regression: one
// failed request at the start left the whole run without a cluster, and nothing in the run said why.
func TestTheClusterIsIdentifiedOnceItAnswers(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		failures int32
		// closed: the cluster opens for a gate, not at the start.
		closed bool
		uid    string
	}{
		"at once":                 {0, false, "one"},
		"after a failed request":  {1, false, "one"},
		"after several":           {4, false, "one"},
		"after a gate reached it": {0, true, "one"},
		"never":                   {1 << 30, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			open := clusterOf("one", false)
			c, err := open(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			client, ok := c.Client.(*fake.Clientset)
			if !ok {
				t.Fatalf("a %T", c.Client)
			}
			var asked, reached atomic.Int32
			answered := make(chan struct{})
			client.PrependReactor("get", "namespaces", func(ktesting.Action) (bool, runtime.Object, error) {
				n := asked.Add(1)
				if n == tt.failures+1 {
					close(answered)
				}
				return n <= tt.failures, nil, errors.New("the server is currently unable to handle the request")
			})
			o := options(t, t.TempDir(), nil)
			o.Playbook = func(c PlanContext) (plan.Plan, error) {
				return plan.Plan{Name: "playbook", Steps: []plan.Step{{Check: patient{look("a"), c.Cluster, answered, tt.uid != ""}}}}, nil
			}
			o.Cluster = func(ctx context.Context) (*kube.Cluster, error) {
				if reached.Add(1) == 1 && tt.closed {
					return nil, errors.New("connection refused")
				}
				return open(ctx)
			}
			o.Wait = func(ctx context.Context, _ time.Duration) error { return ctx.Err() }
			r, err := Run(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			b, err := evidence.Load(filepath.Join(o.EvidenceDir, r.Run))
			if err != nil {
				t.Fatal(err)
			}
			noted := strings.Contains(strings.Join(b.Notes(), "\n"), "cannot identify the cluster: get namespace kube-system: the server is currently unable")
			if b.Header.Cluster != tt.uid || noted != (tt.uid == "") {
				t.Errorf("cluster %q, notes %q", b.Header.Cluster, b.Notes())
			}
		})
	}
}
