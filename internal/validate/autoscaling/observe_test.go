package autoscaling

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/probe/kube/kubetest"
	"github.com/firstlight/firstlight/internal/site"
)

type recorded struct{ observations []check.Observation }

func (r *recorded) Record(o check.Observation) (check.Observation, error) {
	r.observations = append(r.observations, o)
	return o, nil
}

func (*recorded) Progress(string, ...any) {}

func TestEveryObservationHasItsCommand(t *testing.T) {
	t.Parallel()
	var samples atomic.Int64
	cluster := kubetest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasPrefix(r.URL.Path, "/apis/external.metrics.k8s.io/"):
			fmt.Fprintf(w, `{"items":[{"timestamp":%q,"value":"71"}]}`, time.Date(2026, 11, 1, 12, 0, int(samples.Add(1)), 0, time.UTC).Format(time.RFC3339))
		case r.URL.Path == "/apis":
			fmt.Fprint(w, `{"kind":"APIGroupList","apiVersion":"v1","groups":[]}`)
		default:
			http.NotFound(w, r)
		}
	})
	for name, controller := range map[string]string{"deployment": "kube-system/karpenter", "managed": managed} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rec := &recorded{}
			c := New(&site.Site{Autoscale: site.Autoscale{Autoscaler: "karpenter", Controller: controller, Adapter: conf.Adapter}}, Deps{
				Cluster: func(context.Context) (*kube.Cluster, error) { return cluster, nil },
			})
			if err := c.Observe(t.Context(), rec); err != nil || len(rec.observations) != 5 {
				t.Fatalf("%d observations, %v", len(rec.observations), err)
			}
			for _, o := range rec.observations {
				if o.Command == "" || o.Err != "" {
					t.Errorf("%s on %s: command %q, error %q", o.Kind, o.Target, o.Command, o.Err)
				}
			}
		})
	}
}
