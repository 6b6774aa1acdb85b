package recommended

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/conformance"
	"github.com/firstlight/firstlight/internal/lab/labtest"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/probe/kube/kubetest"
)

// solutionAnswers is an API server with a deployment of Dynamo, by path.
var solutionAnswers = map[string]string{
	"/apis/nvidia.com":          `{"kind":"APIGroup","versions":[{"groupVersion":"nvidia.com/v1","version":"v1"},{"groupVersion":"nvidia.com/v1alpha1","version":"v1alpha1"}],"preferredVersion":{"groupVersion":"nvidia.com/v1","version":"v1"}}`,
	"/apis/nvidia.com/v1":       `{"kind":"APIResourceList","resources":[{"name":"clusterpolicies","kind":"ClusterPolicy"}]}`,
	"/apis/nvidia.com/v1alpha1": `{"kind":"APIResourceList","resources":[{"name":"dynamographdeployments","kind":"DynamoGraphDeployment"}]}`,
	"/apis/nvidia.com/v1alpha1/dynamographdeployments": `{"kind":"DynamoGraphDeploymentList","apiVersion":"nvidia.com/v1alpha1","items":[{"kind":"DynamoGraphDeployment","apiVersion":"nvidia.com/v1alpha1",
		"metadata":{"namespace":"llm","name":"qwen"},"status":{"conditions":[{"type":"Ready","status":"True"}]}}]}`,
	"/api/v1/namespaces/llm/services": `{"kind":"ServiceList","apiVersion":"v1","items":[{"metadata":{"namespace":"llm","name":"decode"},"spec":{"selector":{"app":"decode"},"ports":[{"port":9}]}},
		{"metadata":{"namespace":"llm","name":"frontend"},"spec":{"selector":{"app":"frontend"},"ports":[{"port":8000}]}}]}`,
	"/api/v1/namespaces/llm/services/frontend:8000/proxy/v1/models":      `{"data":[{"id":"qwen"}]}`,
	"/api/v1/namespaces/llm/services/frontend:8000/proxy/v1/completions": `{"choices":[{"text":"2"}]}`,
}

const phases = `{"kind":"PodList","apiVersion":"v1","items":[
	{"metadata":{"namespace":"llm","name":"p","uid":"1","labels":{"nvidia.com/dynamo-sub-component-type":"prefill"}},"status":{"conditions":[{"type":"Ready","status":"True"}]}},
	{"metadata":{"namespace":"llm","name":"d","uid":"2","labels":{"app":"decode","nvidia.com/dynamo-sub-component-type":"decode"}},"status":{"conditions":[{"type":"Ready","status":"True"}]}}]}`

func TestObserveDisaggregated(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		without string
		want    check.Verdict
		says    string
	}{
		"whole":                 {"", check.Passed, "qwen answered through llm/frontend:8000"},
		"no answer":             {"/api/v1/namespaces/llm/services/frontend:8000/proxy/v1/completions", check.Unobserved, "partially shown: "},
		"no phases":             {"pods", check.Unobserved, "no disaggregated inference runs"},
		"the API is not served": {"/apis/nvidia.com", check.Failed, "no known operator is served"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cluster := kubetest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
				body, ok := solutionAnswers[r.URL.Path]
				if r.URL.Path == "/api/v1/pods" {
					body, ok = `{"kind":"PodList","apiVersion":"v1","items":[]}`, true
					there := tt.without != "pods" && tt.without != "/apis/nvidia.com"
					if there && strings.HasPrefix(r.URL.Query().Get("labelSelector"), "nvidia.com/dynamo-sub-component-type in (") {
						body = phases
					}
				}
				if !ok || r.URL.Path == tt.without {
					w.WriteHeader(http.StatusNotFound)
					body = `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404}`
				}
				fmt.Fprint(w, body)
			})
			c := NewDisaggregated(nil, nil, conformance.Deps{Cluster: func(context.Context) (*kube.Cluster, error) { return cluster, nil }, RunID: "r"})
			rec := &labtest.Recorder{}
			if err := c.Observe(t.Context(), rec); err != nil {
				t.Fatal(err)
			}
			if j := c.Judge(rec.Observations()); j.Verdict != tt.want || !strings.Contains(j.Reason, tt.says) {
				t.Errorf("%s: %s", j.Verdict, j.Reason)
			}
		})
	}
}
