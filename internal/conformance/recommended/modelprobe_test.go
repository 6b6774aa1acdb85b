package recommended

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/probe/kube/kubetest"
)

const proxied = "/api/v1/namespaces/llm/services/gw:80/proxy"

func TestProbeModel(t *testing.T) {
	t.Parallel()
	const models = `{"data":[{"id":"qwen"}]}`
	for name, tt := range map[string]struct {
		models, completion string
		status             int
		says               string
	}{
		"answers":            {models, `{"choices":[{"text":"2"}],"usage":{"completion_tokens":1}}`, 200, ""},
		"has no model":       {`{"data":[]}`, "", 200, "has none"},
		"not a model server": {"<html>", "", 200, "list models"},
		"refuses":            {"no", "", 503, "HTTP status 503"},
		"answers nothing":    {models, `{"choices":[]}`, 200, "request a token of qwen"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cluster := kubetest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
				w.WriteHeader(tt.status)
				switch r.URL.Path {
				case proxied + "/v1/models":
					fmt.Fprint(w, tt.models)
				case proxied + "/v1/completions":
					fmt.Fprint(w, tt.completion)
				default:
					t.Errorf("asked for %s", r.URL.Path)
				}
			})
			a := ProbeModel(t.Context(), cluster, "llm/gw:80")
			if a.Done != (tt.says == "") || !strings.Contains(a.Err, tt.says) || a.Done && (a.Models[0] != "qwen" || a.Tokens != 1) {
				t.Errorf("%+v", a)
			}
		})
	}
	cluster := kubetest.Unreachable(t)
	if a := ProbeModel(t.Context(), cluster, "gw"); a.Done || a.Err == "" {
		t.Errorf("%+v", a)
	}
}
