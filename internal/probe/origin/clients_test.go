package origin_test

import (
	"context"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"

	"github.com/firstlight/firstlight/internal/conformance/recommended"
	"github.com/firstlight/firstlight/internal/evidence/oci"
	"github.com/firstlight/firstlight/internal/preflight"
	"github.com/firstlight/firstlight/internal/pregate"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/probe/origin"
	"github.com/firstlight/firstlight/internal/probe/prom"
	"github.com/firstlight/firstlight/internal/probe/ray"
	"github.com/firstlight/firstlight/internal/probe/redfish"
	"github.com/firstlight/firstlight/internal/probe/vllm"
	"github.com/firstlight/firstlight/internal/site"
)

const secret = "S3CRET"

// elsewhere is a host that was not configured; it records its requests.
type elsewhere struct {
	mu  sync.Mutex
	got []string
}

func (e *elsewhere) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	user, password, _ := r.BasicAuth()
	e.mu.Lock()
	defer e.mu.Unlock()
	e.got = append(e.got, fmt.Sprintf("%s %s Authorization=%q %s:%s", r.Method, r.URL.Path, r.Header.Get("Authorization"), user, password))
	fmt.Fprint(w, `{"status":"success","data":{"resultType":"vector","result":[]}}`)
}

func (e *elsewhere) asked() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.got
}

// client is a client with credentials. use makes a request to the server at base.
type client struct {
	tls bool
	use func(ctx context.Context, t *testing.T, base, caFile, secretFile string) error
}

func cluster(t *testing.T, base string) *kube.Cluster {
	t.Helper()
	c, err := kube.New(&rest.Config{Host: base, BearerToken: secret, TLSClientConfig: rest.TLSClientConfig{Insecure: true}})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func query(ctx context.Context, e prom.Endpoint, c *kube.Cluster) error {
	client, err := prom.Connect(e, c)
	if err != nil {
		return err
	}
	defer client.Close()
	_, _, err = prom.Prometheus{Client: client}.Query(ctx, "up", time.Time{})
	return err
}

// keychain has the same credentials for every registry.
type keychain struct{}

func (keychain) Resolve(authn.Resource) (authn.Authenticator, error) {
	return authn.FromConfig(authn.AuthConfig{Username: "admin", Password: secret}), nil
}

// install runs the preparation that installs a release, in a cluster without releases.
func install(ctx context.Context, t *testing.T, spec site.Helm) error {
	t.Helper()
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
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	config := api.NewConfig()
	config.Clusters["c"], config.Contexts["c"], config.CurrentContext = &api.Cluster{Server: cluster.URL}, &api.Context{Cluster: "c"}, "c"
	if err := clientcmd.WriteToFile(*config, kubeconfig); err != nil {
		return err
	}
	spec.Release, spec.Version, spec.Namespace, spec.NoWait = "probe", "1.0.0", "probe", true
	s := &site.Site{Prepare: []site.Prepare{{Gate: "gpustack", Helm: &spec, Timeout: site.Duration(time.Minute)}}}
	hook := pregate.For(s, "gpustack", func(context.Context) (string, string, error) { return kubeconfig, "", nil }, nil)[0]
	var out strings.Builder
	if code, err := hook.Run(ctx, &out, func(string) {}); code != 0 || err != nil {
		return errors.Join(err, fmt.Errorf("exit %d: %s", code, out.String()))
	}
	return nil
}

// stores keep charts, images or evidence, often on another host to which they redirect: the request follows, without
// credentials. The value is whether the client sends its credentials when the store asks for them, and not before.
var stores = map[string]bool{"OCI registry": true, "preflight's image registry": true, "Helm chart in a registry": true, "Helm chart in a repository": false}

func clients() map[string]client {
	return map[string]client{
		"Kubernetes API": {true, func(ctx context.Context, t *testing.T, base, _, _ string) error {
			t.Helper()
			_, err := cluster(t, base).Client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
			return err
		}},
		"Kubernetes API, dynamic": {true, func(ctx context.Context, t *testing.T, base, _, _ string) error {
			t.Helper()
			_, err := cluster(t, base).Dynamic.Resource(kube.NodePools()).List(ctx, metav1.ListOptions{})
			return err
		}},
		"port forward": {true, func(ctx context.Context, t *testing.T, base, _, _ string) error {
			t.Helper()
			_, _, err := cluster(t, base).Forward(ctx, "team", "pod", 80)
			return err
		}},
		"Prometheus behind a Service": {true, func(ctx context.Context, t *testing.T, base, _, _ string) error {
			t.Helper()
			return query(ctx, prom.Endpoint{Service: "monitoring/prometheus:9090"}, cluster(t, base))
		}},
		"model server behind a Service": {true, func(ctx context.Context, t *testing.T, base, _, _ string) error {
			t.Helper()
			if a := recommended.ProbeModel(ctx, cluster(t, base), "team/model:8000"); a.Err != "" {
				return fmt.Errorf("%s", a.Err)
			}
			return nil
		}},
		"Prometheus with a token": {true, func(ctx context.Context, _ *testing.T, base, ca, file string) error {
			return query(ctx, prom.Endpoint{URL: base, CAFile: ca, BearerTokenFile: file}, nil)
		}},
		"Alertmanager with a token": {true, func(ctx context.Context, _ *testing.T, base, ca, file string) error {
			c, err := prom.Connect(prom.Endpoint{URL: base, CAFile: ca, BearerTokenFile: file}, nil)
			if err != nil {
				return err
			}
			return prom.Alertmanager{Client: c}.Post(ctx, prom.Alert{})
		}},
		"Prometheus with a password and a secret header": {true, func(ctx context.Context, _ *testing.T, base, ca, file string) error {
			return query(ctx, prom.Endpoint{
				URL: base, CAFile: ca, BasicAuth: &site.BasicAuth{User: "admin", PasswordFile: file},
				Headers: map[string]site.Header{"X-Key": {ValueFile: file}},
			}, nil)
		}},
		"Prometheus with signed requests": {true, func(ctx context.Context, t *testing.T, base, ca, _ string) error {
			t.Helper()
			t.Setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
			t.Setenv("AWS_SECRET_ACCESS_KEY", secret)
			return query(ctx, prom.Endpoint{URL: base, CAFile: ca, SigV4: &site.SigV4{Region: "eu-west-1"}}, nil)
		}},
		"Redfish": {true, func(ctx context.Context, _ *testing.T, base, ca, file string) error {
			_, err := redfish.Read(ctx, site.Redfish{Name: "pdu", URL: base, CAFile: ca, User: "admin", PasswordFile: file, PDUs: []string{"1"}})
			return err
		}},
		"model server at a forwarded port": {false, func(ctx context.Context, _ *testing.T, base, _, _ string) error {
			_, _, err := (&vllm.Client{Base: base, HTTP: origin.Forwarded(&http.Transport{}), Now: time.Now}).Models(ctx)
			return err
		}},
		"Ray head at a forwarded port": {false, func(ctx context.Context, _ *testing.T, base, _, _ string) error {
			_, err := (&ray.Client{Address: strings.TrimPrefix(base, "http://"), HTTP: ray.NewHTTPClient()}).Do(ctx, http.MethodGet, "/api/version", nil)
			return err
		}},
		"preflight's image registry": {false, func(ctx context.Context, t *testing.T, base, _, _ string) error {
			t.Helper()
			ref, err := name.ParseReference(strings.TrimPrefix(base, "http://") + "/team/image:v1")
			if err != nil {
				return err
			}
			_, _, err = preflight.Manifest(ctx, ref, keychain{})
			return err
		}},
		"Helm chart in a registry": {true, func(ctx context.Context, t *testing.T, base, ca, file string) error {
			t.Helper()
			return install(ctx, t, site.Helm{Chart: "oci://" + strings.TrimPrefix(base, "https://") + "/charts/probe", CAFile: ca, User: "admin", PasswordFile: file})
		}},
		"Helm chart in a repository": {true, func(ctx context.Context, t *testing.T, base, ca, file string) error {
			t.Helper()
			return install(ctx, t, site.Helm{Chart: "probe", Repository: base, CAFile: ca, User: "admin", PasswordFile: file})
		}},
		"OCI registry": {false, func(ctx context.Context, t *testing.T, base, _, _ string) error {
			t.Helper()
			u, err := url.Parse(base)
			if err != nil {
				return err
			}
			dir := t.TempDir()
			t.Setenv("DOCKER_CONFIG", dir)
			config := fmt.Sprintf(`{"auths":{%q:{"username":"admin","password":%q}}}`, u.Host, secret)
			if err := os.WriteFile(filepath.Join(dir, "config.json"), []byte(config), 0o600); err != nil {
				return err
			}
			_, err = oci.Pull(ctx, u.Host+"/evidence:r1", filepath.Join(dir, "pulled"), oci.Options{})
			return err
		}},
	}
}

// start serves h, with TLS where asked, and writes the CA's and a secret's file.
func start(t *testing.T, h http.Handler, withTLS bool) (base, caFile, secretFile string) {
	t.Helper()
	s := httptest.NewUnstartedServer(h)
	if withTLS {
		s.StartTLS()
	} else {
		s.Start()
	}
	t.Cleanup(s.Close)
	dir := t.TempDir()
	caFile, secretFile = filepath.Join(dir, "ca.pem"), filepath.Join(dir, "secret")
	files := map[string][]byte{secretFile: []byte(secret)}
	if withTLS {
		files[caFile] = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	}
	for path, data := range files {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return s.URL, caFile, secretFile
}

// A server that answers every request with a redirect got the operator's token
// sent to the host that it named.
func TestCredentialsAreNotSentToTheTargetOfARedirect(t *testing.T) {
	for name, c := range clients() {
		for where, host := range map[string]string{"another host": "localhost", "another port": "127.0.0.1"} {
			for _, status := range []int{http.StatusFound, http.StatusTemporaryRedirect, http.StatusPermanentRedirect} {
				t.Run(fmt.Sprintf("%s/%s/%d", name, where, status), func(t *testing.T) {
					other := &elsewhere{}
					thief := httptest.NewServer(other)
					t.Cleanup(thief.Close)
					to := strings.Replace(thief.URL, "127.0.0.1", host, 1)
					challenge, store := stores[name]
					sent := false
					base, ca, file := start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
						if challenge && r.Header.Get("Authorization") == "" { // before it leads elsewhere
							w.Header().Set("WWW-Authenticate", `Basic realm="registry"`)
							w.WriteHeader(http.StatusUnauthorized)
							return
						}
						sent = sent || r.Header.Get("Authorization") != ""
						http.Redirect(w, r, to+"/steal", status)
					}), c.tls)
					err := c.use(t.Context(), t, base, ca, file)
					if err == nil && !store {
						t.Error("the request that was redirected succeeded")
					}
					if store {
						if !sent {
							t.Errorf("the configured host got no credentials: %v", err)
						}
						for _, got := range other.asked() {
							if strings.Contains(got, secret) || !strings.Contains(got, `Authorization=""`) {
								t.Errorf("the other host got %s", got)
							}
						}
						return
					}
					if got := other.asked(); len(got) > 0 {
						t.Errorf("the other host got %s", got)
					}
				})
			}
		}
	}
}

// A Service that led to another path of the API server read with the operator's rights
// what the Service itself may not read.
func TestAServiceDoesNotLeadToOtherPathsOfTheAPIServer(t *testing.T) {
	for name, to := range map[string]string{
		"secrets":     "/api/v1/namespaces/kube-system/secrets",
		"dots":        "/api/v1/namespaces/monitoring/services/prometheus:9090/proxy/../../../secrets",
		"coded dots":  "/api/v1/namespaces/monitoring/services/prometheus:9090/proxy/%2e%2e/x",
		"same prefix": "/api/v1/namespaces/monitoring/services/prometheus:9090/proxyx",
	} {
		t.Run(name, func(t *testing.T) {
			var paths []string
			base, _, _ := start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				paths = append(paths, r.URL.Path)
				w.Header().Set("Location", to)
				w.WriteHeader(http.StatusTemporaryRedirect)
			}), true)
			err := query(t.Context(), prom.Endpoint{Service: "monitoring/prometheus:9090"}, cluster(t, base))
			if !errors.Is(err, origin.ErrOtherOrigin) || len(paths) != 1 {
				t.Errorf("asked %s: %v", paths, err)
			}
		})
	}
}

// A Prometheus below a path that adds a slash is still reached.
func TestRedirectsBelowTheAddressAreFollowed(t *testing.T) {
	base, ca, file := start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/prometheus/api/v1/query" && r.Header.Get("Authorization") == "Bearer "+secret {
			http.Redirect(w, r, "/prometheus/v2/query?"+r.URL.RawQuery, http.StatusTemporaryRedirect)
			return
		}
		fmt.Fprint(w, `{"status":"success","data":{"resultType":"vector","result":[]}}`)
	}), true)
	if err := query(t.Context(), prom.Endpoint{URL: base + "/prometheus", CAFile: ca, BearerTokenFile: file}, nil); err != nil {
		t.Error(err)
	}
}

// A password and a token went over plain http without a word.
func TestCredentialsRequireTLSOrPlainHTTPInTheSite(t *testing.T) {
	asked := 0
	base, _, file := start(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked++
		w.WriteHeader(http.StatusNotFound)
	}), false)
	bmc := site.Redfish{Name: "pdu", URL: base, User: "admin", PasswordFile: file, PDUs: []string{"1"}}
	_, err := redfish.Read(t.Context(), bmc)
	refused := []error{err, query(t.Context(), prom.Endpoint{URL: base, BearerTokenFile: file}, nil)}
	for name, config := range map[string]rest.Config{
		"token":      {BearerToken: secret},
		"token file": {BearerTokenFile: file},
		"password":   {Username: "admin", Password: secret},
		"exec":       {ExecProvider: &api.ExecConfig{Command: "true"}},
	} {
		config.Host = base
		if _, err := kube.New(&config); !errors.Is(err, origin.ErrPlainHTTP) {
			t.Errorf("kubeconfig with %s: %v", name, err)
		}
	}
	for _, err := range refused {
		if !errors.Is(err, origin.ErrPlainHTTP) {
			t.Error(err)
		}
	}
	if asked != 0 {
		t.Errorf("%d requests were sent", asked)
	}
	bmc.PlainHTTP = true
	if _, err := redfish.Read(t.Context(), bmc); err == nil || errors.Is(err, origin.ErrPlainHTTP) {
		t.Errorf("with plainHTTP: %v", err)
	}
	if err := query(t.Context(), prom.Endpoint{URL: base, BearerTokenFile: file, PlainHTTP: true}, nil); err == nil || errors.Is(err, origin.ErrPlainHTTP) {
		t.Errorf("with plainHTTP: %v", err)
	}
	if asked == 0 {
		t.Error("nothing was sent with plainHTTP")
	}
}

// A controller's links and addresses with a user name led its password elsewhere.
func TestALinkToAnotherHostIsRefused(t *testing.T) {
	other := &elsewhere{}
	thief := httptest.NewServer(other)
	t.Cleanup(thief.Close)
	host := thief.Listener.Addr().String()
	base, ca, file := start(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"@odata.id":"/redfish/v1/","Id":"R","PowerEquipment":{"@odata.id":"@%[1]s/steal"},"Chassis":{"@odata.id":"@%[1]s/steal"}}`, host)
	}), true)
	if _, err := redfish.Read(t.Context(), site.Redfish{Name: "pdu", URL: base, CAFile: ca, User: "admin", PasswordFile: file, PDUs: []string{"1"}}); !errors.Is(err, origin.ErrOtherOrigin) {
		t.Error(err)
	}
	if got := other.asked(); len(got) > 0 {
		t.Errorf("the other host got %s", got)
	}
}

// A registry may name any host that issues tokens; the password does not go there in clear.
func TestRegistryTokensRequireTLS(t *testing.T) {
	sent := false
	client := origin.Registry(&http.Client{Transport: roundTrip(func(*http.Request) (*http.Response, error) {
		sent = true
		return nil, errors.New("sent")
	})}, false)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://tokens.example.com/", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.SetBasicAuth("admin", secret)
	resp, err := client.Do(req)
	if err == nil {
		resp.Body.Close()
	}
	if !errors.Is(err, origin.ErrPlainHTTP) || sent {
		t.Errorf("sent %v: %v", sent, err)
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
