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
	for name, tt := range map[string]struct {
		controller string
		opts       Options
		want       int
	}{"deployment": {"kube-system/karpenter", Options{}, 5}, "managed": {managed, Options{}, 5}, "fixed nodes": {"kube-system/karpenter", Options{FixedNodes: true}, 3}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rec := &recorded{}
			c := New(&site.Site{Autoscale: site.Autoscale{Autoscaler: "karpenter", Controller: tt.controller, Adapter: conf.Adapter}}, Deps{
				Cluster: func(context.Context) (*kube.Cluster, error) { return cluster, nil },
			}, tt.opts)
			if err := c.Observe(t.Context(), rec); err != nil || len(rec.observations) != tt.want {
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
