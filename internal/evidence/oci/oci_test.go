package oci_test

import (
	"bytes"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/registry"

	"github.com/firstlight/firstlight/internal/evidence/oci"
)

// host is a real registry on loopback, behind what may change its answers.
func host(t *testing.T, between func(http.Handler) http.Handler) string {
	t.Helper()
	t.Setenv("DOCKER_CONFIG", t.TempDir())
	handler := registry.New(registry.Logger(log.New(io.Discard, "", 0)))
	if between != nil {
		handler = between(handler)
	}
	s := httptest.NewServer(handler)
	t.Cleanup(s.Close)
	return strings.TrimPrefix(s.URL, "http://")
}

func bundle(t *testing.T, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "run.tar.gz")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func info() oci.Info {
	return oci.Info{Created: time.Date(2026, 11, 21, 1, 0, 0, 0, time.UTC), Annotations: map[string]string{oci.AnnotationRun: "r"}}
}

func TestPushAndPull(t *testing.T) {
	content := bytes.Repeat([]byte("evidence"), 50_000)
	ref := "oci://" + host(t, nil) + "/team/evidence:r1"
	var told int64
	pushed, err := oci.Push(t.Context(), ref, bundle(t, content), info(), oci.Options{Tell: func(done, _ int64) { told = done }})
	if err != nil {
		t.Fatal(err)
	}
	if told != int64(len(content)) {
		t.Errorf("told of %d bytes", told)
	}
	again, err := oci.Push(t.Context(), ref, bundle(t, content), info(), oci.Options{})
	if err != nil || again != pushed {
		t.Errorf("pushed again: %+v, not %+v, %v", again, pushed, err)
	}
	byDigest := strings.TrimSuffix(ref, ":r1") + "@" + pushed.Digest
	for _, from := range []string{ref, byDigest, strings.TrimPrefix(ref, oci.Scheme)} {
		to := filepath.Join(t.TempDir(), "pulled")
		pulled, err := oci.Pull(t.Context(), from, to, oci.Options{})
		if err != nil || pulled.Digest != pushed.Digest || pulled.Layer != pushed.Layer {
			t.Fatalf("%s: %+v, %v", from, pulled, err)
		}
		if data, err := os.ReadFile(to); err != nil || !bytes.Equal(data, content) {
			t.Errorf("%s: %d bytes, %v", from, len(data), err)
		}
	}
	to := bundle(t, []byte("precious"))
	if _, err := oci.Pull(t.Context(), ref, to, oci.Options{}); !errors.Is(err, os.ErrExist) {
		t.Errorf("pulled over a file: %v", err)
	}
	if data, err := os.ReadFile(to); err != nil || string(data) != "precious" {
		t.Errorf("it is %q, %v", data, err)
	}
}

// A download that was changed or truncated by the registry or a proxy leaves no file.
func TestChangedBlobsAreRefused(t *testing.T) {
	content := bytes.Repeat([]byte("evidence"), 50_000)
	for name, change := range map[string]func(path string, body []byte) []byte{
		"byte of the archive": func(path string, body []byte) []byte {
			if strings.Contains(path, "/blobs/") {
				body[1000] ^= 1
			}
			return body
		},
		"archive cut": func(path string, body []byte) []byte {
			if strings.Contains(path, "/blobs/") {
				return body[:len(body)/2]
			}
			return body
		},
		"archive longer": func(path string, body []byte) []byte {
			if strings.Contains(path, "/blobs/") {
				return append(body, "more"...)
			}
			return body
		},
		"byte of the manifest": func(path string, body []byte) []byte {
			return bytes.Replace(body, []byte(oci.AnnotationRun), []byte("dev.firstlight.rum"), 1)
		},
	} {
		t.Run(name, func(t *testing.T) {
			var arrived atomic.Bool
			ref := host(t, func(next http.Handler) http.Handler {
				return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if r.Method != http.MethodGet || !arrived.Load() {
						next.ServeHTTP(w, r)
						return
					}
					rec := httptest.NewRecorder()
					next.ServeHTTP(rec, r)
					for k, v := range rec.Header() {
						if k != "Content-Length" {
							w.Header()[k] = v
						}
					}
					w.WriteHeader(rec.Code)
					_, _ = w.Write(change(r.URL.Path, rec.Body.Bytes()))
				})
			}) + "/evidence:r1"
			if _, err := oci.Push(t.Context(), ref, bundle(t, content), info(), oci.Options{}); err != nil {
				t.Fatal(err)
			}
			arrived.Store(true)
			to := filepath.Join(t.TempDir(), "pulled")
			if _, err := oci.Pull(t.Context(), ref, to, oci.Options{}); err == nil {
				t.Error("pulled")
			} else {
				t.Log(err)
			}
			if _, err := os.Lstat(to); err == nil {
				t.Error("something is left")
			}
		})
	}
}

func TestPullRefuses(t *testing.T) {
	at := host(t, nil)
	if _, err := oci.Push(t.Context(), at+"/evidence:r1", bundle(t, []byte("evidence")), info(), oci.Options{}); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		ref  string
		o    oci.Options
		want string
	}{
		"no tag there":           {at + "/evidence:r2", oci.Options{}, "not found"},
		"neither tag nor digest": {at + "/evidence", oci.Options{}, "names neither a tag nor a digest"},
		"no reference":           {"::", oci.Options{}, "not a reference"},
		"larger than wanted":     {at + "/evidence:r1", oci.Options{MaxBytes: 3}, "is of 8 bytes, at most 3 are taken"},
	} {
		_, err := oci.Pull(t.Context(), tt.ref, filepath.Join(t.TempDir(), "x"), tt.o)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := oci.Push(t.Context(), at+"/evidence@sha256:"+strings.Repeat("0", 64), bundle(t, nil), info(), oci.Options{}); !errors.Is(err, oci.ErrReference) {
		t.Errorf("pushed to a digest: %v", err)
	}
}

func TestArtifactsOfOtherTypesAreNotPulled(t *testing.T) {
	at := host(t, nil)
	const image = `{"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json","config":{"mediaType":"application/vnd.oci.image.config.v1+json","digest":"sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855","size":0},"layers":[]}`
	put := func(path, kind, body string) {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPut, "http://"+at+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", kind)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != http.StatusCreated {
			t.Fatal(resp.Status)
		}
	}
	put("/v2/evidence/manifests/image", "application/vnd.oci.image.manifest.v1+json", image)
	if _, err := oci.Pull(t.Context(), at+"/evidence:image", filepath.Join(t.TempDir(), "x"), oci.Options{}); !errors.Is(err, oci.ErrNoEvidence) {
		t.Errorf("pulled an image: %v", err)
	}
}
