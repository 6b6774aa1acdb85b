package lab

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"github.com/firstlight/firstlight/internal/lab/component"
	"github.com/firstlight/firstlight/internal/lab/process"
	"github.com/firstlight/firstlight/internal/poll"
	"github.com/firstlight/firstlight/internal/suite"
)

// running is a lab in this process with one KWOK node.
type running struct {
	*Lab
	events eventLog
	info   Info
	client kubernetes.Interface
	dyn    dynamic.Interface
	alerts chan string
}

const nodeName = "gpu-01"

func startLab(t *testing.T) *running {
	t.Helper()
	needPrograms(t)
	r := &running{events: newEventLog(), alerts: make(chan string, 100)}
	l, err := New(Options{
		Name: "test", Dir: t.TempDir(),
		Events: r.events.add, Log: slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn})),
		WorldReady: r.world,
	})
	if err != nil {
		t.Fatal(err)
	}
	r.Lab = l
	t.Cleanup(func() {
		if err := l.Stop(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
		requireGone(t, l.id)
	})
	if err := l.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	return r
}

// world is minimal: a node and an alert receiver.
func (r *running) world(ctx context.Context, info Info) (err error) {
	r.info = info
	if r.client, err = kubernetes.NewForConfig(info.RestConfig); err != nil {
		return err
	}
	if r.dyn, err = dynamic.NewForConfig(info.RestConfig); err != nil {
		return err
	}
	receiver := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) {
		body, _ := io.ReadAll(req.Body)
		r.alerts <- string(body)
	})}
	go func() { _ = receiver.Serve(info.AlertListener) }()
	room := corev1.ResourceList{
		"cpu": resource.MustParse("8"), "memory": resource.MustParse("64Gi"), "pods": resource.MustParse("20"), "nvidia.com/gpu": resource.MustParse("8"),
	}
	_, err = r.client.CoreV1().Nodes().Create(ctx, &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: nodeName, Annotations: map[string]string{"kwok.x-k8s.io/node": "fake"}},
		Status: corev1.NodeStatus{
			Capacity: room, Allocatable: room,
			Addresses: []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: info.Subnet + ".11"}},
		},
	}, metav1.CreateOptions{})
	return err
}

var errNotYet = errors.New("not yet")

func (r *running) await(t *testing.T, what string, cond func(ctx context.Context) (bool, error)) {
	t.Helper()
	r.awaitFor(t, 3*time.Minute, what, cond)
}

func (r *running) awaitFor(t *testing.T, limit time.Duration, what string, cond func(ctx context.Context) (bool, error)) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	err := poll.Until(ctx, pollInterval, what, func(ctx context.Context) error {
		ok, err := cond(ctx)
		if ok {
			return nil
		}
		return cmp.Or(err, errNotYet)
	})
	if err != nil {
		t.Fatal(err)
	}
}

func (r *running) createPod(t *testing.T, pod *corev1.Pod) {
	t.Helper()
	r.await(t, "pod "+pod.Name+" to be admitted", func(ctx context.Context) (bool, error) {
		_, err := r.client.CoreV1().Pods("default").Create(ctx, pod, metav1.CreateOptions{})
		return err == nil, err
	})
}

func (r *running) awaitPod(t *testing.T, name, what string, is func(*corev1.Pod) bool) *corev1.Pod {
	t.Helper()
	var pod *corev1.Pod
	r.await(t, "pod "+name+" to be "+what, func(ctx context.Context) (ok bool, err error) {
		if pod, err = r.client.CoreV1().Pods("default").Get(ctx, name, metav1.GetOptions{}); err != nil {
			return false, err
		}
		return is(pod), fmt.Errorf("phase %s, conditions %v", pod.Status.Phase, pod.Status.Conditions)
	})
	return pod
}

// awaitRunning waits until want pods with the labels are Running.
func (r *running) awaitRunning(t *testing.T, selector string, want int) {
	t.Helper()
	r.await(t, "pods "+selector+" to run", func(ctx context.Context) (bool, error) {
		pods, err := r.client.CoreV1().Pods("default").List(ctx, metav1.ListOptions{LabelSelector: selector})
		if err != nil {
			return false, err
		}
		n := 0
		for _, p := range pods.Items {
			if p.Status.Phase == corev1.PodRunning {
				n++
			} else {
				err = fmt.Errorf("pod %s is %s, conditions %v", p.Name, p.Status.Phase, p.Status.Conditions)
			}
		}
		return n == want, err
	})
}

func podReady(p *corev1.Pod) corev1.ConditionStatus {
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status
		}
	}
	return ""
}

func simplePod(name string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "example.com/main:1"}}},
	}
}

// TestLab checks one lab in all respects, because a start takes seconds.
func TestLab(t *testing.T) {
	r, whole := startLab(t), t
	components := 13
	for _, step := range []struct {
		name string
		run  func(t *testing.T, r *running)
	}{
		{"everything is ready", testReady},
		{"nothing responds without a certificate", testCertificates},
		{"the canary is gone", testCanaryGone},
		{"pods of the host network have the node's address", testHostNetwork},
		{"held pods wait", testHolds},
		{"logs come through the API server", testLogs},
		{"alerts arrive until the route is missing", testAlerts},
		{"gangs", testGangs},
		{"the adapter serves metrics", testAdapter},
		{"Karpenter creates and deletes nodes", testKarpenter},
		{"KAI schedules by queues", testKAI},
		{"Kubeflow Trainer trains", func(t *testing.T, r *running) {
			suite.Require(t, suite.All) // internal/conformance/controller trains, kills it and is denied for every change
			testTrainer(t, r)
			components += 2
		}},
		{"the MPI Operator launches", func(t *testing.T, r *running) {
			suite.Exclusive(whole, "mpi-operator") // until the lab ends
			testMPI(t, r)
		}},
		{"a killed component comes back", testKilled},
	} {
		if !t.Run(step.name, func(t *testing.T) { step.run(t, r) }) {
			break
		}
	}
	st := r.Status()
	if err := r.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	requireGone(t, r.id)
	requirePortsFree(t, st, components)
	for _, part := range []string{"pki", "data", "kubeconfig.yaml"} {
		if _, err := os.Stat(filepath.Join(r.info.Dir, part)); err == nil {
			t.Errorf("%s exists", part)
		}
	}
}

func testReady(t *testing.T, r *running) {
	st := r.Status()
	if st.State != StateReady || len(st.Components) != 7 {
		t.Errorf("the lab is %s with %d components, want ready with 7", st.State, len(st.Components))
	}
	for _, c := range st.Components {
		if c.State != process.Ready || !c.Identity.Alive() || c.Restarts != 0 || !strings.HasPrefix(c.Address, r.info.Subnet+".") {
			t.Errorf("component %+v, want ready, at its first start, on %s", c, r.info.Subnet)
		}
	}
	e := r.events.await(t, "ready", func(e Event) bool { return e.Kind == KindReady })
	t.Logf("the lab took %s", e.Took)
	info, err := os.Stat(r.info.Kubeconfig)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("kubeconfig: %v, %v; want mode 0600", info, err)
	}
}

func testCertificates(t *testing.T, r *running) {
	bare := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	for _, c := range component.All(r.conf) {
		if c.Name == component.Kwok {
			continue // kwok's kubelet server takes no client certificates: see TestWorldOnALab
		}
		url := c.Probe.URL
		switch c.Name {
		case component.ControllerManager, component.Scheduler, component.Adapter:
			// Health endpoints are public on every cluster (system:public-info-viewer); others are
			// not.
			url = url[:strings.LastIndex(url, "/")] + "/metrics"
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		if err := get(ctx, bare, url, ""); err == nil {
			t.Errorf("%s responds without a certificate", c.Name)
		}
		cancel()
	}
}

func testCanaryGone(t *testing.T, r *running) {
	nodes, err := r.client.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	if err != nil || len(nodes.Items) != 1 || nodes.Items[0].Name != nodeName {
		t.Errorf("nodes are %v, %v; want %s alone", nodes, err, nodeName)
	}
}

// Prometheus reaches a host network pod at the node's address.
func testHostNetwork(t *testing.T, r *running) {
	l, err := net.Listen("tcp4", r.info.Subnet+".11:0")
	if err != nil {
		t.Fatal(err)
	}
	exporter := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintln(w, `DCGM_FI_DEV_GPU_UTIL{gpu="0",pod="user",namespace="work"} 42`)
	})}
	go func() { _ = exporter.Serve(l) }()
	defer exporter.Close() //nolint:errcheck // the test has ended
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	pod := simplePod("exporter")
	pod.Labels = map[string]string{"app": "dcgm-exporter"}
	pod.Annotations = map[string]string{"prometheus.io/scrape": "true", "prometheus.io/port": port}
	pod.Spec.HostNetwork = true
	r.createPod(t, pod)
	got := r.awaitPod(t, "exporter", "ready", func(p *corev1.Pod) bool { return podReady(p) == corev1.ConditionTrue })
	if got.Status.PodIP != r.info.Subnet+".11" {
		t.Errorf("the pod's address is %s, want the node's", got.Status.PodIP)
	}
	cfg, err := clientTLS(r.info.CA, r.info.ClientCert, r.info.ClientKey)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: cfg}}
	r.await(t, "the series in Prometheus", func(ctx context.Context) (bool, error) {
		err := get(ctx, client, r.info.PrometheusURL+`/api/v1/query?query=DCGM_FI_DEV_GPU_UTIL{pod="user",namespace="work",job="dcgm-exporter",node="gpu-01"}`, `"42"`)
		return err == nil, err
	})
}

func testHolds(t *testing.T, r *running) {
	for hold, is := range map[string]func(*corev1.Pod) bool{
		"creating": func(p *corev1.Pod) bool {
			cs := p.Status.ContainerStatuses
			return p.Status.Phase == corev1.PodPending && len(cs) == 1 && cs[0].State.Waiting != nil && cs[0].State.Waiting.Reason == "ContainerCreating"
		},
		"ready": func(p *corev1.Pod) bool {
			return p.Status.Phase == corev1.PodRunning && podReady(p) == corev1.ConditionFalse
		},
	} {
		pod := simplePod("held-" + hold)
		pod.Annotations["firstlight.dev/world-hold"] = hold
		r.createPod(t, pod)
		r.awaitPod(t, pod.Name, "held "+hold, is)
		patch := func(value string) {
			body := []byte(`{"metadata":{"annotations":{"firstlight.dev/world-hold":` + value + `}}}`)
			if _, err := r.client.CoreV1().Pods("default").Patch(t.Context(), pod.Name, types.MergePatchType, body, metav1.PatchOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		ready := func(p *corev1.Pod) bool { return podReady(p) == corev1.ConditionTrue }
		patch("null")
		r.awaitPod(t, pod.Name, "ready once let go", ready)
		patch(`"ready"`)
		r.awaitPod(t, pod.Name, "not ready once held", func(p *corev1.Pod) bool { return podReady(p) == corev1.ConditionFalse })
		patch("null")
		r.awaitPod(t, pod.Name, "ready again", ready)
	}
}

func testLogs(t *testing.T, r *running) {
	file := filepath.Join(t.TempDir(), "log")
	if err := os.WriteFile(file, []byte("2026-01-02T03:04:05.000000006Z stdout F hello\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	logs := schema.GroupVersionResource{Group: "kwok.x-k8s.io", Version: "v1alpha1", Resource: "logs"}
	_, err := r.dyn.Resource(logs).Namespace("default").Create(t.Context(), &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "kwok.x-k8s.io/v1alpha1", "kind": "Logs", "metadata": map[string]any{"name": "exporter", "namespace": "default"},
		"spec": map[string]any{"logs": []any{map[string]any{"logsFile": file}}},
	}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	r.await(t, "the log", func(ctx context.Context) (bool, error) {
		raw, err := r.client.CoreV1().Pods("default").GetLogs("exporter", &corev1.PodLogOptions{}).DoRaw(ctx)
		return strings.TrimSpace(string(raw)) == "hello", err
	})
}

func testKilled(t *testing.T, r *running) {
	killComponent(t, r, component.Scheduler)
	r.createPod(t, simplePod("after"))
	r.awaitPod(t, "after", "running", func(p *corev1.Pod) bool { return p.Status.Phase == corev1.PodRunning })
}

// killComponent kills a component and waits for its restart.
func killComponent(t *testing.T, r *running, name string) {
	t.Helper()
	var victim process.Identity
	for _, c := range r.Status().Components {
		if c.Name == name {
			victim = c.Identity
		}
	}
	if err := process.Kill([]process.Identity{victim}); err != nil {
		t.Fatal(err)
	}
	died := r.events.await(t, "its death", func(e Event) bool {
		return e.Name == name && e.Component != nil && e.Component.State == process.Waiting && e.Component.Exit.PID == victim.PID
	})
	if exit := died.Component.Exit; exit.Status != "signal: killed" || len(exit.LastLines) == 0 {
		t.Errorf("reported as %+v, want its signal and its last log lines", exit)
	}
	r.events.await(t, "its return", func(e Event) bool {
		return e.Name == name && e.Component != nil && e.Component.State == process.Ready && e.At.After(died.At)
	})
}
