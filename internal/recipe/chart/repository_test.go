package chart_test

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/recipe/chart"
	"github.com/firstlight/firstlight/internal/recipe/model"
)

// serve answers by path.
func serve(t *testing.T, pages map[string]http.HandlerFunc) (*httptest.Server, chart.Network) {
	t.Helper()
	mux := http.NewServeMux()
	for path, page := range pages {
		mux.HandleFunc(path, page)
	}
	s := httptest.NewTLSServer(mux)
	t.Cleanup(s.Close)
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	return s, chart.Network{Timeout: time.Minute, TLS: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}}
}

func page(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(text)) } // a failed write shows as a truncated body in the client
}

func sum(data []byte) string {
	s := sha256.Sum256(data)
	return hex.EncodeToString(s[:])
}

func shopAt(repository string) *model.FootprintChart {
	return &model.FootprintChart{Repository: repository, Name: "shop", Version: "1.2.3"}
}

const index = `apiVersion: v1
entries:
  shop:
    - {apiVersion: v2, name: shop, version: 1.2.4, urls: [other.tgz]}
    - {apiVersion: v2, name: shop, version: v1.2.3, urls: ["%s"], digest: "%s"}
`

// A chart comes out of an HTTP repository by its index, and is locked as the directory is.
func TestHTTPRepository(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	packed := pack(t, s.chart, "shop")
	for name, url := range map[string]string{"relative": "files/shop-1.2.3.tgz", "absolute": "https://HOST/stable/files/shop-1.2.3.tgz"} {
		var server *httptest.Server
		server, network := serve(t, map[string]http.HandlerFunc{
			"/stable/index.yaml": func(w http.ResponseWriter, _ *http.Request) {
				fmt.Fprintf(w, index, strings.Replace(url, "HOST", server.Listener.Addr().String(), 1), sum(packed))
			},
			"/stable/files/shop-1.2.3.tgz": page(string(packed)),
		})
		repositories := chart.Repositories{Network: network}
		c, err := repositories.Get(t.Context(), shopAt(server.URL+"/stable/"))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		direct, err := chart.File{Path: s.chart}.Get(t.Context(), shopAt(""))
		if err != nil {
			t.Fatal(err)
		}
		if c.Digest != direct.Digest || c.From != server.URL+"/stable/shop" {
			t.Errorf("%s: %s from %s, the directory is %s", name, c.Digest, c.From, direct.Digest)
		}
	}
}

// Each failure of a repository has its own error, and no error contains credentials.
func TestHTTPRepositoryFails(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	packed := pack(t, s.chart, "shop")
	good := fmt.Sprintf(index, "shop.tgz", sum(packed))
	for name, tt := range map[string]struct{ index, file, want string }{
		"no index":        {"", "", "get index: failed to fetch"},
		"no YAML":         {"a: [", "", "read index: error loading index.yaml"},
		"no chart":        {"apiVersion: v1\nentries: {}\n", "", "chart shop not found in the index"},
		"no version":      {"apiVersion: v1\nentries: {shop: [{apiVersion: v2, name: shop, version: 9.9.9, urls: [a]}]}\n", "", "shop 1.2.3 not found among 1 versions"},
		"another file":    {good, "x", "chart SHA-256 mismatch: got"},
		"no file":         {good, "", "get chart: failed to fetch"},
		"no archive":      {fmt.Sprintf(index, "shop.tgz", ""), "x", "unpack chart"},
		"an odd address":  {fmt.Sprintf(index, "file:///etc/passwd", ""), "", "the index has an invalid URL for the chart"},
		"no encryption":   {fmt.Sprintf(index, "http://elsewhere.invalid/shop.tgz", ""), "", "the index of an https repository refers to"},
		"signed and gone": {fmt.Sprintf(index, "gone.tgz?X-Amz-Signature=geheim", ""), "", "/gone.tgz : 404"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pages := map[string]http.HandlerFunc{}
			if tt.index != "" {
				pages["/index.yaml"] = page(tt.index)
			}
			if tt.file != "" {
				pages["/shop.tgz"] = page(tt.file)
			}
			server, network := serve(t, pages)
			s := newShop(t)
			at := strings.Replace(server.URL, "https://", "https://user:geheim@", 1)
			s.edit(shopFile, "https://charts.invalid/shop", at)
			s.edit("registry.yaml", "https://charts.invalid/shop", at)
			r := s.run(chart.Options{Sources: chart.Sources{chart.Repositories{Network: network}}})
			s.expect(r, chart.Unavailable, "no source has the chart")
			if len(r.Attempts) != 1 || !strings.Contains(r.Attempts[0].Error, tt.want) {
				t.Errorf("%q does not say %q", r.Attempts, tt.want)
			}
			if strings.Contains(fmt.Sprint(r.Attempts), "geheim") {
				t.Errorf("an attempt contains a secret: %v", r.Attempts)
			}
		})
	}
}

// A server that does not respond, and one whose response does not end, are abandoned.
func TestNetworkIsBounded(t *testing.T) {
	t.Parallel()
	hold := func(w http.ResponseWriter, r *http.Request) {
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}
	flood := func(w http.ResponseWriter, r *http.Request) {
		block := []byte(strings.Repeat("# flood\n", 8<<10))
		for r.Context().Err() == nil {
			if _, err := w.Write(block); err != nil {
				return
			}
		}
	}
	server, network := serve(t, map[string]http.HandlerFunc{"/hold/index.yaml": hold, "/flood/index.yaml": flood})
	repositories := chart.Repositories{Network: network}
	ctx, cancel := context.WithCancelCause(t.Context())
	gone := errors.New("the caller canceled")
	time.AfterFunc(50*time.Millisecond, func() { cancel(gone) })
	if _, err := repositories.Get(ctx, shopAt(server.URL+"/hold")); !errors.Is(err, gone) {
		t.Errorf("held: %v", err)
	}
	repositories.Network.Timeout = 50 * time.Millisecond
	if _, err := repositories.Get(t.Context(), shopAt(server.URL+"/hold")); err == nil || !strings.Contains(err.Error(), "Client.Timeout") {
		t.Errorf("timeout: %v", err)
	}
	repositories.Network.Timeout, repositories.Network.MaxBytes = time.Minute, 1<<20
	if _, err := repositories.Get(t.Context(), shopAt(server.URL+"/flood")); err == nil || !strings.Contains(err.Error(), "response is larger than any chart or index") {
		t.Errorf("flooded: %v", err)
	}
	if _, err := repositories.Get(t.Context(), shopAt("ftp://"+server.Listener.Addr().String())); err == nil || !strings.Contains(err.Error(), "must be an oci:// or https:// URL") {
		t.Errorf("another scheme: %v", err)
	}
}

// registry serves one chart as OCI registries do.
func registry(packed []byte, tag string) map[string]http.HandlerFunc {
	config := []byte(`{"name":"shop","version":"1.2.3"}`)
	type descriptor struct {
		MediaType string `json:"mediaType"`
		Digest    string `json:"digest"`
		Size      int    `json:"size"`
	}
	manifest, err := json.Marshal(map[string]any{
		"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json",
		"config": descriptor{"application/vnd.cncf.helm.config.v1+json", "sha256:" + sum(config), len(config)},
		"layers": []descriptor{{"application/vnd.cncf.helm.chart.content.v1.tar+gzip", "sha256:" + sum(packed), len(packed)}},
	})
	if err != nil {
		panic(err)
	}
	answer := func(data []byte, mediaType string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", mediaType)
			w.Header().Set("Docker-Content-Digest", "sha256:"+sum(data))
			_, _ = w.Write(data) // a failed write shows as a truncated body in the client
		}
	}
	return map[string]http.HandlerFunc{
		"/v2/charts/shop/manifests/" + tag:                  answer(manifest, "application/vnd.oci.image.manifest.v1+json"),
		"/v2/charts/shop/manifests/sha256:" + sum(manifest): answer(manifest, "application/vnd.oci.image.manifest.v1+json"),
		"/v2/charts/shop/blobs/sha256:" + sum(config):       answer(config, "application/octet-stream"),
		"/v2/charts/shop/blobs/sha256:" + sum(packed):       answer(packed, "application/octet-stream"),
	}
}

// A chart comes out of an OCI registry; one whose bytes are others than its digest
// says does not.
func TestOCIRepository(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	packed := pack(t, s.chart, "shop")
	server, network := serve(t, registry(packed, "1.2.3"))
	repositories := chart.Repositories{Network: network}
	at := "oci://" + server.Listener.Addr().String() + "/charts"
	c, err := repositories.Get(t.Context(), shopAt(at))
	if err != nil {
		t.Fatal(err)
	}
	direct, err := chart.File{Path: s.chart}.Get(t.Context(), shopAt(""))
	if err != nil {
		t.Fatal(err)
	}
	if c.Digest != direct.Digest || c.From != at+"/shop" {
		t.Errorf("%s from %s, the directory is %s", c.Digest, c.From, direct.Digest)
	}
	other := shopAt(at)
	other.Version = "9.9.9"
	if _, err := repositories.Get(t.Context(), other); err == nil || !strings.Contains(err.Error(), "not found") {
		t.Errorf("another version: %v", err)
	}
	pages := registry(packed, "1.2.3")
	pages["/v2/charts/shop/blobs/sha256:"+sum(packed)] = page(string(packed[:len(packed)-1]) + "x")
	server, network = serve(t, pages)
	if _, err := (chart.Repositories{Network: network}).Get(t.Context(), shopAt("oci://"+server.Listener.Addr().String()+"/charts")); err == nil {
		t.Error("altered bytes are taken")
	}
}
