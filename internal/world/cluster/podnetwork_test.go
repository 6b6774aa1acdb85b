package cluster

import (
	"cmp"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
)

// A pod is reachable only at its own address and declared ports.
func TestPodNetwork(t *testing.T) {
	t.Parallel()
	program := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, "path "+r.URL.Path) }))
	defer program.Close()
	pod := &corev1.Pod{Status: corev1.PodStatus{PodIP: "10.244.0.7"}}
	w := &worker{pod: pod, last: pod, container: corev1.Container{Ports: []corev1.ContainerPort{{ContainerPort: 8000}}}}
	silent := &worker{pod: pod, last: &corev1.Pod{Status: corev1.PodStatus{PodIP: "10.244.0.8"}}, container: w.container}
	w.listensAt(strings.TrimPrefix(program.URL, "http://"))
	r := &runtime{workers: map[types.UID]*worker{"a": w, "b": silent}}
	pods := cache.NewStore(cache.MetaNamespaceKeyFunc)
	if err := pods.Add(&corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "operator", Labels: map[string]string{labelProcess: "gpu-operator"}}, Status: corev1.PodStatus{PodIP: "10.244.0.10"},
	}); err != nil {
		t.Fatal(err)
	}
	processes := map[string]string{"gpu-operator": strings.TrimPrefix(program.URL, "http://")}
	proxy := httptest.NewServer(podHandler(func(address string) string {
		return cmp.Or(r.listener(address), processOf(pods, processes, address))
	}, slog.New(slog.DiscardHandler)))
	defer proxy.Close()
	through, err := url.Parse(proxy.URL)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(through)}}
	defer client.CloseIdleConnections()
	for address, want := range map[string]string{
		"10.244.0.7:8000": "path /metrics",
		"10.244.0.7:9000": "no route",
		"10.244.0.8:8000": "no route", // no listener
		"10.244.0.9:8000": "no route",

		"10.244.0.10:8080": "path /metrics", // a pod that represents a process
	} {
		resp, err := client.Get("http://" + address + "/metrics")
		if err != nil {
			t.Fatal(err)
		}
		raw, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || !strings.HasPrefix(string(raw), want) || (resp.StatusCode == http.StatusOK) != (want != "no route") {
			t.Errorf("%s: %s %s %v", address, resp.Status, raw, err)
		}
	}
}
