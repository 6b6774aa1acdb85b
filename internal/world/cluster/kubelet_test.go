package cluster

import (
	"crypto/tls"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/firstlight/firstlight/internal/lab/pki"
)

// kubelets is a server like kwok's, which serves every request with the name of an existing
// object, and the world's proxy in front of it.
type kubelets struct {
	kwok     *httptest.Server
	logProxy *logProxy
	pki      pki.Dir
	names    secretNames
}

const podLogText = "loss 2.13"

func startKubelets(t *testing.T) kubelets {
	t.Helper()
	k := kubelets{pki: pki.Dir(filepath.Join(t.TempDir(), "pki")), names: newSecretNames()}
	if err := k.pki.Write("test", "127.0.0.1", time.Now()); err != nil {
		t.Fatal(err)
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "work", Name: "train-0", UID: "1"}}
	objects := map[string]bool{
		logsOf(k.names.ofPod(pod), pod).GetName():                 true,
		forwardOf(k.names.ofPod(pod), pod, nil, "", 80).GetName(): true,
		logsOf("stranger", &corev1.Pod{}).GetName():               true, // of a pod that is not the world's
	}
	k.kwok = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if parts := splitPath(r.URL.Path); len(parts) < 3 || !objects[parts[2]] {
			http.Error(w, "no logs found", http.StatusBadRequest)
			return
		}
		_, _ = io.WriteString(w, podLogText+" "+r.URL.RawQuery)
	}))
	pair, err := tls.LoadX509KeyPair(k.pki.Cert(pki.Kwok), k.pki.Key(pki.Kwok))
	if err != nil {
		t.Fatal(err)
	}
	k.kwok.TLS = &tls.Config{Certificates: []tls.Certificate{pair}}
	k.kwok.StartTLS()
	t.Cleanup(k.kwok.Close)
	r := &runtime{names: k.names, workers: map[types.UID]*worker{pod.UID: {pod: pod}}}
	k.logProxy, err = startLogProxy(t.Context(), Kubelet{
		Address: k.kwok.Listener.Addr().String(), Cert: k.pki.Cert(pki.Kwok), Key: k.pki.Key(pki.Kwok), CA: k.pki.Cert(pki.CA),
	}, r, execs{pods: cache.NewStore(cache.MetaNamespaceKeyFunc)}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(k.logProxy.stop)
	return k
}

// get sends a request with the certificate of an identity, or without one; status 0: no response.
func (k kubelets) get(t *testing.T, url, identity string) (status int, body string) {
	t.Helper()
	config := &tls.Config{InsecureSkipVerify: true}
	if identity != "" {
		pair, err := tls.LoadX509KeyPair(k.pki.Cert(identity), k.pki.Key(identity))
		if err != nil {
			t.Fatal(err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: config, DisableKeepAlives: true}}
	resp, err := client.Get(url)
	if err != nil {
		return 0, ""
	}
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(raw)
}

// Only the API server gets a pod's log: neither the world's proxy nor kwok's server gives it to
// others.
func TestLogsNeedAPIServerCertificate(t *testing.T) {
	t.Parallel()
	k := startKubelets(t)
	kwok := k.kwok.URL
	world := "https://" + net.JoinHostPort("127.0.0.1", strconv.Itoa(int(k.logProxy.port)))
	for name, c := range map[string]struct {
		url, identity string
		status        int
	}{
		"the API server":                        {world + "/containerLogs/work/train-0/main?tailLines=3", pki.KubeletClient, http.StatusOK},
		"the API server, a port":                {world + "/portForward/work/train-0/1", pki.KubeletClient, http.StatusOK},
		"the API server, another's pod":         {world + "/containerLogs/work/stranger/main", pki.KubeletClient, http.StatusOK},
		"the API server, no such pod":           {world + "/containerLogs/work/none/main", pki.KubeletClient, http.StatusBadRequest},
		"the API server, another namespace":     {world + "/containerLogs/other/train-0/main", pki.KubeletClient, http.StatusBadRequest},
		"the API server, no pod in the path":    {world + "/healthz", pki.KubeletClient, http.StatusBadRequest},
		"the administrator":                     {world + "/containerLogs/work/train-0/main", pki.Admin, http.StatusOK},
		"another program of the cluster":        {world + "/containerLogs/work/train-0/main", pki.Prometheus, http.StatusForbidden},
		"kwok itself":                           {world + "/containerLogs/work/train-0/main", pki.Kwok, http.StatusForbidden},
		"a certificate of another authority":    {world + "/containerLogs/work/train-0/main", pki.EtcdClient, 0},
		"no certificate":                        {world + "/containerLogs/work/train-0/main", "", 0},
		"no certificate, kwok":                  {kwok + "/containerLogs/work/train-0/main", "", http.StatusBadRequest},
		"no certificate, kwok, a port":          {kwok + "/portForward/work/train-0", "", http.StatusBadRequest},
		"the administrator's certificate, kwok": {kwok + "/containerLogs/work/train-0/main", pki.Admin, http.StatusBadRequest},
	} {
		status, body := k.get(t, c.url, c.identity)
		if status != c.status || strings.Contains(body, podLogText) != (c.status == http.StatusOK) {
			t.Errorf("%s: status %d, want %d; answer %q", name, status, c.status, body)
		}
		if strings.Contains(c.url, "?") && !strings.HasSuffix(body, "tailLines=3") {
			t.Errorf("%s: the query was lost: %q", name, body)
		}
	}
}

// The name of a pod for kwok is not derivable from the pod's and differs between labs.
func TestSecretNames(t *testing.T) {
	t.Parallel()
	one, other := newSecretNames(), newSecretNames()
	seen := map[string]bool{}
	for _, name := range []string{one.of("a", "b"), one.of("a", "c"), one.of("b", "b"), other.of("a", "b")} {
		if len(name) != 32 || seen[name] {
			t.Errorf("name %q is too short or not unique", name)
		}
		seen[name] = true
	}
	if again := one.of("a", "b"); again != one.of("a", "b") {
		t.Error("a pod has two names")
	}
}
