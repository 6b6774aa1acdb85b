package recommended

import (
	"context"
	"fmt"
	"net/http"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/conformance"
	"github.com/firstlight/firstlight/internal/lab/labtest"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/probe/kube/kubetest"
)

// poolAnswers is an API server with one pool that is programmed, as the extension's own
// examples have it.
var poolAnswers = map[string]string{
	"/apis/" + poolGroup:         `{"kind":"APIGroup","versions":[{"groupVersion":"` + poolGroup + `/v1","version":"v1"}],"preferredVersion":{"groupVersion":"` + poolGroup + `/v1","version":"v1"}}`,
	"/apis/" + poolGroup + "/v1": `{"kind":"APIResourceList","resources":[{"name":"inferencepools","kind":"InferencePool"}]}`,
	"/apis/" + poolGroup + "/v1/" + poolResource: `{"kind":"InferencePoolList","apiVersion":"` + poolGroup + `/v1","items":[{"kind":"InferencePool","apiVersion":"` + poolGroup + `/v1","metadata":{"namespace":"llm","name":"qwen"},
		"spec":{"selector":{"matchLabels":{"app":"vllm"}},"targetPorts":[{"number":8000}],"endpointPickerRef":{"name":"qwen-epp","port":{"number":9002}}},
		"status":{"parents":[{"parentRef":{"name":"gw"},"conditions":[{"type":"Accepted","status":"True"},{"type":"ResolvedRefs","status":"True"}]}]}}]}`,
	"/apis/discovery.k8s.io/v1/namespaces/llm/endpointslices": `{"kind":"EndpointSliceList","apiVersion":"discovery.k8s.io/v1","items":[{"metadata":{"name":"e"},"endpoints":[{"addresses":["10.0.0.1"],"conditions":{"ready":true}},{"addresses":["10.0.0.2"],"conditions":{"ready":false}}]}]}`,
	"/api/v1/namespaces/llm/pods":                             `{"kind":"PodList","apiVersion":"v1","items":[{"metadata":{"name":"a"},"status":{"conditions":[{"type":"Ready","status":"True"}]}},{"metadata":{"name":"b"},"status":{}}]}`,
	"/apis/gateway.networking.k8s.io/v1/namespaces/llm/gateways/gw": `{"kind":"Gateway","apiVersion":"gateway.networking.k8s.io/v1","metadata":{"namespace":"llm","name":"gw"},
		"spec":{"listeners":[{"name":"http","port":80,"protocol":"HTTP"}]},"status":{"conditions":[{"type":"Programmed","status":"True"}]}}`,
	"/api/v1/services": `{"kind":"ServiceList","apiVersion":"v1","items":[{"metadata":{"namespace":"other","name":"gw"},"spec":{"ports":[{"port":80}]}},{"metadata":{"namespace":"llm","name":"gw-istio"},"spec":{"ports":[{"port":15021},{"port":80}]}}]}`,
	"/api/v1/namespaces/llm/services/gw-istio:80/proxy/v1/models":      `{"data":[{"id":"qwen"}]}`,
	"/api/v1/namespaces/llm/services/gw-istio:80/proxy/v1/completions": `{"choices":[{"text":"2"}]}`,
}

// The objects of a platform with the extension are decoded.
func TestObservePools(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		without string
		want    check.Verdict
	}{
		"healthyPool":           {"", check.Passed},
		"no answer":             {"/api/v1/namespaces/llm/services/gw-istio:80/proxy/v1/completions", check.Unobserved},
		"no Gateway":            {"/apis/gateway.networking.k8s.io/v1/namespaces/llm/gateways/gw", check.Unobserved},
		"pods are unseen":       {"/api/v1/namespaces/llm/pods", check.Unobserved},
		"the API is not served": {"/apis/" + poolGroup, check.Failed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cluster := kubetest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
				body, ok := poolAnswers[r.URL.Path]
				if !ok || r.URL.Path == tt.without {
					w.WriteHeader(http.StatusNotFound)
					body = `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404}`
				}
				fmt.Fprint(w, body)
			})
			c := NewPools(nil, nil, conformance.Deps{Cluster: func(context.Context) (*kube.Cluster, error) { return cluster, nil }, RunID: "r"})
			rec := &labtest.Recorder{}
			if err := c.Observe(t.Context(), rec); err != nil {
				t.Fatal(err)
			}
			if j := c.Judge(rec.Observations()); j.Verdict != tt.want {
				t.Errorf("%s: %s", j.Verdict, j.Reason)
			}
		})
	}
}
