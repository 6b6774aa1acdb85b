package pregate_test

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	goregistry "github.com/google/go-containerregistry/pkg/registry"
	"helm.sh/helm/v4/pkg/chart/common"
	chartv2 "helm.sh/helm/v4/pkg/chart/v2"
	chartutil "helm.sh/helm/v4/pkg/chart/v2/util"
	"helm.sh/helm/v4/pkg/registry"
	repo "helm.sh/helm/v4/pkg/repo/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/lab/labtest"
	"github.com/firstlight/firstlight/internal/pregate"
	"github.com/firstlight/firstlight/internal/site"
	"github.com/firstlight/firstlight/internal/suite"
	"github.com/firstlight/firstlight/internal/world"
)

const (
	user, password = "robot$charts", "s3cret-of-the-registry"
	chartName      = "probe"
	chartVersion   = "1.2.3"
	namespace      = "chart-probe"
)

// TestLiveSources installs a chart from a chart repository and from an OCI registry that want a user,
// a password and a certificate authority of their own. Helm is what firstlight runs; the registry is
// go-containerregistry's. A wrong password, no password and an unknown authority are refused with the
// source, and no output has the password.
func TestLiveSources(t *testing.T) {
	suite.Live(t)
	suite.Require(t, suite.All)
	l := labtest.Start(t, world.DefaultSpec(2))
	for _, name := range []string{"HELM_CACHE_HOME", "HELM_CONFIG_HOME", "HELM_DATA_HOME", "DOCKER_CONFIG"} {
		t.Setenv(name, t.TempDir())
	}
	archive := packaged(t)
	content, err := os.ReadFile(archive)
	if err != nil {
		t.Fatal(err)
	}
	for name, source := range map[string]func(*testing.T, string) (site.Helm, string){"repository": repository, "registry": ociRegistry} {
		t.Run(name, func(t *testing.T) {
			spec, ca := source(t, archive)
			spec.Release, spec.Version, spec.Namespace = name, chartVersion, namespace+"-"+name
			right := spec
			right.User, right.PasswordFile, right.CAFile = user, file(t, password+"\n"), ca
			right.Digest = fmt.Sprintf("sha256:%x", sha256.Sum256(content))
			for why, c := range map[string]struct {
				spec func(*site.Helm)
				says string
			}{
				"a wrong password":      {func(h *site.Helm) { h.PasswordFile = file(t, "wr0ng-password") }, "401"},
				"no credentials":        {func(h *site.Helm) { h.User, h.PasswordFile = "", "" }, map[string]string{"repository": "401", "registry": "basic credential not found"}[name]},
				"no authority":          {func(h *site.Helm) { h.CAFile = "" }, "certificate"},
				"an unknown version":    {func(h *site.Helm) { h.Version = "9.9.9" }, "9.9.9"},
				"another digest":        {func(h *site.Helm) { h.Digest = "sha256:" + strings.Repeat("0", 64) }, "as pinned by the site"},
				"no file of the secret": {func(h *site.Helm) { h.PasswordFile = filepath.Join(t.TempDir(), "absent") }, "no such file"},
			} {
				wrong := right
				c.spec(&wrong)
				code, text := install(t, l, wrong)
				host := strings.Split(strings.SplitN(spec.Reference(), "://", 2)[1], "/")[0]
				if code == 0 || !strings.Contains(text, c.says) || why != "no file of the secret" && why != "another digest" && !strings.Contains(text, host) {
					t.Errorf("%s: exit %d, want a failure with %q and %s: %s", why, code, c.says, host, text)
				}
				if _, err := l.Cluster.Client.CoreV1().ConfigMaps(spec.Namespace).Get(t.Context(), chartName, metav1.GetOptions{}); err == nil {
					t.Fatalf("%s: the chart was installed", why)
				}
			}
			if code, text := install(t, l, right); code != 0 {
				t.Fatalf("exit %d: %s", code, text)
			}
			defer func() {
				if err := l.Cluster.Client.CoreV1().Namespaces().Delete(context.WithoutCancel(t.Context()), spec.Namespace, metav1.DeleteOptions{}); err != nil {
					t.Error(err)
				}
			}()
			if _, err := l.Cluster.Client.CoreV1().ConfigMaps(spec.Namespace).Get(t.Context(), chartName, metav1.GetOptions{}); err != nil {
				t.Errorf("the object of the chart: %v", err)
			}
		})
	}
}

// install runs the preparation, and requires that its output and error have no secret.
func install(t *testing.T, l *labtest.Lab, spec site.Helm) (code int, text string) {
	t.Helper()
	s := &site.Site{Prepare: []site.Prepare{{Gate: "gpustack", Helm: &spec, Timeout: site.Duration(2 * time.Minute)}}}
	hooks := pregate.For(s, "gpustack", func(context.Context) (string, string, error) { return l.Site.Reach.Kubernetes.Kubeconfig, "", nil }, nil)
	var out strings.Builder
	code, err := hooks[0].Run(t.Context(), &out, func(string) {})
	text = hooks[0].Name() + "\n" + out.String()
	if err != nil {
		text += err.Error()
	}
	for _, secret := range []string{password, "wr0ng-password"} {
		for _, form := range []string{secret, base64.StdEncoding.EncodeToString([]byte(user + ":" + secret))} {
			if strings.Contains(text, form) {
				t.Errorf("the output has the password: %s", text)
			}
		}
	}
	return code, text
}

// packaged is the archive of a chart with one ConfigMap.
func packaged(t *testing.T) string {
	t.Helper()
	c := &chartv2.Chart{
		Metadata: &chartv2.Metadata{APIVersion: "v2", Name: chartName, Version: chartVersion},
		Templates: []*common.File{{
			Name: "templates/configmap.yaml",
			Data: []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + chartName + ", namespace: {{ .Release.Namespace }}}\ndata: {a: b}\n"),
		}},
	}
	path, err := chartutil.Save(c, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// guarded requires the user and the password, as registries do.
func guarded(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if u, p, ok := r.BasicAuth(); !ok || u != user || p != password {
			w.Header().Set("WWW-Authenticate", `Basic realm="charts"`)
			http.Error(w, "unauthorized", http.StatusUnauthorized)
			return
		}
		h.ServeHTTP(w, r)
	})
}

func serve(t *testing.T, h http.Handler) (s *httptest.Server, ca string) {
	t.Helper()
	s = httptest.NewUnstartedServer(guarded(h))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	t.Cleanup(s.Close)
	return s, file(t, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})))
}

// repository is a chart repository with the archive.
func repository(t *testing.T, archive string) (site.Helm, string) {
	t.Helper()
	dir := t.TempDir()
	data, err := os.ReadFile(archive)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, filepath.Base(archive)), data, 0o600); err != nil {
		t.Fatal(err)
	}
	s, ca := serve(t, http.FileServer(http.Dir(dir)))
	index, err := repo.IndexDirectory(dir, s.URL)
	if err == nil {
		err = index.WriteFile(filepath.Join(dir, "index.yaml"), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return site.Helm{Chart: chartName, Repository: s.URL}, ca
}

// ociRegistry is an OCI registry to which Helm pushed the archive.
func ociRegistry(t *testing.T, archive string) (site.Helm, string) {
	t.Helper()
	s, ca := serve(t, goregistry.New(goregistry.Logger(log.New(io.Discard, "", 0))))
	host := strings.TrimPrefix(s.URL, "https://")
	transport := s.Client().Transport.(*http.Transport).Clone()
	transport.TLSClientConfig.MinVersion = tls.VersionTLS12
	client, err := registry.NewClient(registry.ClientOptBasicAuth(user, password), registry.ClientOptHTTPClient(&http.Client{Transport: transport}), registry.ClientOptWriter(io.Discard))
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(archive)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Push(data, host+"/charts/"+chartName+":"+chartVersion); err != nil {
		t.Fatal(err)
	}
	return site.Helm{Chart: "oci://" + host + "/charts/" + chartName}, ca
}

func file(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
