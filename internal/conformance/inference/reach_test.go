package inference

import (
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/firstlight/firstlight/internal/probe/kube/kubetest"
)

// tryingOn is one against an API server that has these pods, and refuses forwards.
func tryingOn(t *testing.T, pods ...corev1.Pod) *trial {
	t.Helper()
	cluster := kubetest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasSuffix(r.URL.Path, "/pods"):
			list := corev1.PodList{TypeMeta: metav1.TypeMeta{Kind: "PodList", APIVersion: "v1"}}
			if r.URL.Query().Get("labelSelector") == "gateway.networking.k8s.io/gateway-name=conformance" {
				list.Items = pods
			}
			_ = json.NewEncoder(w).Encode(list)
		case strings.HasSuffix(r.URL.Path, "/services"):
			_ = json.NewEncoder(w).Encode(corev1.ServiceList{TypeMeta: metav1.TypeMeta{Kind: "ServiceList", APIVersion: "v1"}})
		default:
			w.WriteHeader(http.StatusForbidden)
		}
	})
	c := aCheck()
	c.deps.Timeout = 50 * time.Millisecond
	return &trial{Check: c, cluster: cluster, namespace: "ns"}
}

func gatewayAt(t *testing.T, address string) gateway {
	t.Helper()
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.Atoi(port)
	if err != nil {
		t.Fatal(err)
	}
	return gateway{Addresses: []string{host}, Port: int32(n)}
}

func TestReach(t *testing.T) {
	t.Parallel()
	answers := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(answers.Close)
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	runs := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "envoy"}, Status: corev1.PodStatus{Phase: corev1.PodRunning}}
	for name, tt := range map[string]struct {
		at      string
		pods    []corev1.Pod
		through bool
		tried   []string
	}{
		"its address answers": {at: answers.URL, through: true},
		"nothing answers":     {at: gone.URL, tried: []string{gone.URL, "gateway-name=conformance: no running pods found", "owning-gateway-namespace=ns: no running pods found"}},
		"a pod that refuses":  {at: gone.URL, pods: []corev1.Pod{runs}, tried: []string{gone.URL, "port-forward to pod ns/envoy", "owning-gateway-name"}},
		"a pod that has not started": {at: gone.URL, pods: []corev1.Pod{{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "envoy"}}},
			tried: []string{gone.URL, "no running pods found", "no running pods found"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client := newClient()
			defer client.CloseIdleConnections()
			tr := tryingOn(t, tt.pods...)
			if tt.through { // the timeout must not end the request
				tr.deps.Timeout = time.Minute
			}
			base, stop, found := tr.reach(t.Context(), client, gatewayAt(t, strings.TrimPrefix(tt.at, "http://")))
			defer stop()
			if (base != "") != tt.through || found.Through != base || len(found.Tried) != len(tt.tried) {
				t.Fatalf("%q, %+v", base, found)
			}
			for i, want := range tt.tried {
				if !strings.Contains(found.Tried[i], want) {
					t.Errorf("%s: want %s", found.Tried[i], want)
				}
			}
		})
	}
}

func TestTargetPort(t *testing.T) {
	t.Parallel()
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns"},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Ports: []corev1.ContainerPort{{Name: "web", ContainerPort: 18080}}}}},
	}
	leading := func(to intstr.IntOrString) []corev1.Service {
		return []corev1.Service{{ObjectMeta: metav1.ObjectMeta{Namespace: "ns"}, Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{
			{Port: 15021, TargetPort: intstr.FromInt32(15021)}, {Port: 8080, TargetPort: to},
		}}}}
	}
	for name, tt := range map[string]struct {
		services []corev1.Service
		want     int
	}{
		"a number":               {leading(intstr.FromInt32(10080)), 10080},
		"a name":                 {leading(intstr.FromString("web")), 18080},
		"a name that it has not": {leading(intstr.FromString("other")), 8080},
		"the same":               {leading(intstr.IntOrString{}), 8080},
		"no service":             {nil, 8080},
	} {
		if got := targetPort(pod, tt.services, 8080); got != tt.want {
			t.Errorf("%s: %d, want %d", name, got, tt.want)
		}
	}
}

func TestWhoAnswers(t *testing.T) {
	t.Parallel()
	body, status := "", 200
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("OpenAI-Project") == "there" {
			http.Redirect(w, r, "/elsewhere", http.StatusFound)
			return
		}
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}))
	defer s.Close()
	tr := &trial{Check: aCheck()}
	client := newClient()
	defer client.CloseIdleConnections()
	for _, tt := range []struct {
		status     int
		body, want string
	}{
		{200, `{"data":[{"id":"a"}]}`, "a"}, {200, `{"data":[{"id":"a"},{"id":"b"}]}`, ""}, {200, `{"data":[]}`, ""},
		{200, `<html>`, ""}, {200, ``, ""}, {503, `{"data":[{"id":"a"}]}`, ""}, {200, `{"data":[{"id":"` + strings.Repeat("a", maxAnswer) + `"}]}`, ""},
	} {
		status, body = tt.status, tt.body
		if a := tr.get(t.Context(), client, s.URL, nil); a.Status != tt.status || a.Model != tt.want || a.At.IsZero() {
			t.Errorf("%.40s: %d %.40q", tt.body, a.Status, a.Model)
		}
	}
	if a := tr.get(t.Context(), client, s.URL, map[string]string{"OpenAI-Project": "there"}); a.Status != http.StatusFound {
		t.Errorf("a redirection is followed: %+v", a)
	}
}

func FuzzModelOf(f *testing.F) {
	for _, s := range []string{`{"data":[{"id":"a"}]}`, `{"data":{}}`, `[]`, ``} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		if m := modelOf(raw); m != "" && !json.Valid(raw) {
			t.Errorf("%q from invalid JSON", m)
		}
	})
}
