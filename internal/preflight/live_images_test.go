package preflight_test

import (
	"encoding/base64"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/random"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/preflight"
	"github.com/firstlight/firstlight/internal/site"
	"github.com/firstlight/firstlight/internal/suite"
)

const registryUser, registryPassword = "puller", "correct horse"

// public serves a registry on loopback that requires no password, and returns its address.
func public(t *testing.T) string {
	t.Helper()
	s := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	t.Cleanup(s.Close)
	return strings.TrimPrefix(s.URL, "http://")
}

// private serves a registry on loopback that requires the password, and returns its address.
func private(t *testing.T) string {
	t.Helper()
	open := registry.New(registry.Logger(log.New(io.Discard, "", 0)))
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if user, password, ok := r.BasicAuth(); !ok || user != registryUser || password != registryPassword {
			w.Header().Set("WWW-Authenticate", `Basic realm="registry"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		open.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return strings.TrimPrefix(s.URL, "http://")
}

// push writes an image of one platform to a registry.
func push(t *testing.T, image, arch string) {
	t.Helper()
	ref, err := name.ParseReference(image)
	if err != nil {
		t.Fatal(err)
	}
	layers, err := random.Image(16, 1)
	if err != nil {
		t.Fatal(err)
	}
	index := mutate.AppendManifests(empty.Index, mutate.IndexAddendum{Add: layers, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: arch}}})
	if err := remote.WriteIndex(ref, index, remote.WithAuth(&authn.Basic{Username: registryUser, Password: registryPassword})); err != nil {
		t.Fatal(err)
	}
}

// pullSecret adds a pull secret for a registry to the default service account of the run's
// namespace.
func (p *planted) pullSecret(t *testing.T, address, password string) {
	t.Helper()
	p.inNamespace(t, "privileged")
	api := p.lab.Cluster.Client.CoreV1()
	auth := base64.StdEncoding.EncodeToString([]byte(registryUser + ":" + password))
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: "pull"}, Type: corev1.SecretTypeDockerConfigJson,
		Data: map[string][]byte{corev1.DockerConfigJsonKey: fmt.Appendf(nil, `{"auths":{%q:{"auth":%q}}}`, address, auth)},
	}
	if _, err := api.Secrets(p.namespace).Create(t.Context(), secret, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	account, err := api.ServiceAccounts(p.namespace).Get(t.Context(), "default", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	account.ImagePullSecrets = []corev1.LocalObjectReference{{Name: "pull"}}
	if _, err := api.ServiceAccounts(p.namespace).Update(t.Context(), account, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// mirrored makes the site take the images of a registry whose name does not resolve from one mirror, and
// all others from another. The mirrors have every image but the one named; "" leaves none out.
func (p *planted) mirrored(t *testing.T, but string) {
	t.Helper()
	address := public(t)
	w := &p.site.Workloads
	w.Inference.Image = "models.invalid/vllm:1"
	p.site.Images = site.Images{Mirror: address + "/all", Registries: map[string]string{"models.invalid": address + "/models"}}
	p.reload(t)
	w = &p.site.Workloads
	for _, image := range []string{p.site.Telemetry.LoadImage, w.Collective.Image, w.Training.Image, w.Inference.Image, w.Inference.LoadImage} {
		if image != address+but {
			push(t, image, "amd64")
		}
	}
}

var imageObstacles = []obstacle{
	{name: "image missing", plant: func(t *testing.T, p *planted) {
		p.site.Workloads.Training.Image = public(t) + "/torchtitan:absent"
	}, what: "image", target: "torchtitan:absent", seen: "not found in the registry"},
	{name: "tag missing in a private registry", plant: func(t *testing.T, p *planted) {
		address := private(t)
		push(t, address+"/vllm:1", "amd64")
		p.pullSecret(t, address, registryPassword)
		p.site.Workloads.Inference.Image = address + "/vllm:2"
	}, what: "image", target: "vllm:2", seen: "not found in the registry"},
	{name: "pull secret wrong", plant: func(t *testing.T, p *planted) {
		address := private(t)
		push(t, address+"/vllm:1", "amd64")
		p.pullSecret(t, address, "wrong")
		p.site.Workloads.Inference.Image = address + "/vllm:1"
	}, what: "image", target: "vllm:1", seen: "refuses the pull secret"},
	{name: "no pull secret", plant: func(t *testing.T, p *planted) {
		p.site.Workloads.Inference.Image = private(t) + "/vllm:1"
	}, what: "image", target: "vllm:1", seen: "requires credentials", result: preflight.Unobserved},
	{name: "registry down", plant: func(_ *testing.T, p *planted) {
		p.site.Workloads.Collective.Image = "127.0.0.1:1/nccl-tests:1"
	}, what: "image", target: "nccl-tests:1", seen: "connection refused", result: preflight.Unobserved},
	{name: "other architecture", plant: func(t *testing.T, p *planted) {
		address := private(t)
		push(t, address+"/vllm:1", "arm64")
		p.pullSecret(t, address, registryPassword)
		p.site.Workloads.Inference.Image = address + "/vllm:1"
	}, what: "image", target: "vllm:1", seen: "no manifest for [linux/amd64]"},
	{name: "image missing in the mirror of its registry", plant: func(t *testing.T, p *planted) { p.mirrored(t, "/models/vllm:1") }, what: "image", target: "/models/vllm:1", seen: "not found in the registry", level: suite.All},
	{name: "image missing in the mirror of all registries", plant: func(t *testing.T, p *planted) { p.mirrored(t, "/all/ghcr.io/pytorch/torchtitan:0.2.0") }, what: "image", target: "/all/ghcr.io/pytorch/torchtitan:0.2.0", seen: "not found in the registry", level: suite.All},
	{name: "invalid reference", plant: func(_ *testing.T, p *planted) { p.site.Workloads.Training.Image = "Torch Titan" }, what: "image", target: "Torch Titan", seen: "could not parse reference"},
}
