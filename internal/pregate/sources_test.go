package pregate_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/pregate"
	"github.com/firstlight/firstlight/internal/site"
)

// TestSources gets a chart from a repository and from a registry that want a user, a password and an authority of their
// own. The cluster has no release; the preparation ends when it has the chart.
func TestSources(t *testing.T) {
	for _, name := range []string{"HELM_CACHE_HOME", "HELM_CONFIG_HOME", "HELM_DATA_HOME", "DOCKER_CONFIG"} {
		t.Setenv(name, t.TempDir())
	}
	cluster := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch {
		case r.URL.Path == "/version":
			fmt.Fprint(w, `{"major":"1","minor":"34","gitVersion":"v1.34.0"}`)
		case strings.HasSuffix(r.URL.Path, "/secrets"):
			fmt.Fprint(w, `{"kind":"SecretList","apiVersion":"v1","items":[]}`)
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(cluster.Close)
	kubeconfig := file(t, `{apiVersion: v1, kind: Config, current-context: c, clusters: [{name: c, cluster: {server: "`+cluster.URL+`"}}], contexts: [{name: c, context: {cluster: c}}]}`)
	archive := packaged(t)
	content, err := os.ReadFile(archive)
	if err != nil {
		t.Fatal(err)
	}
	for name, source := range map[string]func(*testing.T, string) (site.Helm, string){"repository": repository, "registry": ociRegistry} {
		t.Run(name, func(t *testing.T) {
			spec, ca := source(t, archive)
			spec.Release, spec.Version, spec.Namespace, spec.NoWait = name, chartVersion, namespace, true
			spec.User, spec.PasswordFile, spec.CAFile = user, file(t, password+"\n"), ca
			found := fmt.Sprintf("has digest sha256:%x", sha256.Sum256(content))
			for why, c := range map[string]struct {
				spoil func(*site.Helm)
				says  string
			}{
				"right":              {func(*site.Helm) {}, found},
				"a wrong password":   {func(h *site.Helm) { h.PasswordFile = file(t, "wr0ng-password") }, "401"},
				"no authority":       {func(h *site.Helm) { h.CAFile = "" }, "certificate"},
				"an unknown version": {func(h *site.Helm) { h.Version = "9.9.9" }, "9.9.9"},
			} {
				helm := spec
				c.spoil(&helm)
				s := &site.Site{Prepare: []site.Prepare{{Gate: "gpustack", Helm: &helm, Timeout: site.Duration(time.Minute)}}}
				hook := pregate.For(s, "gpustack", func(context.Context) (string, string, error) { return kubeconfig, "", nil }, nil)[0]
				var out strings.Builder
				_, err := hook.Run(t.Context(), &out, func(string) {})
				if got := fmt.Sprint(out.String(), err); !strings.Contains(got, c.says) || why != "right" && strings.Contains(got, found) {
					t.Errorf("%s: want %q: %s", why, c.says, got)
				}
			}
		})
	}
}
