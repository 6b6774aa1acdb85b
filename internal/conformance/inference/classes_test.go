package inference

import (
	"net/http"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/probe/kube/kubetest"
)

// The classes of GKE, of EKS with VPC Lattice and of Istio are accepted, all of them. The first by name has a public load balancer
// there, or takes a gateway only by the name of a service network.
func TestNoClassIsChosenAmongSeveral(t *testing.T) {
	t.Parallel()
	const item = `{"apiVersion":"gateway.networking.k8s.io/v1","kind":"GatewayClass","metadata":{"name":"NAME","generation":1},"spec":{"controllerName":"a/b"},` +
		`"status":{"conditions":[{"type":"Accepted","status":"STATUS","reason":"Accepted","message":"","lastTransitionTime":"2026-01-01T00:00:00Z","observedGeneration":1}]}}`
	for name, tt := range map[string]struct {
		accepted, pending []string
		wanted, used      string
	}{
		"one":                         {[]string{"eg"}, nil, "", "eg"},
		"one of two":                  {[]string{"istio"}, []string{"eg"}, "", "istio"},
		"several":                     {[]string{"amazon-vpc-lattice", "eg"}, nil, "", ""},
		"several, and the site's":     {[]string{"gke-l7-global-external-managed", "gke-l7-rilb"}, nil, "gke-l7-rilb", "gke-l7-rilb"},
		"the site's is not accepted":  {[]string{"istio"}, []string{"eg"}, "eg", ""},
		"the site's is not installed": {[]string{"istio"}, nil, "eg", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var items []string
			for status, names := range map[string][]string{"True": tt.accepted, "Unknown": tt.pending} {
				for _, n := range names {
					items = append(items, strings.NewReplacer("NAME", n, "STATUS", status).Replace(item))
				}
			}
			cluster := kubetest.Serve(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				_, _ = w.Write([]byte(`{"kind":"GatewayClassList","apiVersion":"gateway.networking.k8s.io/v1","metadata":{},"items":[` + strings.Join(items, ",") + `]}`))
			})
			got, err := readClasses(t.Context(), cluster, tt.wanted)
			if err != nil || got.Used != tt.used || len(got.Classes) != len(items) {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
}
