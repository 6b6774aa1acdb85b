package cluster_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"github.com/firstlight/firstlight/internal/lab"
	"github.com/firstlight/firstlight/internal/poll/polltest"
	"github.com/firstlight/firstlight/internal/suite"
	"github.com/firstlight/firstlight/internal/world"
	"github.com/firstlight/firstlight/internal/world/cluster"
	"github.com/firstlight/firstlight/internal/world/worldtest"
)

// bench is a lab with a world.
type bench struct {
	lab     *lab.Lab
	info    lab.Info
	world   *world.World
	cluster *cluster.Cluster
	dir     string
	client  kubernetes.Interface
	dyn     dynamic.Interface
}

func start(t *testing.T) *bench {
	t.Helper()
	suite.Live(t)
	b := &bench{dir: t.TempDir()}
	shared := worldtest.Shared(t)
	log := slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))
	l, err := lab.New(lab.Options{
		Name: "world-test", Dir: t.TempDir(),
		Log: log, NetworkReady: func(_ context.Context, info lab.Info) error { return b.makeWorld(info, shared) },
		WorldReady: func(ctx context.Context, info lab.Info) (err error) {
			b.info = info
			begin := time.Now()
			defer func() { t.Logf("started in %s", time.Since(begin).Round(time.Millisecond)) }()
			b.cluster, err = cluster.Start(ctx, cluster.Config{
				RestConfig: info.RestConfig, World: b.world, Dir: b.dir, Log: log,
				Kubelet: &cluster.Kubelet{Address: info.Kubelet, Cert: info.KubeletCert, Key: info.KubeletKey, CA: info.CA},
			})
			return err
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	b.lab = l
	t.Cleanup(func() {
		if b.cluster != nil {
			if err := b.cluster.Stop(context.WithoutCancel(t.Context())); err != nil {
				t.Error(err)
			}
		}
		if err := l.Stop(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	if err := l.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.client = kubernetes.NewForConfigOrDie(b.info.RestConfig)
	b.dyn = dynamic.NewForConfigOrDie(b.info.RestConfig)
	begin := time.Now()
	b.await(t)
	t.Logf("settled %s after the lab was ready", time.Since(begin).Round(time.Millisecond))
	return b
}

func (b *bench) makeWorld(info lab.Info, shared world.Option) (err error) {
	spec := world.DefaultSpec(4)
	host := 2
	for _, list := range [][]world.NodeSpec{spec.GPUNodes, spec.SystemNodes} {
		for i := range list {
			list[i].Address = fmt.Sprintf("%s.%d:22", info.Subnet, host)
			host++
		}
	}
	b.world, err = world.New(spec, shared)
	return err
}

func (b *bench) await(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	if err := b.cluster.Settle(ctx); err != nil {
		t.Fatal(err)
	}
}

func (b *bench) fault(t *testing.T, f world.Fault) (remove func()) {
	t.Helper()
	f, err := b.world.AddFault(f)
	if err != nil {
		t.Fatal(err)
	}
	return func() {
		t.Helper()
		if err := b.world.ClearFault(f.ID); err != nil {
			t.Fatal(err)
		}
	}
}

// job is a workload as the gates create it.
type job struct {
	name, container, script string
	pods, gpus              int
	env                     map[string]string
	port                    int32
	policy                  corev1.RestartPolicy
}

func (b *bench) run(t *testing.T, j job) {
	t.Helper()
	var env []corev1.EnvVar
	for k, v := range j.env {
		env = append(env, corev1.EnvVar{Name: k, Value: v})
	}
	c := corev1.Container{Name: j.container, Image: "test", Command: []string{"/bin/bash", "-ec", j.script}, Env: env}
	if j.gpus > 0 {
		c.Resources.Limits = corev1.ResourceList{"nvidia.com/gpu": *resource.NewQuantity(int64(j.gpus), resource.DecimalSI), "rdma/ib": resource.MustParse("8")}
	}
	if j.port != 0 {
		c.Ports = []corev1.ContainerPort{{ContainerPort: j.port}}
	}
	if j.policy == "" {
		j.policy = corev1.RestartPolicyNever
	}
	n, mode, backoff := int32(j.pods), batchv1.IndexedCompletion, int32(0)
	if j.policy != corev1.RestartPolicyNever {
		backoff = 20
	}
	obj := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: j.name, Namespace: "default"},
		Spec: batchv1.JobSpec{
			Parallelism: &n, Completions: &n, CompletionMode: &mode, BackoffLimit: &backoff,
			Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
				RestartPolicy: j.policy, Subdomain: j.name,
				Tolerations: []corev1.Toleration{{Key: "nvidia.com/gpu", Operator: corev1.TolerationOpExists}},
				Affinity: &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{
					LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{batchv1.JobNameLabel: j.name}}, TopologyKey: corev1.LabelHostname,
				}}}},
				Containers: []corev1.Container{c},
			}},
		},
	}
	polltest.UntilNil(t, "job "+j.name+" to be accepted", func() error {
		_, err := b.client.BatchV1().Jobs("default").Create(t.Context(), obj, metav1.CreateOptions{})
		if apierrors.IsAlreadyExists(err) {
			return nil
		}
		return err
	})
}

func (b *bench) pods(t *testing.T, name string) []corev1.Pod {
	t.Helper()
	list, err := b.client.CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{LabelSelector: batchv1.JobNameLabel + "=" + name})
	if err != nil {
		t.Fatal(err)
	}
	return list.Items
}

// finish waits for a job's end and returns the logs of its pods by index.
func (b *bench) finish(t *testing.T, name string, want batchv1.JobConditionType) map[string]string {
	t.Helper()
	polltest.UntilNil(t, "job "+name+" to be "+string(want), func() error {
		j, err := b.client.BatchV1().Jobs("default").Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		for _, c := range j.Status.Conditions {
			if c.Type == want && c.Status == corev1.ConditionTrue {
				return nil
			}
		}
		return fmt.Errorf("status %+v", j.Status)
	})
	logs := map[string]string{}
	for _, p := range b.pods(t, name) {
		logs[p.Annotations[batchv1.JobCompletionIndexAnnotation]] = b.logs(t, p.Name, &corev1.PodLogOptions{})
	}
	return logs
}

func (b *bench) logs(t *testing.T, pod string, opts *corev1.PodLogOptions) string {
	t.Helper()
	var raw []byte
	// kwok observes new logs late after an interruption of the API server.
	polltest.UntilNil(t, "logs of "+pod, func() (err error) {
		raw, err = b.client.CoreV1().Pods("default").GetLogs(pod, opts).DoRaw(t.Context())
		return err
	})
	return string(raw)
}

func (b *bench) remove(t *testing.T, name string) {
	t.Helper()
	background := metav1.DeletePropagationBackground
	if err := b.client.BatchV1().Jobs("default").Delete(t.Context(), name, metav1.DeleteOptions{PropagationPolicy: &background}); err != nil {
		t.Fatal(err)
	}
	polltest.UntilNil(t, "pods of "+name+" to be gone", func() error {
		if n := len(b.pods(t, name)); n > 0 {
			return fmt.Errorf("%d remain", n)
		}
		return nil
	})
}

func (b *bench) occupied() int {
	n := 0
	for _, node := range b.world.State().GPUNodes() {
		for _, g := range node.GPUs {
			if g.Occupant.UID != "" {
				n++
			}
		}
	}
	return n
}

// query runs an instant query on the lab's Prometheus.
func (b *bench) query(t *testing.T, expr string) []sample {
	t.Helper()
	ca, err := os.ReadFile(b.info.CA)
	if err != nil {
		t.Fatal(err)
	}
	pair, err := tls.LoadX509KeyPair(b.info.ClientCert, b.info.ClientKey)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(ca)
	client := &http.Client{Timeout: time.Minute, Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{RootCAs: pool, Certificates: []tls.Certificate{pair}}}}
	resp, err := client.Get(b.info.PrometheusURL + "/api/v1/query?query=" + url.QueryEscape(expr))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	var out struct {
		Data struct {
			Result []sample `json:"result"`
		} `json:"data"`
	}
	if err := json.Unmarshal(body, &out); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	return out.Data.Result
}

type sample struct {
	Metric map[string]string `json:"metric"`
	Value  [2]any            `json:"value"`
}

func contains(t *testing.T, text string, all ...string) {
	t.Helper()
	for _, s := range all {
		if !strings.Contains(text, s) {
			t.Errorf("text lacks %q:\n%.2000s", s, text)
		}
	}
}
